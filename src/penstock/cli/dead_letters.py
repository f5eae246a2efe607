"""Commands for what could not be delivered or done: messages, tasks and changes that wait for a person."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from penstock.cli.installed import installed
from penstock.cli.terminal import AsJson, By, StoreUrl, settings, show, tell
from penstock.errors import Conflict, InvalidValue, NotFound, PenstockError, Unavailable, told
from penstock.events.feed_records import FeedLetter
from penstock.events.relay import dead_letters, dismiss, revive
from penstock.kernel.outbox import Message
from penstock.runtime.service import Service
from penstock.schema.kinds import instant_text
from penstock.work import dead_letters as work
from penstock.work.task import Task, TaskStatus

DeadLetter = Message | Task | FeedLetter

letters = typer.Typer(no_args_is_help=True, help="Messages, tasks and changes of records that could not be dealt with.")


@letters.command("list")
def list_letters(store: StoreUrl = None, as_json: AsJson = False) -> None:
    """List them, oldest first."""
    with _service(store) as service:
        rows = [_told(letter) for letter in _dead(service)]
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
    """Send messages, run tasks and hand over changes again, from the beginning."""
    wanted = set(ids or [])
    missing = set(wanted)
    if not wanted and not every and kind is None:
        raise InvalidValue("name letters by their ids, or say --all or --type; penstock dead-letters list shows them")
    done: list[str] = []
    refused: list[str] = []
    with _service(store) as service:
        for letter in list(_dead(service)):
            row = _told(letter)
            if (wanted and row["id"] not in wanted) or (kind is not None and row["type"] != kind):
                continue
            missing.discard(row["id"])
            try:
                _again(service, letter, by)
            except Unavailable:
                raise
            except PenstockError as error:  # one that cannot be tried again keeps no other from it
                refused.append(f"{row['id']}: {error}")
            else:
                done.append(row["id"])
    if missing:
        raise NotFound(f"no dead letter has the id {', '.join(sorted(missing))}; {len(done)} will be tried again")
    if refused:
        raise Conflict(f"{len(refused)} cannot be tried again ({'; '.join(refused)}); {len(done)} will be")
    if as_json:
        print(json.dumps({"tried_again": done}))
        return
    tell(f"{len(done)} will be tried again.")


@letters.command("dismiss")
def dismiss_letters(
    ids: Annotated[list[str], typer.Argument(help="The ids of messages.")],
    by: By = "penstock dead-letters",
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Give messages up that could not be told; what waits behind them goes on without them."""
    left = set(ids)
    with _service(store) as service:
        for outbox in service.outboxes():
            for letter in list(dead_letters(service.context.store, outbox)):
                if letter.event_id in left:
                    dismiss(service.context.store, letter, by=by)
                    left.discard(letter.event_id)
    if left:
        raise NotFound(f"no dead message has the id {', '.join(sorted(left))}; penstock dead-letters list shows them")
    if as_json:
        print(json.dumps({"dismissed": list(ids)}))
        return
    tell(f"{len(ids)} dismissed; what waited behind goes on.")


@contextmanager
def _service(store: str | None) -> Iterator[Service]:
    service = Service(settings(store=store), installed())
    try:
        yield service
    finally:
        service.stop()


def _dead(service: Service) -> Iterator[DeadLetter]:
    store = service.context.store
    for outbox in service.outboxes():
        yield from dead_letters(store, outbox)
    for feed in service.feeds.values():
        yield from feed.letters()
    for status in (TaskStatus.FAILED, TaskStatus.QUARANTINED):
        yield from store.find(Task.by_status(status=status))


def _again(service: Service, letter: DeadLetter, by: str) -> None:
    store = service.context.store
    if isinstance(letter, Message):
        revive(store, letter, by=by)
    elif isinstance(letter, FeedLetter):
        try:
            service.feeds[letter.name].retry(letter, by=by)
        except PenstockError:
            raise
        except Exception as error:  # whatever a domain's handler may meet
            raise Conflict(f"{letter.handler} fails again, {type(error).__name__}: {told(error)}") from error
    else:
        work.retry(store, service.tasks, letter.task_id, by=by)


def _told(letter: DeadLetter) -> dict[str, Any]:
    if isinstance(letter, FeedLetter):
        return {
            "id": f"{letter.name}@{instant_text(letter.ts, 6)}",
            "what": f"{letter.kind} of {letter.entity}",
            "type": letter.handler,
            "project": letter.subject.get("project_id"),
            "attempts": None,
            "error": letter.error,
        }
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
