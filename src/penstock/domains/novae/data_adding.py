"""Files that somebody adds to a nova in a terminal, one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.domains.novae.adding_bar import adding_bar
from penstock.domains.novae.catalogue_lines import VERDICTS, contents_of_dataset, dataset_data, shown
from penstock.domains.novae.catalogue_status import waiting_among
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.file_adding import SaidOfData, add_file
from penstock.domains.novae.model import Nova
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.states import ProcessingStatus
from penstock.errors import Misconfigured, PenstockError, Unavailable
from penstock.plugin import CommandContext


class DataAdding:
    """Files that are added one after the other: each is told of in a line, and one that is refused stops no other."""

    def __init__(self, terminal: CommandContext, catalogue: NovaCatalogue, nova: Nova, *, quiet: bool = False) -> None:
        self._terminal, self._catalogue, self._nova, self._quiet = terminal, catalogue, nova, quiet
        self.data: list[dict[str, Any]] = []
        self.waiting: list[Dataset] = []
        self.refused = 0

    def add(self, path: Path, said: SaidOfData) -> None:
        try:
            with adding_bar(self._terminal.console(), path.name, quiet=self._quiet) as tell:
                added = add_file(self._catalogue, self._nova.nova_id, path, said, tell=tell)
        except (Misconfigured, Unavailable):
            raise  # no other file would fare better
        except PenstockError as error:
            self._refuse(path, str(error))
            return
        dataset, was_there = added.dataset, added.was_there
        self.data.append({"path": str(path), "was_there": was_there, **dataset_data(dataset)})
        self.waiting += waiting_among([dataset])
        self.refused += dataset.processing_status is ProcessingStatus.FAILED_TERMINAL
        before = " · was there already" if was_there else ""
        word = VERDICTS[dataset.processing_status][0]
        self._tell(f"{dataset.dataset_id}  {shown(path)} · {word} · {shown(contents_of_dataset(dataset))}{before}")

    def _refuse(self, path: Path, why: str) -> None:
        self.refused += 1
        self.data.append({"path": str(path), "refused": why})
        self._tell(f"refused: {shown(path)}: {shown(why)}")

    def _tell(self, line: str) -> None:
        if not self._quiet:
            self._terminal.tell(line)
