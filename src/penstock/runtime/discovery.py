"""Finding domains: those that packages register as entry points, and those that a deployment names.

Without a word all that are installed are served. A list (``--domain``, ``PENSTOCK_DOMAINS``, ``domains`` in
``penstock.toml``) means exactly these; each is the name of an installed one or ``package.module:PLUGIN``, and ``all``
stands for all that are installed. What is left out is not imported.
"""

from __future__ import annotations

import difflib
import importlib
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from penstock.declare.domain import Domain
from penstock.errors import Misconfigured
from penstock.kernel.own_records import KERNEL
from penstock.plugin import DomainPlugin
from penstock.runtime.settings import Settings
from penstock.work.working import WORKING

GROUP = "penstock.domains"
ALL = "all"
RESERVED = frozenset({KERNEL.name, WORKING.name, "ops", ALL, "declared", "events", "projects", "session", "review"})
"Names that mean something else already."
_LONGEST = 300
"Characters that are told of an error of somebody's module."
_PLACE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


@dataclass(frozen=True)
class _Source:
    """Where a domain comes from."""

    text: str
    "What it is called by, for an error."
    name: str | None
    "The domain's name, where it is known before the domain is."
    load: Callable[[], object]
    remedy: str
    "What to do if it cannot be had."


def discover(settings: Settings, *, named: Sequence[str] = ()) -> tuple[DomainPlugin, ...]:
    """The domains of a deployment, those that the command line names before those of its settings.

    Misconfigured for one that cannot be had, that is no `DomainPlugin`, or whose name or tasks are another's too.
    """
    chosen = list(named or settings.domains) or [ALL]
    without = () if named else settings.without
    sources = _sources(chosen, without, _installed())
    found: dict[str, tuple[_Source, DomainPlugin]] = {}
    for source in sources:
        plugin = _loaded(source)
        name = plugin.domain.name
        other, same = found.get(name, (source, plugin))
        if same is not plugin:
            raise Misconfigured(
                f"two domains are called {name}: {other.text} and {source.text}. Remove one of them, or name those "
                f"that are meant: PENSTOCK_DOMAINS={name}"
            )
        found.setdefault(name, (source, plugin))
    plugins = tuple(plugin for _, plugin in found.values())
    _check_tasks(plugins)
    return plugins


def domains_of(plugins: Iterable[DomainPlugin]) -> tuple[Domain, ...]:
    """Their domains."""
    return tuple(plugin.domain for plugin in plugins)


def _installed() -> dict[str, list[_Source]]:
    """What packages register, by the names they give."""
    found: dict[str, list[_Source]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda p: p.name):
        found.setdefault(point.name, []).append(_of_entry_point(point))
    return found


def _of_entry_point(point: EntryPoint) -> _Source:
    package = f"{point.dist.name} {point.dist.version}" if point.dist is not None else "a package"
    return _Source(
        text=f"{point.name} (entry point {point.value} of {package})",
        name=point.name,
        load=point.load,
        remedy=f"Install {package} anew, or leave the domain out: PENSTOCK_WITHOUT={point.name}",
    )


def _of_place(place: str) -> _Source:
    module, _, attribute = place.partition(":")

    def load() -> object:
        # As a user has it who works on it in this folder; last, so that it hides nothing that is installed.
        if (here := str(Path.cwd())) not in sys.path:
            sys.path.append(here)
        return getattr(importlib.import_module(module), attribute)

    return _Source(place, None, load, "Check the name, and that Python can import it")


def _sources(chosen: Sequence[str], without: Sequence[str], installed: dict[str, list[_Source]]) -> list[_Source]:
    """What is to be loaded: each of those that are named, less those that are left out."""
    for name in without:
        if name not in installed:
            raise Misconfigured(
                f'PENSTOCK_WITHOUT leaves out "{name}", which is not installed. {_known(name, installed)}'
            )
        if name in chosen:
            raise Misconfigured(
                f"{name} is both named and left out; remove it from PENSTOCK_DOMAINS or PENSTOCK_WITHOUT"
            )
    sources: list[_Source] = []
    for text in chosen:
        if text == ALL:
            sources += [s for name, some in installed.items() if name not in without for s in some]
        elif ":" in text:
            if not _PLACE.fullmatch(text):
                raise Misconfigured(f"the domain {text!r} is not written as package.module:PLUGIN")
            sources.append(_of_place(text))
        elif text in installed:
            sources += installed[text]
        else:
            raise Misconfigured(
                f'No domain "{text}" is installed. {_known(text, installed)} One that is not installed is named as '
                f"package.module:PLUGIN"
            )
    return sources


def _known(name: str, installed: Iterable[str]) -> str:
    names = sorted(installed)
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f'Did you mean "{close[0]}"?'
    return f"There are {', '.join(names)}." if names else "There are none."


def _loaded(source: _Source) -> DomainPlugin:
    try:
        plugin = source.load()
    except (Exception, SystemExit) as error:  # whatever a module does when it is imported
        raise Misconfigured(f"the domain {source.text} cannot be loaded: {_why(error)}. {source.remedy}") from error
    if not isinstance(plugin, DomainPlugin):
        instead = " Write DomainPlugin(…) around it" if isinstance(plugin, Domain) else f" {source.remedy}"
        raise Misconfigured(f"the domain {source.text} is a {type(plugin).__name__}, not a DomainPlugin.{instead}")
    name = plugin.domain.name
    if source.name not in (None, name):
        raise Misconfigured(f'the domain {source.text} calls itself "{name}"; name its entry point {name} as well')
    if name in RESERVED:
        raise Misconfigured(
            f'the domain {source.text} is called "{name}", which Penstock uses itself; call it otherwise'
        )
    return plugin


def _why(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:_LONGEST].rstrip(". ")


def _check_tasks(plugins: Iterable[DomainPlugin]) -> None:
    """No task is another domain's too: which of them would run?"""
    owners: dict[str, str] = {}
    for plugin in plugins:
        for task in plugin.tasks or ():
            other = owners.setdefault(task.name, plugin.domain.name)
            if other != plugin.domain.name:
                raise Misconfigured(
                    f"{other} and {plugin.domain.name} both have a task {task.name}; a domain's tasks begin with its "
                    f'name: Tasks("{plugin.domain.name}")'
                )
