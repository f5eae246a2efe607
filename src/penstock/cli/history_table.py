"""A record's history in words: for people a few columns, for programs all there is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from typing import Any

from penstock.kernel.history import HistoryEntry, HistoryKind
from penstock.schema.kinds import instant_text

_LONGEST = 80


def told_entry(entry: HistoryEntry) -> dict[str, Any]:
    """An entry as JSON has it."""
    return {
        "ts": instant_text(entry.ts, 6),
        "kind": entry.kind.value,
        "action": entry.action,
        "by": entry.by,
        "does": entry.does,
        "moved": {name: list(states) for name, states in entry.moved.items()},
        "fields": list(entry.fields),
        "why": entry.why,
        "state": entry.state,
        "id": entry.id,
        "source": None if entry.source is None else repr(entry.source),
        "parts": [told_entry(part) for part in entry.parts],
    }


def entry_rows(entry: HistoryEntry) -> Iterator[dict[str, str]]:
    """A line for the entry, and one for each of its parts that says more than the entry does."""
    yield _row(entry, entry.kind.value)
    for part in entry.parts:
        if part.kind is not HistoryKind.MESSAGE or part.state is not None or part.action != entry.action:
            yield _row(part, f"  {part.kind.value}")


def _row(entry: HistoryEntry, kind: str) -> dict[str, str]:
    return {
        "when": f"{entry.ts.astimezone(UTC):%Y-%m-%d %H:%M:%S}",
        "": kind,
        "what": entry.action,
        "by": entry.by or "",
        "moved": _moved(entry),
        "why": _short(entry.why or ""),
    }


def _moved(entry: HistoryEntry) -> str:
    """The states that changed; else how it stands, or what else was done."""
    if entry.moved:
        return ", ".join(f"{name}: {was or '-'} → {now}" for name, (was, now) in entry.moved.items())
    if entry.state is not None:
        return entry.state
    return " ".join(filter(None, (entry.does, ", ".join(entry.fields))))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
