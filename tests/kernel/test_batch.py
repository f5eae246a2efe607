"""Batches: changes that do not depend on each other, sent together; each is all or nothing by itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from penstock import Store, the
from penstock.domains.musicvideo.model import Project, ProjectStatus
from penstock.errors import Conflict, TooLarge
from penstock.kernel.audit import SystemAudit
from penstock.kernel.batch import BatchRefused
from penstock.kernel.lease import LeaseLost, release, take
from penstock.kernel.outbox import MessageStatus, SystemMessage


def projects(store: Store, count: int) -> list[Project]:
    now = store.clock.now()
    made = [
        Project(project_id=uuid4(), concept_prompt="a", character_description="b", created_at=now, updated_at=now)
        for _ in range(count)
    ]
    store.put_many(made)
    return made


def queue(store: Store, records: Sequence[Project]) -> None:
    with store.batch() as batch:
        for record in records:
            with batch.change(by="ann") as change:
                change.save(change.track(record).queue())
                change.emit("project.queued", record)


def queued(store: Store) -> set[Any]:
    return {p.project_id for p in store.find(Project.by_status(status=ProjectStatus.QUEUED))}


def lines(store: Store, record: Project) -> int:
    return len(list(store.find(SystemAudit.of_project(project_id=str(record.project_id)))))


def messages(store: Store) -> int:
    return len(list(store.find(SystemMessage.by_status(status=MessageStatus.PENDING))))


def test_every_change_of_a_batch_has_its_state_its_line_and_its_message(store: Store) -> None:
    """Sixty changes are 180 writes, more than one commit may have."""
    records = projects(store, 60)
    queue(store, records)
    assert queued(store) == {r.project_id for r in records}
    assert {lines(store, r) for r in records} == {1}
    assert messages(store) == 60


def test_one_that_is_refused_keeps_no_other_from_being_committed(store: Store) -> None:
    records = projects(store, 7)
    store.get(records[3].ref)
    with store.change() as change:
        change.save(change.get(records[3].ref).fail(error_message="x"))  # after it was read for the batch
    with pytest.raises(BatchRefused) as refused:
        queue(store, records)
    assert list(refused.value.refused) == [3]
    assert queued(store) == {r.project_id for n, r in enumerate(records) if n != 3}
    assert [lines(store, r) for r in records] == [1, 1, 1, 0, 1, 1, 1]
    assert messages(store) == 6


def test_a_lost_lease_is_told_as_such(store: Store) -> None:
    ours, lost = projects(store, 2)
    held = [take(store, r.ref, owner="w", period=timedelta(minutes=1)) for r in (ours, lost)]
    assert held[0] is not None
    assert held[1] is not None
    release(store, held[1])
    with pytest.raises(BatchRefused) as refused, store.batch() as batch:
        for record, lease in zip((ours, lost), held, strict=True):
            with batch.change(under=lease) as change:
                change.save(change.get(record.ref).queue())
    assert isinstance(refused.value.refused[1], LeaseLost)
    assert queued(store) == {ours.project_id}


def test_two_changes_of_one_record_are_committed_one_after_the_other(store: Store) -> None:
    (record,) = projects(store, 1)
    with store.batch() as batch:
        for _ in range(3):
            with batch.change() as change:
                change.patch(record.ref, the(Project.scene_count).add(1))
    assert store.get(record.ref).scene_count == 3


def test_an_exception_commits_none(store: Store) -> None:
    first, second = projects(store, 2)
    with pytest.raises(RuntimeError), store.batch() as batch:
        with batch.change() as change:
            change.save(change.track(first).queue())
        with batch.change() as change:
            change.save(change.track(second).queue())
            raise RuntimeError
    assert queued(store) == set()


def test_many_alike_in_one_change_are_all_or_nothing(store: Store) -> None:
    """PostgreSQL joins them into one statement; the refusal still names the one that was refused."""
    records = projects(store, 40)
    with store.change() as change:
        change.save(change.get(records[17].ref).queue())
    with pytest.raises(Conflict, match=str(records[17].project_id)), store.change(by="ann") as change:
        for record in records:
            change.save(change.track(record).queue())
    assert queued(store) == {records[17].project_id}
    rest = [r for n, r in enumerate(projects(store, 40)) if n != 17]
    with store.change(by="ann") as change:
        for record in rest:
            change.save(change.track(record).queue())
    assert queued(store) == {records[17].project_id, *(r.project_id for r in rest)}


def test_one_that_is_too_large_keeps_no_other_from_being_committed(store: Store) -> None:
    before, after = projects(store, 2)
    with pytest.raises(BatchRefused, match="101 writes") as refused, store.batch() as batch:
        for record in (before, None, after):
            with batch.change() as change:
                if record is not None:
                    change.save(change.track(record).queue())
                    continue
                for _ in range(101):
                    change.delete(Project.at(project_id=uuid4()))
    assert [(position, type(why)) for position, why in refused.value.refused.items()] == [(1, TooLarge)]
    assert queued(store) == {before.project_id, after.project_id}


def test_one_change_is_still_at_most_a_hundred_writes(store: Store) -> None:
    with pytest.raises(TooLarge), store.change() as change:
        for record in projects(store, 101):
            change.save(change.track(record).queue())
