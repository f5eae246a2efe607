"""Uploads in parts to a folder: each upload is a folder of its own, with its key and the parts that have arrived."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from penstock.errors import Conflict, InvalidValue, NotFound
from penstock.objects.file import Written, closed, identity, moment, read, remove
from penstock.objects.folder import entries, open_file, within
from penstock.ports.stored_object import UploadedPart

_ID = re.compile(r"[0-9a-f]{32}")
_KEY = "key"
_MOST_PARTS = 10_000
_LONGEST_KEY = 1024


class PartsFolder:
    """The folder of all uploads in parts."""

    def __init__(self, folder: int) -> None:
        self._folder = folder

    def begin(self, key: Written) -> str:
        """A new upload, for the key that a file holds; its id."""
        upload = os.urandom(16).hex()
        with within(self._folder, [upload], make=True) as folder:
            key.move(folder, _KEY)
        return upload

    def add(self, key: str, upload: str, number: int, part: Written) -> UploadedPart:
        """Take a part; sent again, it replaces the former."""
        if not 1 <= number <= _MOST_PARTS:
            raise InvalidValue(f"a part has a number from 1 to {_MOST_PARTS}, not {number}")
        with self._of(key, upload) as folder:
            part.move(folder, f"{number:05d}")
            return UploadedPart(number, part.status.st_size, identity(part.status))

    def arrived(self, key: str, upload: str) -> list[UploadedPart]:
        with self._of(key, upload) as folder:
            found = sorted((int(e.name), e.stat(follow_symlinks=False)) for e in entries(folder) if e.name.isdigit())
            return [UploadedPart(number, status.st_size, identity(status)) for number, status in found]

    def joined(self, key: str, upload: str, parts: Sequence[UploadedPart]) -> Iterator[bytes]:
        """The bytes of the parts, one after the other."""
        with self._of(key, upload) as folder:
            for part in sorted(parts, key=lambda part: part.number):
                try:
                    opened = open_file(folder, f"{part.number:05d}")
                except FileNotFoundError:
                    raise Conflict(f"part {part.number} of {key} has not arrived") from None
                with closed(opened) as descriptor:
                    status = os.fstat(descriptor)
                    if identity(status) != part.etag:
                        raise Conflict(f"part {part.number} of {key} has been replaced by other bytes")
                    yield from read(descriptor, 0, status.st_size)

    def drop(self, key: str, upload: str) -> None:
        with self._of(key, upload):
            self._remove(upload)

    def drop_old(self, *, before: datetime) -> int:
        """Drop what was begun before a moment; how many."""
        old = [
            entry.name
            for entry in entries(self._folder)
            if _ID.fullmatch(entry.name) and self._begun(entry.name, entry.stat(follow_symlinks=False)) < before
        ]
        for upload in old:
            self._remove(upload)
        return len(old)

    def _begun(self, upload: str, status: os.stat_result) -> datetime:
        with within(self._folder, [upload]) as folder:
            try:
                return moment(os.stat(_KEY, dir_fd=folder, follow_symlinks=False))
            except FileNotFoundError:
                return moment(status)  # it died while it was begun or dropped

    def _remove(self, upload: str) -> None:
        with within(self._folder, [upload]) as folder:
            # The key goes last: a crash leaves an upload that can still be dropped by it.
            for name in sorted((entry.name for entry in entries(folder)), key=lambda name: name == _KEY):
                remove(folder, name)
        os.rmdir(upload, dir_fd=self._folder)

    @contextmanager
    def _of(self, key: str, upload: str) -> Iterator[int]:
        """The folder of an upload, if it is one of this key."""
        missing = NotFound(f"there is no upload of {key} under this id; it is finished, or was dropped")
        if not _ID.fullmatch(upload):
            raise missing
        try:
            with within(self._folder, [upload]) as folder, closed(open_file(folder, _KEY)) as descriptor:
                told = os.read(descriptor, _LONGEST_KEY + 1)
        except FileNotFoundError:
            raise missing from None
        if told != key.encode():
            raise missing
        with within(self._folder, [upload]) as folder:
            yield folder
