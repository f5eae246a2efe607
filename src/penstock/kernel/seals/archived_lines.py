"""Lines that were moved to an archive: how whoever verifies a trail gets them, and finds what does not belong there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, Protocol

from penstock.errors import Unavailable
from penstock.kernel.audit import AuditLine
from penstock.kernel.handle import StoreHandle
from penstock.kernel.seals.seal import Seal, lines


class ArchivedLines(Protocol):
    """Reads lines from where they were moved to."""

    def lines(self, seal: Seal, trail: type[AuditLine]) -> Iterator[AuditLine]:
        """The lines that a seal vouches for, in order.

        DamagedRecord when a file is missing or not as it was written, Unavailable when the archive cannot be reached.
        """
        ...


def sealed_lines(
    store: StoreHandle,
    trail: type[AuditLine],
    seal: Seal,
    archive: ArchivedLines | None,
    added: Callable[[AuditLine], None],
) -> Iterator[AuditLine]:
    """The lines that a seal vouches for, from wherever they are now.

    Of those in an archive some may still stand in the store, as a process died before it had removed them. One that
    stands there and is not the archived one is ``added``.
    """
    standing = lines(store, trail, seal.project_id, seal.span)
    if seal.archived is None:
        yield from standing
        return
    if archive is None:
        raise Unavailable(
            f"the lines under seal {seal.number} of {seal.project_id} ({seal.trail}) are in an archive, which was not "
            f"given; set PENSTOCK_ARCHIVE, or name it with --archive"
        )
    left = next(standing, None)
    for moment, together in groupby(archive.lines(seal, trail), key=lambda line: line.ts):
        known: dict[tuple[Any, ...], str | None] = {}
        for line in together:
            known[_identity(line)] = line.hash
            yield line
        while left is not None and left.ts <= moment:
            if known.get(_identity(left), "") != left.hash:
                added(left)
            left = next(standing, None)
    while left is not None:
        added(left)
        left = next(standing, None)


def _identity(line: AuditLine) -> tuple[Any, ...]:
    return tuple(line.__dict__[name] for name in line.__shape__.key.fields)
