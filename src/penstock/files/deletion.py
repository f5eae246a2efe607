"""Honest deletion: a record goes together with a promise about its files, and the promise is kept.

    with store.change(by="editor") as change:
        delete_with_files(store, change, change.get(Scene.at(project_id=p, sequence=1)))

Only files that are the record's alone go with it: those whose place is made of its whole key, and all that lie in a
folder whose place is. Others, such as a picture that several scenes show, are found by `reconcile` once no record
points at them; so are the files of records that were deleted in any other way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from penstock.declare.entity import Entity
from penstock.errors import Conflict
from penstock.files.object_reads import lookup, pages
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
from penstock.schema.object_key import folders_above

_REMEMBERED = timedelta(days=30)
ANNOUNCED = 250
"Files in one announcement: with the longest keys it is as large as a record may be."


def delete_with_files(store: Store, change: Change, record: Entity) -> list[str]:
    """Delete a record, if it still stands as it was read, and announce that its files go; which, and which folders."""
    change.delete(record.ref, when=unchanged(record))
    files = list(own_files(record.__shape__, record.__dict__))
    release_files(change, record, files)
    return files


def release_files(change: Change, record: Entity, files: Sequence[str], *, seen_at: datetime | None = None) -> None:
    """Announce that files go with a record which was deleted: those to which no other record points by then.

    Of a folder among them all files go that lie in it. One that came after ``seen_at``, or else after now, is another,
    and stays.
    """
    now = change.store.clock.now()
    project = record.__dict__.get("project_id")
    for first in range(0, len(files), ANNOUNCED):
        some = files[first : first + ANNOUNCED]
        change.create(
            Released(
                release_id=str(sortable_id(now)),
                project_id=None if project is None else str(project),
                subject=repr(record.ref),
                files=[key for key in some if not key.endswith("/")],
                folders=[key for key in some if key.endswith("/")] or None,
                released_at=seen_at or now,
            )
        )


def is_released(store: Store, found: ListedObject) -> bool:
    """Has a deleted record left this file, which still waits to go to the trash?"""
    waiting = store.find(Released.by_status(status=ReleasedStatus.WAITING))
    places = {found.key, *folders_above(found.key)}
    return any(
        not places.isdisjoint([*released.files, *(released.folders or ())])
        and found.modified_at <= released.released_at
        for released in waiting
    )


def settle_released(store: Store, objects: Objects, trash: Trash, references: References) -> int:
    """Move the files of deleted records to the trash, unless another record points at them by now; how many."""
    moved = 0
    references.unreadable.clear()
    for released in readable(store, Released.by_status(status=ReleasedStatus.WAITING)):
        left = False
        for found in _leaving(released, objects, references):
            if not trash.takes(found.key):
                continue  # no other day will change that; reconciling tells of it
            if trash.put(found):
                moved += 1
            else:
                left = True
        if not left:
            _mark_gone(store, released)
    return moved


def _leaving(released: Released, objects: Objects, references: References) -> Iterator[ListedObject]:
    """The files of a release that are still there and that nobody needs.

    A folder is looked through from its beginning each time: what went before is not there any more, so that whoever
    goes on after a sweep that died has only the rest to do.
    """
    needed = references.told(released.files)
    for key in released.files:
        single = None if key in needed else lookup(objects, key)
        # One that is newer came with a new record in the place of the deleted one.
        if single is not None and single.modified_at <= released.released_at:
            yield single
    for folder in released.folders or ():
        for page in pages(objects, folder):
            there = [found for found in page if found.modified_at <= released.released_at]
            needed = references.told(found.key for found in there)
            for found in there:
                # Another's file may lie here whose key does not tell it: of that, reconciling knows.
                if found.key not in needed and references.are_told(found.key):
                    yield found


def _mark_gone(store: Store, released: Released) -> None:
    try:
        with store.change() as change:
            change.save(change.track(released).settle(forget_at=store.clock.now() + _REMEMBERED))
    except Conflict:
        return  # another sweep was faster
