"""Guest links: what lets somebody without a key look at one record, for a while, and say or decide something about it.

A link is a random token that is shown once; the store keeps its hash. It has rights of its own, ends at a moment, and
can be ended before. That it is used is written down, at most once in ten minutes for each link, so that whoever has one
cannot fill the trail; what is done by it is written down each time, under the name that its holder has given.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import Field

from penstock.declare.attr import the
from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.lifetime import Expires
from penstock.declare.move import move
from penstock.declare.pattern import pattern
from penstock.declare.units import Count, EpochSeconds, UtcSeconds
from penstock.errors import Conflict, InvalidValue
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.kernel.system import BY_STATUS, SYSTEM
from penstock.schema.role import Role
from penstock.schema.shape import OPERATORS

LONGEST_HOURS = 90 * 24
KEPT = timedelta(days=90)
"So long after its end it is known who had access, beside the audit trail."
LONGEST_NAME = 60
_NOTED = timedelta(minutes=10)
_LONGEST_TOKEN = 120
_NOBODYS = hashlib.sha256(b"of no link").hexdigest()


class LinkRight(StrEnum):
    """What the holder of a link may do; to look is everybody's."""

    COMMENT = "comment"
    DECIDE = "decide"


class LinkStatus(StrEnum):
    ACTIVE = "active"
    REVOKED = "revoked"


class GuestLink(Entity, table=SYSTEM, relation="guest_links", lifetimes=(Expires("ttl"),)):
    """What is known of a link; not its token."""

    __moved_by_work__ = True
    __rights__ = OPERATORS

    link_id: str
    "The part of the token that may be seen."
    hash: str
    label: str
    "For whom it is, as whoever made it says."
    about: str
    "The name (`record_name`) of the one record it leads to."
    domain: str
    collection: str
    parts: dict[str, str]
    "Of the record's key, as texts."
    project_id: str | None = None
    rights: frozenset[str] | None = None
    role: Role
    "That of whoever made it: a guest decides nothing that they could not."
    status: LinkStatus = LinkStatus.ACTIVE
    created_at: UtcSeconds = Field(frozen=True)
    created_by: str
    expires_at: UtcSeconds
    revoked_at: UtcSeconds | None = None
    revoked_by: str | None = None
    visits: Count = 0
    last_visit_at: UtcSeconds | None = None
    ttl: EpochSeconds

    @key("GUEST_LINK#{link_id}", "GUEST_LINK")
    def at(self, *, link_id: str) -> None: ...

    for_record = IndexKey(BY_STATUS, "GUEST_LINKS#{about}", "{created_at}#{link_id}")

    @pattern(for_record, backwards=True)
    def of_record(self, *, about: str) -> None:
        """The links that lead to a record, newest first."""

    @move(LinkStatus.ACTIVE, to=LinkStatus.REVOKED)
    def revoke(self, *, at: datetime, by: str) -> None:
        """End it for good."""
        self.revoked_at, self.revoked_by = at, by

    def may(self, right: LinkRight) -> bool:
        """Has its holder this right?"""
        return right.value in (self.rights or ())

    def works_at(self, now: datetime) -> bool:
        """Does it lead anywhere?"""
        return self.status is LinkStatus.ACTIVE and now < self.expires_at


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link just made, with its token, which nobody can ask for again."""

    record: GuestLink
    token: str

    def __repr__(self) -> str:
        return f"<new link {self.record.link_id}>"  # never the token: what is printed is often kept


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """The record that a link leads to."""

    about: str
    domain: str
    collection: str
    parts: dict[str, str]
    project: str | None


def new_link_token() -> str:
    """A token that nobody else has."""
    return f"gl_{secrets.token_hex(8)}_{secrets.token_urlsafe(32)}"


def create_link(
    change: Change,
    target: LinkTarget,
    *,
    label: str,
    rights: frozenset[LinkRight],
    role: Role,
    lasts: timedelta,
    by: str,
    token: str,
) -> NewLink:
    """Make a link to a record, within a change; its token is in the answer and nowhere else."""
    now = change.store.clock.now()
    record = GuestLink(
        link_id=_id_in(token) or "",
        hash=_hash(token),
        label=checked_name(label),
        about=target.about,
        domain=target.domain,
        collection=target.collection,
        parts=target.parts,
        project_id=target.project,
        rights=frozenset(r.value for r in rights) or None,
        role=role,
        created_at=now,
        created_by=by,
        expires_at=now + lasts,
        ttl=int((now + lasts + KEPT).timestamp()),
    )
    return NewLink(change.create(record), token)


def find_link(store: Store, token: str) -> GuestLink | None:
    """The link a token is, if it works; how long that takes does not tell how much of it was right."""
    link_id = _id_in(token)
    found = None if link_id is None else store.lookup(GuestLink.at(link_id=link_id))
    expected = found.hash if found is not None else _NOBODYS
    matches = hmac.compare_digest(expected, _hash(token))
    return found if found is not None and matches and found.works_at(store.clock.now()) else None


def note_visit(store: Store, link: GuestLink) -> bool:
    """Write down that a link is used, unless that was done a short while ago; was it now?"""
    now = store.clock.now()
    if link.last_visit_at is not None and now - link.last_visit_at < _NOTED:
        return False
    unseen = the(GuestLink.last_visit_at)
    same = unseen.absent() if link.last_visit_at is None else unseen.equals(link.last_visit_at)
    try:
        with store.change(by=f"guest#{link.link_id}", why="the link was opened", project=link.project_id) as change:
            updates = (the(GuestLink.visits).add(1), the(GuestLink.last_visit_at).set(now))
            change.patch(link.ref, *updates, when=same)
    except Conflict:
        return False  # another request of the same guest has
    return True


def checked_name(name: str) -> str:
    """A name that somebody gives: one line of plain text, and not empty. It is text wherever it is shown."""
    kept = " ".join(name.split())
    if not 0 < len(kept) <= LONGEST_NAME or not kept.isprintable():
        raise InvalidValue(f"a name has 1 to {LONGEST_NAME} printable characters")
    return kept


def _id_in(token: str) -> str | None:
    """The part of a token that may be seen; None of what cannot be one."""
    parts = token.split("_", 2) if len(token) < _LONGEST_TOKEN else []
    well_formed = len(parts) == 3 and parts[0] == "gl" and parts[1].isalnum() and parts[1].isascii()
    return parts[1] if well_formed else None


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
