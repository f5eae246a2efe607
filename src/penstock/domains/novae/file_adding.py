"""Adding files of this machine to a nova: each is told by what is in it, sent, judged, and may be asked for again.

Whatever was interrupted goes on where it was: the same bytes for the same nova are the same dataset, what has arrived
of a file is not sent again, and what becomes of it is waited for.
"""

from __future__ import annotations

import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from penstock.astronomy.judgement import FileFinding, FileVerdict
from penstock.domains.novae import contributions
from penstock.domains.novae.bringing import plain_name
from penstock.domains.novae.catalogue_progress import AT_WORK, LOOK, ended
from penstock.domains.novae.contributions import NewFile
from penstock.domains.novae.data_records import Contribution, ContributionStatus
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.datasets import find_dataset
from penstock.domains.novae.describing import description_of
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.runs import active, followed
from penstock.domains.novae.states import DatasetType
from penstock.errors import InvalidValue

BY = "penstock novae"
_PIECE = 1 << 20
_FITS = (".fits", ".fit", ".fts")


class FileStage(StrEnum):
    """What is being done with a file."""

    READING = "reading"
    SENDING = "sending"
    JUDGING = "judging"


TellStage = Callable[[FileStage, float, float], None]
"Told of a stage how many bytes of it are done, of how many; of the last, nothing is counted."


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidOfData:
    """What is said of a file that is added."""

    kind: DatasetType | None = None
    "Else what is in it tells."
    ticket: Path | None = None
    bibcode: str | None = None
    hints: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class AddedData:
    """What a file has become, and whether it was that before."""

    dataset: Dataset
    was_there: bool


def add_file(
    catalogue: NovaCatalogue, nova_id: UUID, path: Path, said: SaidOfData, *, tell: TellStage, by: str = BY
) -> AddedData:
    """Make a dataset of a file, or go on with it, until it is judged; InvalidValue where it cannot be read."""
    wanted = _wanted(path, said, tell)
    active(followed(catalogue.store, nova_id))
    known = contributions.known(catalogue, nova_id, wanted)
    if known.dataset is not None and known.says_more:
        _settled(catalogue, known.dataset, tell)  # what is being judged is first judged as it was said before
        known = contributions.known(catalogue, nova_id, wanted)
    if known.dataset is not None and not known.says_more:
        return AddedData(_settled(catalogue, known.dataset, tell), was_there=True)
    contribution = known.contribution or contributions.announce(catalogue, nova_id, wanted, by=by).contribution
    if contribution.status is ContributionStatus.AWAITED:
        contribution = _sent(catalogue, contribution, path, wanted.size, tell, by)
    tell(FileStage.JUDGING, 0.0, 1.0)
    if contribution.job_run_id is not None:
        ended(catalogue.store, contribution.job_run_id)
    here = followed(catalogue.store, nova_id).nova_id
    return AddedData(find_dataset(catalogue.store, here, contribution.dataset_id), was_there=False)


def _sent(
    catalogue: NovaCatalogue, contribution: Contribution, path: Path, size: int, tell: TellStage, by: str
) -> Contribution:
    done = 0

    def sent(some: int) -> None:
        nonlocal done
        done += some
        tell(FileStage.SENDING, done, size)

    try:
        contributions.send(catalogue, contribution, path, sent=sent)
    except OSError as error:
        raise InvalidValue(f"the file cannot be read any more: {error.strerror or error}") from None
    return contributions.complete(catalogue, contribution.contribution_id, by=by)


def _settled(catalogue: NovaCatalogue, dataset: Dataset, tell: TellStage) -> Dataset:
    """A dataset that is known, once nobody works on it."""
    while dataset.processing_status in AT_WORK:
        tell(FileStage.JUDGING, 0.0, 1.0)
        time.sleep(LOOK)
        dataset = find_dataset(catalogue.store, dataset.nova_id, dataset.dataset_id)
    return dataset


# What a file is


def _wanted(path: Path, said: SaidOfData, tell: TellStage) -> NewFile:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InvalidValue("is a folder, not a file; name the files in it" if path.is_dir() else "is no file")
        if status.st_size == 0:
            raise InvalidValue("the file is empty")
        digest = _digest(path, status.st_size, tell)
        ticket = _ticket_text(said.ticket)
        metadata = _metadata(path, said.ticket, ticket)
        kind = said.kind or _kind(path, ticket, metadata)
    except OSError as error:
        raise InvalidValue(f"the file cannot be read: {error.strerror or error}") from None
    return NewFile(
        dataset_type=kind,
        file_name=path.name,
        size=status.st_size,
        sha256=digest,
        ticket=ticket,
        metadata=metadata if kind is DatasetType.SPECTRA else None,
        bibcode=said.bibcode,
        hints=said.hints,
    )


def _ticket_text(path: Path | None) -> str | None:
    """What a ticket says; InvalidValue names the ticket, where it is that which cannot be read."""
    if path is None:
        return None
    try:
        return _text(path, contributions.LONGEST_TICKET)
    except OSError as error:
        raise InvalidValue(f"the ticket {path} cannot be read: {error.strerror or error}") from None


def _kind(path: Path, ticket: str | None, metadata: str | None) -> DatasetType:
    """What a file is; InvalidValue if its ticket describes something else."""
    kind = kind_of_file(path, ticket)
    if ticket is None:
        return kind
    fits = _is_fits(path)
    if kind is DatasetType.PHOTOMETRY and fits:
        raise InvalidValue(
            "this ticket describes photometry, and the file is a FITS file; give its own ticket, or none"
        )
    if kind is DatasetType.SPECTRA and not fits and not _listed(path, ticket, metadata) and not _is_spectrum(path):
        raise InvalidValue("this ticket describes spectra, and the file is none of them; give its own ticket, or none")
    return kind


def _is_fits(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(6) == b"SIMPLE"


def _listed(path: Path, ticket: str, metadata: str | None) -> bool:
    return metadata is not None and description_of(ticket, metadata, plain_name(path.name)) is not None


def _is_spectrum(path: Path) -> bool:
    from penstock.astronomy.spectra.judgements import judge_spectrum

    return judge_spectrum(path).verdict is FileVerdict.VALID


def _digest(path: Path, size: int, tell: TellStage) -> str:
    digest, done = sha256(), 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            done += len(piece)
            tell(FileStage.READING, done, size)
    return digest.hexdigest()


def kind_of_file(path: Path, ticket: str | None = None) -> DatasetType:
    """Whether a file holds a spectrum or photometry: as its ticket says, or by what can be read in it."""
    # Only whoever looks into files needs to know of them.
    from penstock.astronomy.photometry.photometry_judgement import judge_photometry
    from penstock.astronomy.spectra.judgements import judge_spectrum

    if ticket is not None:
        return _kind_of_ticket(ticket)
    if _is_fits(path):
        return DatasetType.SPECTRA
    if judge_photometry(path).verdict is FileVerdict.VALID:
        return DatasetType.PHOTOMETRY
    called = path.name.lower().removesuffix(".gz").endswith(_FITS)
    readable = judge_spectrum(path).verdict is FileVerdict.VALID
    return DatasetType.SPECTRA if readable or called else DatasetType.PHOTOMETRY


def _kind_of_ticket(text: str) -> DatasetType:
    from penstock.astronomy.ticket import SpectraTicket, read_ticket

    ticket = read_ticket(text)
    if isinstance(ticket, FileFinding):
        raise InvalidValue(ticket.message)
    return DatasetType.SPECTRA if isinstance(ticket, SpectraTicket) else DatasetType.PHOTOMETRY


def _metadata(path: Path, ticket_path: Path | None, ticket: str | None) -> str | None:
    """The table that a ticket of spectra names, which lies beside the spectra or beside the ticket."""
    from penstock.astronomy.ticket import SpectraTicket, read_ticket

    if ticket is None or ticket_path is None:
        return None
    told = read_ticket(ticket)
    name = told.metadata_filename if isinstance(told, SpectraTicket) else None
    places = [folder / Path(name).name for folder in (path.parent, ticket_path.parent)] if name else []
    found = next((place for place in places if place.is_file()), None)
    return None if found is None else _text(found, 4_000_000)


def _text(path: Path, most: int) -> str:
    size = path.stat().st_size
    if size > most:
        raise InvalidValue(f"{path} has {size:,} bytes; what describes a table has at most {most:,}")
    return path.read_text("utf-8", "replace")
