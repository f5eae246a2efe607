"""How records are looked at of which nobody has said it: found in their declaration."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from penstock.declare.entity import Entity
from penstock.declare.move import MoveOf
from penstock.declare.rights import move_permission
from penstock.errors import DeclarationError
from penstock.operations.reads import Query
from penstock.review.choice_by_move import choice_by_move
from penstock.review.reviewable import ChoiceKind, Reviewable, ReviewChoice, in_query
from penstock.schema.role import Role
from penstock.schema.shape import PatternShape

_NAMES: dict[ChoiceKind, frozenset[str]] = {
    ChoiceKind.APPROVE: frozenset({"approve", "accept", "release", "publish"}),
    ChoiceKind.REQUEST_CHANGES: frozenset({"request_changes", "rework", "revise", "send_back", "redo"}),
    ChoiceKind.REJECT: frozenset({"reject", "refuse", "decline"}),
}
"What moves of a review are usually called."


def derived_reviewable(entity: type[Entity]) -> Reviewable:
    """How records are looked at of which nobody has said it."""
    choices: dict[ChoiceKind, ReviewChoice] = {}
    deciding: list[MoveOf[Any, ...]] = []
    for move in entity.__moves__.values():
        kind = next((kind for kind, names in _NAMES.items() if move.name in names), None)
        if kind is not None and kind not in choices and isinstance(move_permission(entity.__shape__, move), Role):
            with suppress(DeclarationError):  # one that takes more than a reason is made by a form of its own
                choices[kind] = choice_by_move(kind, move)
                deciding.append(move)
    found = _by_state(entity)
    if found is None:
        return Reviewable(entity, choices=list(choices.values()))
    pattern, state = found
    origins = {origin for move in deciding if move.field == state for origin in move.origins}
    return Reviewable(
        entity,
        queue=in_query(_same_state(pattern, state)),
        choices=list(choices.values()),
        waiting={each.value: _in_state(pattern, state, each) for each in sorted(origins, key=lambda e: str(e.value))},
    )


def _by_state(entity: type[Entity]) -> tuple[PatternShape, str] | None:
    """The pattern that takes nothing but a state, and which state that is."""
    states = {each.name for each in entity.__shape__.states}
    for pattern in entity.__shape__.patterns.values():
        needed = [n for n in pattern.parameters if n not in pattern.optional and n != pattern.ranged]
        if len(needed) == 1 and needed[0] in states:
            return pattern, needed[0]
    return None


def _same_state(pattern: PatternShape, state: str) -> Callable[[Any], Query[Any]]:
    return lambda record: _in_state(pattern, state, record.__dict__[state])


def _in_state(pattern: PatternShape, state: str, value: Any) -> Query[Any]:
    return Query(pattern, {state: value}, backwards=pattern.backwards)
