"""The whole catalogue for somebody who watches: from a name to spectra, light curves and a bundle.

It is the command ``penstock demo novae``.
"""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.domains.novae import decisions, initializing, quarantine
from penstock.domains.novae.bundle_writing import write_bundle_of
from penstock.domains.novae.catalogue_bars import show_progress
from penstock.domains.novae.catalogue_lines import file_of
from penstock.domains.novae.catalogue_progress import CatalogueProgress, watch
from penstock.domains.novae.catalogue_status import show_datasets, waiting_among
from penstock.domains.novae.catalogue_terminal import ObjectsUrl, StoreUrl, going_on, tell_how_to_decide
from penstock.domains.novae.data_adding import DataAdding
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.decisions import NovaDecision, Ruling
from penstock.domains.novae.file_adding import SaidOfData
from penstock.domains.novae.model import Nova
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_folder import files_of, is_index, novae_in, write_index
from penstock.domains.novae.states import ProcessingStatus, RunStatus
from penstock.errors import InvalidValue
from penstock.files.object_reads import fetch
from penstock.files.scratch import scratch_folder
from penstock.plugin import CommandContext

BY = "penstock demo"
SEED = 19
MADE = "V1324 Sco"
_CURVE = "light_curve.png"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


def commands(terminal: CommandContext) -> Mapping[str, Callable[..., Any]]:
    """``penstock demo novae``."""

    def novae(
        folder: Annotated[
            Path | None,
            typer.Argument(help="An index of novae, or files; else they are made.", show_default=False),
        ] = None,
        nova: Annotated[
            list[str] | None, typer.Option("--nova", "-n", help="Which nova; may be given several times.")
        ] = None,
        most: Annotated[int, typer.Option(min=1, max=500, help="So many novae of an index, if none is named.")] = 3,
        out: Annotated[Path, typer.Option("--out", "-o", help="A folder for plots and bundles.")] = Path("novae"),
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
    ) -> None:
        """Run the whole catalogue: names, papers, spectra, light curves, verdicts, plots and bundles."""
        place, names, files = _given(folder, nova or [], most, out)
        own = {"NC_PROVIDERS": f"folder=local:{place.absolute()}"}
        with going_on(terminal), terminal.working(store=store, objects=objects, settings=own) as context:
            demo = NovaeDemo(terminal, NovaCatalogue.within(context), out)
            for name in names:
                demo.run(name, files)
            demo.sum_up()

    return {"demo novae": novae}


def _given(folder: Path | None, wanted: list[str], most: int, out: Path) -> tuple[Path, list[str], list[Any]]:
    """Where novae are looked up, which of them, and files that are added to them."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidValue(f"{out} cannot be made: {error.strerror or error}") from None
    if folder is None:
        from penstock.astronomy.synthetic.demo_folder import make_demo_folder

        for name in wanted or [MADE]:
            make_demo_folder(out / "data", seed=SEED, nova_name=name)
        return out / "data", wanted or [MADE], []
    if not folder.is_dir():
        raise InvalidValue(f"{folder} is no folder; name one, or leave it out and data is made")
    if is_index(folder):
        return folder, novae_in(folder, wanted, most=most), []
    files = files_of(folder)
    if not files:
        raise InvalidValue(f"{folder} has neither an index (manifest.json) nor files such as .fits or .csv")
    name = wanted[0] if wanted else folder.absolute().name
    return write_index(out / "index", name), [name], files


class NovaeDemo:
    """Goes through the catalogue nova by nova, tells what happens, and leaves plots and bundles in a folder."""

    def __init__(self, terminal: CommandContext, catalogue: NovaCatalogue, out: Path) -> None:
        self._terminal, self._catalogue, self._out = terminal, catalogue, out
        self._datasets: list[Dataset] = []
        self._plots: list[Path] = []

    def run(self, name: str, files: list[Any]) -> None:
        """One nova, from its name to its bundle."""
        self._terminal.tell(f"— {name}")
        nova = self._resolved(name)
        if nova is None:
            return
        adding = DataAdding(self._terminal, self._catalogue, nova)
        for each in files:
            adding.add(each.path, SaidOfData(ticket=each.ticket))
        datasets = list(self._catalogue.store.find(Dataset.of_nova(nova_id=nova.nova_id)))
        self._datasets += datasets
        self._leave(nova, datasets)

    def _resolved(self, name: str) -> Nova | None:
        run = initializing.initialize(self._catalogue, name, by=BY).run
        found = self._watched(run.job_run_id)
        if found.run.status is RunStatus.QUARANTINED and found.run.outcome == "UNKNOWN_OBJECT_TYPE":
            self._terminal.tell("decided     nobody says whether it is a classical nova; here it is taken for one")
            note = "the demonstration takes what the folder lists for novae"
            decided = decisions.decide(
                self._catalogue,
                found.run.job_run_id,
                NovaDecision(verdict=Ruling.NEW, nova_id=None, match=None, note=note),
                by=BY,
            )
            assert decided.continued_by is not None, "it was just decided"
            found = self._watched(decided.continued_by)
        if found.nova is None:
            self._terminal.tell(f"no nova     {found.run.outcome}: {found.run.error_message or 'nobody knows it'}")
        return found.nova

    def _watched(self, job_run_id: Any) -> CatalogueProgress:
        return show_progress(self._terminal, watch(self._catalogue.store, job_run_id))

    def _leave(self, nova: Nova, datasets: list[Dataset]) -> None:
        """The plots of a nova, and its bundle."""
        slug = _plain(nova.preferred_name)
        plots = self._out / "plots" / slug
        for dataset in datasets:
            self._plot(plots, dataset)
        bundle = self._out / f"{slug}.zip"
        state = write_bundle_of(self._catalogue, nova.nova_id, bundle)
        assert state.bundle is not None, "it was just made"
        with zipfile.ZipFile(bundle) as archive:
            if _CURVE in archive.namelist():
                plots.mkdir(parents=True, exist_ok=True)
                (plots / _CURVE).write_bytes(archive.read(_CURVE))
                self._plots.append(plots / _CURVE)
        self._terminal.tell(f"bundle      {bundle} ({state.bundle.files} files, {state.bundle.byte_length:,} bytes)")

    def _plot(self, plots: Path, dataset: Dataset) -> None:
        """The picture of a dataset; of one that waits, the evidence."""
        key = next((key for key in self._drawn(dataset) if key.endswith(".png")), None)
        if key is None:
            return
        waits = dataset.processing_status is not ProcessingStatus.COMPLETED
        folder = plots / "not-valid" if waits else plots
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{_plain(file_of(dataset))}-{str(dataset.dataset_id)[:8]}.png"
        with scratch_folder("demo") as scratch:
            shutil.copyfile(fetch(self._catalogue.objects, key, scratch), path)
        self._plots.append(path)

    def _drawn(self, dataset: Dataset) -> list[str]:
        if dataset.processing_status is ProcessingStatus.COMPLETED:
            return list(dataset.artifacts)
        latest = quarantine.evidence(self._catalogue, dataset.nova_id, dataset.dataset_id).latest
        return [] if latest is None else list(latest.evidence)

    def sum_up(self) -> None:
        """All verdicts, where the plots are, and what waits for a person."""
        show_datasets(self._terminal, self._datasets, most=200)
        self._terminal.tell(f"{len(self._plots)} plots: {(self._out / 'plots').absolute()}")
        tell_how_to_decide(self._terminal, self._catalogue, waiting_among(self._datasets))


def _plain(name: str) -> str:
    return _NOT_IN_NAMES.sub("_", name).strip("_.")[:80] or "nova"
