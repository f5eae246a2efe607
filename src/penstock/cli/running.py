"""Commands that keep running: the service, workers, the relay; and the sweep."""

from __future__ import annotations

import ipaddress
import json
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from importlib.util import find_spec
from typing import Annotated

import typer

from penstock.auth.api_keys import ApiKey, KeyStatus
from penstock.cli.installed import installed
from penstock.cli.migrate import bring_along
from penstock.cli.opening import open_console
from penstock.cli.terminal import AsJson, ObjectsUrl, StoreUrl, busy, console, settings, show, tell
from penstock.errors import Misconfigured, Unavailable
from penstock.events.relay import dead_letters
from penstock.files.reconcile import Reconciled
from penstock.files.sweep import Swept
from penstock.kernel.store import Store
from penstock.net.shown import without_secrets
from penstock.runtime.ending import Ending, leave
from penstock.runtime.heap import give_memory_back
from penstock.runtime.logs import log_to_terminal
from penstock.runtime.own_key import own_key
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings
from penstock.runtime.writer_region import check_writer
from penstock.schema.role import Role

_NAMED = 50
"So many files are named on the terminal."
Workers = Annotated[str | None, typer.Option("--workers", help="inline, celery or none.")]


def up(
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on.")] = None,
    store: StoreUrl = None,
    objects: ObjectsUrl = None,
    workers: Workers = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open the console in a browser, signed in.")] = False,
    migrate: Annotated[bool, typer.Option("--migrate", help="First bring records to the declared layouts.")] = False,
) -> None:
    """Run everything: console, API, workers, relay, schedules, sweeps. Ctrl-C finishes what is running and stops."""
    chosen = settings(keep_secret=True, store=store, objects=objects, workers=workers, host=host, port=port)
    check_servable(chosen)
    from penstock.web.serve import ready_api, serve

    log_to_terminal(chosen.log_format)
    give_memory_back()
    service = Service(chosen, installed())
    if migrate:
        bring_along(service.context.store, service.domains)
    api = ready_api(service, chosen)
    ending = Ending(service, grace=chosen.grace, say=tell)
    with ending.by_signal():
        service.start()
        try:
            welcome = welcome_to(chosen, service.context.store, open_it=open_it)
            serve(api, chosen, ending=ending, listening=welcome)
        finally:
            ending.complete()
    leave(0)


def check_servable(chosen: Settings) -> None:
    """Misconfigured, before anything is set going, if what is needed to serve is not there."""
    for package in ("fastapi", "uvicorn"):
        if find_spec(package) is None:
            raise Misconfigured(f"{package} is not installed; run: pip install 'penstock[web]'")
    _check_free(chosen.host, chosen.port)
    _check_keys(chosen)


def _check_keys(chosen: Settings) -> None:
    """Without keys whoever reaches the service is its administrator: nobody but this machine may."""
    if chosen.require_keys:
        return
    if not is_loopback(chosen.host):
        raise Misconfigured(
            f"PENSTOCK_REQUIRE_KEYS=false is for this machine alone, not for {chosen.host}; leave it out"
        )
    if chosen.trusted_proxies or chosen.public_url:
        raise Misconfigured(
            "PENSTOCK_REQUIRE_KEYS=false would make administrators of all who come through the proxy that "
            "PENSTOCK_TRUSTED_PROXIES or PENSTOCK_PUBLIC_URL speaks of; leave it out"
        )


def welcome_to(chosen: Settings, store: Store, *, open_it: bool = False) -> Callable[[], None]:
    """What says where it is, and how one comes in; whatever the store must be asked for that is known before."""
    records, files = without_secrets(chosen.store), without_secrets(chosen.objects)
    token = own_key(store) if chosen.require_keys and is_loopback(chosen.host) else None
    way_in, style = _way_in(chosen, store, token)

    def say() -> None:
        tell(f"Penstock is at {chosen.url} · records {records} · files {files}")
        if chosen.workers == "celery":
            console().print("Tasks are done by those who run: penstock worker --celery")
        if way_in:
            tell(way_in, style=style)
        tell(f"The API is at {chosen.url}/console/api; penstock doctor says how it does. Ctrl-C stops.")
        if open_it:
            open_console(chosen.url, token)

    return say


def _way_in(chosen: Settings, store: Store, token: str | None) -> tuple[str, str | None]:
    """How one comes in, and how that is written."""
    if not chosen.require_keys:
        off = "KEYS ARE OFF: every user, program and web proxy of this machine is an administrator."
        return f"{off} Leave PENSTOCK_REQUIRE_KEYS out to change that.", "bold red"
    if token is not None:
        # What is not read by a person may be kept in a log, where no key belongs.
        where = f"{chosen.url}/#key={token}" if sys.stdout.isatty() else f"{chosen.url} with the key in .penstock/key"
        return f"Come in at {where}", None
    if not any(k.role is Role.ADMIN for k in store.find(ApiKey.by_status(status=KeyStatus.ACTIVE))):
        return "Nobody can come in yet. Make a key: penstock keys create NAME --role admin", None
    return "", None


def worker(
    celery: Annotated[bool, typer.Option("--celery", help="Through Celery, for many machines.")] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="How many tasks at once.")] = None,
    store: StoreUrl = None,
    objects: ObjectsUrl = None,
) -> None:
    """Run tasks in this process until told to stop."""
    chosen = settings(keep_secret=True, store=store, objects=objects, worker_threads=threads)
    check_writer(chosen)
    log_to_terminal(chosen.log_format)
    give_memory_back()
    service = Service(chosen, installed())
    if celery:
        _run_celery(service, chosen)
        return
    ending = Ending(service, grace=chosen.grace, say=tell)
    with ending.by_signal():
        service.start(background=False)
        service.start_workers()
        tell(f"Working on {without_secrets(chosen.store)} with {chosen.worker_threads} threads. Ctrl-C stops.")
        ending.begun.wait()
        ending.complete()
    leave(0)


def _run_celery(service: Service, chosen: Settings) -> None:
    crew = service.celery()
    service.start(background=False)
    console().print(f"Working on {without_secrets(chosen.store)} through {without_secrets(crew.broker)}. Ctrl-C stops.")
    crew.run(grace=timedelta(seconds=chosen.grace))


def relay(
    once: Annotated[bool, typer.Option("--once", help="Deliver what is due, and end.")] = False,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Tell pending messages to the sink, in order, at least once."""
    chosen = settings(store=store)
    log_to_terminal(chosen.log_format)
    service = Service(chosen, installed())
    if once:
        relays = [service.relay(outbox) for outbox in service.outboxes()]
        done = [r.drain() for r in relays]
        for each in relays:
            each.close()
        total = {name: sum(getattr(d, name) for d in done) for name in ("published", "postponed", "buried")}
        if as_json:
            print(json.dumps(total))
        else:
            tell(f"{total['published']} told, {total['postponed']} postponed, {total['buried']} given up.")
        service.stop()
        return
    _check_tables(service)
    ending = Ending(service, grace=chosen.grace, say=tell)
    with ending.by_signal():
        service.start_relays()
        ending.begun.wait()
        ending.complete()


def _check_tables(service: Service) -> None:
    """Nobody else would create them; a database that is only away for a while is waited for."""
    with suppress(Unavailable):
        for outbox in service.outboxes():
            next(dead_letters(service.context.store, outbox), None)


def sweep(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell what would be done. Nothing is changed.")] = False,
    store: StoreUrl = None,
    objects: ObjectsUrl = None,
    as_json: AsJson = False,
) -> None:
    """Settle files without a record, records without their file, abandoned uploads, and what has expired."""
    service = Service(settings(store=store, objects=objects), installed())
    try:
        with busy("Comparing records and files"):
            told = service.sweep().plan() if dry_run else service.sweep().run()
            expired = {} if dry_run else service.reaper().run_once()
    finally:
        service.stop()
    if as_json:
        report = {"dry_run": dry_run, "files": None if told is None else asdict(told), "expired_records": expired}
        print(json.dumps(report, indent=2, default=str))
    elif told is None:
        console().print("Another sweep is running just now.")
    elif isinstance(told, Swept):
        _show_sweep(told.reconciled, "Swept", {**_settled(told), "expired records removed": sum(expired.values())})
    else:
        _show_sweep(told, "Would be swept", {})


def _settled(swept: Swept) -> dict[str, object]:
    return {
        "of these now in the trash": swept.reconciled.discarded,
        "of these back from the trash": swept.reconciled.restored,
        "files of deleted records now in the trash": swept.released,
        "uploads nobody finished": swept.uploads.abandoned,
        "files without an upload": swept.uploads.strays,
        "files gone from the trash for good": f"{swept.purged.objects} ({swept.purged.bytes:,} bytes)",
    }


def _show_sweep(found: Reconciled, title: str, done: dict[str, object]) -> None:
    """Counts, then the names of what does not fit together."""
    counts = {
        "files no record points at": f"{len(found.orphans)} ({found.orphan_bytes:,} bytes)",
        "records whose file is missing": len(found.missing),
        "files no record points at yet": found.young,
        "files a record might point at": found.undecided,
        **done,
    }
    show([{"what": what, "how many": count} for what, count in counts.items()], title=title, as_json=False)
    names = [f"no record: {f.key}" for f in found.orphans]
    names += [f"no file: {m.record} → {m.key}{', in the trash' if m.in_trash else ''}" for m in found.missing]
    for name in names[:_NAMED]:
        tell(name)
    if len(names) > _NAMED:
        tell(f"… and {len(names) - _NAMED} more; --json lists all.")
    if found.unreadable:
        tell(
            f"{len(found.unreadable)} records cannot be read, so no file of their kind is touched: "
            f"{', '.join(found.unreadable[:5])}."
        )
    if found.hidden:
        tell(f"Missing files are not looked for where no pattern finds all records: {', '.join(found.hidden)}.")


def _check_free(host: str, port: int) -> None:
    """Before anything is set going: nobody should have to look for the reason in a log."""
    try:
        socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except (OSError, OverflowError) as error:
        told = str(getattr(error, "strerror", None) or error).partition(" (")[0]
        raise Misconfigured(f"cannot listen on {host}:{port}: {told}; choose another with --host and --port") from None


def is_loopback(host: str) -> bool:
    """Can only this machine reach the address?"""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
