"""The command line: what the library does, with tables for people and JSON for programs."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Iterable
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from penstock.app import explain, open_store
from penstock.cli_audit import audit
from penstock.cli_retention import retention
from penstock.declare.domain import Domain
from penstock.declare.pattern import ask
from penstock.domains import DOMAINS
from penstock.errors import InvalidKey, Misconfigured, PenstockError
from penstock.kinds import FieldShape, from_key_text
from penstock.ops import Query, Range
from penstock.settings import read_settings
from penstock.shape import PatternShape

app = typer.Typer(no_args_is_help=True, add_completion=False, help="The state layer for asset pipelines.")
tables = typer.Typer(no_args_is_help=True, help="Tables of a store: what is missing, and creating it.")
app.add_typer(tables, name="tables")
app.add_typer(audit, name="audit")
app.add_typer(retention, name="retention")


def console() -> Console:
    """Where people read; a pipe has no width of its own, so it gets a generous one."""
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False)


AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]
StoreUrl = Annotated[
    str | None,
    typer.Option("--store", help="sqlite:///FILE, postgresql://… or dynamodb://REGION; else PENSTOCK_STORE."),
]


def main() -> None:
    """Run a command; a user's mistake is answered in a sentence, not with a traceback."""
    try:
        app()
    except PenstockError as error:
        Console(stderr=True, soft_wrap=True).print(f"penstock: {error}", style="red", highlight=False, markup=False)
        raise SystemExit(2) from None


@app.command()
def patterns(
    domain: Annotated[str | None, typer.Argument(help="Only this domain.")] = None, as_json: AsJson = False
) -> None:
    """List every access pattern: what is asked, by which key, in which order."""
    found = [p for d in _domains(domain) for p in d.patterns]
    if as_json:
        print(json.dumps([_told(p) for p in found], indent=2))
        return
    table = Table("pattern", "parameters", "key", "answers", title="Access patterns", title_justify="left")
    for pattern in found:
        told = _told(pattern)
        table.add_row(pattern.label, ", ".join(told["parameters"]), told["key"], pattern.summary)
    console().print(table)


@app.command("explain")
def explain_command(
    pattern: Annotated[str, typer.Argument(help="Such as musicvideo.Scene.of_project.")],
    values: Annotated[list[str] | None, typer.Argument(help="name=value; a range is name=a..b, a.. or ..b.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the DynamoDB request and the SQL of a pattern, without any database."""
    told = explain(_query(_pattern(pattern), values or []))
    if as_json:
        print(json.dumps(told, indent=2, default=str))
        return
    for engine, request in told.items():
        console().print(f"[bold]{engine}[/bold]")
        console().print_json(json.dumps(request, default=str))


@tables.command("plan")
def plan(store: StoreUrl = None, as_json: AsJson = False) -> None:
    """Tell what would be created or added. Nothing is changed."""
    _ensure(store, as_json, dry_run=True)


@tables.command("apply")
def apply(store: StoreUrl = None, as_json: AsJson = False) -> None:
    """Create or add what is missing. Nothing is ever dropped."""
    _ensure(store, as_json, dry_run=False)


@app.command()
def up(store: StoreUrl = None) -> None:
    """Prepare the embedded store and say where things are."""
    url = store or read_settings(DOMAINS).store
    steps = open_store(url).ensure(*DOMAINS)
    console().print(f"The store is ready at {url} ({len(steps)} steps taken).", highlight=False)
    console().print("Try: penstock patterns · penstock explain musicvideo.Scene.of_project project_id=UUID")


def _ensure(store: str | None, as_json: bool, *, dry_run: bool) -> None:
    settings = read_settings(DOMAINS)
    opened = open_store(store or settings.store, settings=settings)
    try:
        steps = opened.ensure(*DOMAINS, dry_run=dry_run)
    finally:
        opened.close()
    if as_json:
        print(json.dumps([{"kind": s.kind, "name": s.name, "detail": s.detail} for s in steps], indent=2))
        return
    if not steps:
        console().print("Nothing is missing.")
        return
    table = Table("step", "name", title="Would be done" if dry_run else "Done", title_justify="left")
    for step in steps:
        table.add_row(step.kind, step.name)
    console().print(table)
    for advice in dict.fromkeys(step.detail for step in steps if step.is_advice):
        console().print(advice, highlight=False)


def _domains(name: str | None) -> list[Domain]:
    if name is None:
        return list(DOMAINS)
    found = [d for d in DOMAINS if d.name == name]
    if not found:
        raise Misconfigured(f'No domain "{name}". {_hint(name, [d.name for d in DOMAINS])}')
    return found


def _pattern(label: str) -> PatternShape:
    known = {p.label: p for d in DOMAINS for p in d.patterns}
    if label not in known:
        raise Misconfigured(f'No pattern "{label}". {_hint(label, known)}')
    return known[label]


def _hint(given: str, known: Iterable[str]) -> str:
    names = list(known)
    close = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
    return f'Did you mean "{close[0]}"?' if close else f"There are {', '.join(names)}."


def _told(pattern: PatternShape) -> dict[str, Any]:
    place = pattern.index.place.name if pattern.index else pattern.entity.table.name
    sort = f" / {pattern.key.sort.text}" if pattern.key.sort else ""
    names = [
        f"{n}{'?' if n in pattern.optional else ' range' if n == pattern.ranged else ''}" for n in pattern.parameters
    ]
    return {
        "pattern": pattern.label,
        "parameters": names,
        "key": f"{place}: {pattern.key.partition.text}{sort}{' ↓' if pattern.backwards else ''}",
        "answers": pattern.summary,
    }


def _query(pattern: PatternShape, given: list[str]) -> Query[Any]:
    """Bind the parameters of a pattern from words such as ``status=pending``."""
    values: dict[str, Any] = {}
    for word in given:
        name, equals, text = word.partition("=")
        if not equals or name not in pattern.parameters:
            raise InvalidKey(f"{pattern.label} takes {', '.join(pattern.parameters)} as name=value, not {word!r}")
        field = pattern.entity.fields[name]
        values[name] = _range(field, text) if name == pattern.ranged and ".." in text else _value(field, text)
    return ask(pattern, values)


def _range(field: FieldShape, text: str) -> Range[Any]:
    low, _, high = text.partition("..")
    return Range(_value(field, low) if low else None, _value(field, high) if high else None)


def _value(field: FieldShape, text: str) -> Any:
    try:
        return from_key_text(field, text)
    except ValueError:
        raise InvalidKey(f"{field.name}={text!r} is not a {field.kind.value}; check its form") from None


if __name__ == "__main__":
    main()
