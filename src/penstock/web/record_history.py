"""The history of a record as the service shows it: to editors what was done, when and by whom; to admins all."""

from __future__ import annotations

import inspect
from datetime import datetime
from typing import Annotated, Any

from annotated_types import Ge, Le, MaxLen
from pydantic import BaseModel

from penstock.auth.caller import Caller
from penstock.kernel.audit import SystemAudit
from penstock.kernel.history import HistoryEntry
from penstock.operations.reads import Range, Ref
from penstock.schema.documents import kept
from penstock.schema.role import Role
from penstock.web.forms import json_of, parameter_type
from penstock.web.pattern_question import BOUNDS
from penstock.web.signature import query
from penstock.work.task_history import TASK_HISTORY

SHOWN_TO = Role.EDITOR
"Who may look at the history of a record that they may look at."
_ALL_TO = Role.ADMIN
_LONGEST_REASON = 2000
_PAGE = 50
_MOMENTS = {f"ts.{word}": about for word, about in BOUNDS.items()}
ASKED = (*_MOMENTS, "oldest_first", "detailed", "limit", "cursor")


class HistoryPart(BaseModel):
    """A message that a change told others, or an attempt at a task."""

    ts: datetime
    kind: str
    action: str
    by: str | None
    state: str | None
    id: str | None
    "For administrators."
    why: str | None
    "For administrators."


class HistoryItem(HistoryPart):
    """Something that was done to a record, or that was to be done about it."""

    does: str | None
    moved: dict[str, tuple[str | None, str | None]]
    fields: list[str]
    parts: list[HistoryPart]


class HistoryItems(BaseModel):
    """Some entries in order; pass `next` back as `cursor` for those behind them, until it is null."""

    items: list[HistoryItem]
    next: str | None


def history_parameters() -> list[inspect.Parameter]:
    """What a history is asked by, beside the record's key, whose parts may have any name."""
    moment = parameter_type(SystemAudit, "ts")
    found = [query(name, moment, needed=False, about=f"Was {about} this.") for name, about in _MOMENTS.items()]
    found.append(query("oldest_first", bool, needed=False, about="Begin with the oldest, not with the newest."))
    found.append(query("detailed", bool, needed=False, about="Also how messages stand, and the attempts at tasks."))
    limit = Annotated[int, Ge(1), Le(200)]
    found.append(query("limit", limit, needed=False, about=f"At most so many, {_PAGE} if not said."))
    found.append(query("cursor", Annotated[str, MaxLen(4096)], needed=False, about="`next` of the page before."))
    return [p.replace(name=f"asked_{p.name}") for p in found]


def history_page(caller: Caller, ref: Ref[Any], ts: Range[datetime], given: dict[str, Any]) -> bytes:
    """A page of a record's history as its caller may see it; NotFound if there never was such a record."""
    page = caller.store.history(
        ref,
        ts=ts,
        oldest_first=bool(given["oldest_first"]),
        detailed=bool(given["detailed"]),
        beside=(TASK_HISTORY,),
        limit=given["limit"] or _PAGE,
        cursor=given["cursor"],
    )
    if not page.entries and given["cursor"] is None and ts == Range():
        caller.store.get(ref)
    is_admin = caller.role is not None and caller.role.includes(_ALL_TO)
    return json_of({"items": [_item(e, all=is_admin) for e in page.entries], "next": page.cursor})


def _item(entry: HistoryEntry, *, all: bool) -> dict[str, Any]:
    return _part(entry, all=all) | {
        "does": entry.does,
        "moved": dict(entry.moved),
        "fields": list(entry.fields),
        "parts": [_part(part, all=all) for part in entry.parts],
    }


def _part(entry: HistoryEntry, *, all: bool) -> dict[str, Any]:
    why = entry.why if all else None
    return {
        "ts": entry.ts,
        "kind": entry.kind.value,
        "action": entry.action,
        "by": entry.by,
        "state": entry.state,
        "id": entry.id if all else None,
        "why": None if why is None else kept(why, _LONGEST_REASON),
    }
