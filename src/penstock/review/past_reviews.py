"""Past reviews: what was said of a record goes when the record is gone for good.

Nobody sees it from that moment on, as a note is shown with its record only. It is removed when it is next looked for,
within a day. A record that cannot be read, or whose domain is not served just now, is not gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from itertools import islice
from typing import Any

from penstock.declare.domain import Domain
from penstock.declare.pattern import until
from penstock.errors import Conflict, DamagedRecord
from penstock.kernel.lease import release, take_named
from penstock.kernel.store import Store
from penstock.operations.reads import Query, Ref
from penstock.review.note import Note, ReviewedRecord
from penstock.review.noting import LOOKED_AT
from penstock.review.review_subject import KindsByPath

_AT_ONCE = 1000
_PART = 50
"Records that go in one commit."


class PastReviews:
    """Forgets what was said of records that are gone. Any number of processes may; one at a time is at it.

    ``along`` finds what else goes with such a record, by its name: the links that lead there, for example.
    """

    def __init__(
        self,
        store: Store,
        domains: Iterable[Domain],
        *,
        owner: str,
        along: Iterable[Callable[[str], Query[Any]]] = (),
        period: timedelta = timedelta(minutes=10),
    ) -> None:
        self._store, self._owner, self._period = store, owner, period
        self._known, self._along = KindsByPath(domains), tuple(along)

    def run(self) -> int:
        """Look for the records that are due, and forget those that are gone; how many."""
        lease = take_named(self._store, "past-reviews", owner=self._owner, period=self._period)
        if lease is None:
            return 0
        try:
            due = ReviewedRecord.due(look_at=until(self._store.clock.now()))
            return sum(self._settled(each) for each in self._store.page(due, limit=_AT_ONCE).records)
        finally:
            release(self._store, lease)

    def _settled(self, reviewed: ReviewedRecord) -> bool:
        try:
            stands = self._stands(reviewed)
            (self._look_later if stands else self._forget)(reviewed)
        except Conflict:
            return False  # somebody has just said something more
        return not stands

    def _look_later(self, reviewed: ReviewedRecord) -> None:
        with self._store.change() as change:
            change.track(reviewed).look_at = self._store.clock.now() + LOOKED_AT
            change.overwrite(reviewed)

    def _forget(self, reviewed: ReviewedRecord) -> None:
        for query in (Note.of_record(about=reviewed.about), *(along(reviewed.about) for along in self._along)):
            self._remove_all(query)
        with self._store.change(by="penstock", why="the record is gone", project=reviewed.project_id) as change:
            change.delete(reviewed.ref)

    def _stands(self, reviewed: ReviewedRecord) -> bool:
        kind = self._known.lookup_kind(reviewed.domain, reviewed.collection)
        if kind is None:
            return True
        try:
            ref: Ref[Any] = self._known.ref(kind, reviewed.parts)
            return self._store.lookup(ref) is not None
        except DamagedRecord:
            return True

    def _remove_all(self, query: Query[Any]) -> None:
        found = self._store.find(query)
        while some := list(islice(found, _PART)):
            self._store.delete_many([each.ref for each in some])
