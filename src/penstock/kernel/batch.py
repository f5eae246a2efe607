"""A batch: changes that do not depend on each other, sent together because that is much faster.

Each change is all or nothing by itself, with its own audit line and messages. One that is refused keeps no other from
being committed; `BatchRefused` tells, at the end, which and why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from penstock.errors import Conflict, TooLarge
from penstock.kernel.change import Change
from penstock.kernel.idempotency import Claim
from penstock.kernel.lease import Lease
from penstock.operations.writes import Put, Write
from penstock.schema.shape import COMMIT_WRITES, EntityShape


class BatchRefused(Conflict):
    """Some changes of a batch were refused; the others are committed."""

    slug = "batch-refused"

    def __init__(self, refused: Mapping[int, Conflict | TooLarge]) -> None:
        first, why = next(iter(refused.items()))
        super().__init__(
            f"{len(refused)} of the batch's changes were refused, the others are committed; change {first}: {why}",
            position=first,
            found=None,
        )
        self.refused = refused
        "The refusals by the position of the change in the batch, from 0."


class Batch:
    """Collects changes; leaving the ``with`` block commits them, an exception none of them."""

    def __init__(self, begin: Callable[..., Change], commit: Callable[[Sequence[Write]], None]) -> None:
        self._begin, self._commit_all = begin, commit
        self._changes: list[Change] = []

    def change(
        self,
        *,
        by: str | None = None,
        why: str | None = None,
        project: str | None = None,
        under: Lease | None = None,
        once: Claim | None = None,
    ) -> Change:
        """A change as of `Store.change`, which is committed with the batch."""
        change = self._begin(by=by, why=why, project=project, under=under, once=once)
        return change.hand_to(self._changes.append)

    def __enter__(self) -> Batch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._commit()

    def _commit(self) -> None:
        refused: dict[int, Conflict | TooLarge] = {}
        group: list[tuple[int, Change, list[Write]]] = []
        met: set[tuple[EntityShape, Any]] = set()
        size = 0
        for position, change in enumerate(self._changes):
            writes = change.writes()
            places = _places(writes)
            if group and (size + len(writes) > COMMIT_WRITES or met & places):
                refused.update(self._send(group))
                group, met, size = [], set(), 0
            group.append((position, change, writes))
            met |= places
            size += len(writes)
        refused.update(self._send(group))
        if refused:
            raise BatchRefused(refused)

    def _send(self, group: Sequence[tuple[int, Change, list[Write]]]) -> dict[int, Conflict | TooLarge]:
        """Commit some changes in one go; each by itself when one of them keeps the others from it."""
        writes = [write for _, _, those in group for write in those]
        if not writes:
            return {}
        if len(group) > 1:
            try:
                self._commit_all(writes)
            except (Conflict, TooLarge):
                pass
            else:
                for _, change, _ in group:
                    change.committed()
                return {}
        refused: dict[int, Conflict | TooLarge] = {}
        for position, change, _ in group:
            try:
                change.commit()
            except (Conflict, TooLarge) as error:
                refused[position] = error
        return refused


def _places(writes: Sequence[Write]) -> set[tuple[EntityShape, Any]]:
    """The records that writes touch, apart from those nobody else can touch."""
    return {(w.shape, w.shape.name_of(w.key)) for w in writes if type(w) is not Put or not w.witness}
