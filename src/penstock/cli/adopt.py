"""The command that looks at tables which others have written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated

import msgspec
import typer
from rich.markup import escape
from rich.table import Table

from penstock.cli.installed import domains
from penstock.cli.terminal import AsJson, busy, console, opened
from penstock.evolution.adoption import Adoption, adoption

Url = Annotated[str, typer.Argument(metavar="URL", help="sqlite:///FILE, postgresql://… or dynamodb://REGION.")]


def adopt(url: Url, as_json: AsJson = False) -> None:
    """Look through tables that others have written, and tell what fits, what does not and what is missing.

    Nothing is changed. Which domains are looked for, `penstock --domain` says.
    """
    with opened(url) as store, busy("Looking through all records"):
        found = adoption(store, domains())
    if as_json:
        print(json.dumps(msgspec.to_builtins(found), indent=2))
    else:
        _show(found)


def _show(found: Adoption) -> None:
    table = Table(
        *("entity", "fitting", "not in an index", "in another form", "unknown", "damaged"),
        title="Found",
        title_justify="left",
    )
    for each in found.entities:
        differing = [each.unindexed, each.otherwise, each.unknown]
        if each.fitting or each.damaged or any(differing):
            table.add_row(each.label, str(each.fitting), *map(_counted, differing), str(each.damaged))
    console().print(table if table.row_count else "No record of these domains is there.")
    for each in found.entities:
        for example in each.examples:
            console().print(escape(example))
    if found.missing:
        console().print(f"`penstock tables apply` would add {len(found.missing)} things; `tables plan` names them.")


def _counted(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {number}" for name, number in numbers.items()) or "0"
