"""The story of a run that went wrong: who did what, in order, on at most a screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

from penstock.kernel.own_records import KERNEL
from penstock.operations.reads import named
from penstock.testing.simulation.engine import Touched
from penstock.testing.simulation.outcome import Outcome, Step
from penstock.testing.simulation.stored_row import StoredRow, read_value

_WIDTH, _LINES = 118, 24
_TOLD = 4
"So many fields are told of a record that changed."


def story(outcome: Outcome) -> str:
    """What happened, what was wrong, and how to see it again."""
    told = _joined(line for step in outcome.steps if (line := _line(step)) is not None)
    end = [f"Then: {outcome.broken}"[: 4 * _WIDTH], f"Again: {outcome.schedule.token}"]
    room = _LINES - len(end) - 1
    if len(told) > room:
        left = len(told) - room + 1
        # How it began matters less than how it came to its end.
        told = [*told[:3], f"… and {left} more", *told[3 + left :]]
    return "\n".join([*(line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…" for line in told), "", *end])


def _joined(lines: Iterable[tuple[str, str]]) -> list[str]:
    """Lines with who did it; several of the same in a row are told once."""
    told: list[str] = []
    last = ""
    for who, what in lines:
        line = f"{'' if who == last else who:<14} {what}"
        if not told or told[-1].strip() != line.strip():
            told.append(line)
        last = who
    return told


def _line(step: Step) -> tuple[str, str] | None:
    """What a step did; reads that nothing happened to are left out."""
    did = "; ".join(_told(touched) for touched in _telling(step.touched))
    if not did and not step.happening:
        return None
    where = f", as it {_verb(step)}" if step.what is not None and step.happening and not did else ""
    return step.who, f"{did}{' — ' if did and step.happening else ''}{step.happening}{where}"


def _verb(step: Step) -> str:
    call = step.what
    if call is None:
        return ""
    if call.name in ("commit", "patch"):
        writes = call.about if isinstance(call.about, Sequence) else [call.about]
        return f"writes {', '.join(dict.fromkeys(w.shape.name for w in writes))}"
    if call.name == "get":
        return f"reads {', '.join(dict.fromkeys(ref.shape.name for ref in call.about))}"
    return str(call) if str(call).startswith("looks") else f"calls {call}"


def _telling(touched: Sequence[Touched]) -> list[Touched]:
    """What people ask about first; of the system's own records the rest."""
    theirs = [t for t in touched if t.shape.domain != KERNEL.name]
    return theirs or list(touched)


def _told(touched: Touched) -> str:
    shape = touched.shape
    present = touched.new or touched.old
    assert present is not None
    name = named(shape, {n: _short(present, shape.fields[n].column) for n in shape.key.fields})
    if touched.old is None:
        return f"{name} is made{_fields(touched, shape.states)}"
    if touched.new is None:
        return f"{name} is removed"
    return f"{name}{_fields(touched, shape.fields.values())}"


def _fields(touched: Touched, fields: Iterable[Any]) -> str:
    new, old = touched.new, touched.old
    if new is None:
        return ""
    changed = [f for f in fields if old is None or old.values.get(f.column) != new.values.get(f.column)]
    changed.sort(key=lambda f: not f.state)
    told = [f"{f.name}={_value(f, new)}" for f in changed[:_TOLD]]
    return f": {', '.join(told)}" if told else ""


def _value(field: Any, row: StoredRow) -> str:
    try:
        value = read_value(field, row.values.get(field.column))
    except (ValueError, TypeError):
        value = row.values.get(field.column)
    text = str(value.value if isinstance(value, Enum) else value)
    return text if len(text) <= 24 else f"{text[:23]}…"


def _short(row: StoredRow, column: str) -> str:
    text = str(row.values.get(column))
    return text if len(text) <= 20 else f"…{text[-8:]}"
