"""The doctor: what is configured, what can be reached, what is overdue."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from importlib.metadata import PackageNotFoundError, requires, version
from itertools import islice
from typing import Any

import typer

from penstock.cli.installed import domains, installed
from penstock.cli.terminal import AsJson, ObjectsUrl, StoreUrl, all_settings, as_called, busy, console, settings, show
from penstock.declare.setting import Setting
from penstock.errors import BROKER, PenstockError, Unavailable
from penstock.events.schedule import ScheduleState
from penstock.kernel.held_message import HeldMessage
from penstock.kernel.outbox import MessageStatus
from penstock.media.ffmpeg import binary, version_of_ffmpeg
from penstock.net.shown import without_secrets
from penstock.runtime.probing import probe_objects, probe_store
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings, read_settings
from penstock.work.task import Task, TaskStatus

_PACKAGE, _EXTRA = re.compile(r"[\w.-]+"), re.compile(r"extra == ['\"]([\w-]+)['\"]")
_BUNDLES = ("all", "dev")
"Extras that are made of others."
_MANY = 1000
_NEW = timedelta(hours=1)
"A message that waits for less is on its way."
_PATIENCE = 3
"Seconds that a broker has to answer."


def doctor(store: StoreUrl = None, objects: ObjectsUrl = None, as_json: AsJson = False) -> None:
    """Say what is configured, whether it can be reached, and what is overdue; end with 1 if something is wrong."""
    chosen = settings(store=store, objects=objects)
    configured = list(_configured(chosen))
    service = Service(chosen, installed())
    with busy("Looking around"):
        checks = [*_checks(service), *_extras(), _ffmpeg()]
        sizes = _sizes(service) if all(c["ok"] for c in checks if c["what"] in ("store", "tables")) else []
    service.stop()
    if as_json:
        print(json.dumps({"settings": configured, "checks": checks, "sizes": sizes}, indent=2))
    else:
        show(configured, title="Settings", as_json=False)
        show([{"what": c["what"], "state": as_called(c["state"])} for c in checks], title="Checks", as_json=False)
        if sizes:
            show([_in_words(each) for each in sizes], title="Sizes", as_json=False)
    checks += [{"ok": each["wrong"] is None} for each in sizes]
    if not all(c["ok"] for c in checks):
        if not as_json:
            console().print("Something is wrong; see above.", style="red")
        raise typer.Exit(1)


def _configured(chosen: Settings) -> Iterator[dict[str, Any]]:
    """Every setting, its value unless that is secret, and where that comes from."""
    found = read_settings(domains(), chosen.variables)
    for setting in (s for _, some in all_settings(installed()) for s in some):
        said = next((v for v in (setting.variable, *setting.also) if found.variables.get(v)), "default")
        value = found.variables.get(setting.variable) or setting.default
        if setting.name:
            value = getattr(chosen, setting.name)
            said = said if value == getattr(found, setting.name) else "command line"
        yield {"setting": setting.variable, "value": _shown(setting, value), "from": said}


def _shown(setting: Setting, value: Any) -> str:
    if value in (None, ()):
        return ""
    if setting.secret:
        return "(set)"
    texts = [str(each) for each in value] if isinstance(value, tuple) else [str(value)]
    return ", ".join(without_secrets(text) if "://" in text else text for text in texts)


def _checks(service: Service) -> Iterator[dict[str, Any]]:
    yield _check("domains", lambda: ", ".join(i.domain.name for i in service.installed))
    yield _check("files", lambda: _files(service))
    if service.settings.workers == "celery" or service.settings.broker:
        yield _check("broker", lambda: _broker(service))
    reachable = True
    for what, look in _OF_THE_STORE.items():
        if not reachable:  # and each would be waited for anew
            yield {"what": what, "state": "not looked at: the store cannot be reached", "ok": False}
            continue
        found = _check(what, partial(look, service))
        yield found
        reachable = found["ok"] or what != "store"


def _sizes(service: Service) -> list[dict[str, Any]]:
    """How much there is of what the system keeps for itself, how old it is, and how long it may stay."""
    try:
        found = service.stored()
    except PenstockError as error:
        nothing = {"records": None, "exact": False, "oldest_seconds": None, "kept": ""}
        return [{"name": "all", **nothing, "wrong": f"cannot be measured: {error}"}]
    return [
        {
            "name": each.name,
            "records": each.records,
            "exact": each.exact,
            "oldest_seconds": None if each.oldest is None else int(each.oldest.total_seconds()),
            "kept": each.kept,
            "wrong": each.wrong,
        }
        for each in found
    ]


def _in_words(size: dict[str, Any]) -> dict[str, str]:
    records, seconds = size["records"], size["oldest_seconds"]
    count = "" if records is None else f"{'' if size['exact'] else 'about '}{records:,}"
    age = "" if seconds is None else str(timedelta(seconds=seconds - seconds % 60 if seconds > 60 else seconds))
    kept = size["kept"] if size["wrong"] is None else f"wrong: {size['wrong']} Kept {size['kept']}"
    return {"what": size["name"], "records": count, "oldest": age, "kept": kept}


def _extras() -> Iterator[dict[str, Any]]:
    """What our own package can be installed with."""
    needs: dict[str, list[str]] = {}
    for line in (requires("penstock") or ()) if _is_there("penstock") else ():
        requirement, _, marker = line.partition(";")
        package, extra_ = _PACKAGE.match(requirement), _EXTRA.search(marker)
        if package and extra_ and extra_[1] not in _BUNDLES:
            needs.setdefault(extra_[1], []).append(package[0])
    for extra, packages in needs.items():
        there = all(map(_is_there, packages))
        state = "installed" if there else f"not installed; for it: pip install 'penstock[{extra}]'"
        yield {"what": f"extra {extra}", "state": state, "ok": True}


def _ffmpeg() -> dict[str, Any]:
    """The program that films and sounds are read and made with; it comes with a package, or the machine has it."""
    if not _is_there("imageio-ffmpeg"):
        return {"what": "ffmpeg", "state": "not installed; for it: pip install 'penstock[media]'", "ok": True}
    return _check("ffmpeg", lambda: f"{version_of_ffmpeg()}, at {binary()}")


def _is_there(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


def _check(what: str, look: Callable[[], str]) -> dict[str, Any]:
    try:
        told = look()
    except PenstockError as error:
        return {"what": what, "state": f"wrong: {error}", "ok": False}
    return {"what": what, "state": told, "ok": not told.startswith("wrong")}


def _store(service: Service) -> str:
    service.context.store.ensure(dry_run=True)
    return "reachable"


def _tables(service: Service) -> str:
    missing = [s for s in service.context.store.ensure(*service.domains, dry_run=True) if not s.is_advice]
    if missing:
        return f"wrong: {len(missing)} steps are missing; run: penstock tables apply"
    probe_store(service.context.store)
    return "complete"


def _files(service: Service) -> str:
    service.context.objects.list("", limit=1)
    probe_objects(service.context.objects)
    return "reachable"


def _broker(service: Service) -> str:
    crew = service.celery()
    try:
        with crew.app().connection_for_write() as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=_PATIENCE)
    except Exception as error:  # each of Celery's transports has its own
        raise Unavailable(f"{without_secrets(crew.broker)} cannot be reached: {error}", part=BROKER) from None
    return "reachable"


def _messages(service: Service) -> str:
    store = service.context.store
    told = []
    for outbox in service.outboxes():
        by_status = outbox.by_status  # type: ignore[attr-defined]
        pending = sum(1 for _ in islice(store.find(by_status(status=MessageStatus.PENDING)), _MANY))
        dead = sum(1 for _ in islice(store.find(by_status(status=MessageStatus.DEAD)), _MANY))
        held = sum(1 for _ in islice(store.find(HeldMessage.of_outbox(outbox=outbox.__shape__.label)), _MANY))
        behind = f", {held} held back by those: penstock dead-letters retry or dismiss" if held else ""
        counted = f"{pending} pending{_since(service, outbox, MessageStatus.PENDING)}"
        counted += f", {dead} dead{_since(service, outbox, MessageStatus.DEAD)}"
        told.append(f"{outbox.__shape__.label}: {counted}{behind}")
    return "; ".join(told)


def _since(service: Service, outbox: Any, status: MessageStatus) -> str:
    """Of when the oldest message in a state is; nothing of one that is on its way."""
    store = service.context.store
    oldest = store.first(outbox.by_status(status=status))
    if oldest is None or (status is MessageStatus.PENDING and store.clock.now() - oldest.ts < _NEW):
        return ""
    return f", the oldest of {oldest.ts:%Y-%m-%d}"


def _tasks(service: Service) -> str:
    store = service.context.store
    counts = {s: sum(1 for _ in islice(store.find(Task.by_status(status=s)), _MANY)) for s in TaskStatus}
    told = [f"{count} {status.value}" for status, count in counts.items() if count]
    parts = Counter(t.waits_for for t in islice(store.find(Task.by_status(status=TaskStatus.WAITING)), _MANY))
    told += [f"{count} of these for {part}, which was away" for part, count in parts.items() if part]
    return ", ".join(told) or "none"


def _feeds(service: Service) -> str:
    told = []
    for name, feed in service.feeds.items():
        waiting = sum(1 for _ in islice(feed.letters(), _MANY))
        held_up = [f"{handler} fails since {since:%Y-%m-%d %H:%M} UTC" for handler, since in feed.in_vain().items()]
        words = [f"{waiting} changes wait for a person", *held_up] if waiting else held_up
        told.append(f"{name}: {', '.join(words) or 'followed'}")
    return "; ".join(told) or "none"


def _schedules(service: Service) -> str:
    store = service.context.store
    now = store.clock.now()
    told = []
    overdue = False
    for schedule in service.schedules:
        state = store.lookup(ScheduleState.at(name=schedule.name))
        late = state is not None and state.is_overdue(now, schedule.overdue)
        overdue = overdue or late
        last = "never run" if state is None or state.last_success_at is None else f"last done {state.last_success_at}"
        told.append(f"{schedule.name} ({schedule.cron} UTC): {last}{', OVERDUE' if late else ''}")
    return ("wrong: " if overdue else "") + ("; ".join(told) or "none")


_OF_THE_STORE: dict[str, Callable[[Service], str]] = {
    "store": _store,
    "tables": _tables,
    "messages": _messages,
    "tasks": _tasks,
    "feeds": _feeds,
    "schedules": _schedules,
}
