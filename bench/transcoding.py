"""What becomes of a film in the catalogue, against one command written by hand that makes the same rungs: CPU.

The task counts from the video's insertion until its record names a stream that can be played: it is heard of, begun,
its file fetched, encoded, its segments put where they are watched. What is done before it and beside it is told apart:
the inspection, which decodes all of the film once, and the pictures to choose and scrub by.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from time import sleep
from uuid import UUID

from bench.contender import Limit
from bench.films import COMMAND, Film, encoding_round, film_for, first_by_hand, own_clock, rounds_for
from bench.measure import Contest, Effort
from bench.topic import Contests
from penstock import open_store
from penstock.domains.videos import DOMAIN, PLUGIN
from penstock.domains.videos.encoding import make_thumbnails, transcode
from penstock.domains.videos.submissions import TASKS, NewVideo, complete, submit
from penstock.domains.videos.video_library import VideoLibrary
from penstock.domains.videos.video_removal import delete_video
from penstock.events.feed import Feed
from penstock.runtime.composition import open_objects
from penstock.work import WORKING, TaskContext
from penstock.work.domain_context import DomainContext
from penstock.workers.manual import ManualWorkers

FIRST = "transcoding.first"
GROUPS = {FIRST: "CPU until something can be played"}
BASELINE = COMMAND
TASK, INSPECTION, THUMBNAILS = "the task", "inspection, before", "thumbnails, beside"
OWN = (TASK, INSPECTION, THUMBNAILS)
LIMITS = (Limit(f"{FIRST}: the task takes at most 1.2 of one command", FIRST, TASK, COMMAND, 1.2),)


@dataclass(frozen=True, slots=True)
class _Taken:
    """Seconds that one film took."""

    inspection: float
    task: float
    thumbnails: float


@dataclass(frozen=True)
class _Catalogue:
    """A library whose feed and workers do nothing by themselves."""

    library: VideoLibrary
    feed: Feed
    workers: ManualWorkers

    def add(self, film: Film) -> _Taken:
        """Send a film, have all of it done until it can be watched, and remove it."""
        cpu = own_clock()
        video_id = _send(self.library, film.source)
        sent = cpu()
        self.workers.drain()
        inserted = cpu()
        self.feed.drain()
        works = {work.task.name: work for work in self.workers.runner.take(2)}
        begun = cpu()
        self.workers.runner.run(works[make_thumbnails.name])
        shown = cpu()
        playable = self._until_playable(works[transcode.name], video_id)
        return _Taken(inserted - sent, begun - inserted + playable - shown, shown - begun)

    def _until_playable(self, work: TaskContext, video_id: UUID) -> float:
        """Run the task until the video's record names a stream; the clock then."""
        cpu = own_clock()
        running = Thread(target=self.workers.runner.run, args=[work])
        running.start()
        try:
            while running.is_alive():
                if self.library.video(video_id).stream_s3_key is not None:
                    return cpu()
                sleep(0.01)
        finally:
            delete_video(self.library, video_id, by="bench")
            running.join()  # it notices by itself that nobody wants it any more
        raise RuntimeError("there was nothing to be played")


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """One film after the other; each counts for all that is done of it."""
    with _silent(), TemporaryDirectory() as folder, _opened(Path(folder)) as catalogue:
        film, taken = film_for(effort, Path(folder)), list[_Taken]()

        def seconds(of: Callable[[_Taken], float]) -> Callable[[Film], float]:
            number = count()

            def next_one(film: Film) -> float:
                at = next(number)
                if len(taken) <= at:
                    taken.append(catalogue.add(film))
                return of(taken[at])

            return next_one

        ways = {
            COMMAND: first_by_hand,
            TASK: seconds(lambda one: one.task),
            INSPECTION: seconds(lambda one: one.inspection),
            THUMBNAILS: seconds(lambda one: one.thumbnails),
        }
        for group in groups:
            rounds = {name: encoding_round(film, way) for name, way in ways.items()}
            yield group, Contest(rounds, rounds_for(effort))


@contextmanager
def _silent() -> Iterator[None]:
    """Workers tell of each task that they lose, and these lose every one."""
    log = logging.getLogger("penstock.work")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


@contextmanager
def _opened(folder: Path) -> Iterator[_Catalogue]:
    with closing(open_store(f"sqlite:///{folder}/vm.db")) as store:
        store.ensure(DOMAIN, WORKING)
        context = DomainContext(store, open_objects(f"files:///{folder}/files"), lambda name: None)
        feed = PLUGIN.open_feed(context, owner="bench")
        assert feed is not None
        with closing(feed):
            yield _Catalogue(VideoLibrary.within(context), feed, ManualWorkers(store, [TASKS], context=context))


def _send(library: VideoLibrary, source: Path) -> UUID:
    body = source.read_bytes()
    said = NewVideo(user_id="user_789", title="Launch", size=len(body), content_type="video/mp4")
    reserved = submit(library, said, by="bench")
    assert reserved.where is not None
    library.objects.put(reserved.where.upload.staging, body)
    video_id = reserved.submission.video_id
    complete(library, video_id, sha256=sha256(body).hexdigest(), by="bench")
    return video_id
