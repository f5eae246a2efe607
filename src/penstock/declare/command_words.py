"""The words of the command line about records: how they are written, and how they are read again.

    penstock ls films.Film.by_status status=done created_at=2026-01-01T00:00:00Z..
    penstock show films.Film project_id=p1 title=Robot
    penstock move films.Film rate project_id=p1 title=Robot views=3

Where a value belongs stands its name in braces, ``status={status}``: whoever shows a command fills it in.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.schema.shape import EntityShape, PatternShape

PROGRAM = "penstock"
LIST, SHOW, MOVE, HISTORY = "ls", "show", "move", "history"
"The commands."
RANGE = ".."
"Stands between the two ends of a range, either of which may be left out."


def read_word(word: str) -> tuple[str, str] | None:
    """The name and the text of a word such as ``status=done``; None for one of another form."""
    name, equals, text = word.partition("=")
    return (name, text) if equals else None


def list_words(pattern: PatternShape) -> list[str]:
    """The command that lists by a pattern; `parameter_word` says what may follow."""
    return [PROGRAM, LIST, pattern.label]


def parameter_word(pattern: PatternShape, name: str) -> str:
    """The word that says a parameter of a pattern."""
    return f"{name}={{{name}.since}}{RANGE}{{{name}.until}}" if name == pattern.ranged else _word(name)


def show_words(shape: EntityShape) -> list[str]:
    """The command that shows one record."""
    return [PROGRAM, SHOW, shape.label, *_key_words(shape)]


def history_words(shape: EntityShape) -> list[str]:
    """The command that shows what became of a record."""
    return [PROGRAM, HISTORY, shape.label, *_key_words(shape)]


def move_words(shape: EntityShape, move: str, arguments: Iterable[str]) -> list[str]:
    """The command that makes a move of a record."""
    return [PROGRAM, MOVE, shape.label, move, *_key_words(shape), *map(_word, arguments)]


def _key_words(shape: EntityShape) -> list[str]:
    return [_word(name) for name in shape.key.fields]


def _word(name: str) -> str:
    return f"{name}={{{name}}}"
