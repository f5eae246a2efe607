"""Commands for what could not be delivered or done: messages and tasks that are dead, or wait for a person."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from penstock.cli.terminal import AsJson, By, StoreUrl, opened, show, tell
from penstock.domains import DOMAINS, INSTALLED
from penstock.errors import Conflict, InvalidValue, NotFound, PenstockError, Unavailable
from penstock.events.relay import dead_letters, revive
from penstock.kernel.outbox import Message, SystemMessage
from penstock.kernel.store import Store
from penstock.work import dead_letters as work
from penstock.work.task import Task, TaskStatus

letters = typer.Typer(no_args_is_help=True, help="Messages that could not be told and tasks that could not be done.")


@letters.command("list")
def list_letters(store: StoreUrl = None, as_json: AsJson = False) -> None:
    """List them, oldest first."""
    with opened(store) as handle:
        rows = [_told(letter) for letter in _dead(handle)]
    show(rows, title="Dead letters", as_json=as_json, empty="There are no dead letters.")


@letters.command("retry")
def retry(
    ids: Annotated[list[str] | None, typer.Argument(help="Their ids, or none with --all.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    kind: Annotated[str | None, typer.Option("--type", help="Only of this type or task name.")] = None,
    by: By = "penstock dead-letters",
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Send messages and run tasks again, from the beginning."""
    wanted = set(ids or [])
    missing = set(wanted)
    if not wanted and not every and kind is None:
        raise InvalidValue("name letters by their ids, or say --all or --type; penstock dead-letters list shows them")
    done: list[str] = []
    refused: list[str] = []
    with opened(store) as handle:
        for letter in list(_dead(handle)):
            told = _told(letter)
            if (wanted and told["id"] not in wanted) or (kind is not None and told["type"] != kind):
                continue
            missing.discard(told["id"])
            try:
                _again(handle, letter, by)
            except Unavailable:
                raise
            except PenstockError as error:  # one that cannot be tried again keeps no other from it
                refused.append(f"{told['id']}: {error}")
            else:
                done.append(told["id"])
    if missing:
        raise NotFound(f"no dead letter has the id {', '.join(sorted(missing))}; {len(done)} will be tried again")
    if refused:
        raise Conflict(f"{len(refused)} cannot be tried again ({'; '.join(refused)}); {len(done)} will be")
    if as_json:
        print(json.dumps({"tried_again": done}))
        return
    tell(f"{len(done)} will be tried again.")


def _dead(store: Store) -> Iterator[Message | Task]:
    own: list[type[Message]] = [d.outbox for d in DOMAINS if d.outbox is not None and issubclass(d.outbox, Message)]
    outboxes: list[type[Message]] = [SystemMessage, *own]
    for outbox in dict.fromkeys(outboxes):
        yield from dead_letters(store, outbox)
    for status in (TaskStatus.FAILED, TaskStatus.QUARANTINED):
        yield from store.find(Task.by_status(status=status))


def _again(store: Store, letter: Message | Task, by: str) -> None:
    if isinstance(letter, Message):
        revive(store, letter, by=by)
        return
    work.retry(store, [i.tasks for i in INSTALLED if i.tasks is not None], letter.task_id, by=by)


def _told(letter: Message | Task) -> dict[str, Any]:
    if isinstance(letter, Message):
        return {
            "id": letter.event_id,
            "what": "message",
            "type": letter.type,
            "project": letter.project_id,
            "attempts": letter.attempts,
            "error": letter.error,
        }
    return {
        "id": letter.task_id,
        "what": f"task, {letter.status.value}",
        "type": letter.name,
        "project": letter.project_id,
        "attempts": letter.attempts,
        "error": f"{letter.error_class}: {letter.error}",
    }
