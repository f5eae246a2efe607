"""Charts show the last hour of a whole service, whichever of its processes is asked for it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client import values

from penstock import FrozenClock
from penstock.web.operating.metric_series import STEP, STEPS, MetricSeries, MetricStep
from penstock.web.requests import SeenRequest
from penstock.web.shared_numbers import SharedNumbers

Begun = Callable[[str], MetricSeries]
HOLDS = {"penstock_tasks": {"waiting": 3.0}, "penstock_workers": {"a.task": 1.0}, "penstock_feeds_behind": {"": 0.0}}


@pytest.fixture
def begun(tmp_path: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch) -> Begun:
    """Begins a process of a service, under its name."""
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)  # which is changed for good otherwise
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")

    def begin(part: str) -> MetricSeries:
        shared = SharedNumbers(tmp_path)
        series = MetricSeries(clock, shared=shared)
        shared.count_as(part)
        return series

    return begin


def asked(series: MetricSeries, *, status: int = 200, seconds: float = 0.004) -> None:
    series.count(SeenRequest("1", "GET", "/r", "/r", status, seconds, "-"))


def counts(steps: list[MetricStep]) -> list[tuple[int, int, int, float | None]]:
    return [(s.requests, s.refused, s.errors, s.length(0.5)) for s in steps]


def test_whichever_process_is_asked_has_what_all_of_them_have_answered(begun: Begun, clock: FrozenClock) -> None:
    one, other = begun("server-1"), begun("server-2")
    asked(one)
    asked(other, status=404)
    asked(other, status=503)
    clock.advance(timedelta(seconds=10))
    asked(other, seconds=0.7)
    asked(other, seconds=20)
    for each in (one, other):
        assert counts(each.read(dict)) == [(3, 1, 1, 0.005), (2, 0, 0, 1.0)]


def test_what_the_store_held_is_known_to_all_when_anybody_has_looked(begun: Begun, clock: FrozenClock) -> None:
    one, other = begun("server-1"), begun("server-2")
    one.read(lambda: HOLDS)
    clock.advance(timedelta(seconds=10))
    first, last = other.read(dict)
    assert (first.stored, last.stored) == ({"tasks_waiting": 3.0, "feeds_behind": 0.0}, {})


def test_one_that_is_started_again_counts_on(begun: Begun, clock: FrozenClock) -> None:
    asked(begun("server-1"))
    again = begun("server-1")
    asked(again)
    clock.jump(timedelta(seconds=-60))
    asked(again)
    assert counts(again.read(dict)) == [(3, 0, 0, 0.005)], "a clock that is set back adds to the last step"


def test_what_lies_back_an_hour_is_gone_also_of_those_who_were_asked_nothing_since(
    begun: Begun, clock: FrozenClock
) -> None:
    one, other = begun("server-1"), begun("server-2")
    asked(one)
    clock.advance(timedelta(minutes=59, seconds=50))
    asked(other)
    assert len(other.read(dict)) == 2
    clock.advance(timedelta(seconds=10))
    asked(other)
    assert counts(other.read(dict)) == [(1, 0, 0, 0.005)] * 2


def seen(status: int = 200, seconds: float = 0.02, route: str = "/api/films") -> SeenRequest:
    return SeenRequest("1", "GET", route, route, status, seconds, "ann")


def test_requests_are_counted_in_their_step(clock: FrozenClock) -> None:
    series = MetricSeries(clock)
    for status in (200, 399, 400, 499, 500, 503):
        series.count(seen(status))
    series.count(seen(route="/api/films/events"))
    clock.advance(timedelta(seconds=STEP))
    series.count(seen(seconds=30))
    first, last = series.read(lambda: {"penstock_tasks": {"dead": 2.0}, "penstock_feeds_behind": {"": 1.0}})
    assert (first.requests, first.refused, first.errors, first.stored) == (6, 2, 2, {})
    assert (last.requests, last.refused, last.errors) == (1, 0, 0)
    assert last.stored == {"tasks_dead": 2.0, "feeds_behind": 1.0}
    assert last.at - first.at == timedelta(seconds=STEP)
    assert [first.length(part) for part in (0.5, 1.0)] == [0.025, 0.025]
    assert last.length(0.5) == 10.0, "longer than the last bound"


def test_a_step_in_which_nothing_happened_says_nothing(clock: FrozenClock) -> None:
    (step,) = MetricSeries(clock).read(dict)
    assert (step.requests, step.refused, step.errors, step.length(0.5)) == (0, 0, 0, None)


def test_an_hour_is_remembered_and_a_clock_that_is_set_back_adds_to_the_last(clock: FrozenClock) -> None:
    series = MetricSeries(clock)
    series.count(seen())
    clock.advance(timedelta(seconds=STEP * (STEPS - 1)))
    series.count(seen())
    clock.advance(-timedelta(minutes=5))
    series.count(seen())
    assert [step.requests for step in series.read(dict)] == [1, 2]
    clock.advance(timedelta(minutes=5, seconds=STEP))
    assert [step.requests for step in series.read(dict)] == [2, 0], "the first is an hour ago"
