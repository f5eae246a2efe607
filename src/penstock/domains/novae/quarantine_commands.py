"""The quarantine desk on the command line: ``penstock novae quarantine list``, ``show``, ``clear`` and ``reject``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import typer

from penstock.domains.novae import quarantine
from penstock.domains.novae.catalogue_lines import (
    VERDICTS,
    contents_of_dataset,
    dataset_data,
    file_of,
    shown,
    table_of_waiting,
    waiting_data,
)
from penstock.domains.novae.catalogue_progress import ended
from penstock.domains.novae.catalogue_terminal import (
    AsJson,
    DatasetId,
    ObjectsUrl,
    OfNova,
    StoreUrl,
    given_hints,
    going_on,
    meant_dataset,
    print_json,
    text_of,
    waiting_of,
)
from penstock.domains.novae.contributions import LONGEST_TICKET
from penstock.domains.novae.data_records import DatasetVerdict
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.file_adding import BY
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.quarantine import Evidence
from penstock.domains.novae.states import ProcessingStatus
from penstock.errors import InvalidValue
from penstock.files.object_reads import fetch
from penstock.files.scratch import scratch_folder
from penstock.plugin import CommandContext

_SHOWN, _CARDS = 50, 40


def commands(terminal: CommandContext) -> Mapping[str, Callable[..., Any]]:
    """``penstock novae quarantine …``."""

    def list_waiting(
        limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = _SHOWN,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """List the datasets that wait for a person, the longest first."""
        with terminal.opened(store=store, objects=objects) as context:
            waiting, more = waiting_of(context.store, limit)
            now = context.store.clock.now()
        if as_json:
            print_json([waiting_data(*each) for each in waiting])
            return
        if not waiting:
            terminal.tell("Nothing waits for a person.")
            return
        terminal.console().print(table_of_waiting(waiting, now=now))
        if more:
            terminal.tell(f"There are more; --limit {min(limit * 2, 1000)} shows them.")

    def show(
        dataset_id: DatasetId,
        nova: OfNova = None,
        out: Annotated[Path | None, typer.Option("--out", "-o", help="A folder for the evidence.")] = None,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Show why a dataset waits: the failed check, the file's header, what was tried; and get the evidence."""
        with terminal.opened(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            dataset = meant_dataset(catalogue.store, dataset_id, nova)
            found = quarantine.evidence(catalogue, dataset.nova_id, dataset_id)
            told = _context_of(catalogue, found.latest)
            files = [] if out is None else _fetched(catalogue, found, out)
        if as_json:
            print_json({"dataset": dataset_data(dataset), "context": told, "files": [str(path) for path in files]})
            return
        for line in _evidence_lines(found, told):
            terminal.tell(line)
        for path in files:
            terminal.tell(f"evidence: {path}")

    def clear(
        dataset_id: DatasetId,
        hint: Annotated[
            list[str] | None, typer.Option("--hint", help="NAME=VALUE: unit, flux_unit, profile, aperture …")
        ] = None,
        ticket: Annotated[Path | None, typer.Option("--ticket", "-t", help="What describes the columns.")] = None,
        note: Annotated[str | None, typer.Option(help="For the audit trail.")] = None,
        nova: OfNova = None,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Have a dataset judged again, with what you say of it, and wait for its verdict; also one that was refused."""
        hints, told = given_hints(hint), text_of(ticket, "the ticket", LONGEST_TICKET)
        with going_on(terminal), terminal.working(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            asked = meant_dataset(catalogue.store, dataset_id, nova)
            said: dict[str, Any] = {"hints": hints, "ticket": told, "note": note}
            cleared = quarantine.clear(catalogue, asked.nova_id, dataset_id, **said, by=BY)
            ended(catalogue.store, cleared.run.job_run_id)
            dataset = meant_dataset(catalogue.store, dataset_id, str(asked.nova_id))
        if as_json:
            print_json(dataset_data(dataset))
        else:
            terminal.tell(verdict_line(dataset))
        if dataset.processing_status is not ProcessingStatus.COMPLETED:
            raise typer.Exit(1)

    def reject(
        dataset_id: DatasetId,
        reason: Annotated[str, typer.Option(help="Why it will never be valid.", show_default=False)],
        nova: OfNova = None,
        store: StoreUrl = None,
        objects: ObjectsUrl = None,
        as_json: AsJson = False,
    ) -> None:
        """Say that a dataset is of no use, and why; one that is valid is withdrawn by that."""
        with terminal.opened(store=store, objects=objects) as context:
            catalogue = NovaCatalogue.within(context)
            dataset = meant_dataset(catalogue.store, dataset_id, nova)
            rejected = quarantine.reject(catalogue, dataset.nova_id, dataset_id, reason=reason, by=BY)
        if as_json:
            print_json(dataset_data(rejected))
        else:
            terminal.tell(verdict_line(rejected))

    return {
        "novae quarantine list": list_waiting,
        "novae quarantine show": show,
        "novae quarantine clear": clear,
        "novae quarantine reject": reject,
    }


def verdict_line(dataset: Dataset) -> str:
    """What a dataset proved to be, in one line."""
    word = VERDICTS[dataset.processing_status][0]
    return f"{dataset.dataset_id}  {shown(file_of(dataset))} · {word} · {shown(contents_of_dataset(dataset))}"


def _context_of(catalogue: NovaCatalogue, verdict: DatasetVerdict | None) -> dict[str, Any]:
    """What was written down when a file was laid aside."""
    key = next((key for key in verdict.evidence if key.endswith("context.json")), None) if verdict else None
    if key is None:
        return {}
    with scratch_folder("evidence") as folder:
        told: dict[str, Any] = json.loads(fetch(catalogue.objects, key, folder).read_text("utf-8"))
        return told


def _fetched(catalogue: NovaCatalogue, found: Evidence, out: Path) -> list[Path]:
    """The evidence about a dataset, as files in a folder."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidValue(f"{out} cannot be made: {error.strerror or error}") from None
    made: list[Path] = []
    for key in found.latest.evidence if found.latest is not None else ():
        with scratch_folder("evidence") as folder:
            path = out / f"{str(found.dataset.dataset_id)[:8]}-{PurePosixPath(key).name}"
            path.write_bytes(fetch(catalogue.objects, key, folder).read_bytes())
            made.append(path)
    return made


def _evidence_lines(found: Evidence, told: Mapping[str, Any]) -> list[str]:
    dataset, latest = found.dataset, found.latest
    lines = [verdict_line(dataset)]
    details = {k: v for k, v in ((latest.details if latest else None) or {}).items() if k != "reason"}
    lines += [f"  {name}: {shown(value, 200)}" for name, value in details.items()]
    chosen = (dataset.profile_selection or {}).get("chosen")
    lines += [f"profile: {chosen}"] if chosen else []
    evidence = told.get("evidence") or {}
    cards = evidence.get("headers") or evidence.get("first_lines") or []
    lines += ["the file says:"] if cards else []
    lines += [f"  {shown(card, 120)}" for card in cards[:_CARDS]]
    lines += [f"  … {len(cards) - _CARDS} more, in context.json"] if len(cards) > _CARDS else []
    tried = [f"{each.task} {'done' if each.succeeded else shown(each.error_message, 100)}" for each in found.attempts]
    lines += [f"tried: {'; '.join(tried)}"] if tried else []
    former = [each for each in found.verdicts if each is not latest]
    lines += [
        f"before: {each.validation_status.value} {each.code or ''} with {each.said or 'no hints'}" for each in former
    ]
    return lines
