"""Audit trails in an archive: the files that seals name, written and read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.errors import DamagedRecord, NotFound, Unavailable
from penstock.kernel.audit import AuditLine
from penstock.kernel.audit_register import label
from penstock.kernel.seals import Seal
from penstock.lifecycle.archived_file import DamagedArchive
from penstock.lifecycle.bundle import keep, line_of, named_records
from penstock.ports.archive import Archive


class SealFiles:
    """Writes lines to files of a bounded size, and tells which of them each seal's are in."""

    def __init__(self, archive: Archive, most: int, most_bytes: int, told: dict[str, Any]) -> None:
        self._archive, self._most, self._most_bytes, self._told = archive, most, most_bytes, told
        self.named: list[list[str]] = []
        "By seal."
        self._waiting: list[AuditLine] = []
        self._of: list[list[str]] = []
        "What names those of the seals that have lines waiting."
        self._size = 0

    def begin(self) -> None:
        """What is added from now on is under the next seal."""
        self.named.append([])

    def add(self, line: AuditLine) -> None:
        if not self._of or self._of[-1] is not self.named[-1]:
            self._of.append(self.named[-1])
        self._waiting.append(line)
        self._size += len(line_of(line))
        if len(self._waiting) >= self._most or self._size >= self._most_bytes:
            self.flush()

    def flush(self) -> None:
        """Write what waits, and read it back."""
        if self._waiting:
            name = keep(self._archive, self._waiting, **self._told).name
            for names in self._of:
                names.append(name)
        self._waiting, self._of, self._size = [], [], 0


class ArchivedTrails:
    """Reads archived lines, a file at a time; the last one is kept at hand, as neighbours may share it."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._name, self._held = "", list[AuditLine]()

    def lines(self, seal: Seal, trail: type[AuditLine]) -> Iterator[AuditLine]:
        """The lines that a seal vouches for, in order; see `penstock.kernel.seals.ArchivedLines`."""
        for name in seal.archived or ():
            for line in self._file(name, trail):
                if (seal.since is None or line.ts > seal.since) and line.ts <= seal.until:
                    if line.project_id != seal.project_id:
                        raise DamagedRecord(f"{name} holds lines of another project")
                    yield line

    def _file(self, name: str, trail: type[AuditLine]) -> list[AuditLine]:
        if name != self._name:
            try:
                self._held = list(named_records(self._archive, name, trail))
            except NotFound:
                self._must_have_files(trail)
                raise DamagedRecord(f"{name} is not in the archive any more") from None
            except DamagedArchive as damage:
                raise DamagedRecord(str(damage)) from damage
            self._name = name
        return self._held

    def _must_have_files(self, trail: type[AuditLine]) -> None:
        """An archive with nothing of a trail is not one from which a file was taken: it is another, or not mounted."""
        if next(iter(self._archive.list(label(trail).replace(".", "/"))), None) is None:
            raise Unavailable(
                f"the archive has no file of {label(trail)}, though seals name some: it cannot be reached, or is "
                f"another; set PENSTOCK_ARCHIVE, or name it with --archive"
            )
