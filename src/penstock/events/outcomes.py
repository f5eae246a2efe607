"""Outcomes: what became of each message that a sink was given, also where the sink itself fails."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.errors import InvalidValue, told
from penstock.ports.sink import Envelope, Sink, Undeliverable


def outcomes_of(sink: Sink, envelopes: Sequence[Envelope]) -> list[Exception | None]:
    """One outcome for each message: None, or why it was not told.

    A sink says so of each message. One that raises instead has told none of them, and one that answers otherwise may
    have told any: they are all told again.
    """
    try:
        outcomes = list(sink.deliver(envelopes))
    except Undeliverable as error:
        # Which of several it will never take is for the sink to say: the others need not perish with it.
        return [error] if len(envelopes) == 1 else [o for e in envelopes for o in outcomes_of(sink, [e])]
    except Exception as error:
        return [_sayable(error)] * len(envelopes)
    wrong = next((type(o).__name__ for o in outcomes if o is not None and not isinstance(o, Exception)), None)
    if wrong is not None or len(outcomes) != len(envelopes):
        answer = f"a {wrong}" if wrong is not None else f"{len(outcomes)} outcomes"
        said = InvalidValue(f"{type(sink).__name__} answers {answer} to {len(envelopes)} messages; one each is due")
        return [said] * len(envelopes)
    return [None if o is None else _sayable(o) for o in outcomes]


def _sayable(error: Exception) -> Exception:
    """The error, or one of its name where it cannot say what it is."""
    try:
        told(error)
    except Exception:
        return Exception(type(error).__name__)
    return error
