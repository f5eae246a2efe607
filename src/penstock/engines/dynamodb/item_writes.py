"""Carrying out writes: one as a single operation, several as a transaction, many in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from penstock.engines.dynamodb.calls import CANCELLED, CONDITION_FAILED, IN_TRANSACTION, MISMATCH, Calls
from penstock.engines.dynamodb.conflicts import Standing, cancelled, is_applied
from penstock.engines.dynamodb.dynamo_requests import (
    WRITE_LIMIT,
    Request,
    batch_member,
    batch_write,
    encode,
    single,
    transaction,
)
from penstock.engines.dynamodb.item_decoder import Values
from penstock.engines.dynamodb.item_reads import Identity, Reads, identity
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.dynamodb.set_defaults import begins_a_set, send
from penstock.engines.dynamodb.wire import Reply, WireError, transient_cancellation
from penstock.errors import InvalidValue
from penstock.net.backoff import Patience
from penstock.operations.commit_recovery import conflict, is_repeatable
from penstock.operations.conditions import holds
from penstock.operations.spelling import holds_as_read
from penstock.operations.writes import Check, Delete, Patch, Put, Write
from penstock.ports.ids import commit_token
from penstock.schema.shape import EntityShape


class Writes:
    """Writes records through calls."""

    def __init__(self, calls: Calls, type_of: Callable[[EntityShape], ItemType], reads: Reads) -> None:
        self._calls = calls
        self._type_of = type_of
        self._reads = reads

    def commit(self, writes: Sequence[Write], now: int, token: str) -> None:
        """All of the writes or none.

        One is a single operation, at half the price of a transaction, unless it could not be recognised when it is
        sent again: only a transaction's token makes a lone count or append exact.
        """
        if len(writes) == 1 and type(writes[0]) is Put:  # of which nothing needs to be asked
            self._single(writes[0], now)
            return
        items = [self._type_of(w.shape) for w in writes]
        if any(map(begins_a_set, items, writes)):
            send(writes, items, token, self._reads.one, lambda todo, anew: self._commit(todo, now, anew))
        else:
            self._commit(writes, now, token)

    def _commit(self, writes: Sequence[Write], now: int, token: str) -> None:
        if len(writes) > 1 or not is_repeatable(writes[0]):
            self._transact(writes, now, token)
        elif isinstance(writes[0], Check):
            self._check(writes[0], now)
        else:
            self._single(writes[0], now)

    def patch(self, patch: Patch, now: int, token: str) -> Values:
        """One patch, and the values that stand after it."""
        item = self._type_of(patch.shape)
        if begins_a_set(item, patch):
            return send(
                [patch], [item], token, self._reads.one, lambda todo, anew: self._patch(item, todo[0], now, anew)
            )
        return self._patch(item, patch, now, token)

    def _patch(self, item: ItemType, patch: Patch, now: int, token: str) -> Values:
        if not is_repeatable(patch):
            self._transact([patch], now, token)
            values = self._reads.one(item, patch.key)
            if values is None:
                raise conflict(patch, None, position=0)  # removed in the moment between
            return values
        done = self._single(patch, now, returning=True)
        return done.values(item) if isinstance(done, Standing) else item.decode.updated(done.body)

    def load(self, writes: Iterable[Write]) -> None:
        """Puts and deletes in batches, each key at most once in a batch."""
        pending: dict[Identity, tuple[str, Request]] = {}
        for write in writes:
            if not isinstance(write, Put | Delete) or write.when is not None:
                raise InvalidValue("only puts and deletes without condition can be loaded; commit the others")
            item = self._type_of(write.shape)
            place = identity(item, write.key)
            if place in pending:
                self._flush(pending)
            pending[place] = (item.table, batch_member(item, write))
            if len(pending) == WRITE_LIMIT:
                self._flush(pending)
        self._flush(pending)

    def _flush(self, pending: dict[Identity, tuple[str, Request]]) -> None:
        """One BatchWriteItem, repeated for what it leaves out."""
        if not pending:
            return
        body = encode(batch_write(pending.values()))
        pending.clear()
        left = len(body)
        patience: Patience | None = None
        while True:
            answer = _BATCH.decode(self._persist("BatchWriteItem", body).body)
            if not answer.UnprocessedItems:
                return
            body = encode({"RequestItems": answer.UnprocessedItems})
            patience = self._calls.pause(None if len(body) < left else patience)
            left = len(body)

    def _check(self, check: Check, now: int) -> None:
        """A check alone writes nothing, so a consistent read decides."""
        item = self._type_of(check.shape)
        values = self._reads.one(item, check.key)
        found = values if item.is_live(values, now) else None
        if not holds_as_read(check, found) and not (found is None and holds(check.when, None)):
            raise conflict(check, found, position=0)

    def _single(self, write: Put | Patch | Delete, now: int, *, returning: bool = False) -> Reply | Standing:
        """One single operation; when it turns out to have been applied before, what stands there instead."""
        item = self._type_of(write.shape)
        asked: Put | Patch | Delete | None = write
        while asked is not None:
            operation, request = single(item, asked, now)
            if returning:
                request["ReturnValues"] = "ALL_NEW"
            try:
                return self._persist(operation, encode(request))
            except WireError as error:
                if error.code != CONDITION_FAILED:
                    raise
                standing = Standing.in_error(error.body)
                if is_applied(item, write, request, standing, ambiguous=error.ambiguous):
                    return standing
            asked = standing.spelled(item, write, now) if asked is write else None
        raise conflict(write, standing.live(item, write, now), position=0)

    def _transact(self, writes: Sequence[Write], now: int, token: str) -> None:
        items = [self._type_of(w.shape) for w in writes]
        asked, spelled = list(writes), set[int]()
        while True:
            request = transaction(items, asked, now, token)
            try:
                self._persist("TransactWriteItems", encode(request))
                return
            except WireError as error:
                if error.code == MISMATCH:
                    return  # the token is ours alone: the same commit, asked at another second, was applied before
                if error.code != CANCELLED:
                    raise
                again = cancelled(error, items, writes, request, now, tried=spelled)
            if not again:
                return
            for position, write in again.items():
                asked[position] = write
                spelled.add(position)
            token = commit_token()  # it is another transaction now, and the one before was not applied

    def _persist(self, operation: str, body: bytes) -> Reply:
        """Call, and call again while nothing but another transaction is in the way."""
        patience: Patience | None = None
        ambiguous = False
        while True:
            try:
                return self._calls.call(operation, body)
            except WireError as error:
                ambiguous = error.ambiguous = error.ambiguous or ambiguous
                if error.code != IN_TRANSACTION and not transient_cancellation(error):
                    raise
                patience = self._calls.pause(patience)


class _BatchAnswer(msgspec.Struct, gc=False):
    UnprocessedItems: dict[str, msgspec.Raw] = {}


_BATCH: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_BatchAnswer)
