"""A studio with one picture and the work on it, for tests of workspaces and revisions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel

from penstock import Count, Domain, Entity, Move, Table, UtcSeconds, key
from penstock.kernel.store import Store
from penstock.schema.object_key import ObjectKey
from penstock.work import TaskContext, Tasks
from penstock.work.domain_context import DomainContext
from penstock.work.revisions import Revision, Revisions
from penstock.workers.manual import ManualWorkers

TABLE = Table("penstock_test_studio", partition="PK", sort="SK")
FILE = "pictures/one.png"


class PictureStatus(StrEnum):
    DRAWING = "drawing"
    DRAWN = "drawn"


class Picture(Entity, table=TABLE, relation="pictures"):
    name: str
    status: PictureStatus = PictureStatus.DRAWING
    revision: Count | None = None
    file_s3_key: ObjectKey | None = None
    job: str | None = None
    cost: float | None = None
    charged: str | None = None
    created_at: UtcSeconds

    @key("PICTURE#{name}", "PICTURE")
    def at(self, *, name: str) -> None: ...

    finish = Move(PictureStatus.DRAWING, to=PictureStatus.DRAWN)
    again = Move(PictureStatus.DRAWN, to=PictureStatus.DRAWING)


DOMAIN = Domain("studio", Picture)
REVISIONS = Revisions(
    Picture, number="revision", wanted=(PictureStatus.DRAWING,), jobs=("job",), cost="cost", charged="charged"
)


class Drawing(BaseModel):
    name: str
    revision: int
    born: datetime


Draw = Callable[[TaskContext, Revision[Picture]], None]


class Studio:
    """Where ``draw`` is called for every attempt at a revision that is still wanted."""

    def __init__(self, store: Store, objects: Any, draw: Draw) -> None:
        self.store, self.objects, self.draw = store, objects, draw
        self.late = 0
        self.tasks = tasks = Tasks("studio")

        @tasks.task("draw")
        def drawn(work: TaskContext, input: Drawing) -> None:
            revision = REVISIONS.current(work, Picture.at(name=input.name), input.revision, born=input.born)
            if revision is None:
                self.late += 1
                return
            self.draw(work, revision)

        self.task = drawn
        context = DomainContext(store, objects, lambda name: None)
        self.workers = ManualWorkers(store, [tasks], context=context)

    def begin(self, name: str = "one") -> str:
        """Ask for another revision of a picture; the id of its task."""
        with self.store.change() as change:
            picture = self.store.lookup(Picture.at(name=name))
            if picture is None:
                picture = Picture(name=name, created_at=self.store.clock.now())
                REVISIONS.begin(picture)
                change.create(picture)
            else:
                change.track(picture)
                REVISIONS.begin(picture)
                change.save(picture)
            assert picture.revision is not None
            wanted = Drawing(name=name, revision=picture.revision, born=picture.created_at)
            return self.task.enqueue(change, wanted)

    @property
    def picture(self) -> Picture:
        return self.store.get(Picture.at(name="one"))
