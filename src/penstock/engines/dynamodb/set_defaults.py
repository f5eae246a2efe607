"""Sets that begin with a default: DynamoDB can only begin an empty one.

A set that still is its default, be it stored or missing, is written whole, on the condition that it still is; any other
is there, and gains its members as usual. Few entities have such a set, and nothing is read for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from penstock.engines.dynamodb.item_type import ItemType
from penstock.errors import Conflict
from penstock.operations.commit_recovery import required
from penstock.operations.conditions import Compare, both, holds
from penstock.operations.updates import Include, Set, Update
from penstock.operations.writes import Patch, Write
from penstock.ports.ids import commit_token

W = TypeVar("W", bound=Write)
R = TypeVar("R")
Read = Callable[[ItemType, Mapping[str, Any]], dict[str, Any] | None]


def begins_a_set(item: ItemType, write: Write) -> bool:
    """Does a write add to a set that begins with a default?"""
    return bool(item.whole_sets) and isinstance(write, Patch) and any(_begins(item, u) for u in write.updates)


def send(
    writes: Sequence[W],
    items: Sequence[ItemType],
    token: str,
    read: Read,
    commit: Callable[[Sequence[W], str], R],
) -> R:
    """Commit writes of which some begin a set; if such a set is begun meanwhile, commit them again as they are."""
    todo = [_begun(item, write, read) for item, write in zip(items, writes, strict=True)]
    while True:
        try:
            return commit(todo, token)
        except Conflict as refused:
            at = refused.position
            if todo[at] is writes[at] or refused.found is None or not holds(required(writes[at]), refused.found):
                raise
            todo[at], token = writes[at], commit_token()  # it is another commit now


def _begun(item: ItemType, write: W, read: Read) -> W:
    if not isinstance(write, Patch) or not begins_a_set(item, write):
        return write
    values = read(item, write.key)
    if values is None:
        return write  # which will be refused
    updates: list[Update] = []
    when = write.when
    for update in write.updates:
        default = item.defaults.get(update.field)
        if isinstance(update, Include) and default is not None and values[update.field] == default:
            updates.append(Set(update.field, default | update.members))
            when = both(when, Compare(update.field, "=", default))
        else:
            updates.append(update)
    return replace(write, updates=tuple(updates), when=when)


def _begins(item: ItemType, update: Any) -> bool:
    return isinstance(update, Include) and update.field in item.whole_sets
