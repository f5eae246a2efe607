"""Quotas that are used up, or nearly: what domains say of theirs, as a group of the inbox."""

from __future__ import annotations

from penstock.plugin import QuotaStanding
from penstock.runtime.inbox import InboxItem, InboxSource, Person
from penstock.runtime.operated_system import OperatedSystem
from penstock.runtime.record_link import link_to
from penstock.schema.role import Role

NEAR = 0.9
"From this part of a quota on, somebody should know."


def near_limit(system: OperatedSystem) -> InboxSource:
    """The group of quotas that are used up, or nearly."""

    def used_up(person: Person) -> list[InboxItem]:
        return [_item(s) for s in standings(system, person.project) if s.used >= NEAR * s.limit]

    why = "New work is refused once there is nothing left."
    return InboxSource("over_quota", "Quotas nearly used up", why, Role.EDITOR, direct=used_up)


def standings(system: OperatedSystem, project: str | None) -> list[QuotaStanding]:
    """How the quotas of a project stand, or of all together."""
    asked = [i.quotas for i in system.installed if i.quotas is not None]
    return [standing for ask in asked for standing in ask(system.context, project)]


def _item(standing: QuotaStanding) -> InboxItem:
    used = f"{standing.used:,} of {standing.limit:,} {standing.unit} {standing.whose}".strip()
    fields = {"quota": standing.quota, "used": standing.used, "limit": standing.limit}
    whose = None if standing.record is None else link_to(standing.record)
    return InboxItem(used, None, whose, detail=standing.helps or None, fields=fields)
