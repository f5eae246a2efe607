"""Sidecars: what was made of a file for those who look at it, such as the waveform of a sound. It goes with the file.

    facts = Sidecars(store, objects).facts(found, "film", look_at_film)

A sidecar is made when somebody first asks for it, and made anew once other bytes lie at the key: each tells which bytes
it is of. Its record is written before its object, so that no object is ever without one. The sweep removes those whose
file is gone or is another; until then nobody is shown them, as whoever asks has the file at hand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.pattern import pattern, until
from penstock.declare.units import Count, UtcSeconds
from penstock.errors import Conflict, InvalidValue, NotFound
from penstock.files.object_reads import fetch, lookup
from penstock.files.scratch import scratch_folder
from penstock.kernel.idempotency import once_key
from penstock.kernel.store import Store
from penstock.kernel.system import BY_STATUS, SYSTEM
from penstock.kernel.unchanged import unchanged
from penstock.operations.reads import ANYTHING, Range, Ref
from penstock.ports.object_store import Objects
from penstock.ports.stored_object import ListedObject, StoredObject
from penstock.schema.file_pattern import SIDECARS
from penstock.schema.object_key import ObjectKey
from penstock.schema.shape import OPERATORS

LARGEST = 2_000_000_000
"Bytes of a file of which one is made: it may have to be fetched first."
LARGEST_SIDECAR = 8_000_000
_LOOKED_AT = timedelta(days=1)
_AT_ONCE = 1000
"Sidecars that one sweep looks at."


class Sidecar(Entity, table=SYSTEM, relation="sidecars"):
    """What was made of the bytes of a file: a few facts, or an object beside it."""

    __moved_by_work__ = True
    __rights__ = OPERATORS
    __traced__ = False

    sidecar_id: str
    source: ObjectKey
    etag: str
    "Of the bytes it is made of."
    also: str = ""
    "What else it is made of, such as what people say of the file."
    kind: str
    facts: dict[str, Any] | None = None
    place: ObjectKey | None = None
    "Where its object lies, if it is more than a few facts."
    size: Count = 0
    made_at: UtcSeconds
    look_at: UtcSeconds
    "When to look whether the file is still there."

    @key("SIDECAR#{sidecar_id}", "SIDECAR")
    def at(self, *, sidecar_id: str) -> None: ...

    to_look_at = IndexKey(BY_STATUS, "SIDECARS", "{look_at}")

    @pattern(to_look_at)
    def due(self, *, look_at: Range[datetime] = ANYTHING) -> None:
        """Those whose file is to be looked for, the longest due first."""


class Sidecars:
    """The sidecars of the files of an object store."""

    def __init__(self, store: Store, objects: Objects) -> None:
        self._store, self._objects = store, objects

    def known_facts(self, found: Iterable[ListedObject], kind: str) -> dict[str, dict[str, Any]]:
        """The facts that are known of some files, by their keys; nothing is made for it."""
        files = list(found)
        records = self._store.get_many([sidecar_ref(each.key, kind) for each in files])
        pairs = zip(files, records, strict=True)
        return {f.key: r.facts for f, r in pairs if r is not None and r.etag == f.etag and r.facts is not None}

    def facts(self, found: StoredObject, kind: str, make: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
        """The facts of a file: those that are known, or what ``make`` finds in it."""
        known = self.known_facts([found], kind).get(found.key)
        if known is not None:
            return known
        made: dict[str, Any] = self._made(found, make)
        self._store.put(self._record(found, kind, facts=made))
        return made

    def contents(self, found: StoredObject, kind: str, make: Callable[[Path], bytes], *, also: str = "") -> bytes:
        """What is kept beside a file, or what ``make`` makes of it, which is kept from then on.

        ``also`` tells what else it is made of: with another, it is made anew.
        """
        record = self._store.lookup(sidecar_ref(found.key, kind))
        kept = self._kept(record, found.etag, also)
        if kept is not None:
            return kept
        made: bytes = self._made(found, make)
        if len(made) > LARGEST_SIDECAR:
            raise InvalidValue(f"what is made of {found.key} has {len(made)} bytes; at most {LARGEST_SIDECAR} are kept")
        place = f"{SIDECARS}{kind}/{_id(found.key, kind)}"
        self._store.put(self._record(found, kind, place=place, size=len(made), also=also))
        self._objects.put(place, _marked(found.etag, also, made))
        return made

    def _kept(self, record: Sidecar | None, etag: str, also: str) -> bytes | None:
        """The object of a sidecar, if it is there and of these bytes: it may just be replaced."""
        if record is None or record.place is None or (record.etag, record.also) != (etag, also):
            return None
        try:
            with self._objects.get(record.place) as download:
                kept = b"".join(download)
        except NotFound:
            return None
        mark = _marked(etag, also, b"")
        return kept[len(mark) :] if kept.startswith(mark) else None

    def _made(self, found: StoredObject, make: Callable[[Path], Any]) -> Any:
        if found.size > LARGEST:
            raise InvalidValue(f"{found.key} has {found.size} bytes; files of up to {LARGEST} are looked into")
        local = self._objects.local_file(found.key)
        if local is not None:
            return make(local)
        with scratch_folder("sidecar") as folder:
            return make(fetch(self._objects, found.key, folder))

    def _record(self, found: StoredObject, kind: str, **more: Any) -> Sidecar:
        now = self._store.clock.now()
        return Sidecar(
            sidecar_id=_id(found.key, kind),
            source=found.key,
            etag=found.etag,
            kind=kind,
            made_at=now,
            look_at=now + _LOOKED_AT,
            **more,
        )


def sidecar_ref(source: str, kind: str) -> Ref[Sidecar]:
    """Where the sidecar of a kind of a file stands."""
    return Sidecar.at(sidecar_id=_id(source, kind))


def settle_sidecars(store: Store, objects: Objects) -> int:
    """Remove the sidecars whose file is gone, or is another by now; how many."""
    now, removed = store.clock.now(), 0
    for record in store.page(Sidecar.due(look_at=until(now)), limit=_AT_ONCE).records:
        found = lookup(objects, record.source)
        try:
            if found is not None and found.etag == record.etag:
                with store.change() as change:
                    change.track(record).look_at = now + _LOOKED_AT
                    change.save(record)
            else:
                if record.place is not None:
                    objects.delete([record.place])  # first: a record that is left behind is found again
                store.delete(record.ref, when=unchanged(record))
                removed += 1
        except Conflict:
            continue  # it has just been made anew
    return removed


def _id(source: str, kind: str) -> str:
    return hashlib.sha256(once_key("sidecar", kind, source).encode()).hexdigest()


def _marked(etag: str, also: str, made: bytes) -> bytes:
    """An object that tells of what it is made."""
    return hashlib.sha256(once_key(etag, also).encode()).digest() + made
