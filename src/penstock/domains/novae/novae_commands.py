"""Novae on the command line: ``penstock novae init``, ``add``, ``status``, ``bundle``, ``replay``, and more."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.domains.novae import decisions, dropped_objects, initializing, merging, quarantine
from penstock.domains.novae.bundle_writing import task_done, write_bundle_of
from penstock.domains.novae.candidates import NOT_A_NOVA, NOT_FOUND
from penstock.domains.novae.catalogue_bars import show_progress
from penstock.domains.novae.catalogue_lines import (
    dataset_data,
    nova_data,
    run_data,
    shown,
    told_nova,
)
from penstock.domains.novae.catalogue_progress import CatalogueProgress, ended, watch
from penstock.domains.novae.catalogue_status import SHOWN, show_all, show_datasets, show_nova, waiting_among
from penstock.domains.novae.catalogue_terminal import (
    AsJson,
    DatasetId,
    ObjectsUrl,
    OfNova,
    StoreUrl,
    given_hints,
    going_on,
    meant_dataset,
    meant_nova,
    print_json,
    tell_doubt,
    tell_how_to_decide,
)
from penstock.domains.novae.data_adding import DataAdding
from penstock.domains.novae.decisions import NovaDecision, Ruling
from penstock.domains.novae.file_adding import BY, SaidOfData
from penstock.domains.novae.model import Doubt, Nova
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.states import DatasetType, RunStatus
from penstock.errors import InvalidValue
from penstock.plugin import CommandContext
from penstock.work import Task

WAITING = 3
"How `add` ends when no file was refused, and one waits for a person."
Hint = Annotated[
    list[str] | None, typer.Option("--hint", help="NAME=VALUE, such as unit=nm; may be given several times.")
]


def commands(terminal: CommandContext) -> Mapping[str, Callable[..., Any]]:
    """``penstock novae …``, but for the quarantine desk."""

    def init(
        name: Annotated[str, typer.Argument(help="A nova's name, such as V1324 Sco.", show_default=False)],
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Find a nova by its name, look for its papers and spectra, download and judge them."""
        with going_on(terminal), terminal.working(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            run = initializing.initialize(catalogue, name, by=BY).run
            watched = watch(catalogue.store, run.job_run_id)
            found = look_on(watched) if as_json else show_progress(terminal, watched)
            _end_of_init(terminal, catalogue, found, name, as_json=as_json)

    def add(
        files: Annotated[
            list[Path], typer.Argument(help="FITS or tables of spectra or photometry.", show_default=False)
        ],
        nova: Annotated[str, typer.Option("--nova", "-n", help="Its name or id.", show_default=False)],
        ticket: Annotated[Path | None, typer.Option("--ticket", "-t", help="What describes the columns.")] = None,
        kind: Annotated[DatasetType | None, typer.Option("--type", help="Else it is told by the content.")] = None,
        bibcode: Annotated[str | None, typer.Option(help="The paper they are from.")] = None,
        hint: Hint = None,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Add files to a nova and have them judged; what was interrupted goes on where it was."""
        said = SaidOfData(kind=kind, ticket=ticket, bibcode=bibcode, hints=given_hints(hint))
        with going_on(terminal), terminal.working(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            adding = DataAdding(terminal, catalogue, meant_nova(catalogue.store, nova), quiet=as_json)
            for path in files:
                adding.add(path, said)
        if as_json:
            print_json(adding.data)
        else:
            tell_how_to_decide(terminal, catalogue, adding.waiting)
        if adding.refused or adding.waiting:
            raise typer.Exit(1 if adding.refused else WAITING)

    def status(
        name: Annotated[str | None, typer.Argument(help="A nova, by name or id; else all.")] = None,
        limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many lines.")] = SHOWN,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Show what there is of a nova: datasets by verdict, runs, and what waits for a person."""
        with terminal.opened(store=store, objects=objects) as context:
            if name is None:
                show_all(terminal, context.store, limit, as_json=as_json)
            else:
                show_nova(terminal, NovaCatalogue.within(context), name, limit, as_json=as_json)

    def bundle(
        name: Annotated[str, typer.Argument(help="A nova, by name or id.", show_default=False)],
        out: Annotated[Path, typer.Option("--out", "-o", help="The zip to write.")] = Path("bundle.zip"),
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Write all valid data of a nova into one zip, with its plots, a manifest and checksums."""
        terminal.writable(out)
        with going_on(terminal), terminal.working(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            nova = meant_nova(catalogue.store, name)
            made = write_bundle_of(catalogue, nova.nova_id, out)
        assert made.bundle is not None, "it was just made"
        if as_json:
            told = {"nova_id": str(made.nova_id), "files": made.bundle.files, "byte_length": made.bundle.byte_length}
            print_json({"path": str(out.absolute()), **told, "sha256": made.bundle.sha256})
            return
        terminal.tell(f"{out.absolute()} ({made.bundle.files} files, {made.bundle.byte_length:,} bytes)")

    def replay(
        dataset_id: DatasetId,
        nova: OfNova = None,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Choose the profile of a dataset again, from what was stored of it, and compare."""
        with terminal.opened(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            dataset = meant_dataset(catalogue.store, dataset_id, nova)
            replayed = quarantine.replay(catalogue, dataset.nova_id, dataset_id)
        if as_json:
            print_json({"same": replayed.same, "stored": replayed.stored, "now": replayed.now})
        else:
            terminal.tell(_told_replay(replayed))
        if not replayed.same:
            raise typer.Exit(1)

    def dropped(
        bucket: Annotated[str, typer.Argument(help="The bucket, as NC_BUCKET says.", show_default=False)],
        key: Annotated[str, typer.Argument(help="The key of an object that lies there.", show_default=False)],
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
    ) -> None:
        """Say that a file lies in the bucket; whose it is, is found, and it is worked on."""
        with going_on(terminal), terminal.working(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            _take_dropped(terminal, catalogue, dropped_objects.drop(catalogue, key, bucket=bucket, by=BY), key)

    def merge(
        nova: Annotated[str, typer.Argument(help="The nova that is another, by name or id.", show_default=False)],
        into: Annotated[str, typer.Argument(help="The other.", show_default=False)],
        why: Annotated[str | None, typer.Option(help="For the audit trail.")] = None,
        yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask: it cannot be undone.")] = False,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Say that a nova is another: all that it has moves there, and its id answers with the other."""
        with going_on(terminal), terminal.working(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            one, other = meant_nova(catalogue.store, nova), meant_nova(catalogue.store, into)
            _ask_before_merge(one, other, yes=yes)
            begun = merging.merge(catalogue, one.nova_id, other.nova_id, by=BY, why=why)
            run = ended(catalogue.store, begun.run.job_run_id)
            if run.status is not RunStatus.SUCCEEDED:
                raise InvalidValue(
                    f"the merge is {run.status.value}: {run.error_message}; it is gone on with when asked for again"
                )
            merged = meant_nova(catalogue.store, str(other.nova_id))
            if as_json:
                print_json({"run": run_data(run), "nova": nova_data(merged)})
            else:
                terminal.tell(f"{one.preferred_name} is {told_nova(merged)}")

    def decide(
        job_run_id: Annotated[UUID, typer.Argument(help="The run that waits.", show_default=False)],
        ruling: Annotated[Ruling, typer.Argument(help="What it is.", show_default=False)],
        into: Annotated[UUID | None, typer.Option(help="Of existing: which nova it is.")] = None,
        match: Annotated[int | None, typer.Option(min=0, help="Of new and accept: which match, from 0.")] = None,
        note: Annotated[str | None, typer.Option(help="For the audit trail.")] = None,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Decide what a run could not know: which nova a name means, or that it is none; another run goes on."""
        if (ruling is Ruling.EXISTING) != (into is not None):
            raise InvalidValue("--into ID is said with existing, and with nothing else")
        decision = NovaDecision(verdict=ruling, nova_id=into, match=match, note=note)
        with going_on(terminal), terminal.working(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            _go_on(terminal, catalogue, decisions.decide(catalogue, job_run_id, decision, by=BY), as_json=as_json)

    named: list[Callable[..., Any]] = [init, add, status, bundle, replay, dropped, merge, decide]
    return {f"novae {each.__name__}": each for each in named}


# init


def look_on(watched: Any) -> CatalogueProgress:
    """Wait for the end, and say nothing."""
    for found in watched:
        last: CatalogueProgress = found
    return last


def _end_of_init(
    terminal: CommandContext, catalogue: NovaCatalogue, found: CatalogueProgress, name: str, *, as_json: bool
) -> None:
    if as_json:
        nova = None if found.nova is None else nova_data(found.nova)
        print_json({"run": run_data(found.run), "nova": nova, "datasets": [dataset_data(d) for d in found.datasets]})
    elif found.run.outcome == initializing.DEPRECATED and found.nova is not None:
        terminal.tell(
            f'Nothing is looked for. Take it back by: penstock novae restore "{shown(found.nova.preferred_name)}"'
        )
    elif found.nova is not None:
        show_datasets(terminal, list(found.datasets))
        for run in found.failed:
            terminal.tell(f"failed: {run.workflow_name}: {shown(run.error_message or run.outcome)}")
        tell_how_to_decide(terminal, catalogue, waiting_among(found.datasets))
    if found.nova is None:
        _tell_no_nova(terminal, catalogue, found, name, quiet=as_json)
    if found.nova is None or found.run.outcome == initializing.DEPRECATED:
        raise typer.Exit(1)


def _tell_no_nova(
    terminal: CommandContext, catalogue: NovaCatalogue, found: CatalogueProgress, name: str, *, quiet: bool
) -> None:
    """Why there is no nova of this name, and what can be done about it."""
    if quiet:
        return
    run = found.run
    if run.status is RunStatus.QUARANTINED:
        terminal.tell(f"{shown(name)} waits for a person.")
        tell_doubt(terminal, catalogue.store, run.job_run_id)
    elif run.outcome == NOT_FOUND:
        asked = ", ".join(each.name for each in catalogue.sources.spectra) or "nobody"
        terminal.tell(f"Nobody knows a nova called {shown(name)}; asked was {asked}, and the resolver if there is one.")
        terminal.tell("Check the spelling, or say who is to be asked: NC_PROVIDERS=local:FOLDER, NC_RESOLVER=https://…")
    elif run.outcome == NOT_A_NOVA:
        terminal.tell(f"{shown(name)} is known, and is no classical nova.")
    else:
        terminal.tell(f"{shown(name)} could not be looked up: {shown(run.error_message or run.outcome)}")


# bundle, dropped, replay, decide


def _take_dropped(terminal: CommandContext, catalogue: NovaCatalogue, task_id: str, key: str) -> None:
    said: set[str] = set()

    def tell(task: Task) -> None:
        if task.error and task.error not in said:
            said.add(task.error)
            terminal.tell(f"{shown(task.error)}; it is looked for again, for three minutes")

    told = task_done(catalogue.store, task_id, tell).result or {}
    if told.get("outcome") == "UNKNOWN":
        terminal.tell(f"{shown(key)}: {shown(told.get('reason'))}")
        raise typer.Exit(1)
    terminal.tell(
        f"{told.get('outcome')}: {shown(key)}{' of dataset ' + told['dataset_id'] if 'dataset_id' in told else ''}"
    )


def _told_replay(replayed: Any) -> str:
    stored, now = (each.get("chosen", each.get("form")) for each in (replayed.stored, replayed.now))
    return f"same: {stored}" if replayed.same else f"another: {stored} was chosen, and {now} would be now"


def _ask_before_merge(one: Nova, other: Nova, *, yes: bool) -> None:
    """A merge cannot be undone: whoever sits at a terminal is asked, and a program says --yes."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidValue(f"{one.preferred_name} would become {other.preferred_name} for good; say --yes to mean it")
    typer.confirm(f"{one.preferred_name} becomes {other.preferred_name}, for good. Merge them?", abort=True)


def _go_on(terminal: CommandContext, catalogue: NovaCatalogue, doubt: Doubt, *, as_json: bool) -> None:
    assert doubt.continued_by is not None, "it was just decided"
    if doubt.workflow_name != "initialize_nova":
        run = ended(catalogue.store, doubt.continued_by)
        if as_json:
            print_json({"run": run_data(run)})
        else:
            terminal.tell(f"{run.workflow_name}: {run.status.value} {run.outcome or ''}")
        return
    watched = watch(catalogue.store, doubt.continued_by)
    found = look_on(watched) if as_json else show_progress(terminal, watched)
    if found.nova is not None:
        _end_of_init(terminal, catalogue, found, doubt.subject, as_json=as_json)
    elif as_json:
        print_json({"run": run_data(found.run), "nova": None, "datasets": []})
    else:
        terminal.tell(f"{shown(doubt.subject)}: {found.run.outcome}")
