"""All five systems at work in processes that are killed: workers, a relay, followers, a keeper, and the people.

What is made takes no time, so that most of a process's life lies between two writes: films of a few pictures, assets of
a few words, a voice that says nothing. All else is what a service runs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

from penstock import Store, SystemClock, open_objects, open_store
from penstock.declare.domain import Domain
from penstock.domains import INSTALLED
from penstock.domains.assetcreator import asset_studio
from penstock.domains.musicvideo import film_studio
from penstock.domains.novae import nova_catalogue
from penstock.domains.novae.nova_catalogue import NovaSources
from penstock.domains.novae.providers.provider import Paper, Resolution
from penstock.domains.speech import speech_studio
from penstock.errors import Conflict, Unavailable
from penstock.events.feed import Feed
from penstock.events.relay import Relay
from penstock.events.schedule import Scheduler
from penstock.files.sweep import Sweep
from penstock.kernel.history_trace import write_traces
from penstock.kernel.quota_movements import settle_overdue
from penstock.kernel.seals import seal_known
from penstock.lifecycle.reaper import Reaper
from penstock.media.speech.sound import Sound
from penstock.media.speech.voices import Offer, Voices
from penstock.ports.engine import Engine
from penstock.ports.object_store import ObjectStore
from penstock.runtime.operated_system import OperatedSystem
from penstock.runtime.settings import Settings
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING
from penstock.workers.inline import InlineWorkers
from tests.domains.assetcreator.quick_makers import QuickMakers
from tests.domains.musicvideo.quick_providers import QuickProviders, film
from tests.domains.novae.known_sky import KnownPapers, nova_object
from tests.faults.yard import FileSink, Ticking

SECRET = "of the tests, and long enough"
PERIOD = timedelta(seconds=1.5)
"How long every lease lasts."
PAUSE = 0.02
SINK, BEGUN, CLOSED, NO_MORE = "sink.jsonl", "begun", "closed", "no-more"
"Files in the folder of a run: what was told, which stories were begun and closed, and that no more are begun."
WRITES = frozenset({"commit", "patch", "load", "put", "delete", "delete_unchanged", "copy"})
ROLES = {"worker-1": "work", "worker-2": "work", "relay": "tell", "follower": "follow", "keeper": "keep", "ann": "ask"}
DOMAINS: tuple[Domain, ...] = (*(plugin.domain for plugin in INSTALLED), WORKING)
SETTINGS = {"MV_SCENE_SECONDS": "0.5", "MV_SCENES": "2"}

Tick = Callable[[str], None]


class QuickVoice:
    """Says a tenth of a second of anything."""

    def speak(self, text: str) -> Sound:
        return Sound(bytes(3200), 16_000)


class QuickNames:
    """Knows every name, each at a place of its own in the sky."""

    def resolve(self, name: str) -> Resolution:
        number = int(name.split()[-1])
        return Resolution((nova_object(name, at=((number * 0.1) % 360, number % 80 + 0.5)),))


def quick_sources() -> NovaSources:
    papers = [Paper(f"paper-{n}", date="2012-06-01") for n in range(2)]
    return NovaSources(resolvers=(QuickNames(),), bibliographies=(KnownPapers(list(papers)),))


REPLACED = (
    (speech_studio, "installed_voices"),
    (asset_studio, "asset_makers"),
    (film_studio, "film_providers"),
    (nova_catalogue, "nova_sources"),
)
"What `make_quick` puts others in the place of."


def make_quick() -> None:
    """Let all that is made in this process, and in those it forks, take no time."""
    voices = Voices([Offer("quick", "en", "quick", QuickVoice)])
    makers, providers, sources = QuickMakers().makers(), QuickProviders().providers(), quick_sources()
    speech_studio.installed_voices = lambda *given: voices  # type: ignore[attr-defined, assignment]
    asset_studio.asset_makers = lambda *given, **more: makers
    film_studio.film_providers = lambda *given, **more: providers
    nova_catalogue.nova_sources = lambda context: sources
    for seconds, audio in ((0.5, False), (0.5, True), (1.5, True)):
        film(seconds, audio=audio)  # which is kept, and need not be made by each of them


def open_context(place: str | Engine, folder: str, tick: Tick | None = None) -> DomainContext:
    """The five systems on a store and a folder. All processes are on one machine, so their clocks do not differ."""
    engine = open_store(place).engine if isinstance(place, str) else place
    objects = open_objects(f"files:///{folder}/objects", settings=Settings(secret=SECRET))
    if tick is not None:
        engine = cast(Engine, Ticking(engine, tick, WRITES))
        objects = cast(ObjectStore, Ticking(objects, tick, WRITES))
    store = Store(engine, clock=SystemClock(skew=timedelta(0)), secret=SECRET.encode(), own=SYSTEM_RECORDS)
    return DomainContext(store, objects, SETTINGS.get)


def prepared(url: str, folder: str) -> Callable[[str, str, Tick], object]:
    """What a process does in each role, with everything imported and open."""
    from tests.faults.people import live_stories

    make_quick()
    engine = open_context(url, folder).store.engine
    roles: dict[str, Callable[[DomainContext, str, str, Tick], object]] = {
        "work": _work,
        "tell": _tell,
        "follow": _follow,
        "keep": _keep,
        "ask": live_stories,
    }
    return lambda role, name, tick: roles[role](open_context(engine, folder, tick), name, folder, tick)


def _work(context: DomainContext, name: str, folder: str, tick: Tick) -> None:
    system = OperatedSystem(INSTALLED, context)
    InlineWorkers(context.store, system.tasks, threads=2, lease=PERIOD, context=context).start()
    while True:
        tick("lives")
        time.sleep(PAUSE)


def _tell(context: DomainContext, name: str, folder: str, tick: Tick) -> None:
    sink = FileSink(f"{folder}/{SINK}", tick)
    outboxes = OperatedSystem(INSTALLED, context).outboxes
    relays = [Relay(context.store, sink, owner=name, outbox=each, period=PERIOD, batch=20) for each in outboxes]
    again_and_again(tick, *(lambda r=relay: r.run_once().total for relay in relays))


def feeds_of(context: DomainContext, name: str) -> list[Feed]:
    """What follows the changes of the five, to be run by somebody of that name."""
    feeds = []
    for plugin in INSTALLED:
        feed = Feed(context.store, plugin.domain.name, owner=name, period=PERIOD)
        for each in plugin.feed(context) if plugin.feed is not None else ():
            feed.on(each.entity, *each.kinds, cause=each.cause, when=each.when)(each.handle)
        feeds += [feed] if feed.follows else []
    return feeds


def _follow(context: DomainContext, name: str, folder: str, tick: Tick) -> None:
    again_and_again(tick, *(feed.run_once for feed in feeds_of(context, name)))


def _keep(context: DomainContext, name: str, folder: str, tick: Tick) -> None:
    """What is done by the clock, one after the other."""
    store, system = context.store, OperatedSystem(INSTALLED, context)
    scheduler = Scheduler(store, [s for s in system.schedules if "retention" not in s.name], owner=name, period=PERIOD)
    again_and_again(
        tick,
        lambda: scheduler.run_due() and None,
        lambda: Reaper(store, DOMAINS, owner=name, period=PERIOD).run_once() and None,
        lambda: Sweep(store, context.objects, DOMAINS, owner=name, period=PERIOD).run() and None,
        lambda: settle_overdue(store) and None,
        lambda: write_traces(store) and None,
        lambda: list(seal_known(store, by=name, margin=PERIOD, trails=system.trails)) and None,
    )


def again_and_again(tick: Tick, *actions: Callable[[], Any]) -> None:
    """Do all of them until somebody puts an end to it."""
    while True:
        did = False
        for action in actions:
            try:
                did = bool(action()) or did
            except (Conflict, Unavailable):
                tick("waits")
        if not did:
            tick("idle")
            time.sleep(PAUSE)


def note(folder: str, file: str, line: str) -> None:
    """Write a line that no kill tears."""
    with open(f"{folder}/{file}", "ab") as opened:
        os.write(opened.fileno(), line.encode() + b"\n")


def noted(folder: str, file: str) -> list[str]:
    try:
        with open(f"{folder}/{file}") as opened:
            return opened.read().split()
    except FileNotFoundError:
        return []
