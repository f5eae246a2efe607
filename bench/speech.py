"""A text of 40 words: spoken by the voice alone, by the action that stores it, and through the API.

Time is the wall's. The service runs in a thread of this process, with SQLite and local files, and is asked over a
socket by one client, or by several at once. The voice alone is asked by as many threads.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from tempfile import TemporaryDirectory
from threading import Thread, local

import uvicorn
from fastapi import FastAPI

from bench.measure import Comparison, Effort, Work, compare
from penstock import open_store
from penstock.domains.speech import DOMAIN
from penstock.domains.speech.actions import synthesise
from penstock.domains.speech.options import SETTINGS
from penstock.domains.speech.routes import client_address, routes
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.runtime.composition import open_objects
from penstock.work.domain_context import DomainContext
from tests.servers import free_port, is_open

CLIENTS = {"speech.latency": 1, "speech.throughput": 4}
GROUPS = dict.fromkeys(CLIENTS, "wall time of a text")
VOICE, ACTION, ROUTE = "the voice alone", "synthesise()", "POST /public/tts/sync"
BASELINE = VOICE
TEXT = (
    "The quick brown fox jumps over the lazy dog while seven tired sailors row their little boat across the bay. "
    "Tomorrow morning the weather will be fine, and everybody in the village wants to see the old wooden bridge again."
)
_UNREACHED = {
    s.variable: str(10**15) for s in SETTINGS if s.variable.startswith(("PENSTOCK_SPEECH_B", "PENSTOCK_SPEECH_S"))
}
"Limits of what one guest may use: they are counted, and nobody comes near them."
_ROUNDS = 15
_PATIENCE = 10.0
_LONGEST = 600.0


def measure(group: str, effort: Effort) -> Comparison:
    """All three, each with the same text and the same loaded voice."""
    clients = CLIENTS[group]
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        store = stack.enter_context(closing(open_store(f"sqlite:///{folder}/speech.db")))
        store.ensure(DOMAIN)
        context = DomainContext(store, open_objects(f"files:///{folder}/files"), _UNREACHED.get)
        studio = SpeechStudio.within(context)
        voice = studio.voices.get(studio.voices.chosen(None))
        ask = stack.enter_context(_asking(context))
        pool = stack.enter_context(ThreadPoolExecutor(clients))
        works = {
            VOICE: _work(pool, clients, lambda: voice.speak(TEXT)),
            ACTION: _work(pool, clients, lambda: synthesise(studio, TEXT, ip_address="127.0.0.1")),
            ROUTE: _work(pool, clients, ask),
        }
        rounds = replace(effort, rounds=min(effort.rounds, _ROUNDS))
        return compare(works, rounds, clocks=dict.fromkeys(works, time.perf_counter), times=clients)


def _work(pool: ThreadPoolExecutor, clients: int, once: Callable[[], object]) -> Work:
    """So many times, by so many at once."""

    def work(times: int) -> None:
        if clients == 1:
            for _ in range(times):
                once()
        else:
            list(pool.map(lambda _: once(), range(times)))

    return work


@contextmanager
def _asking(context: DomainContext) -> Iterator[Callable[[], object]]:
    """One request to a service that runs meanwhile; each thread keeps its connection."""
    app = FastAPI()
    app.include_router(routes(context))
    app.dependency_overrides[client_address] = lambda: "127.0.0.1"  # which the guard finds out, where there is one
    port = free_port()
    # Connections rest while the others are measured.
    config = uvicorn.Config(
        app, host="127.0.0.1", port=port, lifespan="off", log_level="error", timeout_keep_alive=int(_LONGEST)
    )
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + _PATIENCE
    while not is_open(port):
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing listens on port {port}")
        time.sleep(0.005)
    kept = local()
    body, headers = json.dumps({"text": TEXT}), {"Content-Type": "application/json"}

    def ask() -> object:
        if not hasattr(kept, "connection"):
            kept.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_LONGEST)
        kept.connection.request("POST", "/public/tts/sync", body, headers)
        answer = kept.connection.getresponse()
        told = json.loads(answer.read())
        if answer.status != 200 or not told["duration"] > 10:
            raise AssertionError(f"{answer.status}: {told}")
        return told

    try:
        yield ask
    finally:
        server.should_exit = True
        thread.join(_PATIENCE)
