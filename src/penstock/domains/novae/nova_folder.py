"""A folder of novae, as a demonstration finds it: an index of novae with their files, or files of one nova alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from penstock.astronomy.judgement import FileFinding
from penstock.astronomy.ticket import PhotometryTicket, read_ticket
from penstock.domains.novae.providers.local_index import LocalIndex
from penstock.domains.novae.providers.nova_manifest import NAMES
from penstock.domains.novae.providers.open_nova_folder import is_open_nova_folder
from penstock.errors import InvalidValue

MOST_FILES = 2000
_ENDINGS = (".fits", ".fit", ".fts", ".fits.gz", ".csv", ".dat", ".txt", ".ecsv", ".vot", ".xml", ".tsv")
_LONGEST_TICKET = 64 * 1024


@dataclass(frozen=True, slots=True)
class FolderFile:
    """A file of a folder, and the ticket that describes it."""

    path: Path
    ticket: Path | None = None


def is_index(folder: Path) -> bool:
    """Does a folder tell which novae its files are of?"""
    return any((folder / name).is_file() for name in NAMES) or is_open_nova_folder(folder)


def novae_in(folder: Path, wanted: list[str], *, most: int) -> list[str]:
    """The novae of an index that have files: those that are wanted, or else the first with the most kinds of them."""
    index = LocalIndex("folder", folder).index()
    if wanted:
        unknown = [name for name in wanted if not index.called([name])]
        if unknown:
            raise InvalidValue(f"the folder knows no nova {', '.join(map(repr, unknown))}")
        return wanted
    full = [nova for nova in index.novae if nova.spectra or nova.photometry]
    if not full:
        raise InvalidValue(f"{folder} tells of {len(index.novae)} novae, and of files of none")
    richest = sorted(full, key=lambda nova: (not (nova.spectra and nova.photometry), nova.name))
    return [nova.name for nova in richest[:most]]


def files_of(folder: Path) -> list[FolderFile]:
    """The files of a folder and of those below it, by name, each with its ticket; tickets are no data themselves."""
    found = [path for path in islice(_walk(folder), MOST_FILES) if path.name.lower().endswith(_ENDINGS)]
    tickets = {name: path for path in found if (name := _described_by(path)) is not None}
    known = set(tickets.values()) | {path for path in found if _is_ticket(path)}
    return [FolderFile(path, tickets.get(path.name)) for path in found if path not in known]


def write_index(folder: Path, name: str) -> Path:
    """An index that knows a nova by its name, and no file of it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps({"novae": [{"name": name, "type": "Nova"}]}), "utf-8")
    return folder


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path


def _text(path: Path) -> str | None:
    if path.suffix.lower() != ".txt" or path.stat().st_size > _LONGEST_TICKET:
        return None
    return path.read_text("utf-8", "replace")


def _is_ticket(path: Path) -> bool:
    text = _text(path)
    return text is not None and not isinstance(read_ticket(text), FileFinding)


def _described_by(path: Path) -> str | None:
    """The name of the table that a file is the ticket of."""
    text = _text(path)
    ticket = None if text is None else read_ticket(text)
    return ticket.data_filename if isinstance(ticket, PhotometryTicket) else None
