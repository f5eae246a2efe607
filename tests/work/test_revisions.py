"""Revisions: of all attempts at one thing only the latest counts, its remote job is asked for once, and paid once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.objects import LocalObjects
from penstock.work import Task, TaskContext, TaskStatus
from penstock.work.revisions import Revision, Revisions
from penstock.work.working import WORKING
from penstock.work.workspace import workspace_of
from tests.work.studios import DOMAIN, FILE, REVISIONS, Draw, Picture, PictureStatus, Studio


@pytest.fixture
def open_studio(tmp_path: Path, clock: FrozenClock) -> Iterator[Callable[[Draw], Studio]]:
    opened: list[Store] = []

    def open_one(draw: Draw) -> Studio:
        store = open_store(f"sqlite:///{tmp_path}/studio.db", clock=clock)
        store.ensure(DOMAIN, WORKING)
        opened.append(store)
        return Studio(store, LocalObjects(tmp_path / "files"), draw)

    yield open_one
    for store in opened:
        store.close()


def finish(work: TaskContext, revision: Revision[Picture], content: bytes = b"drawn") -> None:
    with workspace_of(work) as workspace:
        path = workspace.folder / "picture.png"
        path.write_bytes(content)
        stored = revision.store(workspace, path, FILE)
    with work.finish() as change:
        picture = change.track(revision.record)
        picture.file_s3_key = stored.key
        picture.finish()
        revision.save(change)


def test_the_current_revision_is_finished(open_studio: Callable[[Draw], Studio]) -> None:
    studio = open_studio(finish)
    studio.begin()
    studio.workers.drain()
    assert (studio.picture.status, studio.picture.file_s3_key) == (PictureStatus.DRAWN, FILE)
    assert studio.objects.get(FILE).read() == b"drawn"


def test_a_revision_that_is_finished_is_not_wanted_again(open_studio: Callable[[Draw], Studio]) -> None:
    """Its task was told of twice; nothing but its status tells that nobody waits for it."""
    studio = open_studio(lambda work, revision: None)
    studio.begin()
    studio.store.put(studio.picture.finish())
    studio.workers.drain()
    assert (studio.late, studio.picture.status) == (1, PictureStatus.DRAWN)


def test_a_task_of_an_earlier_revision_does_nothing(open_studio: Callable[[Draw], Studio]) -> None:
    studio = open_studio(finish)
    studio.begin()
    studio.begin()
    studio.workers.drain()
    assert (studio.late, studio.picture.revision, studio.picture.status) == (1, 2, PictureStatus.DRAWN)


@pytest.mark.parametrize("when", ["before the file", "before the commit"])
def test_what_is_overtaken_while_it_is_made_comes_too_late(open_studio: Callable[[Draw], Studio], when: str) -> None:
    """Its file does not take the place of another, and its record is not the one that is saved."""

    def overtaken(work: TaskContext, revision: Revision[Picture]) -> None:
        if when == "before the file":
            studio.draw = finish
            studio.begin()
            finish(work, revision, b"late")
        with work.finish() as change:
            change.track(revision.record).finish()
            studio.draw = finish
            studio.begin()
            revision.save(change)

    studio = open_studio(overtaken)
    first = studio.begin()
    studio.workers.run_one()
    late = studio.store.get(Task.at(task_id=first))
    assert late.status in (TaskStatus.FAILED, TaskStatus.WAITING)
    assert list(studio.objects.list().objects) == []
    studio.workers.drain()
    assert (studio.picture.revision, studio.picture.status) == (2, PictureStatus.DRAWN)
    assert studio.objects.get(FILE).read() == b"drawn"


def test_a_record_that_was_made_anew_under_the_same_key_is_another(
    open_studio: Callable[[Draw], Studio], clock: FrozenClock
) -> None:
    """Its revisions begin again, and a task of the former one must not take it for its own."""
    studio = open_studio(finish)
    studio.begin()
    with studio.store.change() as change:
        change.delete(studio.picture.ref)
    clock.advance(timedelta(minutes=1))
    studio.begin()
    studio.workers.drain()
    assert (studio.late, studio.picture.revision, studio.picture.status) == (1, 1, PictureStatus.DRAWN)


def test_a_retry_goes_on_with_the_job_that_was_begun_and_pays_it_once(
    open_studio: Callable[[Draw], Studio], clock: FrozenClock
) -> None:
    seen: list[str | None] = []

    def shaky(work: TaskContext, revision: Revision[Picture]) -> None:
        seen.append(revision.record.job)
        with workspace_of(work, lambda job: revision.remember("job", job)) as workspace:
            if revision.record.job is None:
                workspace.remember("job 7")
        revision.charge(0.25, revision.record.job)
        if len(seen) < 3:
            raise OSError("broken off")
        finish(work, revision)

    studio = open_studio(shaky)
    studio.begin()
    for _ in range(3):
        studio.workers.drain()
        clock.advance(timedelta(hours=1))
    assert seen == [None, "job 7", "job 7"]
    assert (studio.picture.cost, studio.picture.charged) == (0.25, "job 7")


def test_another_revision_forgets_the_jobs_of_the_one_before_and_keeps_what_they_cost() -> None:
    picture = Picture(name="one", revision=3, job="job 7", cost=0.5, charged="job 7", created_at="2037-01-01T00:00:00Z")  # type: ignore[arg-type]
    assert REVISIONS.begin(picture) == 4
    assert (picture.revision, picture.job, picture.cost) == (4, None, 0.5)


def other(work: TaskContext, revision: Revision[Picture], **fields: str) -> Revision[Picture]:
    """The same revision, of an entity that has just these fields for what it costs."""
    revisions = Revisions(Picture, number="revision", wanted=(PictureStatus.DRAWING,), **fields)
    found = revisions.current(work, revision.record.ref, revision.record.revision or 0)
    assert found is not None
    return found


def test_what_costs_nothing_is_not_charged(open_studio: Callable[[Draw], Studio]) -> None:
    def free(work: TaskContext, revision: Revision[Picture]) -> None:
        revision.charge(None, "job 7")
        other(work, revision).charge(0.25, "job 7")
        finish(work, revision)

    studio = open_studio(free)
    studio.begin()
    studio.workers.drain()
    assert (studio.picture.cost, studio.picture.charged) == (None, None)
    assert studio.picture.status is PictureStatus.DRAWN, "that is no mistake"


def test_what_is_of_no_job_is_paid_each_time(open_studio: Callable[[Draw], Studio]) -> None:
    def dear(work: TaskContext, revision: Revision[Picture]) -> None:
        for _ in range(2):
            other(work, revision, cost="cost").charge(0.25, "job 7")
        for _ in range(2):
            other(work, revision, cost="cost", charged="charged").charge(0.5)
        work.end(None)

    studio = open_studio(dear)
    studio.begin()
    studio.workers.drain()
    assert (studio.picture.cost, studio.picture.charged) == (1.5, None)
