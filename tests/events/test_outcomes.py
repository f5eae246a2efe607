"""A sink that fails by itself keeps no message from being told later, and no relay from its work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, open_store
from penstock.events.outcomes import outcomes_of
from penstock.events.relay import Relay
from penstock.ports.sink import Envelope, Undeliverable
from penstock.testing.entities import SUITE, specimen


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even that")


class OddSink:
    def __init__(self, act: Callable[[Sequence[Envelope]], Any]) -> None:
        self._act = act

    def deliver(self, messages: Sequence[Envelope]) -> Any:
        return self._act(messages)


def _raise(error: BaseException) -> Callable[[Sequence[Envelope]], Any]:
    def act(messages: Sequence[Envelope]) -> Any:
        raise error

    return act


ODD: dict[str, Callable[[Sequence[Envelope]], Any]] = {
    "raises": _raise(ConnectionError("away")),
    "raises what says nothing": _raise(Mute()),
    "answers with what says nothing": lambda m: [Mute()] * len(m),
    "raises what it cannot mean": _raise(StopIteration()),
    "raises a NUL": _raise(ValueError("a\x00b\ud800")),
    "answers nothing": lambda m: [],
    "answers too much": lambda m: [None] * (len(m) + 1),
    "answers None": lambda m: None,
    "answers with texts": lambda m: ["failed"] * len(m),
}


@pytest.mark.parametrize("odd", list(ODD))
def test_what_an_odd_sink_was_given_is_told_later(tmp_path: Path, odd: str) -> None:
    clock = FrozenClock()
    store = open_store(f"sqlite:///{tmp_path / 'store.db'}", clock=clock)
    store.ensure(SUITE)
    with store.change() as change:
        for label in ("one", "two"):
            change.emit("seen", change.create(specimen(label=label)))
    assert Relay(store, OddSink(ODD[odd]), owner="r").run_once().postponed == 2
    store.close()


def test_one_message_that_is_never_taken_does_not_bury_the_others() -> None:
    def act(messages: Sequence[Envelope]) -> Any:
        if any(m.id == "2" for m in messages):
            raise Undeliverable("too large")
        return [None] * len(messages)

    messages = [Envelope(str(n), "t", str(n), None, {}, FrozenClock().now()) for n in range(4)]
    assert [type(o) for o in outcomes_of(OddSink(act), messages)] == [type(None)] * 2 + [Undeliverable, type(None)]
