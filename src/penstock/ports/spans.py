"""Spans: what a process tells of one piece of work, in the trace of whoever asked for it; nothing, unless chosen."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TypeAlias

Tell: TypeAlias = Callable[[str, str | int], object]
"Says something more of a span: a name and a value."


class Spans(Protocol):
    """Where spans go."""

    def span(self, name: str, *, parent: str | None = None) -> AbstractContextManager[Tell]:
        """Work that begins and ends here; ``parent`` is what `here` told where it was asked for."""
        ...

    def within(self, name: str) -> AbstractContextManager[Tell]:
        """The same, but only within another span: what nobody asked for is not told."""
        ...

    def here(self) -> str | None:
        """The span that this is in, as W3C's traceparent; None in none."""
        ...


class NoSpans:
    """Nobody is told."""

    def span(self, name: str, *, parent: str | None = None) -> AbstractContextManager[Tell]:
        return _NOTHING

    def within(self, name: str) -> AbstractContextManager[Tell]:
        return _NOTHING

    def here(self) -> str | None:
        return None


_NOTHING: AbstractContextManager[Tell] = nullcontext(lambda name, value: None)
_CHOSEN: list[Spans] = [NoSpans()]


def spans() -> Spans:
    """Where the spans of this process go."""
    return _CHOSEN[0]


def choose_spans(chosen: Spans) -> None:
    """Have the spans of this process told, as logging is set up once for all of it."""
    _CHOSEN[0] = chosen
