"""Commands for a store's tables."""

from __future__ import annotations

import json

import typer
from rich.markup import escape
from rich.table import Table

from penstock.cli.drop_leftovers import leftover_steps
from penstock.cli.installed import domains, installed
from penstock.cli.terminal import AsJson, ObjectsUrl, StoreUrl, busy, console, opened, settings
from penstock.operations.plan import PlanStep
from penstock.plugin import own_settings
from penstock.runtime.bucket_advice import bucket_advice
from penstock.work.working import WORKING

tables = typer.Typer(no_args_is_help=True, help="Tables of a store: what is missing, and creating it.")


@tables.command("plan")
def plan(store: StoreUrl = None, objects: ObjectsUrl = None, as_json: AsJson = False) -> None:
    """Tell what would be created or added. Nothing is changed."""
    _ensure(store, objects, as_json, dry_run=True)


@tables.command("apply")
def apply(store: StoreUrl = None, objects: ObjectsUrl = None, as_json: AsJson = False) -> None:
    """Create or add what is missing. Nothing is ever dropped."""
    _ensure(store, objects, as_json, dry_run=False)


def _advice(objects: str | None) -> list[PlanStep]:
    """What the system and its domains ask of whoever keeps the files."""
    chosen = settings(objects=objects)
    setting = own_settings(installed(), chosen.variables)
    of_domains = [s for i in installed() if i.advice is not None for s in i.advice(chosen.objects, setting)]
    return bucket_advice(chosen) + of_domains


def _ensure(store: str | None, objects: str | None, as_json: bool, *, dry_run: bool) -> None:
    with opened(store) as handle, busy("Looking at the tables" if dry_run else "Creating tables"):
        steps = handle.ensure(*domains(), WORKING, dry_run=dry_run)
        if dry_run:
            steps += leftover_steps(handle, (*domains(), WORKING))
    steps += _advice(objects)
    if as_json:
        print(json.dumps([{"kind": s.kind, "name": s.name, "detail": s.detail} for s in steps], indent=2))
        return
    if not steps:
        console().print("Nothing is missing.")
        return
    _show("Would be done" if dry_run else "Done", [s for s in steps if not s.is_advice])
    _show("Left as it is", [s for s in steps if s.is_advice], detailed=True)


def _show(title: str, steps: list[PlanStep], *, detailed: bool = False) -> None:
    if not steps:
        return
    table = Table("step", "name", *(["what it is about"] if detailed else []), title=title, title_justify="left")
    for step in steps:
        table.add_row(step.kind, step.name, *([escape(step.detail)] if detailed else []))
    console().print(table)
