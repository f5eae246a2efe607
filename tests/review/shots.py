"""A small domain with all that is reviewed: files of each kind, versions, a queue, decisions, and secrets."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from penstock import ANYTHING, Domain, Entity, IndexKey, Move, Range, Table, UtcSeconds, key, move, pattern
from penstock.errors import InvalidValue
from penstock.kernel.store import Store
from penstock.plugin import DomainPlugin
from penstock.review.choice_by_move import choice_by_move
from penstock.review.plot import CurvePlot, PlotAxis, PlotSeries
from penstock.review.review_subject import ReviewSubject
from penstock.review.reviewable import ChoiceKind, Reviewable, ReviewFile, files_of_fields, in_query
from penstock.review.viewer import Viewer
from penstock.schema.object_key import ObjectKey
from penstock.schema.role import Role
from penstock.work.domain_context import DomainContext

TABLE = Table("ReviewedShots", partition="PK", sort="SK")
BY_STATUS = TABLE.index("by-status", partition="GSI1PK", sort="GSI1SK")
RECORD = "/api/shots/shots/p1/Robot/1"


class ShotStatus(StrEnum):
    SHOWN = "shown"
    APPROVED = "approved"
    REJECTED = "rejected"


class Shot(Entity, table=TABLE, relation="shots"):
    """A take of a shot."""

    project_id: str
    title: str
    take: Annotated[int, Field(ge=1, le=999)]
    status: ShotStatus = ShotStatus.SHOWN
    clip: ObjectKey | None = None
    pictures: list[ObjectKey] | None = None
    curve: ObjectKey | None = None
    note: str | None = None
    created_at: UtcSeconds

    @key("PROJECT#{project_id}", "SHOT#{title}#{take:03d}")
    def at(self, *, project_id: str, title: str, take: int) -> None: ...

    in_status = IndexKey(BY_STATUS, "STATUS#{project_id}#{status}", "{created_at}#{title}")

    @pattern(at, backwards=True)
    def takes(self, *, project_id: str, title: str) -> None:
        """The takes of a shot, newest first."""

    @pattern(in_status)
    def by_status(self, *, project_id: str, status: ShotStatus, created_at: Range[datetime] = ANYTHING) -> None:
        """Shots in a state, oldest first."""

    @move(ShotStatus.SHOWN, to=ShotStatus.APPROVED)
    def approve(self, *, note: str | None = None) -> None:
        """It is good."""
        self.note = note

    @move(ShotStatus.SHOWN, to=ShotStatus.REJECTED)
    def reject(self, *, note: str) -> None:
        """It is not."""
        self.note = note

    recall = Move(ShotStatus.SHOWN, to=ShotStatus.REJECTED, by=Role.ADMIN)
    redo = Move(ShotStatus.APPROVED, ShotStatus.REJECTED, to=ShotStatus.SHOWN)


class Sketch(Entity, table=TABLE, relation="sketches"):
    """What belongs to no project, and of which nobody has said how it is reviewed."""

    name: str
    status: ShotStatus = ShotStatus.SHOWN
    picture: ObjectKey | None = None

    @key("SKETCH#{name}", "SKETCH")
    def at(self, *, name: str) -> None: ...

    in_state = IndexKey(BY_STATUS, "SKETCHES#{status}", "{name}")

    @pattern(in_state)
    def by_status(self, *, status: ShotStatus) -> None:
        """Sketches in a state."""

    accept = Move(ShotStatus.SHOWN, to=ShotStatus.APPROVED)
    refuse = Move(ShotStatus.SHOWN, to=ShotStatus.REJECTED)


class Secret(Entity, table=TABLE, relation="secrets", seen_by=Role.ADMIN):
    """What is for administrators."""

    project_id: str
    name: str

    @key("PROJECT#{project_id}", "SECRET#{name}")
    def at(self, *, project_id: str, name: str) -> None: ...


def _curve(path: Path) -> CurvePlot:
    numbers = [line.split(",") for line in path.read_text().splitlines()]
    if not numbers or len(numbers[0]) != 2:
        raise InvalidValue("there are no two columns in the file")
    x, y = ([float(row[n]) for row in numbers] for n in (0, 1))
    return CurvePlot("spectrum", "a curve", PlotAxis("x", "Å"), PlotAxis("y"), (PlotSeries("one", x, y),))


def _files(context: DomainContext, shot: Shot) -> list[ReviewFile]:
    found = list(files_of_fields("clip", "pictures")(context, shot))
    if shot.curve is not None:
        found.append(ReviewFile("curve", shot.curve, viewer=Viewer.SPECTRUM, plot=_curve))
    return found


DOMAIN = Domain("shots", Shot, Sketch, Secret, files=("shots/**",))
SHOTS = DomainPlugin(
    DOMAIN,
    reviews=[
        Reviewable(
            Shot,
            files=_files,
            versions=lambda shot: Shot.takes(project_id=shot.project_id, title=shot.title),
            queue=in_query(lambda shot: Shot.by_status(project_id=shot.project_id, status=ShotStatus.SHOWN)),
            choices=[
                choice_by_move(ChoiceKind.APPROVE, Shot.approve),
                choice_by_move(ChoiceKind.REJECT, Shot.reject),
                choice_by_move(ChoiceKind.REQUEST_CHANGES, Shot.recall),
            ],
        )
    ],
)


def subject(store: Store, title: str = "Robot", **more: Any) -> ReviewSubject:
    """A shot that is there, or is made."""
    values = {"project_id": "p1", "take": 1, **more}
    ref = Shot.at(project_id=values["project_id"], title=title, take=values["take"])
    if store.lookup(ref) is None:
        store.create(Shot(title=title, created_at=store.clock.now(), **values))
    return ReviewSubject.read(store, ref)
