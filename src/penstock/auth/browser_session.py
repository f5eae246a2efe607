"""Sessions of browsers: whoever has shown an API key once is known by a cookie, until the key or the session ends.

The cookie is a random secret that only the browser keeps; the store has its hash. It lasts as long as it is used, up to
an end that nothing moves, and not a moment longer than the key that it was begun with.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import Field

from penstock.auth.api_keys import ApiKey, KeyStatus
from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.lifetime import Expires
from penstock.declare.units import EpochSeconds, UtcSeconds
from penstock.errors import PenstockError
from penstock.kernel.idempotency import Claim
from penstock.kernel.store import Store
from penstock.kernel.system import SYSTEM
from penstock.operations.reads import Ref
from penstock.operations.updates import Set
from penstock.schema.shape import OPERATORS

UNUSED = timedelta(hours=12)
"A session ends when it was not used for so long,"
LONGEST = timedelta(days=7)
"and in any case so long after it was begun."
_NOTED = timedelta(hours=1)
"That it was used is written down no more often than this."
_SECRET = re.compile(r"[A-Za-z0-9]{1,40}\.[A-Za-z0-9_-]{43}")


class BrowserSession(Entity, table=SYSTEM, relation="browser_sessions", lifetimes=(Expires("ttl"),)):
    """A browser that somebody has signed in with; not its secret."""

    __moved_by_work__ = True
    __rights__ = OPERATORS

    hash: str
    key_id: str
    "The key that it was begun with, and ends with."
    begun_at: UtcSeconds = Field(frozen=True)
    ttl: EpochSeconds

    @key("BROWSER_SESSION#{hash}", "BROWSER_SESSION")
    def at(self, *, hash: str) -> None: ...

    @property
    def expires_at(self) -> datetime:
        """When it ends unless it is used before."""
        return datetime.fromtimestamp(self.ttl, UTC)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A session that holds, with the secret that came with the request."""

    session: BrowserSession
    key: ApiKey
    secret: str

    def __repr__(self) -> str:
        return f"<session of {self.key.key_id}>"  # never the secret: what is printed is often kept

    @property
    def csrf(self) -> str:
        """What a page shows to prove that it is ours: made of the secret, which no page can read."""
        return hashlib.sha256(b"of our own page:" + self.secret.encode()).hexdigest()

    def is_shown(self, csrf: str | None) -> bool:
        """Is this what only our own pages know?"""
        return csrf is not None and hmac.compare_digest(csrf.encode(), self.csrf.encode())


def sign_in(store: Store, key: ApiKey, *, by: str, once: Claim | None = None) -> SignedIn:
    """Begin a session with a key that works; it has a new secret, whatever the browser brought along."""
    now = store.clock.now()
    secret = f"{key.key_id}.{secrets.token_urlsafe(32)}"
    ttl = int((now + UNUSED).timestamp())
    session = BrowserSession(hash=_hash(secret), key_id=key.key_id, begun_at=now, ttl=ttl)
    with store.change(by=by, why="signed in", project=key.project_id, once=once) as change:
        change.create(session)
        change.result = {"signed_in": key.key_id}
    return SignedIn(session, key, secret)


def find_session(store: Store, secret: str) -> SignedIn | None:
    """The session that a secret is of, if it and its key hold; it lasts longer for having been used."""
    if not _SECRET.fullmatch(secret):
        return None
    key_id = secret.partition(".")[0]
    refs: list[Ref[Any]] = [BrowserSession.at(hash=_hash(secret)), ApiKey.at(key_id=key_id)]
    session, key = store.get_many(refs)  # in one round trip: this is asked with every request
    if session is None or key is None or session.key_id != key.key_id or key.status is not KeyStatus.ACTIVE:
        return None
    return SignedIn(_used(store, session), key, secret)


def sign_out(store: Store, signed_in: SignedIn, *, by: str) -> None:
    """End a session; one that has ended is ended already."""
    with store.change(by=by, why="signed out", project=signed_in.key.project_id) as change:
        change.delete(BrowserSession.at(hash=signed_in.session.hash))


def _used(store: Store, session: BrowserSession) -> BrowserSession:
    now = store.clock.now()
    until = min(now + UNUSED, session.begun_at + LONGEST)
    if until - session.expires_at < _NOTED:
        return session
    # A store that cannot be written to keeps nobody out who only reads.
    with suppress(PenstockError):
        at = BrowserSession.at(hash=session.hash)
        return store.patch(at, Set("ttl", int(until.timestamp())), exact=False)
    return session


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
