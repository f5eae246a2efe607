"""Commands of retention: what would leave, and letting it leave."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from penstock.cli.installed import domains
from penstock.cli.terminal import AsJson, Place, StoreUrl, busy, console, opened, settings
from penstock.lifecycle.retention import Archived, Due, Retention
from penstock.ports.archive import Archive
from penstock.runtime.composition import open_archive

retention = typer.Typer(no_args_is_help=True, help="Records that have been kept for their time.")


@retention.command("plan")
def plan(archive: Place = None, store: StoreUrl = None, as_json: AsJson = False) -> None:
    """Tell what would be archived and removed. Nothing is changed."""
    with opened(store) as handle, busy("Looking for what is due"):
        due = Retention(handle, _archive(archive), domains(), owner="retention").plan()
    _show(due, "Would leave", as_json)


@retention.command("run")
def run(
    archive: Place = None,
    store: StoreUrl = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many records.")] = None,
    by: Annotated[str, typer.Option(help="Who is named in the audit trail.")] = "retention",
    as_json: AsJson = False,
) -> None:
    """Archive what is due, read it back from the archive, and only then remove it."""
    with opened(store) as handle, busy("Archiving"):
        done = Retention(handle, _archive(archive), domains(), owner=by).run(limit=limit)
    _show(done, "Left", as_json)


def _archive(place: str | None) -> Archive:
    chosen = settings(archive=place)
    return open_archive(chosen.archive, settings=chosen)


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
        "oldest",
        "newest",
        "held",
        "removed",
        "changed",
        "busy",
    )
    names = (*names, *(("unreadable",) if any(row.unreadable for row in rows) else ()))
    shown = [n for n in names if rows and hasattr(rows[0], n)]
    table = Table(*shown, title=title, title_justify="left")
    for row in rows:
        table.add_row(*(_cell(getattr(row, name)) for name in shown))
    console().print(table)


def _cell(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(value)
    return "" if value is None or value is False else "yes" if value is True else str(value)
