"""Keys of the API: who may do what, in which project.

A key is a random token that is shown once; the store keeps its hash, so that whoever reads the store cannot use it. The
token is long and random, so a plain SHA-256 is enough: there is no dictionary to try.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.move import move
from penstock.declare.pattern import pattern
from penstock.declare.units import UtcSeconds
from penstock.errors import Conflict, InvalidValue, NotFound
from penstock.kernel.idempotency import Claim
from penstock.kernel.scope import project_text
from penstock.kernel.store import Store
from penstock.kernel.system import BY_STATUS, SYSTEM
from penstock.schema.role import Role
from penstock.schema.shape import OPERATORS

_LONGEST_NAME, _LONGEST_TOKEN = 100, 200
_NOBODYS = hashlib.sha256(b"of no key").hexdigest()


class KeyStatus(StrEnum):
    ACTIVE = "active"
    REVOKED = "revoked"


class ApiKey(Entity, table=SYSTEM, relation="api_keys"):
    """What is known of a key; not the key itself. Its use is not written down, as that would be a write a request."""

    __moved_by_work__ = True
    __rights__ = OPERATORS

    key_id: str
    "The part of the token that may be seen."
    name: str
    role: Role
    project_id: str | None = None
    "The only project it can see; None for all."
    hash: str
    status: KeyStatus = KeyStatus.ACTIVE
    created_at: UtcSeconds = Field(frozen=True)
    created_by: str
    revoked_at: UtcSeconds | None = None

    @key("API_KEY#{key_id}", "API_KEY")
    def at(self, *, key_id: str) -> None: ...

    in_status = IndexKey(BY_STATUS, "API_KEYS#{status}", "{created_at}")

    @pattern(in_status)
    def by_status(self, *, status: KeyStatus) -> None:
        """Keys that work, or that were revoked, oldest first."""

    @move(KeyStatus.ACTIVE, to=KeyStatus.REVOKED)
    def revoke(self, *, at: datetime) -> None:
        """End it for good."""
        self.revoked_at = at

    @property
    def project(self) -> str | None:
        return self.project_id


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made, with its token, which nobody can ask for again."""

    record: ApiKey
    token: str

    def __repr__(self) -> str:
        return f"<new key {self.record.key_id}>"  # never the token: what is printed is often kept


def create_key(
    store: Store, *, name: str, role: Role, project: str | None = None, by: str, once: Claim | None = None
) -> NewKey:
    """Make a key; its token is in the answer and nowhere else."""
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        raise InvalidValue(f"a key's name has 1 to {_LONGEST_NAME} printable characters")
    token = new_token()
    record = ApiKey(
        key_id=_id_in(token) or "",
        name=name,
        role=role,
        project_id=None if project is None else project_text(project),
        hash=_hash(token),
        created_at=store.clock.now(),
        created_by=by,
    )
    with store.change(by=by, project=record.project_id, once=once) as change:
        change.create(record)
        change.result = {"key_id": record.key_id}  # and never the token
    return NewKey(record, token)


def new_token() -> str:
    """A token that nobody else has; no key before it is made known to a store."""
    return f"pk_{secrets.token_hex(6)}_{secrets.token_urlsafe(32)}"


def adopt_key(store: Store, token: str, *, name: str, role: Role, by: str) -> bool:
    """Have a token be a key of this store, unless it was one and is revoked; does it work now?"""
    key_id = _id_in(token)
    if key_id is not None and store.lookup(ApiKey.at(key_id=key_id)) is None:
        record = ApiKey(
            key_id=key_id, name=name, role=role, hash=_hash(token), created_at=store.clock.now(), created_by=by
        )
        with suppress(Conflict), store.change(by=by) as change:  # another process may make it known just now
            change.create(record)
    return find_key(store, token) is not None


def list_keys(store: Store, *, project: str | None = None) -> Iterator[ApiKey]:
    """Every key, or those of one project; those that work first."""
    for status in KeyStatus:
        for found in store.find(ApiKey.by_status(status=status)):
            if project is None or found.project_id == project:
                yield found


def revoke_key(store: Store, key_id: str, *, by: str, project: str | None = None, once: Claim | None = None) -> ApiKey:
    """End a key at once; NotFound when there is none (of the project), IllegalMove when it was revoked before."""
    ref = ApiKey.at(key_id=key_id)
    with store.change(by=by, project=project, once=once) as change:
        found = change.get(ref)
        if project is not None and found.project_id != project:
            raise NotFound(f"there is no {ref!r}")
        change.result = {"key_id": key_id}
        return change.save(found.revoke(at=store.clock.now()))


def find_key(store: Store, token: str) -> ApiKey | None:
    """The key a token is, if it works; how long that takes does not tell how much of it was right."""
    key_id = _id_in(token)
    found = None if key_id is None else store.lookup(ApiKey.at(key_id=key_id))
    expected = found.hash if found is not None else _NOBODYS
    matches = hmac.compare_digest(expected, _hash(token))
    return found if found is not None and matches and found.status is KeyStatus.ACTIVE else None


def _id_in(token: str) -> str | None:
    """The part of a token that may be seen; None of what cannot be one."""
    parts = token.split("_", 2) if len(token) < _LONGEST_TOKEN else []
    well_formed = len(parts) == 3 and parts[0] == "pk" and parts[1].isalnum() and parts[1].isascii()
    return parts[1] if well_formed else None


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
