"""What no declaration has any more: shown, and dropped when somebody asks for that."""

from __future__ import annotations

import json
from collections.abc import Iterable

import typer
from rich.table import Table

from penstock.cli.terminal import busy, complain, console
from penstock.declare.domain import Domain
from penstock.evolution.entity_drop import EntityDrop
from penstock.evolution.leftover_drop import LeftoverDrop, drop_together
from penstock.evolution.leftovers import entity_leftovers
from penstock.kernel.store import Store
from penstock.operations.leftover import Leftover
from penstock.operations.plan import PlanStep
from penstock.schema.differences import Takes


def drop_all(store: Store, domains: Iterable[Domain], *, dry_run: bool, rate: float | None, as_json: bool) -> None:
    """Drop the leftovers of one entity after the other, or tell what they are."""
    with busy("Looking for leftovers"):
        found = entity_leftovers(store, domains)
    if dry_run:
        _show("Leftovers", [(each.label, each.found, each.refused) for each in found], as_json)
        return
    with busy("Dropping what no declaration has any more; nobody may ask for it, which takes a minute"):
        kinds = [(EntityDrop if each.is_gone else LeftoverDrop, each.shape) for each in found]
        done, refused = drop_together([kind(store, shape, rate=rate) for kind, shape in kinds])
    if done or not refused:
        _show("Dropped", [(d.label, (*d.dropped, *d.kept), None) for d in done], as_json)
    for told in refused:
        complain(told)
    if refused:
        raise typer.Exit(1)


def leftover_steps(store: Store, domains: Iterable[Domain]) -> list[PlanStep]:
    """What a plan tells of them."""
    found = entity_leftovers(store, domains, counted=False)
    return [PlanStep(str(Takes.NOBODY), o.name, _said(o)) for each in found for o in each.found]


def _said(leftover: Leftover) -> str:
    if leftover.kept is not None:
        return f"{leftover.kind} of a former layout, which stays: {leftover.kept}"
    return f"{leftover.kind} of a former layout; `penstock migrate --drop-leftovers` drops it"


def _show(title: str, found: list[tuple[str, tuple[Leftover, ...], str | None]], as_json: bool) -> None:
    if as_json:
        print(json.dumps([_document(*each) for each in found], indent=2))
    elif not found:
        console().print("Nothing is left of former layouts.")
    else:
        table = Table("entity", "what", "name", "records", "stays, because", title=title, title_justify="left")
        for label, leftovers, refused in found:
            for leftover in leftovers:
                count = "" if leftover.records is None else str(leftover.records)
                table.add_row(label, leftover.kind, leftover.name, count, leftover.kept or refused or "")
        console().print(table)


def _document(label: str, leftovers: tuple[Leftover, ...], refused: str | None) -> dict[str, object]:
    told = [{"kind": o.kind, "name": o.name, "records": o.records, "kept": o.kept} for o in leftovers]
    return {"entity": label, "leftovers": told, "refused": refused}
