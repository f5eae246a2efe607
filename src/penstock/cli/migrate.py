"""The command that brings records from one layout to another."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.table import Table

from penstock.cli.installed import domains
from penstock.cli.terminal import AsJson, StoreUrl, busy, console, opened
from penstock.evolution.index_migration import SEGMENTS, IndexMigration, MigrationProgress
from penstock.evolution.pending import PendingMigration, pending_migrations
from penstock.kernel.store import Store
from penstock.work.working import WORKING

DryRun = Annotated[bool, typer.Option("--dry-run", help="Tell what would be migrated, and change nothing.")]
Segments = Annotated[int, typer.Option(min=1, max=64, help="How many parts of a table are walked through at once.")]


def migrate(
    store: StoreUrl = None, dry_run: DryRun = False, segments: Segments = SEGMENTS, as_json: AsJson = False
) -> None:
    """Bring every record to the declared layout, while everybody goes on. What was broken off is gone on with."""
    with opened(store) as handle:
        with busy("Looking at the layouts"):
            pending = pending_migrations(handle, (*domains(), WORKING))
        if dry_run:
            _show_pending(pending, as_json)
        else:
            _show_done([_migrated(handle, each, segments) for each in pending], as_json)


def _migrated(store: Store, pending: PendingMigration, segments: int) -> MigrationProgress:
    with busy(f"Filling {', '.join(pending.indexes)} with {pending.label}, of about {pending.records} records"):
        return IndexMigration(store, pending.shape, segments=segments).run()


def _show_pending(pending: list[PendingMigration], as_json: bool) -> None:
    if as_json:
        told = [{"entity": p.label, "indexes": p.indexes, "records": p.records, "begun": p.is_begun} for p in pending]
        print(json.dumps(told, indent=2))
    elif not pending:
        console().print("Nothing is to be migrated.")
    else:
        table = Table(
            "entity", "indexes to fill", "records, about", "begun", title="To be migrated", title_justify="left"
        )
        for each in pending:
            table.add_row(each.label, ", ".join(each.indexes), str(each.records), "yes" if each.is_begun else "no")
        console().print(table)


def _show_done(done: list[MigrationProgress], as_json: bool) -> None:
    if as_json:
        told = [{"entity": d.label, "looked_at": d.looked_at, "written": d.written} for d in done]
        print(json.dumps(told, indent=2))
    elif not done:
        console().print("Nothing is to be migrated.")
    else:
        table = Table("entity", "looked at", "written", "unreadable", title="Migrated", title_justify="left")
        for each in done:
            table.add_row(each.label, str(each.looked_at), str(each.written), str(each.unreadable))
        console().print(table)
