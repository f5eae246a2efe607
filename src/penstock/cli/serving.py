"""The service in several processes on one port, and one beside them that does everything else."""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from penstock.cli.installed import installed
from penstock.cli.running import Workers, check_servable, welcome_to
from penstock.cli.terminal import ObjectsUrl, StoreUrl, settings, tell
from penstock.runtime.ending import Ending, leave
from penstock.runtime.heap import give_memory_back
from penstock.runtime.logs import log_to_terminal
from penstock.runtime.process_group import run_together
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings

_BACKLOG = 2048
_LAST = 6.0
"Seconds of the grace in which the processes themselves are ended, if they do not end by themselves."


def serve_processes(
    processes: Annotated[int, typer.Option(min=1, max=64, help="How many processes answer requests.")] = 2,
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on.")] = None,
    store: StoreUrl = None,
    objects: ObjectsUrl = None,
    workers: Workers = None,
) -> None:
    """Run everything as `up` does, with several processes that answer requests and one for the rest."""
    chosen = settings(keep_secret=True, store=store, objects=objects, workers=workers, host=host, port=port)
    check_servable(chosen)
    log_to_terminal(chosen.log_format)
    give_memory_back()
    with TemporaryDirectory(prefix="penstock-numbers-") as folder:
        _serve(chosen, processes, Path(folder))


def _serve(chosen: Settings, processes: int, folder: Path) -> None:
    from penstock.web.serve import ready_api
    from penstock.web.shared_numbers import SharedNumbers

    service, numbers = Service(chosen, installed()), SharedNumbers(folder)
    api = ready_api(service, chosen, shared=numbers)
    service.prepare()
    welcome = welcome_to(chosen, service.context.store)
    service.context.store.close()  # nothing that is open may be shared with those who are forked
    with _listening(chosen) as on:
        names = [f"server-{number}" for number in range(1, processes + 1)]
        parts = {n: partial(_answer, service, api, chosen, on, partial(numbers.count_as, n)) for n in names}
        welcome()
        run_together({"background": partial(_work, chosen), **parts}, grace=chosen.grace)


serve_processes.__command__ = "serve"  # type: ignore[attr-defined]


def _listening(chosen: Settings) -> socket.socket:
    """What all of them take connections from: one that dies takes none along that waits."""
    family = socket.AF_INET6 if ":" in chosen.host else socket.AF_INET
    return socket.create_server((chosen.host, chosen.port), family=family, backlog=_BACKLOG)


def _answer(
    service: Service, api: Any, chosen: Settings, on: socket.socket, begin_to_count: Callable[[], None]
) -> None:
    from penstock.web.serve import serve

    begin_to_count()
    ending = _ending(service, chosen)
    with ending.by_signal():
        service.start_beside()
        try:
            serve(api, chosen, ending=ending, on=on)
        finally:
            ending.complete()
    leave(0)


def _work(chosen: Settings) -> None:
    """All that `up` does besides answering; under a name of its own, as others tell from it whether it is alive."""
    service = Service(chosen, installed())
    ending = _ending(service, chosen)
    with ending.by_signal():
        service.start()
        ending.begun.wait()
        ending.complete()
    leave(0)


def _ending(service: Service, chosen: Settings) -> Ending:
    return Ending(service, grace=chosen.grace - min(_LAST, chosen.grace / 2), say=tell)
