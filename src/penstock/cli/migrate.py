"""The command that brings records from one layout to another."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any

import typer
from msgspec import structs
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from penstock.cli.drop_leftovers import drop_all
from penstock.cli.installed import domains
from penstock.cli.terminal import AsJson, StoreUrl, busy, complain, console, opened
from penstock.declare.domain import Domain
from penstock.errors import LayoutMismatch
from penstock.evolution.migration import SEGMENTS, Migration, MigrationProgress, pause_migration
from penstock.evolution.pending import PendingMigration, pending_migrations
from penstock.kernel.store import Store
from penstock.work.working import WORKING

DryRun = Annotated[bool, typer.Option("--dry-run", help="Tell what would be migrated, and change nothing.")]
Segments = Annotated[int, typer.Option(min=1, max=64, help="How many parts of a table are walked through at once.")]
Rate = Annotated[float | None, typer.Option(min=1, help="How many records a second are looked at, at most.")]
ShutOut = Annotated[
    bool, typer.Option("--shut-out", help="Do not wait for processes whose declaration cannot go on; shut them out.")
]
DropLeftovers = Annotated[
    bool, typer.Option("--drop-leftovers", help="Drop what no declaration has any more; with --dry-run: tell what.")
]
Pause = Annotated[bool, typer.Option("--pause", help="Have whoever migrates stop; the next `migrate` goes on.")]


def migrate(
    store: StoreUrl = None,
    dry_run: DryRun = False,
    segments: Segments = SEGMENTS,
    rate: Rate = None,
    shut_out: ShutOut = False,
    pause: Pause = False,
    drop_leftovers: DropLeftovers = False,
    as_json: AsJson = False,
) -> None:
    """Bring every record to the declared layout, while everybody goes on. What was broken off is gone on with."""
    with opened(store) as handle:
        if drop_leftovers:
            return drop_all(handle, (*domains(), WORKING), dry_run=dry_run, rate=rate, as_json=as_json)
        with busy("Looking at the layouts"):
            pending = pending_migrations(handle, (*domains(), WORKING), counted=dry_run)
        if pause:
            _show_paused([p.label for p in pending if p.stage is not None and pause_migration(handle, p.label)])
        elif dry_run:
            show_pending(pending, as_json)
        else:
            done = migrate_all(handle, pending, segments=segments, rate=rate, shut_out=shut_out)
            _show_done(done, as_json)
            _show_left(pending)


def bring_along(store: Store, domains: Iterable[Domain]) -> None:
    """Have the store hold what is declared, whatever that takes; LayoutMismatch where it cannot be done."""
    every = tuple(domains)
    store.ensure(*every)
    pending = pending_migrations(store, every)
    for each in pending:
        if each.refused is not None:
            raise LayoutMismatch(each.refused)
    done = migrate_all(store, pending)
    if done:
        _show_done(done, as_json=False)
    _show_left(pending)


def migrate_all(store: Store, pending: list[PendingMigration], **options: Any) -> list[MigrationProgress]:
    """Migrate one entity after the other, and show how far it is."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(), transient=True) as shown:
        return [_migrated(store, each, shown, options) for each in pending if each.is_to_be_done]


def _migrated(store: Store, pending: PendingMigration, shown: Progress, options: dict[str, Any]) -> MigrationProgress:
    bar = shown.add_task(pending.label, total=pending.records or None)
    looked_at: dict[int, int] = {}
    migration = Migration(
        store, pending.shape, tell=lambda told: _show_progress(shown, bar, looked_at, told), **options
    )
    return migration.run()


def _show_progress(shown: Progress, bar: TaskID, looked_at: dict[int, int], told: MigrationProgress) -> None:
    if told.segment is None:
        shown.update(bar, description=f"{told.label}, {told.stage} {told.detail}".rstrip())
    else:
        looked_at[told.segment] = told.looked_at
        shown.update(bar, completed=sum(looked_at.values()))


def _show_left(pending: list[PendingMigration]) -> None:
    """What was not done, and why; the command fails where that was all there was to do."""
    refused = [each.refused for each in pending if each.refused is not None]
    for told in (*refused, *(line for each in pending for line in each.undone)):
        complain(told)
    if refused:
        raise typer.Exit(1)


def _count(records: int | None) -> str:
    return "unknown" if records is None else str(records)


def _show_paused(labels: list[str]) -> None:
    console().print(f"Asked to pause: {', '.join(labels)}." if labels else "Nothing is being migrated.")


def show_pending(pending: list[PendingMigration], as_json: bool) -> None:
    if as_json:
        told = [
            {
                "entity": p.label,
                "steps": [{"what": s.what, "detail": s.detail} for s in p.steps],
                "refused": [{"what": s.what, "detail": s.detail} for s in p.left],
                "lost": [{**structs.asdict(lost), "examples": list(lost.examples)} for lost in p.lost],
                "records": p.records,
                "stage": p.stage,
            }
            for p in pending
        ]
        print(json.dumps(told, indent=2))
    elif not pending:
        console().print("Nothing is to be migrated.")
    else:
        table = Table("entity", "what", "records, about", "stage", title="To be migrated", title_justify="left")
        for each in pending:
            steps = [f"{s.what}: {s.detail}" for s in each.steps]
            steps += [f"refused: {s.what}: {s.detail}" for s in each.left]
            steps += [lost.said for lost in each.lost]
            table.add_row(each.label, "\n".join(steps), _count(each.records), each.stage or "not begun")
        console().print(table)


def _show_done(done: list[MigrationProgress], as_json: bool) -> None:
    if as_json:
        told = [{"entity": d.label, "stage": d.stage, "looked_at": d.looked_at, "written": d.written} for d in done]
        print(json.dumps(told, indent=2))
    elif not done:
        console().print("Nothing is to be migrated.")
    else:
        table = Table("entity", "stage", "looked at", "written", "unreadable", title="Migrated", title_justify="left")
        for each in done:
            table.add_row(each.label, each.stage, str(each.looked_at), str(each.written), str(each.unreadable))
        console().print(table)
