"""What is told and counted of a store's calls is whose it is: what it asks about its layouts is not the caller's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from penstock import FrozenClock, open_store
from penstock.cost.meter import Meter
from penstock.kernel.layouts.evolving_engine import by_layouts
from penstock.ports.spans import NoSpans, Tell, choose_spans, spans
from penstock.runtime.settings import Settings
from penstock.testing.entities import SUITE, Specimen, specimen


class ToldSpans(NoSpans):
    """Remembers the spans of calls, each with what it was about."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    @contextmanager
    def within(self, name: str) -> Iterator[Tell]:
        said: dict[str, str | int] = {}
        yield said.__setitem__
        self.calls.append((name, str(said.get("db.query.summary", ""))))


@pytest.fixture
def told() -> Iterator[ToldSpans]:
    before, chosen = spans(), ToldSpans()
    choose_spans(chosen)
    yield chosen
    choose_spans(before)


def test_a_trace_and_a_meter_tell_a_callers_calls_as_the_callers_and_no_others(tmp_path: Path, told: ToldSpans) -> None:
    clock, meter = FrozenClock(), Meter()
    settings = Settings(telemetry="http://127.0.0.1:9")
    with closing(open_store(f"sqlite:///{tmp_path}/s.db", settings=settings, clock=clock, meter=meter)) as store:
        store.ensure(SUITE)
        clock.advance(timedelta(minutes=1))  # so long nobody goes by what is known of layouts without asking
        told.calls.clear()
        meter.reset()
        store.put(specimen())
        clock.advance(timedelta(minutes=1))
        store.get(specimen().ref)
        store.engine.scan(Specimen.__shape__)
        label = Specimen.__shape__.label
        assert told.calls == [("commit sqlite", ""), ("get sqlite", ""), ("scan sqlite", label)]
        assert meter.snapshot()[f"{label} get"].requests == 1
        assert "penstock.LayoutEdition get" in meter.snapshot(), "which is paid for, too"
        assert by_layouts(store.engine.bound("p1")).knowledge is by_layouts(store.engine).knowledge
