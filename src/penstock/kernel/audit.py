"""The audit trail: one line a change, only ever added, each with a hash of what it says.

The hash is of values, not of bytes, so it is the same whichever engine a line is read from: names are sorted, because
PostgreSQL's jsonb forgets their order, and a number has one form, because engines disagree on 1.0, 1e19 and 2.0**60.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

import msgspec
from pydantic import Field

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.pattern import pattern
from penstock.declare.units import UtcMicros
from penstock.errors import InvalidValue
from penstock.kernel.system import SYSTEM
from penstock.operations.conditions import Missing
from penstock.operations.reads import ANYTHING, Range
from penstock.operations.validation import is_simple_json, is_simple_name, prepare
from penstock.operations.writes import Put
from penstock.schema.kinds import INTEGER_LIMIT, instant_text
from penstock.schema.role import Role
from penstock.schema.shape import KEPT

EVERYWHERE = "-"
"The project of what belongs to none."


class AuditLine(Entity):
    """Who did what, when and why. Lines are only added."""

    __rights__ = KEPT
    __seen_by__ = Role.ADMIN
    __moved_by_work__ = True
    __traced__ = False

    project_id: str
    ts: UtcMicros
    actor: str
    action: str
    details: dict[str, Any] = Field(default_factory=dict)
    hash: str | None = None

    def sealed(self) -> str:
        """The hash of everything the line says."""
        said = [self.project_id, instant_text(self.ts, 6), self.actor, self.action, _canonical(self.details)]
        return hashlib.sha256(_encode(said)).hexdigest()


class SystemAudit(AuditLine, table=SYSTEM, relation="audit", collection="audit_lines"):
    """The kernel's own, for domains that do not document theirs."""

    @key("PROJECT#{project_id}", "AUDIT#{ts}#{actor}")
    def at(self, *, project_id: str, ts: datetime, actor: str) -> None: ...

    @pattern(at)
    def of_project(self, *, project_id: str, ts: Range[datetime] = ANYTHING) -> None:
        """What happened in a project, in order."""


def entry(
    audit: type[AuditLine], *, project_id: str, ts: datetime, actor: str, action: str, details: dict[str, Any]
) -> Put:
    """The write of a new line, where none stands. ``details`` is plain, and has no numbers."""
    try:
        said = _encode([project_id, instant_text(ts, 6), actor, action, details])
    except UnicodeEncodeError:
        raise InvalidValue(f"an audit line has a lone surrogate, which is not valid Unicode: {action!r}") from None
    values = {
        "project_id": project_id,
        "ts": ts,
        "actor": actor,
        "action": action,
        "details": details,
        "hash": hashlib.sha256(said).hexdigest(),
    }
    if audit is SystemAudit and is_simple_name(project_id) and is_simple_name(actor) and is_simple_json(said):
        return Put(audit.__shape__, values, _NEW, True)
    values = prepare(audit.__shape__, audit.model_validate(values).__dict__)
    return Put(audit.__shape__, values, _NEW, witness=True)


_encode = msgspec.json.Encoder(order="sorted").encode
_NEW = Missing()


def _canonical(value: Any) -> Any:
    """A document with each of its numbers in the one form that every engine gives back."""
    if isinstance(value, str) or value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, dict):
        return {name: _canonical(v) for name, v in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(v) for v in value]
    raise InvalidValue(f"an audit line cannot hold a {type(value).__name__}; use text, numbers, lists and maps")


def _number(value: int | float) -> int | list[str]:
    """Whole numbers within 64 bits as integers, others by their text, as encoders disagree on how to write one.

    Beyond 64 bits only floats are stored, which PostgreSQL itself writes as integers.
    """
    if -INTEGER_LIMIT <= value < INTEGER_LIMIT and value == int(value):
        return int(value)
    try:
        return ["float", repr(float(value))]
    except OverflowError:
        return ["beyond every float"]  # which no line was ever written with, so it is found out
