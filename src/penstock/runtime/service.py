"""A running system: the store and the files of a deployment, and everything that works on them in the background.

Each of its threads does one thing, any number of processes may do the same, and none ends because the database is away.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.auth.guest_link import GuestLink
from penstock.cost.meter import Meter
from penstock.declare.domain import Domain
from penstock.errors import Misconfigured, Unavailable
from penstock.events.feed import Feed
from penstock.events.relay import Relay
from penstock.events.schedule import Schedule, Scheduler
from penstock.events.trimmed_log import TrimmedLog
from penstock.files.sweep import Sweep
from penstock.kernel.audit import AuditLine
from penstock.kernel.history_trace import traces_to, write_traces
from penstock.kernel.outages import outages_of
from penstock.kernel.outbox import Message
from penstock.kernel.quota_movements import settle_overdue
from penstock.kernel.seals import seal_known
from penstock.lifecycle.audit_archive import AuditArchive
from penstock.lifecycle.reaper import Reaper
from penstock.plugin import DomainPlugin, own_settings
from penstock.ports.private import keep, make_private
from penstock.ports.worker_name import worker_name
from penstock.review.past_reviews import PastReviews
from penstock.runtime.composition import open_archive, open_objects, open_sink, open_store
from penstock.runtime.growth import Stored, stored
from penstock.runtime.logs import log_to_terminal
from penstock.runtime.operated_system import OperatedSystem
from penstock.runtime.settings import Settings
from penstock.runtime.telemetry import start_telemetry
from penstock.runtime.usage_ledger import EVERY, UsageLedger, chosen_prices
from penstock.runtime.writer_region import check_writer, is_elsewhere
from penstock.work.domain_context import DomainContext
from penstock.work.past_jobs import PastJobs
from penstock.work.queue_hints import rest_idle
from penstock.work.registry import Tasks
from penstock.work.rescue import keep_rescuing
from penstock.work.unserved_queue import UnservedQueue, unserved_queues
from penstock.work.working import WORKING
from penstock.workers.inline import InlineWorkers

if TYPE_CHECKING:
    from penstock.workers.celery import CeleryWorkers  # it imports Celery, which only some deployments install
    from penstock.workers.celery_broker import CeleryBroker  # so does this

log = logging.getLogger("penstock.service")

_SCHEDULES, _REAPING, _TRIMMING, _SWEEPING, _SEALING = 15.0, 60.0, 600.0, 900.0, 3600.0
"Seconds between rounds."
_AFTER_ERROR = 5.0
_AGAIN = 1.0
"Seconds until a store that has not answered at the start is asked again."
_PARTING = timedelta(seconds=4)
"In which all threads may end."


@dataclass
class Service:
    """A deployment, open; `start` sets its background work going."""

    settings: Settings
    installed: Sequence[DomainPlugin]
    context: DomainContext = field(init=False)

    def __post_init__(self) -> None:
        self.telemetry = None if self.settings.telemetry is None else start_telemetry(self.settings.telemetry)
        meter = Meter() if self.settings.meter else None
        store = open_store(self.settings.store, settings=self.settings, meter=meter, read_url=self.settings.read_url)
        self.ledger = None if meter is None else UsageLedger(store, meter, chosen_prices(self.settings))
        objects = open_objects(self.settings.objects, settings=self.settings)
        archive = open_archive(self.settings.archive, settings=self.settings)
        setting = own_settings(self.installed, self.settings.variables)
        self.context = DomainContext(store, objects, setting, archive)
        self.operated = OperatedSystem(self.installed, self.context)
        self.outages = outages_of(store)
        self.outages.watch_objects(objects)
        self.owner = worker_name()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._workers: InlineWorkers | None = None
        self._draining: threading.Thread | None = None
        self._unserved: set[tuple[str, str]] = set()
        self._broker: CeleryBroker | None = None

    @property
    def domains(self) -> tuple[Domain, ...]:
        """Every domain it serves, and the one of work."""
        return (*(i.domain for i in self.installed), WORKING)

    @property
    def schedules(self) -> list[Schedule]:
        """What is due by the clock, retention among it."""
        return self.operated.schedules

    @property
    def tasks(self) -> list[Tasks]:
        """What can be done in the background: by domains, and for operators."""
        return self.operated.tasks

    @property
    def feeds(self) -> dict[str, Feed]:
        """What follows the changes of records, by the domain it is of."""
        opened = {i.domain.name: i.open_feed(self.context, owner=self.owner) for i in self.installed}
        return {name: feed for name, feed in opened.items() if feed is not None}

    def start(self, *, background: bool = True) -> None:
        """Create what the store lacks; then deliver, follow, schedule, sweep and work."""
        if self.settings.workers not in ("inline", "celery", "none"):
            raise Misconfigured(f"workers are inline, celery or none, not {self.settings.workers!r}")
        if background and self.settings.workers != "none":
            check_writer(self.settings)
        crew = self.celery() if background and self.settings.workers == "celery" else None
        self.prepare()
        if not background or is_elsewhere(self.settings):
            if self.ledger is not None:
                self._every(EVERY, "usage", self.ledger.keep)
            return
        self.start_beside()
        if self.settings.workers == "inline":
            self.start_workers()
        if crew is not None:
            self._thread("dispatcher", crew.dispatcher().run)
            self._thread("rescue", partial(keep_rescuing, self.context.store, self.tasks, lease=crew.lease))
        self.start_relays()
        self.start_feeds()
        self._every(_SCHEDULES, "schedules", self.run_schedules)
        # What leaves for the archive may be much, and nothing else should wait for it.
        self._every(_SCHEDULES, "retention", self.run_retention)
        self._every(_REAPING, "reaper", self.reaper().run_once)
        self._every(_REAPING, "quotas", self.settle_quotas)
        self._every(_REAPING, "traces", self.write_traces)
        self._every(_REAPING, "unserved", self.tell_unserved)
        self._every(_SWEEPING, "sweep", self.sweep().run)
        self._every(_SEALING, "seals", self.seal)
        self._every(_TRIMMING, "change-log", self.change_log().run_once)
        self._every(_SEALING, "past-work", self.forget_work)
        self._every(_SEALING, "past-reviews", self.past_reviews().run)
        if self.settings.audit_days:
            self._every(_SEALING, "audit-archive", self.audit_archive().run)

    def prepare(self) -> None:
        """Create what the store lacks. One that does not answer yet is waited for, so that it may start later."""
        began, said = time.monotonic(), False
        while not self._stop.is_set():
            try:
                self.context.store.ensure(*self.domains)
                return
            except Unavailable as away:
                if away.part is None or time.monotonic() - began >= self.settings.start_wait:
                    raise
                if not said:
                    log.warning("the store does not answer yet, and is waited for: %s", away)
                said = True
                self._stop.wait(_AGAIN)

    def start_beside(self) -> None:
        """What a process does that only answers requests: it asks for parts that are away, and counts what it uses."""
        if self.ledger is not None:
            self._every(EVERY, "usage", self.ledger.keep)
        self._thread("outages", self.outages.keep_asking)

    def begin_stop(self, *, grace: timedelta, parting: timedelta = _PARTING) -> None:
        """Take no more work. What runs may finish for so long, and is handed back then, whatever the caller waits for.

        Then threads have the time of ``parting`` to end. Told again, it hands back at once.
        """
        self._stop.set()
        if self._draining is not None:
            if self._workers is not None:
                self._workers.hurry()
            return
        self._draining = threading.Thread(
            target=self._drain, args=(grace, parting / 2), name="penstock-drain", daemon=True
        )
        self._draining.start()

    def stop(self, *, grace: timedelta = timedelta(seconds=30)) -> None:
        """Finish what is running, or hand it back; then close."""
        if self._draining is None:
            self.begin_stop(grace=grace)
        assert self._draining is not None
        self._draining.join()
        if self.ledger is not None:
            self.ledger.keep()
        self.context.close()
        self.context.store.close()
        if self.telemetry is not None:
            self.telemetry.flush()

    @property
    def busy(self) -> int:
        """How many tasks this process has taken."""
        return 0 if self._workers is None else self._workers.busy

    def _drain(self, grace: timedelta, parting: timedelta) -> None:
        if self._workers is not None:
            self._workers.stop(grace=grace, parting=parting)
        end = time.monotonic() + parting.total_seconds()
        for thread in self._threads:
            thread.join(timeout=max(0.0, end - time.monotonic()))

    # Parts, each of which a command can run by itself

    def start_feeds(self) -> None:
        """Follow the changes of records in this process."""
        for name, feed in self.feeds.items():
            self._thread(f"feed-{name}", feed.run)

    def start_workers(self) -> InlineWorkers:
        """Threads that run tasks."""
        check_writer(self.settings)
        threads = self.settings.worker_threads
        self._workers = InlineWorkers(self.context.store, self.tasks, threads=threads, context=self.context)
        self._workers.start()
        return self._workers

    def celery(self) -> CeleryWorkers:
        """Workers on many machines, who hear of tasks from Celery's broker."""
        check_writer(self.settings)
        if find_spec("celery") is None:
            raise Misconfigured("celery is not installed; run: pip install 'penstock[celery]'")
        if not self.settings.broker:
            raise Misconfigured("Celery needs a broker; set PENSTOCK_BROKER=redis://HOST:PORT/0")
        from penstock.workers.celery import CeleryWorkers

        return CeleryWorkers(
            self.context.store,
            self.tasks,
            self.settings.broker,
            schedules=self.schedules,
            context=self.context,
            processes=self.settings.worker_threads,
            queue=self.settings.queue,
            log=partial(log_to_terminal, self.settings.log_format),
        )

    def ask_broker(self) -> None:
        """Unavailable, if Celery's broker does not answer."""
        from penstock.workers.celery_broker import CeleryBroker

        if self._broker is None:
            self._broker = CeleryBroker(self.celery().app())
        self._broker.queued()

    def outboxes(self) -> list[type[Message]]:
        """The kernel's outbox, and those of domains that document their own."""
        return self.operated.outboxes

    def relay(self, outbox: type[Message]) -> Relay:
        """What tells the messages of one outbox to the sink."""
        check_writer(self.settings)
        sink = open_sink(self.settings, clock=self.context.store.clock)
        return Relay(self.context.store, sink, owner=self.owner, outbox=outbox)

    def start_relays(self) -> None:
        """Threads that tell messages to the sink, one for each outbox."""
        for outbox in self.outboxes():
            self._thread(f"relay-{outbox.__shape__.label}", self.relay(outbox).run)

    def reaper(self) -> Reaper:
        """What removes expired records where the store does not."""
        return Reaper(self.context.store, self.domains, owner=self.owner)

    def settle_quotas(self) -> int:
        """Give back what is held of quotas by those whose time is over."""
        return settle_overdue(self.context.store)

    def tell_unserved(self) -> list[UnservedQueue]:
        """Log each queue that nobody works on, once for as long as that lasts."""
        found = unserved_queues(self.context.store)
        for queue in found:
            if (queue.project_id, queue.name) not in self._unserved:
                log.warning("%s; start one: penstock worker", queue)
        self._unserved = {(queue.project_id, queue.name) for queue in found}
        return found

    def write_traces(self) -> int:
        """Let each record of a change of many find its audit line; whoever asks for a history does so, too."""
        return write_traces(self.context.store)

    def run_schedules(self) -> None:
        """Do what domains have due by the clock."""
        due = [s for i in self.installed if i.schedules is not None for s in i.schedules(self.context)]
        Scheduler(self.context.store, due, owner=self.owner).run_due()

    def run_retention(self) -> None:
        """Let leave what has been kept for its time, where a domain says when."""
        due = [s for i in self.installed for s in i.retention_schedules(self.context)]
        Scheduler(self.context.store, due, owner=self.owner).run_due()

    def seal(self) -> None:
        """Seal the audit trails: the kernel's, and those of domains that document their own."""
        list(seal_known(self.context.store, by="penstock", trails=self.trails))

    @property
    def trails(self) -> list[type[AuditLine]]:
        """The kernel's kind of audit line, and those of domains that document their own."""
        return self.operated.trails

    def audit_archive(self) -> AuditArchive:
        """What moves audit lines to the archive once they are old enough."""
        keep = timedelta(days=self.settings.audit_days)
        archive = open_archive(self.settings.archive, settings=self.settings)
        return AuditArchive(self.context.store, archive, self.trails, owner=self.owner, keep=keep, along=traces_to)

    def forget_work(self) -> None:
        """Let go of what is known of work that has long been over."""
        rest_idle(self.context.store)
        self.past_jobs().run()

    def past_jobs(self) -> PastJobs:
        """What forgets jobs that have long been over."""
        return PastJobs(self.context.store, owner=self.owner)

    def past_reviews(self) -> PastReviews:
        """What forgets the notes on records that are gone, and the links to them."""
        links = (lambda about: GuestLink.of_record(about=about),)
        return PastReviews(self.context.store, self.domains, owner=self.owner, along=links)

    def change_log(self) -> TrimmedLog:
        """What trims the log of changes, where the store does not."""
        chosen, store = self.settings, self.context.store
        longest = timedelta(hours=chosen.feed_hours)
        return TrimmedLog(
            store, (*self.domains, store.own), owner=self.owner, longest=longest, most=chosen.feed_entries
        )

    def stored(self) -> list[Stored]:
        """How much there is of what the system keeps for itself, beside its bounds."""
        own = [*self.context.store.own.entities, *WORKING.entities, *self.outboxes(), *self.trails]
        return list(stored(self.context.store, list(dict.fromkeys(own)), self.change_log()))

    def sweep(self) -> Sweep:
        """What settles files that no record points at, uploads that were abandoned, and deletions."""
        check_writer(self.settings)
        return Sweep(self.context.store, self.context.objects, self.domains, owner=self.owner)

    # Threads

    def _thread(self, name: str, target: Callable[[threading.Event], object]) -> None:
        def run() -> None:
            while not self._stop.is_set():
                try:
                    target(self._stop)
                except Exception as error:
                    # A database that restarts must not end the service.
                    if not self.outages.sit_out(error, self._stop):
                        log.exception("%s has failed; trying again", name)
                        self._stop.wait(_AFTER_ERROR)

        thread = threading.Thread(target=run, name=f"penstock-{name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _every(self, seconds: float, name: str, action: Callable[[], object]) -> None:
        def rounds(stop: threading.Event) -> None:
            while not stop.is_set():
                action()
                stop.wait(seconds)

        self._thread(name, rounds)


def kept_secret(settings: Settings, *, folder: Path = Path(".penstock")) -> Settings:
    """The settings with a secret: without a configured one, the one that is kept beside the embedded store."""
    if settings.secret:
        return settings
    path = folder / "secret"
    try:
        make_private(folder)
        if not path.exists():
            keep(os.urandom(32).hex(), path)
        secret = path.read_text().strip()
    except OSError as error:
        raise Misconfigured(f"no secret can be kept in {path}: {error.strerror}; set PENSTOCK_SECRET") from None
    if not secret:
        raise Misconfigured(f"{path} is empty; remove it, and a new secret is made")
    return replace(settings, secret=secret)
