"""Views that are counted in memory, and written a few times a second.

What was counted is written within 250 ms, in one update for each video, so at most that much is lost if the process
dies. While the store is away, what was counted is kept, and so are further views of the same videos.

Something that was sent, and may have been written, is sent again as it was, under the same token: it is counted once.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Self
from uuid import UUID

from penstock.declare.attr import the
from penstock.domains.videos.model import Video
from penstock.errors import Conflict, NotFound, PenstockError, Unavailable, outage_in
from penstock.kernel.handle import patch
from penstock.kernel.outages import outages_of
from penstock.kernel.store import Store
from penstock.net.per_process import watch
from penstock.operations.writes import Write
from penstock.ports.ids import commit_token

log = logging.getLogger("penstock.videos")

PERIOD = timedelta(milliseconds=250)
MOST_VIDEOS = 10_000
"If so many videos have views that are not written, they are written at once."
_TOGETHER = 25
"Videos whose views are written in one commit."
_RECOGNISED = 100_000
"So many of the latest requests are known at least, each by a number."
_AFTER_ERROR = 1.0


@dataclass(slots=True)
class _Tally:
    """What is known of a video, and what was counted for it since."""

    video_id: UUID
    written: int
    ends: int | None
    counted: int = 0

    @property
    def seen(self) -> int:
        return self.written + self.counted


@dataclass(slots=True)
class _Parcel:
    """Views that are being written."""

    tallies: list[_Tally]
    now: datetime
    token: str = field(default_factory=commit_token)

    def writes(self) -> list[Write]:
        return [patch(Video.at(video_id=t.video_id), the(Video.view_count).add(t.counted)) for t in self.tallies]


class BurstCounter:
    """Counts views in memory and writes them within a period. Threads may share it; a forked child begins with none."""

    def __init__(self, store: Store, *, period: timedelta = PERIOD, most: int = MOST_VIDEOS) -> None:
        self._store, self._period, self._most = store, period.total_seconds(), most
        watch(self)
        self.forked()

    def forked(self) -> None:
        # What was counted before is the parent's to write.
        self._lock, self._writing = Lock(), Lock()
        self._tallies: dict[UUID, _Tally] = {}
        self._leaving: dict[UUID, _Tally] = {}
        "Those that are being written."
        self._parcels: deque[_Parcel] = deque()
        self._recognised: set[int] = set()
        self._earlier: set[int] = set()
        self._since = 0.0
        self._begun, self._stop = Event(), Event()
        self._thread: Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Counting

    def count(self, video_id: UUID, *, request_id: str | None = None) -> int:
        """Count a view of a video that is there; how often it was seen, as far as is known here.

        A request that comes again to this process soon is recognised by its id.
        """
        seen = self.count_known(video_id, request_id=request_id)
        return self._begin(video_id, request_id) if seen is None else seen

    def count_known(self, video_id: UUID, *, request_id: str | None = None) -> int | None:
        """The same, if that takes no reading, as of a video that was seen just now; None if it was not counted."""
        with self._lock:
            tally = self._tallies.get(video_id)
            return None if tally is None else self._count(tally, request_id)

    def _begin(self, video_id: UUID, request_id: str | None) -> int:
        """Count the first view since the last writing."""
        tally = self._known(video_id)
        while True:
            with self._lock:
                if len(self._tallies) < self._most or video_id in self._tallies:
                    if not self._tallies:
                        self._wake()
                    return self._count(self._tallies.setdefault(video_id, tally), request_id)
            self.write()

    def _known(self, video_id: UUID) -> _Tally:
        with self._lock:
            leaving = self._leaving.get(video_id)
            if leaving is not None:
                return _Tally(video_id, leaving.seen, leaving.ends)
        video = self._store.get(Video.at(video_id=video_id))
        return _Tally(video_id, video.view_count or 0, video.expiry_time)

    def _count(self, tally: _Tally, request_id: str | None) -> int:
        if tally.ends is not None and tally.ends <= self._store.clock.now().timestamp():
            raise NotFound(f"there is no video {tally.video_id} any more")
        if request_id is None or self._is_new(hash((tally.video_id, request_id))):
            tally.counted += 1
        return tally.written + tally.counted

    def _is_new(self, request: int) -> bool:
        if request in self._recognised or request in self._earlier:
            return False
        self._recognised.add(request)
        if len(self._recognised) >= _RECOGNISED:
            self._earlier, self._recognised = self._recognised, set()
        return True

    # Writing

    def write(self) -> None:
        """Write what was counted. Unavailable while the store is away; what was counted is kept then."""
        with self._writing:
            try:
                self._send()
                self._take()
                self._send()
            except BaseException:
                self._begun.set()  # so that it is tried again
                raise

    def close(self) -> None:
        """Write the rest."""
        with self._lock:
            thread, self._thread = self._thread, None
            self._stop.set()
            self._begun.set()
        if thread is not None:
            thread.join()
        try:
            self.write()
        except PenstockError:
            log.error("%d views were not written", self._unwritten())
            raise

    def _take(self) -> None:
        """Make parcels of what was counted."""
        with self._lock:
            taken, self._tallies = self._tallies, {}
            self._begun.clear()
            self._leaving = {tally.video_id: tally for tally in taken.values() if tally.counted}
        left, now = iter(self._leaving.values()), self._store.clock.now()
        while some := list(islice(left, _TOGETHER)):
            self._parcels.append(_Parcel(some, now))

    def _send(self) -> None:
        while self._parcels:
            parcel = self._parcels[0]
            try:
                # If it was sent before, the same again, the moment included: tokens are of a whole request.
                self._store.engine.commit(parcel.writes(), now=parcel.now, token=parcel.token)
            except Conflict as refused:
                self._forget(parcel.tallies.pop(refused.position or 0))
                self._resend(parcel.tallies)
            except PenstockError as error:
                if isinstance(error, Unavailable) or outage_in(error) is not None:
                    raise
                self._part(parcel, error)
            else:
                self._parcels.popleft()
                self._settled(parcel.tallies)

    def _resend(self, *several: list[_Tally]) -> None:
        """What was refused as a whole is sent in these parts."""
        self._parcels.popleft()
        now = self._store.clock.now()
        self._parcels.extendleft(_Parcel(tallies, now) for tallies in several if tallies)

    def _part(self, parcel: _Parcel, error: PenstockError) -> None:
        """One that cannot be written keeps no other from it."""
        if len(parcel.tallies) > 1:
            self._resend(*([tally] for tally in parcel.tallies))
            return
        (tally,) = parcel.tallies
        log.error("%d views of video %s cannot be written: %s", tally.counted, tally.video_id, error)
        self._parcels.popleft()
        self._settled(parcel.tallies)

    def _settled(self, tallies: Iterable[_Tally]) -> None:
        with self._lock:
            for tally in tallies:
                self._leaving.pop(tally.video_id, None)

    def _forget(self, gone: _Tally) -> None:
        """The video is gone, and nobody needs to know how often it was seen."""
        with self._lock:
            self._leaving.pop(gone.video_id, None)
            self._tallies.pop(gone.video_id, None)

    def _unwritten(self) -> int:
        with self._lock:
            counted = [*self._tallies.values(), *self._leaving.values()]
        return sum(tally.counted for tally in counted)

    # The thread that writes

    def _wake(self) -> None:
        self._since = time.monotonic()
        if self._thread is None:
            self._stop = Event()
            self._thread = Thread(target=self._run, args=(self._stop,), name="penstock-views", daemon=True)
            self._thread.start()
        self._begun.set()

    def _run(self, stop: Event) -> None:
        outages = outages_of(self._store)
        while True:
            self._begun.wait()
            if stop.wait(max(0.0, self._since + self._period - time.monotonic())):
                return
            try:
                self.write()
            except Exception as error:
                if not outages.sit_out(error, stop):
                    log.exception("views could not be written; trying again")
                    stop.wait(_AFTER_ERROR)
