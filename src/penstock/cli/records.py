"""Commands that read records and move them: what the API does, at hand."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from penstock.auth.doors import check_move
from penstock.cli import names
from penstock.cli.history_table import entry_rows, told_entry
from penstock.cli.terminal import AsJson, By, StoreUrl, hint, opened, show, tell
from penstock.declare.command_words import SHOW, read_word
from penstock.declare.entity import Entity
from penstock.declare.move import MoveOf
from penstock.declare.move_arguments import filled_in, move_model
from penstock.declare.rendering import rendered, rendered_fields
from penstock.errors import InvalidValue, Misconfigured
from penstock.kernel.audit import SystemAudit
from penstock.operations.reads import Query, Range, whole
from penstock.schema.role import Role
from penstock.work.task_history import TASK_HISTORY

_AT_THE_MACHINE = Role.ADMIN
"Whoever has the store is an administrator; what is the system's alone is not theirs either."
Limit = Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many.")]
WithPersonal = Annotated[
    bool, typer.Option("--personal", help="Also personal fields, such as guests' texts; they are left out otherwise.")
]


Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        help="Only those of which this holds: field=value, !=, <, <=, >, >=, field (it has a value) or !field.",
    ),
]
Fields = Annotated[str | None, typer.Option("--fields", help="Only these fields, such as title,views.")]


def ls(
    pattern: Annotated[str, typer.Argument(help="Such as films.Film.by_status.")],
    values: Annotated[list[str] | None, typer.Argument(help="name=value; a range is name=a..b.")] = None,
    limit: Limit = 50,
    cursor: Annotated[str | None, typer.Option(help="Where the page before ended.")] = None,
    where: Where = None,
    fields: Fields = None,
    count: Annotated[int | None, typer.Option(min=1, max=1_000_000, help="Also count them, up to this.")] = None,
    whole_values: Annotated[
        bool, typer.Option("--whole", help="Cut nothing short, ids above all, however wide the table becomes.")
    ] = False,
    behind_ok: Annotated[
        bool, typer.Option("--behind-ok", help="They may come from PENSTOCK_READ_URL, and lack what was just written.")
    ] = False,
    personal: WithPersonal = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """List records by an access pattern, a page at a time."""
    found = names.pattern(pattern)
    if found.asked_by is not None and not personal:
        raise InvalidValue(f"{pattern} finds records by a personal field, so that its answers tell it; say --personal")
    asked = names.wider(names.query(found, values or []), where or [], fields, personal=personal)
    with opened(store, keep_secret=True) as handle:
        page = handle.page(asked, limit=limit, cursor=cursor, behind_ok=behind_ok)
        counted = None if count is None else handle.count(whole(asked), up_to=count, behind_ok=behind_ok)
    rows = [_row(asked, record, personal=personal) for record in page.records]
    unreadable = [{"record": u.name, "why": u.why} for u in page.unreadable]
    if as_json:
        more: dict[str, Any] = {"unreadable": unreadable} if unreadable else {}
        more |= {"examined": page.examined} if page.examined is not None else {}
        more |= {"behind": True} if page.behind else {}
        more |= {"count": {"number": counted.number, "more": counted.more}} if counted is not None else {}
        print(json.dumps({"items": rows, "next": page.cursor, **more}, indent=2, default=str))
        return
    cell = _text if whole_values else _short
    cells = [{k: cell(v) for k, v in row.items() if v is not None} for row in _even(rows)]
    show(cells, title=pattern, as_json=False, whole=whole_values)
    for record in unreadable:
        tell(f"Cannot be read: {record['why']}")
    if counted is not None:
        tell(f"{counted} in all.")
    if page.examined is not None:
        tell(f"{page.examined} were examined.")
    if page.behind:
        tell("From a replica: what was written a moment ago may be missing.")
    if page.cursor:
        tell(f"More: --cursor {page.cursor}")


def show_record(
    entity: Annotated[str, typer.Argument(help="Such as films.Film.")],
    key: Annotated[list[str], typer.Argument(help="name=value for each part of its key.")],
    personal: WithPersonal = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show one record."""
    kind = names.entity(entity)
    with opened(store) as handle:
        record = handle.get(names.ref(kind, key))
    told = _plain(record, personal=personal)
    if as_json:
        print(json.dumps(told, indent=2))
        return
    show([{"field": k, "value": v} for k, v in told.items()], title=entity, as_json=False)


show_record.__command__ = SHOW  # type: ignore[attr-defined]


def history(
    entity: Annotated[str, typer.Argument(help="Such as films.Film.")],
    key: Annotated[list[str], typer.Argument(help="name=value for each part of its key.")],
    oldest_first: Annotated[bool, typer.Option("--oldest-first", help="Begin with the oldest.")] = False,
    since: Annotated[str | None, typer.Option(help="Not before this moment, such as 2026-01-31T12:00:00Z.")] = None,
    until: Annotated[str | None, typer.Option(help="Not after this moment.")] = None,
    details: Annotated[bool, typer.Option("--details", help="Also how messages stand, and attempts at tasks.")] = False,
    limit: Limit = 50,
    cursor: Annotated[str | None, typer.Option(help="Where the page before ended.")] = None,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Show what became of a record, also of one that is gone: its changes, messages and tasks."""
    ref = names.ref(names.entity(entity), key)
    span = Range(_moment("since", since), _moment("until", until))
    with opened(store, keep_secret=True) as handle:
        page = handle.history(
            ref,
            ts=span,
            oldest_first=oldest_first,
            detailed=details,
            beside=(TASK_HISTORY,),
            limit=limit,
            cursor=cursor,
        )
    if as_json:
        print(json.dumps({"items": [told_entry(e) for e in page.entries], "next": page.cursor}, indent=2))
        return
    show([row for e in page.entries for row in entry_rows(e)], title=repr(ref), as_json=False, empty="No history.")
    if page.cursor:
        tell(f"More: --cursor {page.cursor}")


def _moment(name: str, text: str | None) -> datetime | None:
    return None if text is None else names.value(replace(SystemAudit.__shape__.fields["ts"], name=name), text)


def move(
    entity: Annotated[str, typer.Argument(help="Such as films.Film.")],
    verb: Annotated[str, typer.Argument(help="One of its moves, such as queue.")],
    words: Annotated[list[str], typer.Argument(help="name=value for its key, then for what the move takes.")],
    why: Annotated[str | None, typer.Option(help="For the audit trail.")] = None,
    by: By = "penstock move",
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Move a record to another state by a declared move that is a person's to make."""
    kind = names.entity(entity)
    moves = kind.__moves__
    if verb not in moves:
        raise Misconfigured(f'{entity} has no move "{verb}". {hint(verb, moves)}')
    check_move(kind, moves[verb], _AT_THE_MACHINE)
    shape = kind.__shape__
    key = [w for w in words if (read_word(w) or ("", ""))[0] in shape.key.fields]
    ref = names.ref(kind, key)
    with opened(store) as handle:
        arguments = _arguments(moves[verb], [w for w in words if w not in key])
        arguments |= filled_in(moves[verb], now=handle.clock.now(), by=by)
        with handle.change(by=by, why=why) as change:
            record = change.get(ref)
            getattr(record, verb)(**arguments)
            change.save(record)
    rows = [{f.name: getattr(record, f.name).value for f in shape.states}]
    show(rows, title=repr(record.ref), as_json=as_json)


def _arguments(moved: MoveOf[Any, ...], words: list[str]) -> dict[str, Any]:
    """What a move takes, from words, each read as its annotation says."""
    model = move_model(moved, moved.name)
    wanted = {} if model is None else model.model_fields
    given: dict[str, Any] = {}
    for word in words:
        name, text = read_word(word) or ("", "")
        if name not in wanted:
            takes = ", ".join(wanted) or "nothing beside the key"
            raise InvalidValue(f"{moved.name} takes {takes}; {word!r} is none of it")
        given[name] = _read(name, wanted[name], text)
    missing = [n for n, field in wanted.items() if field.is_required() and n not in given]
    if missing:
        raise InvalidValue(f"{moved.name} needs {', '.join(missing)}, each as name=value")
    return given


def _read(name: str, field: FieldInfo, text: str) -> Any:
    kind: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    # A plain word is what it says; a list or an object is written as JSON.
    read = adapter.validate_json if text[:1] in ("[", "{") else adapter.validate_python
    try:
        return read(text)
    except ValidationError as error:
        raise InvalidValue(f"{name}={text!r}: {error.errors()[0]['msg']}") from None


def _row(asked: Query[Any], found: Any, *, personal: bool) -> dict[str, Any]:
    """A record, or the fields of it that were asked for, as JSON."""
    if asked.fields is None:
        return _plain(found, personal=personal)
    return rendered_fields(asked.pattern.entity, dict(zip(asked.fields, found, strict=True)), asked.fields)


def _plain(record: Entity, *, personal: bool) -> dict[str, Any]:
    """A record as JSON; whoever is at the machine may see all of it, but not by chance."""
    hidden = frozenset() if personal else record.__shape__.hidden_from(None)
    return rendered(record, hidden=hidden)


def _even(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with the columns that any of them has a value in."""
    used = [name for name in (rows[0] if rows else ()) if any(row[name] is not None for row in rows)]
    return [{name: "" if row[name] is None else row[name] for name in used} for row in rows]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(value: Any) -> str:
    text = _text(value)
    return text if len(text) <= 60 else text[:59] + "…"
