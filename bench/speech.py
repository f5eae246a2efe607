"""A text of 40 words: spoken by the voice alone, by the action that stores it, and by the service.

Time is the wall's. The service is `penstock up` in a process of its own, with SQLite and local files. It is asked over
a socket by one client, or by several at once, each time for another guest; the voice alone is asked by as many threads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from ipaddress import IPv4Address
from itertools import count
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.contender import Limit
from bench.measure import Effort, Work, contest
from bench.served import Client, PenstockUp
from bench.topic import Contests
from penstock import open_store
from penstock.domains.speech import DOMAIN
from penstock.domains.speech.actions import synthesise
from penstock.domains.speech.options import SETTINGS
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.runtime.composition import open_objects
from penstock.work.domain_context import DomainContext

CLIENTS = {"speech.latency": 1, "speech.throughput": 4}
GROUPS = dict.fromkeys(CLIENTS, "wall time of a text")
VOICE, ACTION, ROUTE = "the voice alone", "synthesise()", "POST /public/tts/sync"
BASELINE = VOICE
OWN = (ACTION, ROUTE)
LIMITS = (
    Limit(
        "speech.latency: 40 words through the service in at most 1.5 of the voice's own time",
        "speech.latency",
        ROUTE,
        VOICE,
        1.5,
    ),
)
TEXT = (
    "The quick brown fox jumps over the lazy dog while seven tired sailors row their little boat across the bay. "
    "Tomorrow morning the weather will be fine, and everybody in the village wants to see the old wooden bridge again."
)
_UNREACHED = {
    s.variable: str(10**15) for s in SETTINGS if s.variable.startswith(("PENSTOCK_SPEECH_B", "PENSTOCK_SPEECH_S"))
}
"Limits of what guests may use: they are counted, and nobody comes near them."
_GUESTS = int(IPv4Address("198.18.0.0"))
"The first address of a network that is kept for measuring."
_ROUNDS = 15
_CHARACTERS_A_SECOND = 22
"No voice speaks faster."


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """All three, each with the same text and a voice that is loaded."""
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        store = stack.enter_context(closing(open_store(f"sqlite:///{folder}/speech.db")))
        store.ensure(DOMAIN)
        context = DomainContext(store, open_objects(f"files:///{folder}/files"), _UNREACHED.get)
        studio = SpeechStudio.within(context)
        voice = studio.voices.get(studio.voices.chosen(None))
        text = " ".join(TEXT.split()[: effort.sized(len(TEXT.split()), least=2)])
        once: dict[str, Callable[[], object]] = {
            VOICE: lambda: voice.speak(text),
            ACTION: lambda: synthesise(studio, text, ip_address="198.18.0.1"),
        }
        if effort.wants(ROUTE):
            once[ROUTE] = _asking(stack.enter_context(PenstockUp(_UNREACHED)).port, text)
        for group in groups:
            clients = CLIENTS[group]
            with ThreadPoolExecutor(clients) as pool:
                works = {name: _work(pool, clients, once[name]) for name in filter(effort.wants, once)}
                rounds = min(effort.rounds, _ROUNDS)
                clocks = dict.fromkeys(works, perf_counter)
                yield group, contest(works, effort, clocks=clocks, times=clients, count=rounds)


def _work(pool: ThreadPoolExecutor, clients: int, once: Callable[[], object]) -> Work:
    """So many times, by so many at once."""

    def work(times: int) -> None:
        if clients == 1:
            for _ in range(times):
                once()
        else:
            list(pool.map(lambda _: once(), range(times)))

    return work


def _asking(port: int, text: str) -> Callable[[], object]:
    """One request of a new guest, as a guest has only so many a minute."""
    body, guests = json.dumps({"text": text}).encode(), count(_GUESTS)

    def ask() -> object:
        guest = {"X-Forwarded-For": str(IPv4Address(next(guests)))}
        with Client(port, guest) as client:
            told = json.loads(client.ask("POST", "/public/tts/sync", body))
        if not told["duration"] > len(text) / _CHARACTERS_A_SECOND:
            raise AssertionError(f"{len(text)} characters in {told['duration']} s")
        return told

    return ask
