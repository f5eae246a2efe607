"""The last hour in steps of ten seconds: what was counted is what is told."""

from __future__ import annotations

from datetime import timedelta

from penstock import FrozenClock
from penstock.web.operating.metric_series import STEP, STEPS, MetricSeries
from penstock.web.requests import SeenRequest


def seen(status: int = 200, seconds: float = 0.02, route: str = "/api/films") -> SeenRequest:
    return SeenRequest("1", "GET", route, route, status, seconds, "ann")


def test_requests_are_counted_in_their_step(clock: FrozenClock) -> None:
    series = MetricSeries(clock)
    for status in (200, 399, 400, 499, 500, 503):
        series.count(seen(status))
    series.count(seen(route="/api/films/events"))
    clock.advance(timedelta(seconds=STEP))
    series.count(seen(seconds=30))
    first, last = series.read(lambda: {"penstock_tasks": {"failed": 2.0}, "penstock_lag": {"": 1.0}})
    assert (first.requests, first.refused, first.errors, first.stored) == (6, 2, 2, {})
    assert (last.requests, last.refused, last.errors) == (1, 0, 0)
    assert last.stored == {"tasks_failed": 2.0, "lag": 1.0}
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
