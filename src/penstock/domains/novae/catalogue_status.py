"""How novae stand, as a terminal shows it: all of them, or one with its datasets, its runs and what waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from penstock.domains.novae.catalogue_lines import (
    dataset_data,
    nova_data,
    run_data,
    shown,
    table_of_datasets,
    table_of_rows,
    table_of_runs,
    told_nova,
    waiting_data,
)
from penstock.domains.novae.catalogue_progress import VerdictCount
from penstock.domains.novae.catalogue_terminal import first, meant_nova, print_json, tell_how_to_decide, waiting_of
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.model import Doubt, JobRun, NovaEntry
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.states import NovaStatus, ProcessingStatus, RunStatus
from penstock.kernel.store import Store
from penstock.plugin import CommandContext

SHOWN, _RUNS = 50, 10


def show_datasets(terminal: CommandContext, datasets: list[Dataset], most: int = SHOWN) -> None:
    """A table of datasets, and a line that counts them."""
    if not datasets:
        terminal.tell("No datasets.")
        return
    ordered = sorted(datasets, key=lambda each: each.processing_status is ProcessingStatus.COMPLETED)
    console = terminal.console()
    console.print(table_of_datasets(ordered[:most], width=console.width))
    more = f" (the first {most} are shown)" if len(datasets) > most else ""
    terminal.tell(f"{len(datasets)} datasets: {VerdictCount.of(datasets).told()}{more}")


def waiting_among(datasets: Iterable[Dataset]) -> list[Dataset]:
    return [each for each in datasets if each.processing_status is ProcessingStatus.QUARANTINED]


def show_all(terminal: CommandContext, store: Store, limit: int, *, as_json: bool) -> None:
    entries, more = first(store, NovaEntry.by_status(status=NovaStatus.ACTIVE), limit)
    rows = [_row_of(store, entry) for entry in entries]
    doubts, _ = first(store, Doubt.waiting(), limit)
    waiting, _ = waiting_of(store, limit)
    if as_json:
        told = [{"job_run_id": str(d.job_run_id), "subject": d.subject, "reason_code": d.reason_code} for d in doubts]
        print_json({"novae": rows, "waiting": [waiting_data(*each) for each in waiting], "doubts": told})
        return
    if not rows:
        terminal.tell('No novae. Begin with: penstock novae init "V1324 Sco"')
    else:
        terminal.console().print(table_of_rows(rows))
    if more:
        terminal.tell(f"There are more; --limit {min(limit * 2, 1000)} shows them.")
    if waiting:
        terminal.tell(f"{len(waiting)} datasets wait for a person: penstock novae quarantine list")
    for each in doubts:
        terminal.tell(f"{shown(each.subject)} waits for a person: {each.reason_code}; penstock novae init tells how")


def _row_of(store: Store, entry: NovaEntry) -> dict[str, Any]:
    count = VerdictCount.of(list(store.find(Dataset.of_nova(nova_id=entry.nova_id))))
    return {
        "nova": entry.preferred_name,
        "spectra": count.by_type.get("spectra", 0),
        "photometry": count.by_type.get("photometry", 0),
        "valid": count.valid,
        "waiting": count.waiting,
        "refused": count.refused,
        "failed": count.failed,
        "at work": count.at_work,
        "nova_id": str(entry.nova_id),
    }


def show_nova(terminal: CommandContext, catalogue: NovaCatalogue, name: str, limit: int, *, as_json: bool) -> None:
    store = catalogue.store
    nova = meant_nova(store, name)
    datasets = list(store.find(Dataset.of_nova(nova_id=nova.nova_id)))
    runs = list(store.find(JobRun.of_nova(nova_id=nova.nova_id)))
    if as_json:
        told = {"nova": nova_data(nova), "datasets": [dataset_data(each) for each in datasets]}
        print_json(told | {"runs": [run_data(each) for each in runs[-limit:]]})
        return
    terminal.tell(told_nova(nova))
    show_datasets(terminal, datasets, limit)
    states = Counter(run.status.value.lower() for run in runs)
    terminal.tell(f"{len(runs)} runs: {', '.join(f'{count} {word}' for word, count in states.items()) or 'none'}")
    if runs:
        latest = [run for run in runs if run.status is not RunStatus.SUCCEEDED][-_RUNS:] or runs[-_RUNS:]
        terminal.console().print(table_of_runs(reversed(latest), now=store.clock.now()))
    tell_how_to_decide(terminal, catalogue, waiting_among(datasets))
