"""Commands that look at declarations; no database is needed."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from msgspec.structs import replace
from rich.table import Table

from penstock.cli import names
from penstock.cli.records import Fields, Where
from penstock.cli.terminal import AsJson, console, tell
from penstock.runtime.composition import explain
from penstock.schema.shape import PatternShape


def patterns(
    domain: Annotated[str | None, typer.Argument(help="Only this domain.")] = None, as_json: AsJson = False
) -> None:
    """List every access pattern: what is asked, by which key, in which order."""
    found = [p for d in names.domains(domain) for p in d.patterns]
    if as_json:
        print(json.dumps([_told(p) for p in found], indent=2))
        return
    table = Table("pattern", "parameters", "key", "answers", title="Access patterns", title_justify="left")
    for pattern in found:
        told = _told(pattern)
        table.add_row(pattern.label, ", ".join(told["parameters"]), told["key"], pattern.summary)
    console().print(table)


def explain_pattern(
    pattern: Annotated[str, typer.Argument(help="Such as films.Film.by_status.")],
    values: Annotated[list[str] | None, typer.Argument(help="name=value; a range is name=a..b, a.. or ..b.")] = None,
    where: Where = None,
    fields: Fields = None,
    count: Annotated[int | None, typer.Option(min=1, help="Show how they are counted, up to this.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the DynamoDB request, the SQL and the cost of a pattern, without any database."""
    asked = names.wider(names.query(names.pattern(pattern), values or []), where or [], fields, personal=True)
    told = explain(asked if count is None else replace(asked, fields=()), limit=count or 50)
    if as_json:
        print(json.dumps(told, indent=2, default=str))
        return
    for engine, request in told.items():
        tell(engine, style="bold")
        if isinstance(request, dict) and "statement" in request:
            tell(f"  {request['statement']}")
            tell(f"  with {json.dumps(request['parameters'], default=str)}")
        elif engine == "cost" and isinstance(request, dict):
            for name, words in request.items():
                tell(f"  {name}: {words}")
        else:
            console().print_json(json.dumps(request, default=str))


explain_pattern.__command__ = "explain"  # type: ignore[attr-defined]


def _told(pattern: PatternShape) -> dict[str, Any]:
    place = pattern.index.place.name if pattern.index else pattern.entity.table.name
    sort = f" / {pattern.key.sort.text}" if pattern.key.sort else ""
    parameters = [
        f"{n}{'?' if n in pattern.optional else ' range' if n == pattern.ranged else ''}" for n in pattern.parameters
    ]
    return {
        "pattern": pattern.label,
        "parameters": parameters,
        "key": f"{place}: {pattern.key.partition.text}{sort}{' ↓' if pattern.backwards else ''}",
        "answers": pattern.summary,
    }
