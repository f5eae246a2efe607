"""Sending a file of this machine as an upload: at once, or the parts that are missing, so that a broken one goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from penstock.errors import InvalidValue
from penstock.files.object_reads import lookup
from penstock.files.upload import Upload
from penstock.files.uploads import Uploads
from penstock.ports.object_store import Objects

_PIECE = 1 << 20


def send_file(uploads: Uploads, objects: Objects, upload: Upload, path: Path, *, sent: Callable[[int], None]) -> None:
    """Send what is missing of a file; ``sent`` is told how many bytes are on their way, those of before among them."""
    if path.stat().st_size != upload.size:
        raise InvalidValue(f"the file has {path.stat().st_size} bytes; {upload.size} were announced")
    with path.open("rb") as file:
        if upload.parts_id is None:
            there = lookup(objects, upload.staging)
            if there is not None and there.size == upload.size:
                sent(upload.size)
            else:
                objects.put(upload.staging, _span(file, 0, upload.size, sent))
            return
        missing = uploads.missing(upload)
        sent(upload.size - sum(stop - start for _, start, stop in missing))
        for number, start, stop in missing:
            objects.put_part(upload.staging, upload.parts_id, number, _span(file, start, stop, sent))


def _span(file: IO[bytes], start: int, stop: int, sent: Callable[[int], None]) -> Iterator[bytes]:
    """The bytes of a file from here to there, in pieces."""
    file.seek(start)
    while start < stop:
        piece = file.read(min(_PIECE, stop - start))
        if not piece:
            raise InvalidValue("the file became shorter while it was sent; send it again once it is whole")
        start += len(piece)
        sent(len(piece))
        yield piece
