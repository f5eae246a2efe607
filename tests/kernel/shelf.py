"""What the tests of retention keep: an entity with every kind of field, and archives and stores that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any

from penstock import Domain, IndexKey, KeepLatest, RetainFor, Table, UtcMillis, key
from penstock.declare.entity import Entity
from penstock.lifecycle.bundle import bundles, restore
from penstock.operations.reads import Ref
from penstock.ports.archive import Archive
from penstock.ports.engine import Engine
from penstock.ports.stored_object import Body, pieces_of
from penstock.testing.entities import Everything

TABLE = Table("penstock_test_papers", partition="PK", sort="SK")
BY_MOMENT = TABLE.index("GSI1", partition="GSI1PK", sort="GSI1SK")


class Stage(StrEnum):
    DRAFT = "draft"
    FILED = "filed"


class Paper(
    Everything,
    table=TABLE,
    lifetimes=(RetainFor(timedelta(days=30), since="filed_at", when=(Stage.FILED,)),),
):
    """Every kind of field. One that was never filed has no moment, and is never due."""

    name: str
    stage: Stage = Stage.FILED
    filed_at: UtcMillis | None = None
    views: int = 0

    @key("PAPER#{name}", "PAPER")
    def at(self, *, name: str) -> None: ...

    by_moment = IndexKey(BY_MOMENT, "STAGE#{stage}", "{filed_at}")


PAPERS = Domain("papers", Paper)


ARCHIVES = Table("penstock_test_binders", partition="PK", sort="SK")
IN_ORDER = ARCHIVES.index("GSI1", partition="GSI1PK", sort="GSI1SK")
OF_TITLE = ARCHIVES.index("GSI2", partition="GSI2PK", sort="GSI2SK")


class Sheet(Entity, table=ARCHIVES):
    """What means nothing without its binder."""

    binder: str
    number: int
    text: str = ""

    @key("BINDER#{binder}", "SHEET#{number:04d}")
    def at(self, *, binder: str, number: int) -> None: ...


def _sheets(binder: Binder) -> list[Ref[Sheet]]:
    return [Sheet.at(binder=binder.name, number=n) for n in range(binder.sheets)]


class Binder(Entity, table=ARCHIVES, lifetimes=(RetainFor(timedelta(days=30), since="filed_at", along=_sheets),)):
    """What takes more along than one commit holds."""

    name: str
    sheets: int
    filed_at: UtcMillis

    @key("BINDER#{name}", "BINDER")
    def at(self, *, name: str) -> None: ...

    by_moment = IndexKey(IN_ORDER, "BINDERS", "{filed_at}")


class Edition(Entity, table=ARCHIVES, lifetimes=(KeepLatest(2, per=("title",)),)):
    """The latest are found through an index."""

    edition_id: str
    title: str
    number: int

    @key("EDITION#{edition_id}", "EDITION")
    def at(self, *, edition_id: str) -> None: ...

    all_of_them = IndexKey(IN_ORDER, "EDITIONS", "{title}")
    of_title = IndexKey(OF_TITLE, "TITLE#{title}", "{number:04d}")


BINDERS = Domain("binders", Binder, Sheet, Edition)


def archived(archive: Archive, *domains: Domain) -> dict[str, list[Entity]]:
    """Every copy of every record in the archive."""
    found: dict[str, list[Entity]] = {}
    for name in bundles(archive):
        for record in restore(archive, name, domains):
            found.setdefault(repr(record.ref), []).append(record)
    return found


class Crash(BaseException):
    """The process is gone: nothing after it runs."""


@dataclass
class Fuse:
    """Lets so many calls pass; the next one is the last, and is carried out or not."""

    left: int | None = None
    carried_out: bool = False
    calls: list[str] = field(default_factory=list)
    blown: bool = False

    def call(self, name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self.blown:
            raise Crash(name)
        self.calls.append(name)
        if self.left is None or self.left > 0:
            self.left = None if self.left is None else self.left - 1
            return function(*args, **kwargs)
        self.blown = True
        if self.carried_out:
            function(*args, **kwargs)
        raise Crash(name)


class FusedArchive:
    """An archive behind a fuse."""

    def __init__(self, archive: Archive, fuse: Fuse) -> None:
        self._archive, self._fuse = archive, fuse

    def put(self, name: str, content: Body) -> bool:
        return bool(self._fuse.call("put", self._archive.put, name, content))

    def get(self, name: str) -> bytes:
        found: bytes = self._fuse.call("get", self._archive.get, name)
        return found

    def pieces(self, name: str) -> Iterator[bytes]:
        found: Iterator[bytes] = self._fuse.call("pieces", self._archive.pieces, name)
        return found

    def exists(self, name: str) -> bool:
        return bool(self._fuse.call("exists", self._archive.exists, name))

    def list(self, prefix: str = "") -> Iterator[str]:
        return self._archive.list(prefix)


class FusedEngine:
    """An engine behind a fuse: what is written counts, what is read does not."""

    def __init__(self, engine: Engine, fuse: Fuse) -> None:
        self._engine, self._fuse = engine, fuse

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._engine, name)
        if name not in ("commit", "patch", "load"):
            return found
        return lambda *args, **kwargs: self._fuse.call(name, found, *args, **kwargs)


class MeddledArchive:
    """An archive that changes what is written, or lets something happen meanwhile."""

    def __init__(
        self,
        archive: Archive,
        *,
        spoil: Callable[[str, bytes], bytes] = lambda _, content: content,
        meanwhile: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._archive, self._spoil, self._meanwhile = archive, spoil, meanwhile

    def put(self, name: str, content: Body) -> bool:
        self._meanwhile(name)
        return self._archive.put(name, self._spoil(name, b"".join(pieces_of(content))))

    def get(self, name: str) -> bytes:
        return self._archive.get(name)

    def pieces(self, name: str) -> Iterator[bytes]:
        return self._archive.pieces(name)

    def exists(self, name: str) -> bool:
        return self._archive.exists(name)

    def list(self, prefix: str = "") -> Iterator[str]:
        return self._archive.list(prefix)
