"""Describing a table: the ticket that its provider has of it, and for a spectrum the line about it in the ticket's own
table, are kept with the dataset before it is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any

from penstock.astronomy.judgement import Finding
from penstock.domains.novae.dataset_files import FileKeeper
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.providers.provider import FoundProduct, UnusableAnswer
from penstock.domains.novae.states import DatasetType
from penstock.work.workspace import Workspace

_LONGEST_TICKET, _LONGEST_TABLE = 64 * 1024, 4 * 1024 * 1024
Tell = Callable[[float], None]


def describe(keeper: FileKeeper, dataset: Dataset, file_name: str, workspace: Workspace, tell: Tell) -> None:
    """Keep with a dataset what its file is called and what its provider tells of its columns."""
    ticket, description, locator = dataset.ticket, dataset.description, dataset.hints.get("ticket")
    if isinstance(locator, str) and ticket is None:
        ticket = _text(keeper, dataset, locator, workspace, tell, most=_LONGEST_TICKET)
        if dataset.dataset_type is DatasetType.SPECTRA:
            description = _listed(keeper, dataset, ticket, file_name, workspace, tell)
    told = {"ticket": ticket, "description": description, "file_name": file_name}
    if all(getattr(dataset, name) == value for name, value in told.items()):
        return
    with keeper.work.change(why="described") as change:
        change.track(dataset)
        for name, value in told.items():
            setattr(dataset, name, value)
        change.overwrite(dataset, when=keeper.held.holds())


def description_of(ticket: str, table: str, file_name: str) -> dict[str, Any] | None:
    """What a ticket's own table says of a spectrum; None if that is nothing."""
    from penstock.astronomy.spectra.description import parse_descriptions, parse_spectra_ticket

    listed = parse_descriptions(table, parse_spectra_ticket(ticket))
    found = next((each for name, each in listed.items() if file_name in (name, PurePosixPath(name).name)), None)
    return None if found is None else asdict(found)


def _listed(
    keeper: FileKeeper, dataset: Dataset, ticket: str, file_name: str, workspace: Workspace, tell: Tell
) -> dict[str, Any] | None:
    """The line about a spectrum, in the table beside it that its ticket names."""
    from penstock.astronomy.spectra.description import parse_spectra_ticket

    listing = parse_spectra_ticket(ticket).said("METADATA FILENAME")
    if listing is None or not dataset.locators:
        return None
    beside = f"{dataset.locators[0].rpartition('/')[0]}/{PurePosixPath(listing).name}"
    return description_of(ticket, _text(keeper, dataset, beside, workspace, tell, most=_LONGEST_TABLE), file_name)


def _text(keeper: FileKeeper, dataset: Dataset, locator: str, workspace: Workspace, tell: Tell, *, most: int) -> str:
    acquirer = keeper.catalogue.sources.acquisition
    assert acquirer is not None, "the dataset itself was just brought by it"
    folder = workspace.folder / f"told{len(list(workspace.folder.iterdir()))}"
    came = acquirer.acquire(FoundProduct(dataset.provider, None, locator, (locator,)), folder, tell=tell)
    if came.byte_length > most:
        what = f"{locator[:100]} has {came.byte_length} bytes; what describes a table has at most {most}"
        raise UnusableAnswer(Finding("DESCRIPTION_TOO_LONG", what, {"bytes": came.byte_length}))
    return str(came.primary.read_text("utf-8", "replace"))
