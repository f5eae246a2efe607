"""Commands that keep running: the service, workers, the relay; and the sweep."""

from __future__ import annotations

import ipaddress
import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from penstock.cli.terminal import AsJson, ObjectsUrl, StoreUrl, console, settings
from penstock.domains import INSTALLED
from penstock.errors import Misconfigured
from penstock.logs import log_to_terminal
from penstock.service import Service
from penstock.settings import Settings

Workers = Annotated[str | None, typer.Option("--workers", help="inline, celery or none.")]


def up(
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on.")] = None,
    store: StoreUrl = None,
    objects: ObjectsUrl = None,
    workers: Workers = None,
) -> None:
    """Run everything: API, workers, relay, schedules, sweeps. Ctrl-C finishes what is running and stops."""
    chosen = settings(keep_secret=True, store=store, objects=objects, workers=workers, host=host, port=port)
    for package in ("fastapi", "uvicorn"):
        if find_spec(package) is None:
            raise Misconfigured(f"{package} is not installed; run: pip install 'penstock[web]'")
    from penstock.web.serve import serve

    log_to_terminal(chosen.log_format)
    service = Service(chosen, INSTALLED)
    service.start()
    records, files = without_password(chosen.store), without_password(chosen.objects)
    console().print(f"Penstock is at {chosen.url} · records {records} · files {files}")
    console().print(f"Try {chosen.url}/docs, or: penstock doctor. Ctrl-C stops.")
    try:
        serve(service, chosen, authentication=not is_loopback(chosen.host))
    except KeyboardInterrupt:
        pass  # which is how one stops it
    finally:
        service.stop()


def worker(
    celery: Annotated[bool, typer.Option("--celery", help="Through Celery, for many machines.")] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="How many tasks at once.")] = None,
    store: StoreUrl = None,
    objects: ObjectsUrl = None,
) -> None:
    """Run tasks in this process until told to stop."""
    chosen = settings(keep_secret=True, store=store, objects=objects, worker_threads=threads)
    log_to_terminal(chosen.log_format)
    if celery:
        _run_celery(chosen)
        return
    service = Service(chosen, INSTALLED)
    service.start(background=False)
    service.start_workers()
    console().print(f"Working on {without_password(chosen.store)} with {chosen.worker_threads} threads. Ctrl-C stops.")
    with _until_stopped() as stop:
        stop.wait()
    service.stop()


def _run_celery(chosen: Settings) -> None:
    if find_spec("celery") is None:
        raise Misconfigured("celery is not installed; run: pip install 'penstock[celery]'")
    if not chosen.broker:
        raise Misconfigured("Celery needs a broker; set PENSTOCK_BROKER=redis://HOST:PORT/0")
    from penstock.workers.celery import CeleryWorkers

    service = Service(chosen, INSTALLED)
    service.start(background=False)
    console().print(f"Working on {without_password(chosen.store)} through {without_password(chosen.broker)}.")
    CeleryWorkers(
        service.around.store,
        service.tasks,
        chosen.broker,
        schedules=service.schedules,
        around=service.around,
        processes=chosen.worker_threads,
    ).run()


def relay(
    once: Annotated[bool, typer.Option("--once", help="Deliver what is due, and end.")] = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Tell pending messages to the sink, in order, at least once."""
    chosen = settings(store=store)
    log_to_terminal(chosen.log_format)
    service = Service(chosen, INSTALLED)
    relays = [service.relay(outbox) for outbox in service.outboxes()]
    if once:
        done = [r.drain() for r in relays]
        for each in relays:
            each.close()
        total = {name: sum(getattr(d, name) for d in done) for name in ("published", "postponed", "buried")}
        if as_json:
            print(json.dumps(total))
        else:
            console().print(f"{total['published']} told, {total['postponed']} postponed, {total['buried']} given up.")
        service.stop()
        return
    with _until_stopped() as stop:
        threads = [threading.Thread(target=r.run, args=(stop,)) for r in relays]
        for thread in threads:
            thread.start()
        stop.wait()
        for thread in threads:
            thread.join()
    service.stop()


def sweep(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell what would be done. Nothing is changed.")] = False,
    store: StoreUrl = None,
    objects: ObjectsUrl = None,
    as_json: AsJson = False,
) -> None:
    """Settle files without a record, records without their file, abandoned uploads, and what has expired."""
    service = Service(settings(store=store, objects=objects), INSTALLED)
    try:
        told: Any = service.sweep().plan() if dry_run else service.sweep().run()
        expired = {} if dry_run else service.reaper().run_once()
    finally:
        service.stop()
    report = {"dry_run": dry_run, "files": None if told is None else asdict(told), "expired_records": expired}
    if as_json:
        print(json.dumps(report, indent=2, default=str))
        return
    if told is None:
        console().print("Another sweep is running just now.")
    else:
        console().print_json(json.dumps(report, default=str))


@contextmanager
def _until_stopped() -> Iterator[threading.Event]:
    """Set when the process is told to stop, by Ctrl-C or by whoever runs it."""
    stop = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: stop.set())
    try:
        yield stop
    finally:
        stop.set()


def is_loopback(host: str) -> bool:
    """Can only this machine reach the address?"""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def without_password(url: str) -> str:
    """A URL without its password."""
    scheme, separator, rest = url.partition("://")
    head, at, tail = rest.rpartition("@")
    user = head.partition(":")[0]
    return f"{scheme}{separator}{user + at if at else ''}{tail.partition('?')[0]}"
