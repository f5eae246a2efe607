"""Transitions: which moves of an entity carry out what happens to it.

A pipeline says what happens (a step is paused, a job fails); an entity has moves of its own for that. The usual names
are known, others are given. Before anything runs, the whole story that a record may live through is played on the
entity's state machine, so that a missing move is found where it is declared.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from penstock.declare.entity import Entity
from penstock.declare.move import MoveOf
from penstock.errors import DeclarationError, IllegalMove

Path: TypeAlias = "str | tuple[str, ...]"
"A move, or several one after the other."
Paths: TypeAlias = "Path | list[Path]"
"What carries something out: a path, or a list of which the first is taken that is legal where the record stands."

TOLD = frozenset(
    {
        *("at", "by", "note", "step", "position", "round", "task_id", "input"),
        *("made", "artifacts", "metrics", "outcome"),
        *("error", "code", "message"),
    }
)
"What a pipeline tells a move; it is given what its parameters name."


@dataclass(frozen=True, slots=True)
class Chapter:
    """Something that may happen to a record, and in which part of its story it is then; ``?`` marks what may lack."""

    origin: str
    signals: tuple[str, ...]
    to: str
    needed: bool = True


class Transitions:
    """The moves by which an entity takes part in a pipeline."""

    def __init__(self, entity: type[Entity], usual: Mapping[str, Paths], given: Mapping[str, Paths]) -> None:
        self.entity = entity
        if unknown := sorted(set(given) - set(usual)):
            raise DeclarationError(
                f"{self._label}: nothing is called {', '.join(unknown)}; there is {', '.join(usual)}"
            )
        self._paths = {
            signal: self._known(given[signal]) if signal in given else self._usual(paths)
            for signal, paths in usual.items()
        }
        self._field = self._state_field()

    @property
    def _label(self) -> str:
        return self.entity.__shape__.label

    def _usual(self, paths: Paths) -> list[tuple[MoveOf[Any, ...], ...]]:
        moves = self.entity.__moves__
        return [tuple(moves[name] for name in path) for path in _listed(paths) if all(name in moves for name in path)]

    def _known(self, paths: Paths) -> list[tuple[MoveOf[Any, ...], ...]]:
        moves = self.entity.__moves__
        for name in (name for path in _listed(paths) for name in path):
            if name not in moves:
                raise DeclarationError(f"{self._label} has no move {name!r}; it has {', '.join(moves) or 'none'}")
        return self._usual(paths)

    def _state_field(self) -> str:
        used = [move for paths in self._paths.values() for path in paths for move in path]
        fields = sorted({move.field for move in used})
        if len(fields) != 1:
            raise DeclarationError(
                f"{self._label}: a pipeline moves one state, not {', '.join(fields) or 'none'}; say by moves= which "
                f"moves are meant"
            )
        for move in used:
            for name in _required(move) - TOLD:
                raise DeclarationError(
                    f"{self._label}.{move.name} needs {name!r}, which a pipeline does not tell; it tells "
                    f"{', '.join(sorted(TOLD))}. Declare another move for it, and name it in moves="
                )
        return fields[0]

    # What is possible

    def after(self, signal: str, state: Enum) -> Enum | None:
        """Where a record is after that; None if no move carries it out."""
        path = self._legal(signal, state)
        return None if path is None else path[-1].to

    def can(self, signal: str, record: Entity) -> bool:
        """Does a move do that from where a record stands?"""
        return self._legal(signal, getattr(record, self._field)) is not None

    def carry_out(self, signal: str, record: Entity, told: Mapping[str, Any]) -> bool:
        """Move a record, if a move does that from where it stands."""
        path = self._legal(signal, getattr(record, self._field))
        for move in path or ():
            move.carry_out(record, **{name: told.get(name) for name in _taken(move)})
        return path is not None

    def must(self, signal: str, record: Entity, told: Mapping[str, Any]) -> None:
        """Move a record; IllegalMove if no move does that from where it stands."""
        if not self.carry_out(signal, record, told):
            raise IllegalMove(f"{record.ref!r} {self._lack(signal, getattr(record, self._field))}")

    def is_final(self, record: Entity) -> bool:
        """Does no move lead on from where a record stands?"""
        state = getattr(record, self._field)
        return not any(state in m.origins for m in self.entity.__moves__.values() if m.field == self._field)

    def _legal(self, signal: str, state: Enum) -> tuple[MoveOf[Any, ...], ...] | None:
        for path in self._paths[signal]:
            present = state
            for move in path:
                if present not in move.origins:
                    break
                present = move.to
            else:
                return path
        return None

    # The whole story

    def check(self, story: Iterable[Chapter], *, begins: str = "waiting") -> None:
        """Play a story in all its ways; DeclarationError where a move is missing that it cannot do without."""
        initial = self.entity.model_fields[self._field].default
        if not isinstance(initial, Enum):
            raise DeclarationError(f"{self._label}.{self._field} needs a default: the state in which a record begins")
        chapters, met, left = list(story), set(), [(begins, initial)]
        while left:
            place = left.pop()
            if place not in met:
                met.add(place)
                left += [(c.to, to) for c in chapters if c.origin == place[0] if (to := self._play(c, place[1]))]

    def _play(self, chapter: Chapter, state: Enum) -> Enum | None:
        for signal in chapter.signals:
            name = signal.rstrip("?")
            to = self.after(name, state)
            if to is None and not signal.endswith("?"):
                if chapter.needed:
                    raise DeclarationError(f"a {self._label} {self._lack(name, state)}")
                return None
            state = to or state
        return state

    def _lack(self, signal: str, state: Enum) -> str:
        names = [" and ".join(m.name for m in path) for path in self._paths[signal]]
        have = f"{' or '.join(names)} cannot be made from there" if names else "it has no such move"
        return (
            f"that is {state.value} cannot {signal}: {have}. {_INSTEAD.get(signal, 'Declare')} a move from "
            f"{state.value}, and name it in moves={{{signal!r}: …}} if it is called otherwise"
        )


_INSTEAD = {"revive": "Begin another instead, and cancel the task of this one; or declare"}
"What whoever asks for it can do, where that is not only whoever declares it."


def _listed(paths: Paths) -> Sequence[tuple[str, ...]]:
    several = paths if isinstance(paths, list) else [paths]
    return [(path,) if isinstance(path, str) else path for path in several]


def _parameters(move: MoveOf[Any, ...]) -> list[inspect.Parameter]:
    """What a move takes besides the record."""
    if move.body is None:
        return []
    several = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [p for p in list(inspect.signature(move.body).parameters.values())[1:] if p.kind not in several]


def _taken(move: MoveOf[Any, ...]) -> list[str]:
    return [p.name for p in _parameters(move) if p.name in TOLD]


def _required(move: MoveOf[Any, ...]) -> set[str]:
    return {p.name for p in _parameters(move) if p.default is inspect.Parameter.empty}
