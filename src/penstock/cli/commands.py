"""Commands that domains bring: they stand among the others, and are found when they are asked for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from penstock.cli.installed import installed, serving
from penstock.cli.terminal import complain, console, settings, tell, writable
from penstock.errors import InvalidValue, Misconfigured, PenstockError
from penstock.plugin import own_settings
from penstock.runtime.service import Service
from penstock.work.domain_context import DomainContext

Tree = dict[str, Any]
"Commands by their words: a command, or what stands below a word."
_LOGS = (logging.getLogger("penstock.work"), logging.getLogger("penstock.workers"))
"What becomes of tasks."


class OpenGroup(TyperGroup):
    """Commands of our own and, beside them, those of domains. No domain can take the place of one of ours."""

    def list_commands(self, ctx: Any) -> list[str]:
        own = super().list_commands(ctx)
        try:
            brought = self._brought(ctx)
        except PenstockError as error:  # one domain that is broken does not keep the help from anybody
            complain(error)
            return own
        return [*own, *sorted(brought)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or self._brought(ctx).get(cmd_name)

    def _brought(self, ctx: Any) -> Mapping[str, Any]:
        """What domains bring to this group."""
        tree = _tree()
        for word in _words(ctx):
            below = tree.get(word)
            tree = below if isinstance(below, dict) else {}
        own = [name for name in tree if name in self.commands and not isinstance(self.commands[name], OpenGroup)]
        if own:
            raise Misconfigured(f"a domain brings a command {own[0]}, which Penstock has itself; call it otherwise")
        return {name: _command(name, below) for name, below in tree.items() if name not in self.commands}


def _words(ctx: Any) -> list[str]:
    """What was said to come to a group."""
    words: list[str] = []
    while ctx is not None and ctx.parent is not None:
        words.insert(0, ctx.info_name or "")
        ctx = ctx.parent
    return words


def _tree() -> Tree:
    """The commands of all domains by their words."""
    served = serving()
    if served.commands is None:
        tree: Tree = {}
        for plugin in served.found:
            brought = plugin.commands(_Terminal()) if plugin.commands is not None else {}
            for words, command in brought.items():
                _plant(tree, words, command, plugin.domain.name)
        served.commands = tree
    return served.commands


def _plant(tree: Tree, words: str, command: Callable[..., Any], domain: str) -> None:
    *path, name = words.split() or [""]
    for word in path:
        below = tree.setdefault(word, {})
        if not isinstance(below, dict):
            raise Misconfigured(f'{domain} brings a command "{words}", and "{word}" is another\'s; call it otherwise')
        tree = below
    if not name or name in tree:
        raise Misconfigured(f'{domain} brings a command "{words}" that is there already; leave one of the domains out')
    tree[name] = _made(name, command)


def _made(name: str, command: Callable[..., Any]) -> Any:
    if isinstance(command, typer.Typer):
        made = typer.main.get_command(command)
    else:
        app = typer.Typer(add_completion=False, pretty_exceptions_show_locals=False)
        app.command(name)(command)
        made = typer.main.get_command(app)
    made.name = name
    return made


def _command(name: str, below: Any) -> Any:
    """A command, or a group of those whose words begin with the same one."""
    if not isinstance(below, dict):
        return below
    told = f"{', '.join(below).capitalize()}."
    commands = {n: _command(n, b) for n, b in below.items()}
    return TyperGroup(name=name, commands=commands, no_args_is_help=True, help=told)


class _Terminal:
    """The command line, for a domain's commands."""

    def tell(self, line: str) -> None:
        tell(line)

    def console(self) -> Console:
        return console()

    def writable(self, path: Path) -> Path:
        return writable(path)

    @contextmanager
    def working(
        self, *, store: str | None = None, objects: str | None = None, settings: Mapping[str, str] | None = None
    ) -> Iterator[DomainContext]:
        service = Service(_with(settings or {}, store=store, objects=objects), installed())
        try:
            for log in _LOGS:
                log.addFilter(_says_more)
            service.start(background=False)
            service.start_workers()
            service.start_feeds()
            yield service.context
        except KeyboardInterrupt:
            service.begin_stop(grace=timedelta(0))
            raise
        finally:
            service.stop()
            for log in _LOGS:
                log.removeFilter(_says_more)

    @contextmanager
    def opened(self, *, store: str | None = None, objects: str | None = None) -> Iterator[DomainContext]:
        service = Service(_with({}, store=store, objects=objects), installed())
        try:
            service.start(background=False)
            yield service.context
        finally:
            service.stop()

    def setting(self, variable: str) -> str | None:
        return own_settings(installed(), settings().variables)(variable)

    def service_url(self) -> str:
        return settings().url


def _says_more(record: logging.LogRecord) -> bool:
    """Does a log say more than the command that waits for a task? What is wrong with a file it says by itself."""
    error = record.args[-1] if isinstance(record.args, tuple) and record.args else None
    return record.levelno >= logging.ERROR and not isinstance(error, InvalidValue)


def _with(own: Mapping[str, str], **urls: str | None) -> Any:
    chosen = settings(keep_secret=True, **urls)
    return replace(chosen, variables={**chosen.variables, **own})
