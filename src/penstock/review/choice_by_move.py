"""A decision that is one move of a record: made as the record's own route makes it."""

from __future__ import annotations

import inspect
from typing import Any

from penstock.declare.move import MoveOf
from penstock.declare.move_arguments import filled_in
from penstock.declare.record_address import path_of
from penstock.errors import DeclarationError
from penstock.review.reviewable import ChoiceKind, MadeChoice, ReasonNeed, ReviewChoice
from penstock.schema.role import Role

_REASONS = ("note", "notes", "reason", "comment", "why")
"What a move calls the reason it is made for."
_FILLED_IN = ("at", "now", "by")
"What whoever carries it out knows better."


def choice_by_move(kind: ChoiceKind, move: MoveOf[Any, ...], title: str | None = None) -> ReviewChoice:
    """The decision that a move is; DeclarationError if the move needs more than a reason."""
    reason, need = _reason_of(move)

    def make(made: MadeChoice) -> None:
        given = {reason: made.reason} if reason is not None and made.reason is not None else {}
        with made.caller.change(why=made.reason) as change:
            record = change.track(made.record)
            move.carry_out(record, **given, **filled_in(move, now=change.store.clock.now(), by=made.caller.name))
            change.save(record)
            change.result = {}

    return ReviewChoice(
        kind,
        title or move.name.replace("_", " ").capitalize(),
        make,
        when=lambda record: getattr(record, move.field) in move.origins,
        route=lambda record: f"POST {path_of(record)}/moves/{move.name}",
        reason=need,
        reason_field=reason,
        role=_role_of(move),
    )


def _reason_of(move: MoveOf[Any, ...]) -> tuple[str | None, ReasonNeed]:
    parameters = list(inspect.signature(move.body).parameters.values())[1:] if move.body is not None else []
    others = [p for p in parameters if p.name not in (*_FILLED_IN, *_REASONS)]
    if missing := [p.name for p in others if p.default is p.empty]:
        raise DeclarationError(
            f"the move {move.name} takes {', '.join(missing)}, which a decision does not give; declare a ReviewChoice "
            f"with a make= of its own"
        )
    found = next((p for p in parameters if p.name in _REASONS), None)
    if found is None:
        return None, ReasonNeed.OPTIONAL  # it stands in the audit trail
    return found.name, ReasonNeed.REQUIRED if found.default is found.empty else ReasonNeed.OPTIONAL


def _role_of(move: MoveOf[Any, ...]) -> Role:
    return move.by if isinstance(move.by, Role) else Role.EDITOR
