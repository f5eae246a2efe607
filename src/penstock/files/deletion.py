"""Honest deletion: a record goes together with a promise about its files, and the promise is kept.

    with store.change(by="editor") as change:
        delete_with_files(store, change, change.get(Scene.at(project_id=p, sequence=1)))

Only files that are the record's alone go with it: those whose place is made of its whole key. Others, such as a picture
that several scenes show, are found by `reconcile` once no record points at them; so are the files of records that were
deleted in any other way.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from penstock.declare.entity import Entity
from penstock.errors import Conflict
from penstock.files.object_reads import lookup
from penstock.files.references import References
from penstock.files.released_file import Released, ReleasedStatus
from penstock.files.trash import Trash
from penstock.kernel.change import Change
from penstock.kernel.readable import readable
from penstock.kernel.store import Store
from penstock.kernel.unchanged import unchanged
from penstock.operations.file_access import own_files
from penstock.ports.ids import sortable_id
from penstock.ports.object_store import Objects
from penstock.ports.stored_object import ListedObject

_REMEMBERED = timedelta(days=30)
ANNOUNCED = 250
"Files in one announcement: with the longest keys it is as large as a record may be."


def delete_with_files(store: Store, change: Change, record: Entity) -> list[str]:
    """Delete a record, if it still stands as it was read, and announce that its files go; which they are."""
    change.delete(record.ref, when=unchanged(record))
    files = list(own_files(record.__shape__, record.__dict__))
    release_files(change, record, files)
    return files


def release_files(change: Change, record: Entity, files: Sequence[str], *, seen_at: datetime | None = None) -> None:
    """Announce that files go with a record which was deleted: those to which no other record points by then.

    One that came after ``seen_at``, or else after now, is another, and stays.
    """
    now = change.store.clock.now()
    project = record.__dict__.get("project_id")
    for first in range(0, len(files), ANNOUNCED):
        change.create(
            Released(
                release_id=str(sortable_id(now)),
                project_id=None if project is None else str(project),
                subject=repr(record.ref),
                files=list(files[first : first + ANNOUNCED]),
                released_at=seen_at or now,
            )
        )


def is_released(store: Store, found: ListedObject) -> bool:
    """Has a deleted record left this file, which still waits to go to the trash?"""
    waiting = store.find(Released.by_status(status=ReleasedStatus.WAITING))
    return any(found.key in released.files and found.modified_at <= released.released_at for released in waiting)


def settle_released(store: Store, objects: Objects, trash: Trash, references: References) -> int:
    """Move the files of deleted records to the trash, unless another record points at them by now; how many."""
    moved = 0
    for released in readable(store, Released.by_status(status=ReleasedStatus.WAITING)):
        left = False
        needed = references.told(released.files)
        for key in released.files:
            if key in needed:
                continue
            found = lookup(objects, key)
            # One that is newer came with a new record in the place of the deleted one.
            if found is None or found.modified_at > released.released_at:
                continue
            if trash.put(found):
                moved += 1
            else:
                left = True
        if not left:
            _mark_gone(store, released)
    return moved


def _mark_gone(store: Store, released: Released) -> None:
    try:
        with store.change() as change:
            change.save(change.track(released).settle(forget_at=store.clock.now() + _REMEMBERED))
    except Conflict:
        return  # another sweep was faster
