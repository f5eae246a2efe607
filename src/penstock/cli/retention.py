"""Commands of retention: what would leave, and letting it leave."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from penstock.app import open_store
from penstock.archive import FolderArchive
from penstock.domains import DOMAINS
from penstock.retention import Archived, Due, Retention
from penstock.settings import read_settings

retention = typer.Typer(no_args_is_help=True, help="Records that have been kept for their time.")

AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]
StoreUrl = Annotated[
    str | None,
    typer.Option("--store", help="sqlite:///FILE, postgresql://… or dynamodb://REGION; else PENSTOCK_STORE."),
]
Folder = Annotated[Path, typer.Option("--archive", help="The folder of the archive; made when it is missing.")]


@retention.command("plan")
def plan(archive: Folder, store: StoreUrl = None, as_json: AsJson = False) -> None:
    """Tell what would be archived and removed. Nothing is changed."""
    settings = read_settings(DOMAINS)
    opened = open_store(store or settings.store, settings=settings)
    try:
        due = Retention(opened, FolderArchive(archive), DOMAINS, owner="retention").plan()
    finally:
        opened.close()
    _show(due, "Would leave", as_json)


@retention.command("run")
def run(
    archive: Folder,
    store: StoreUrl = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many records.")] = None,
    by: Annotated[str, typer.Option(help="Who is named in the audit trail.")] = "retention",
    as_json: AsJson = False,
) -> None:
    """Archive what is due, read it back from the archive, and only then remove it."""
    settings = read_settings(DOMAINS)
    opened = open_store(store or settings.store, settings=settings)
    try:
        done = Retention(opened, FolderArchive(archive), DOMAINS, owner=by).run(limit=limit)
    finally:
        opened.close()
    _show(done, "Left", as_json)


def _show(rows: list[Due] | list[Archived], title: str, as_json: bool) -> None:
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return
    names = ("entity", "rule", "records", "along", "bytes", "oldest", "newest", "held", "removed", "changed", "busy")
    shown = [n for n in names if rows and hasattr(rows[0], n)]
    table = Table(*shown, title=title, title_justify="left")
    for row in rows:
        table.add_row(*(_cell(getattr(row, name)) for name in shown))
    Console(width=None if sys.stdout.isatty() else 200, highlight=False).print(table)


def _cell(value: object) -> str:
    return "" if value is None or value is False else "yes" if value is True else str(value)
