"""Probes: can anything be written just now, and is there room for more? Answering reads alone proves little.

A full disk, one that was made read-only, a database that only reads: all of them go on answering.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from penstock.errors import NotFound, Unavailable
from penstock.kernel.outages import ask_store
from penstock.kernel.store import Store
from penstock.ports.object_store import ObjectStore

LEAST_ROOM = 100 * 1024 * 1024
"Bytes that have to be free: enough to end in order what is running."
_NAME = "readiness"


def probe_store(store: Store, *, least: int = LEAST_ROOM) -> None:
    """Write a small record, always at the same place; Unavailable, or what else is wrong, if that cannot be done."""
    ask_store(store)
    _check_room("the store", store.engine, least)


def probe_objects(objects: ObjectStore, *, least: int = LEAST_ROOM) -> None:
    """Write a file where files lie and remove it; a bucket is only asked for: a write costs there, and always fits."""
    write = getattr(objects, "probe", None)
    if write is not None:
        write()
        _check_room("the files", objects, least)
    elif (reach := getattr(objects, "reach", None)) is not None:
        reach()
    else:
        with suppress(NotFound):
            objects.head(f"penstock-{_NAME}")


def _check_room(what: str, place: Any, least: int) -> None:
    ask = getattr(place, "room", None)
    room = ask() if ask is not None else None
    if room is not None and room < least:
        raise Unavailable(f"there is room for {room} bytes beside {what}, and {least} are needed; make room", part=None)
