"""One reader of a feed for all the event streams of a process.

However many listen, the feed is read once, and what is for none of them is passed over once. What is for some waits for
them in a buffer that is bounded in number and in bytes; whoever is too slow for it is let go, and takes up later where
they were. Whoever comes back reads alone what they have missed, and joins the others at the end.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from penstock.errors import PenstockError
from penstock.kernel.store import Store
from penstock.operations.feed_entry import FeedEntry
from penstock.schema.role import Role
from penstock.schema.shape import EntityShape

log = logging.getLogger("penstock.web")

Tell = Callable[[FeedEntry, frozenset[str]], bytes]
"Writes an entry down, without the fields that are hidden."
CHANGES = 50
"So many changes are read at once: each may have 800 KB, what it was and what it is."
READ_BYTES = 500_000
"So many bytes of what was read are kept at once, and one change more; the rest is read again."
RECENT, RECENT_BYTES = 1000, 8_000_000
"How much waits for streams that are slower than others."
_READERS = 4
"So many that have fallen behind read at once."
_REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class Ear:
    """Somebody who listens: of which project they may hear, and which role they have."""

    project: str | None
    "None for all."
    role: Role | None
    only: frozenset[str] | None = None
    "The collections they asked for; None for all."

    def hears(self, entry: FeedEntry) -> bool:
        if self.only is not None and entry.shape.collection not in self.only:
            return False
        return (self.project is None or entry.project == self.project) and entry.shape.is_shown_to(self.role)


@dataclass(frozen=True, slots=True)
class Followed:
    """How far a feed was followed, and the change that stands there, if it is one that is heard."""

    position: str | None
    event: bytes | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """A change that somebody listens for, as each of them is told it."""

    id: str
    position: str
    told: dict[Ear, bytes]
    size: int


@dataclass(frozen=True, slots=True)
class _Read:
    heard: list[Heard]
    position: str | None
    "Behind all that was looked at."
    more: bool
    "Does something follow that was not looked at?"


@dataclass(frozen=True, slots=True)
class _Joined:
    place: int
    "The number of the first change that the reader tells."
    had: frozenset[str]
    "The ids of some that it may tell although they were told."
    reader: asyncio.Task[None]
    rounds: int
    "How often the reader had come to the end of the feed by then."


class Watch:
    """Follows the feed of some entities while anybody listens. Only the event loop's thread calls it."""

    def __init__(self, store: Store, shapes: Sequence[EntityShape], tell: Tell, *, poll: timedelta) -> None:
        self._store, self._shapes, self._tell = store, shapes, tell
        self._poll = poll.total_seconds()
        self._ears: Counter[Ear] = Counter()
        self._position: str | None = None
        self._recent: deque[Heard] = deque()
        self._first = self._bytes = 0
        self._lock, self._behind = asyncio.Lock(), asyncio.Semaphore(_READERS)
        self._reader: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._rounds = 0
        self._passed: OrderedDict[tuple[Ear, str | None], str | None] = OrderedDict()
        "How far nothing follows a position that an ear hears of; so those who come back do not read it again."

    async def end(self) -> str | None:
        """Where the feed stands now."""
        return await asyncio.to_thread(self._store.engine.feed_end, self._shapes, after=self._position)

    def passed(self, ear: Ear, position: str | None) -> str | None:
        """The position, or one further on between which and it there is nothing to be heard."""
        return self._passed.get((ear, position), position)

    async def follow(self, ear: Ear, position: str | None) -> AsyncGenerator[Followed, None]:
        """Every change behind a position, as the ear is told it; now and then only how far there was nothing new.

        It ends when the reader cannot go on, or has gone on too far.
        """
        seen = told = position
        joined: _Joined | None = None
        try:
            while joined is None:
                read, joined = await self._next(ear, seen)
                for heard in read.heard:
                    seen = told = heard.position
                    yield Followed(seen, heard.told[ear])
                seen = read.position
                yield Followed(seen)
            place = joined.place
            while joined.reader is self._reader and place >= self._first:
                # Until the reader has come to the end once more, it may be behind what was read alone.
                caught_up = self._rounds > joined.rounds
                if place == self._end:
                    seen = self._position if caught_up else seen
                    yield Followed(seen)
                    await self._wait()
                    continue
                heard = self._recent[place - self._first]
                place += 1
                if ear in heard.told and heard.id not in joined.had:
                    seen = told = heard.position
                    yield Followed(seen, heard.told[ear])
                elif caught_up:
                    seen = heard.position
        finally:
            if joined is not None:
                self._leave(ear)
            self._remember(ear, told, seen)

    async def _next(self, ear: Ear, position: str | None) -> tuple[_Read, _Joined | None]:
        """What follows a position, read for one alone, who joins the others where nothing more does."""
        async with self._behind:
            read = await self._read(position, [ear])
        if read.more:
            return read, None
        async with self._lock:
            # The reader first: what commits between the two is met by both, and known by its id.
            await self._advance()
            read = await self._read(position, [ear])
            return read, None if read.more else self._join(ear, read)

    # The reader

    async def _run(self) -> None:
        try:
            while True:
                await asyncio.sleep(self._poll)
                async with self._lock:
                    await self._advance()
                self._tell_news()
        except PenstockError:
            pass  # the store is away: whoever listens connects again, and takes up where they were
        except Exception:
            log.exception("an event stream's feed could not be read")
        finally:
            if self._reader is asyncio.current_task():
                self._reader = None
            self._tell_news()

    async def _advance(self) -> None:
        """Read to the end of the feed, for those who listen."""
        while self._ears:
            read = await self._read(self._position, tuple(self._ears))
            self._position = read.position
            self._keep(read.heard)
            if not read.more:
                self._rounds += 1
                return
        self._position = await self.end()
        self._rounds += 1

    async def _read(self, position: str | None, ears: Collection[Ear]) -> _Read:
        return await asyncio.to_thread(self._read_now, position, ears)

    def _read_now(self, position: str | None, ears: Collection[Ear]) -> _Read:
        """What follows a position and some of the ears hear of, written down; not more bytes than can be kept."""
        entries = self._store.engine.changes(self._shapes, after=position, limit=CHANGES)
        heard: list[Heard] = []
        size = 0
        for entry in entries:
            if told := self._told(entry, ears):
                heard.append(told)
                size += told.size
                if size >= READ_BYTES:
                    return _Read(heard, entry.position, more=True)
        return _Read(heard, entries.position, more=len(entries) >= CHANGES)

    def _told(self, entry: FeedEntry, ears: Collection[Ear]) -> Heard | None:
        written: dict[frozenset[str], bytes] = {}
        told: dict[Ear, bytes] = {}
        for ear in ears:
            if ear.hears(entry):
                hidden = entry.shape.hidden_from(ear.role)
                if hidden not in written:
                    written[hidden] = self._tell(entry, hidden)
                told[ear] = written[hidden]
        return Heard(entry.id, entry.position, told, sum(map(len, written.values()))) if told else None

    def _keep(self, heard: Collection[Heard]) -> None:
        """Have changes wait for those who are slower; the oldest go, but never all."""
        for one in heard:
            self._recent.append(one)
            self._bytes += one.size
        while len(self._recent) > 1 and (len(self._recent) > RECENT or self._bytes > RECENT_BYTES):
            self._bytes -= self._recent.popleft().size
            self._first += 1

    # Those who listen

    @property
    def _end(self) -> int:
        """The number of the next change; the oldest that is kept has the number ``_first``."""
        return self._first + len(self._recent)

    def _join(self, ear: Ear, read: _Read) -> _Joined:
        self._ears[ear] += 1
        if self._reader is None:
            self._reader = asyncio.create_task(self._run())
        return _Joined(self._end, frozenset(heard.id for heard in read.heard), self._reader, self._rounds)

    def _leave(self, ear: Ear) -> None:
        self._ears[ear] -= 1
        if not self._ears[ear]:
            del self._ears[ear]
        if not self._ears:
            self._first += len(self._recent)
            self._recent.clear()
            self._bytes = 0
            if self._reader is not None:
                self._reader.cancel()
                self._reader = None

    async def _wait(self) -> None:
        """Until there may be news, but not for long: whoever listens has other things to look after."""
        news = self._news
        with suppress(TimeoutError):
            async with asyncio.timeout(self._poll):
                await news.wait()

    def _tell_news(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _remember(self, ear: Ear, told: str | None, seen: str | None) -> None:
        if told != seen:
            self._passed[ear, told] = seen
            self._passed.move_to_end((ear, told))
            if len(self._passed) > _REMEMBERED:
                self._passed.popitem(last=False)
