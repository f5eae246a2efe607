"""Held files: those that records point at, one by one or by the folder they lie in."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.declare.entity import Entity
from penstock.operations.file_access import files_of, folders_of
from penstock.schema.object_key import folders_above


class HeldFiles:
    """What some records hold. Whoever holds a folder holds every file in it, whether it lies there already or not."""

    def __init__(self, records: Iterable[Entity] = ()) -> None:
        self.keys: set[str] = set()
        self.folders: dict[str, str] = {}
        "Each with the record that holds it, for people."
        for record in records:
            self.add(record)

    def add(self, record: Entity) -> None:
        """Hold what a record holds."""
        self.keys.update(files_of(record.__shape__, record.__dict__))
        for folder in folders_of(record.__shape__, record.__dict__):
            self.folders.setdefault(folder, repr(record.ref))

    def __contains__(self, key: str) -> bool:
        return key in self.keys or self.folder_of(key) is not None

    def folder_of(self, key: str) -> str | None:
        """The outermost folder that is held and in which a file lies; None where there is none."""
        if not self.folders:
            return None
        return next((folder for folder in folders_above(key) if folder in self.folders), None)
