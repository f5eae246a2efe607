"""Commands of retention: what would leave, and letting it leave."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from penstock.cli.installed import domains
from penstock.cli.terminal import AsJson, ObjectsUrl, Place, StoreUrl, busy, console, opened, settings
from penstock.kernel.store import Store
from penstock.lifecycle.retention import Archived, Due, Retention
from penstock.runtime.composition import open_archive, open_objects

retention = typer.Typer(no_args_is_help=True, help="Records that have been kept for their time.")


@retention.command("plan")
def plan(archive: Place = None, store: StoreUrl = None, objects: ObjectsUrl = None, as_json: AsJson = False) -> None:
    """Tell what would be archived and removed. Nothing is changed."""
    _tell(archive, store, objects, as_json)


@retention.command("run")
def run(
    archive: Place = None,
    store: StoreUrl = None,
    objects: ObjectsUrl = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many records.")] = None,
    by: Annotated[str, typer.Option(help="Who is named in the audit trail.")] = "retention",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would leave.")] = False,
    as_json: AsJson = False,
) -> None:
    """Archive what is due, read it back from the archive, and only then remove it."""
    if dry_run:
        _tell(archive, store, objects, as_json)
        return
    with opened(store) as handle, busy("Archiving"):
        done = _retention(handle, archive, objects, by=by).run(limit=limit)
    _show(done, "Left", as_json)


def _tell(archive: str | None, store: str | None, objects: str | None, as_json: bool) -> None:
    with opened(store) as handle, busy("Looking for what is due"):
        due = _retention(handle, archive, objects, by="retention").plan()
    _show(due, "Would leave", as_json)


def _retention(store: Store, archive: str | None, objects: str | None, *, by: str) -> Retention:
    chosen = settings(archive=archive, objects=objects)
    files = open_objects(chosen.objects, settings=chosen)
    return Retention(store, open_archive(chosen.archive, settings=chosen), domains(), owner=by, objects=files)


def _show(rows: list[Due] | list[Archived], title: str, as_json: bool) -> None:
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return
    names: tuple[str, ...] = (
        "entity",
        "rule",
        "records",
        "along",
        "bytes",
        "files",
        "file_bytes",
        "oldest",
        "newest",
        "held",
        "removed",
        "changed",
        "busy",
    )
    names += tuple(name for name in ("missing", "unreadable") if any(getattr(row, name) for row in rows))
    shown = [n for n in names if rows and hasattr(rows[0], n)]
    table = Table(*shown, title=title, title_justify="left")
    for row in rows:
        table.add_row(*(_cell(getattr(row, name)) for name in shown))
    console().print(table)


def _cell(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(value)
    return "" if value is None or value is False else "yes" if value is True else str(value)
