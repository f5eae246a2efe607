"""What a judged file says of its object: by its header, its column of names, and the ticket that came with it."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from penstock.astronomy.judgement import FileFinding
from penstock.astronomy.sky_position import Position
from penstock.astronomy.ticket import read_ticket
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.dataset_science import JudgedFile
from penstock.domains.novae.object_matching import ToldObject, unique
from penstock.domains.novae.states import DatasetType

_LOOKED_AT = 1_000_000
"Bytes of a table in which its objects are looked for."


def told_object(path: Path, judged: JudgedFile, dataset: Dataset) -> ToldObject:
    """What a file, and what came with it, says of its object."""
    metadata = judged.summary.get("metadata") or {}
    names = [*_of_ticket(dataset)]
    if dataset.dataset_type is DatasetType.SPECTRA:
        names += [(str(metadata[name]), "the file") for name in ("target", "object") if metadata.get(name)]
    else:
        names += [(name, "the table") for name in _of_table(path, judged.selection or {}, dataset)]
    said = (dataset.said or {}).get("object")
    return ToldObject(unique(names), _position(metadata), None if said is None else str(said))


def _position(metadata: Mapping[str, Any]) -> Position | None:
    ra, dec = metadata.get("right_ascension"), metadata.get("declination")
    if not isinstance(ra, int | float) or not isinstance(dec, int | float):
        return None
    # Nought and nought is what instruments write that do not know.
    return Position(float(ra), float(dec)) if 0 <= ra < 360 and -90 <= dec <= 90 and (ra or dec) else None


def _of_ticket(dataset: Dataset) -> Iterator[tuple[str, str]]:
    ticket = read_ticket(dataset.ticket) if dataset.ticket else None
    if ticket is not None and not isinstance(ticket, FileFinding) and ticket.object_name:
        yield ticket.object_name, "the ticket"


def _of_table(path: Path, selection: Mapping[str, Any], dataset: Dataset) -> list[str]:
    """The one object that a table's rows are about; none where there are several, of which one was asked for."""
    if (asked := (dataset.said or {}).get("target")) is not None:
        return [str(asked)]
    at, delimiter = (selection.get("columns") or {}).get("target"), selection.get("delimiter")
    if not isinstance(at, int) or not isinstance(delimiter, str):
        return []
    from penstock.astronomy.photometry.raw_table import split_line

    header, found = (selection.get("header") or {}).get("line"), dict[str, str]()
    for number, line in enumerate(_lines(path), 1):
        cells = None if number == header or line.startswith("#") else split_line(line, delimiter)
        if cells is not None and len(cells) > at and cells[at].strip():
            found.setdefault(cells[at].strip().lower(), cells[at].strip())
        if len(found) > 1:
            return []
    return list(found.values())


def _lines(path: Path) -> list[str]:
    """The first lines of a table, packed or not; the last may be cut, and is left out."""
    with path.open("rb") as file:
        data = file.read(_LOOKED_AT)
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(_LOOKED_AT)
        except (OSError, EOFError):
            return []
    lines = data.decode("utf-8", "replace").splitlines()
    return lines if len(data) < _LOOKED_AT else lines[:-1]
