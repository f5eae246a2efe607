"""What people say of novae on the command line: ``penstock novae new``, ``correct``, ``rename``, ``alias``,
``deprecate`` and ``restore``; and ``get``, ``withdraw`` of one dataset."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.domains.novae import corrections, merging, nova_names, quarantine
from penstock.domains.novae.bundle_names import TICKET, names_within
from penstock.domains.novae.catalogue_lines import dataset_data, nova_data, shown, told_nova
from penstock.domains.novae.catalogue_terminal import (
    AsJson,
    DatasetId,
    ObjectsUrl,
    OfNova,
    StoreUrl,
    meant_dataset,
    meant_nova,
    print_json,
)
from penstock.domains.novae.corrections import SaidOfNova, position_said
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.file_adding import BY
from penstock.domains.novae.model import Nova
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.quarantine_commands import verdict_line
from penstock.errors import InvalidValue
from penstock.files.object_reads import fetch
from penstock.files.scratch import scratch_folder
from penstock.plugin import CommandContext

NovaName = Annotated[str, typer.Argument(help="A nova, by name or id.", show_default=False)]
Ra = Annotated[float | None, typer.Option("--ra", help="Right ascension, ICRS, in degrees.")]
Dec = Annotated[float | None, typer.Option("--dec", help="Declination, ICRS, in degrees.")]
Discovered = Annotated[str | None, typer.Option("--discovered", help="YYYY-MM-DD, YYYY-MM or YYYY.")]
Why = Annotated[str | None, typer.Option("--why", help="For the audit trail.")]


def commands(terminal: CommandContext) -> Mapping[str, Callable[..., Any]]:
    """``penstock novae …``, as far as people say something of a nova."""

    def tell(nova: Nova, *, as_json: bool) -> None:
        if as_json:
            print_json(nova_data(nova))
        else:
            terminal.tell(told_nova(nova))

    def new(
        name: Annotated[str, typer.Argument(help="What it is called.", show_default=False)],
        ra: Ra = None,
        dec: Dec = None,
        discovered: Discovered = None,
        alias: Annotated[list[str] | None, typer.Option("--alias", help="Another name; may be given again.")] = None,
        why: Why = None,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Make a nova by hand; nobody else is asked about it."""
        said = SaidOfNova(name=name, position=position_said(ra, dec), discovered=discovered)
        with terminal.opened(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            nova = corrections.create_nova(catalogue, said, by=BY, aliases=tuple((alias or [])[:19]), why=why)
        tell(nova, as_json=as_json)

    def correct(
        nova: NovaName,
        ra: Ra = None,
        dec: Dec = None,
        discovered: Discovered = None,
        version: Annotated[int | None, typer.Option(help="As it was read; another is refused.")] = None,
        why: Why = None,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Correct the position or the discovery date of a nova; what you say stands above all that others tell."""
        said = SaidOfNova(position=position_said(ra, dec), discovered=discovered)
        with terminal.opened(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            meant = meant_nova(catalogue.store, nova)
            corrected = corrections.correct(catalogue, meant.nova_id, said, version=version, by=BY, why=why)
        tell(corrected, as_json=as_json)

    def rename(
        nova: NovaName,
        name: Annotated[str, typer.Argument(help="What it is to be called.", show_default=False)],
        version: Annotated[int | None, typer.Option(help="As it was read; another is refused.")] = None,
        why: Why = None,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Prefer another name of a nova; it still goes by the former."""
        with terminal.opened(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            meant, said = meant_nova(catalogue.store, nova), SaidOfNova(name=name)
            renamed = corrections.correct(catalogue, meant.nova_id, said, version=version, by=BY, why=why)
        tell(renamed, as_json=as_json)

    def deprecate(
        nova: NovaName,
        why: Annotated[str, typer.Option("--why", help="Others will ask.", show_default=False)],
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Say that a nova is none: it leaves the list, and nothing is added to it; restore takes that back."""
        with terminal.opened(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            gone = merging.deprecate(catalogue, meant_nova(catalogue.store, nova).nova_id, by=BY, why=why)
        tell(gone, as_json=as_json)

    def restore(
        nova: NovaName,
        why: Why = None,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Take back that a nova is none."""
        with terminal.opened(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            back = merging.restore(catalogue, meant_nova(catalogue.store, nova).nova_id, by=BY, why=why)
        tell(back, as_json=as_json)

    named: list[Callable[..., Any]] = [new, correct, rename, deprecate, restore]
    return {
        **{f"novae {each.__name__}": each for each in named},
        **_names(terminal),
        **_datasets(terminal),
    }


def _names(terminal: CommandContext) -> Mapping[str, Callable[..., Any]]:
    def tell(nova: Nova, *, as_json: bool) -> None:
        names = nova_names.all_names(nova)
        if as_json:
            print_json({"nova_id": str(nova.nova_id), "names": names})
            return
        for name in names:
            terminal.tell(shown(name))

    def list_names(nova: NovaName, store: StoreUrl = None, objects: ObjectsUrl = None, as_json: AsJson = False) -> None:
        """List what a nova goes by, the preferred name first."""
        with terminal.opened(store=store, objects=objects) as context:
            tell(meant_nova(context.store, nova), as_json=as_json)

    def add_name(
        nova: NovaName,
        name: Annotated[str, typer.Argument(help="Another name of it.", show_default=False)],
        shared: Annotated[bool, typer.Option("--shared", help="It is another nova's as well.")] = False,
        why: Why = None,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Have a nova go by another name."""
        with terminal.opened(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            meant = meant_nova(catalogue.store, nova)
            tell(nova_names.add_alias(catalogue, meant.nova_id, name, shared=shared, by=BY, why=why), as_json=as_json)

    def remove_name(
        nova: NovaName,
        name: Annotated[str, typer.Argument(help="Which name.", show_default=False)],
        why: Why = None,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Have a name mean a nova no more."""
        with terminal.opened(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            meant = meant_nova(catalogue.store, nova)
            tell(nova_names.remove_alias(catalogue, meant.nova_id, name, by=BY, why=why), as_json=as_json)

    return {"novae alias list": list_names, "novae alias add": add_name, "novae alias remove": remove_name}


def _datasets(terminal: CommandContext) -> Mapping[str, Callable[..., Any]]:
    def get(
        dataset_id: DatasetId,
        nova: OfNova = None,
        out: Annotated[Path, typer.Option("--out", "-o", help="A folder for its files.")] = Path("dataset"),
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Get the file of a dataset, its ticket, and what was made of it."""
        with terminal.opened(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            dataset = meant_dataset(catalogue.store, dataset_id, nova)
            paths = _fetched(catalogue, dataset, out)
        if as_json:
            print_json({"dataset": dataset_data(dataset), "files": [str(path) for path in paths]})
            return
        for path in paths:
            terminal.tell(str(path))

    def withdraw(
        dataset_id: DatasetId,
        reason: Annotated[str, typer.Option(help="Why it is of no use.", show_default=False)],
        nova: OfNova = None,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Take a dataset out of the light curve and the bundle; `quarantine clear` brings it back."""
        with terminal.opened(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            dataset = meant_dataset(catalogue.store, dataset_id, nova)
            gone = quarantine.reject(catalogue, dataset.nova_id, dataset_id, reason=reason, by=BY)
        if as_json:
            print_json(dataset_data(gone))
        else:
            terminal.tell(verdict_line(gone))

    return {"novae get": get, "novae withdraw": withdraw}


def _fetched(catalogue: NovaCatalogue, dataset: Dataset, out: Path) -> list[Path]:
    """The files of a dataset in a folder, called as in a bundle."""
    names = names_within(dataset)
    if not names:
        raise InvalidValue(f"dataset {dataset.dataset_id} has no files (yet)")
    made: list[Path] = []
    try:
        for key, name in names.items():
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with scratch_folder("get") as folder:
                shutil.copyfile(fetch(catalogue.objects, key, folder), path)
            made.append(path)
        if dataset.ticket is not None:
            made.append(out / "raw" / TICKET)
            made[-1].write_text(dataset.ticket, encoding="utf-8")
    except OSError as error:
        raise InvalidValue(f"{out} cannot be written: {error.strerror or error}") from None
    return made
