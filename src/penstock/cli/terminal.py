"""What the commands share: where people read, what programs read, and which store is meant."""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from penstock.cli.installed import domains, installed, serving
from penstock.declare.setting import Setting
from penstock.errors import InvalidValue, PenstockError
from penstock.kernel.store import Store
from penstock.plugin import DomainPlugin
from penstock.ports.private import close_to_others
from penstock.runtime.composition import open_store
from penstock.runtime.service import kept_secret
from penstock.runtime.settings import SETTINGS, Settings, read_settings, strangers, table_settings

AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]
StoreUrl = Annotated[
    str | None,
    typer.Option("--store", help="sqlite:///FILE, postgresql://… or dynamodb://REGION; else PENSTOCK_STORE."),
]
ObjectsUrl = Annotated[
    str | None, typer.Option("--objects", help="files:///FOLDER or s3://BUCKET/PREFIX; else PENSTOCK_OBJECTS.")
]
Place = Annotated[
    str | None,
    typer.Option("--archive", help="A folder, made when it is missing, or s3://BUCKET/PREFIX; else PENSTOCK_ARCHIVE."),
]
_EMBEDDED = Path(".penstock")
"Where everything is kept that nobody said another place for."
_NAMED, _SUGGESTED = 12, 3
"So many names are listed, and so many are suggested."
_COMMAND = re.compile(r"(?<![\w/.@'-])penstock (?=[a-z])")
_WIDEST = 10_000
_CLOSE, _AS_CLOSE = 0.55, 0.05
"From this likeness on a name is suggested, and others that are nearly as like."
By = Annotated[str, typer.Option("--by", help="Who is named in the audit trail.")]


def console() -> Console:
    """Where people read; a pipe has no width of its own, so it gets a generous one."""
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False)


def busy(doing: str) -> AbstractContextManager[object]:
    """Shows a person that something takes its time; a program that reads along sees nothing of it."""
    terminal = Console(stderr=True)
    return terminal.status(f"{doing} …") if terminal.is_terminal else nullcontext()


def settings(*, keep_secret: bool = False, **chosen: Any) -> Settings:
    """The settings as found, with what the command line says instead where it says something.

    What is signed outlives the process if the secret is kept.
    """
    close_to_others(_EMBEDDED)
    found = read_settings(domains())
    for stranger in _unread(found):
        complain(stranger)
    found = kept_secret(found) if keep_secret else found
    return replace(found, **{name: value for name, value in chosen.items() if value is not None})


def all_settings(installed: Iterable[DomainPlugin]) -> Iterator[tuple[str, Sequence[Setting]]]:
    """Every setting of a deployment with these domains, under the name of what it is of."""
    yield "Every deployment", SETTINGS
    for each in installed:
        own = [*each.settings, *table_settings(each.domain)]
        if own:
            yield each.domain.name, own


def _unread(found: Settings) -> list[str]:
    """What was said under a name that no setting has; told once for each command."""
    served = serving()
    if served.strangers is not None:
        return []
    served.strangers = strangers(found, (s for _, some in all_settings(installed()) for s in some))
    return served.strangers


@contextmanager
def opened(store: str | None, *, keep_secret: bool = False) -> Iterator[Store]:
    """The store that is meant, closed afterwards."""
    chosen = settings(store=store, keep_secret=keep_secret)
    # A replica follows the store of the settings, and no other.
    handle = open_store(chosen.store, settings=chosen, read_url=chosen.read_url if store is None else None)
    try:
        yield handle
    finally:
        handle.close()


def show(
    rows: Sequence[Mapping[str, Any]], *, title: str, as_json: bool, empty: str = "Nothing.", whole: bool = False
) -> None:
    """Rows as a table for people or as JSON for programs; ``whole``, nothing is cut, however wide that becomes."""
    if as_json:
        print(json.dumps(list(rows), indent=2, default=str))
        return
    if not rows:
        console().print(empty)
        return
    table = Table(*rows[0], title=Text(title), title_justify="left")
    for row in rows:
        # As it is: what somebody has written into a record is no markup.
        table.add_row(*(Text("" if value is None else str(value)) for value in row.values()))
    (Console(width=_WIDEST, highlight=False) if whole else console()).print(table, soft_wrap=whole)


def tell(line: str, *, style: str | None = None) -> None:
    """A line as it is, which can be copied whole however narrow the terminal is."""
    console().print(as_called(line), style=style, markup=False, soft_wrap=True)


def as_called(text: str) -> str:
    """A text that names commands, with the name by which they can be called from here."""
    return _COMMAND.sub(lambda _: f"{called()} ", text)


def called() -> str:
    """How this command is called: by its name where a shell finds it by that, else by its path."""
    path = Path(sys.argv[0])
    if path.name == "__main__.py" and path.parent.name == "penstock":
        return f"{_from_here(Path(sys.executable))} -m penstock"
    if path.name != "penstock" or not path.is_file():
        return "penstock"
    found = shutil.which("penstock")
    return "penstock" if found and Path(found).resolve() == path.resolve() else _from_here(path)


def _from_here(path: Path) -> str:
    """A path as it is written from the folder at hand, if that is shorter."""
    whole, near = os.path.abspath(path), os.path.relpath(path)
    return shlex.quote(near if len(near) < len(whole) else whole)


def complain(what: PenstockError | str) -> None:
    """Say what was wrong, where it disturbs no program that reads along."""
    told = as_called(str(what))
    Console(stderr=True, soft_wrap=True).print(f"penstock: {told}", style="red", highlight=False, markup=False)


def writable(out: Path) -> Path:
    """A file that can be written, known before the work for it is begun."""
    if out.is_dir():
        raise InvalidValue(f"{out} is a folder; name a file in it")
    if not out.parent.is_dir():
        raise InvalidValue(f"{out.parent} is no folder; make it, or name another file")
    if not os.access(out if out.exists() else out.parent, os.W_OK):
        raise InvalidValue(f"{out} cannot be written; name another file")
    return out


def hint(given: str, known: Iterable[str]) -> str:
    """What was perhaps meant."""
    names = list(known)
    if close := _close(given, names):
        return f"Did you mean {' or '.join(close)}?"
    if len(names) > _NAMED:
        return f"There are {len(names)}, such as {', '.join(names[:_SUGGESTED])}; penstock patterns lists them."
    return f"There are {', '.join(names)}." if names else "There are none."


def _close(given: str, names: Sequence[str]) -> list[str]:
    """The few that look most like it; the beginning, such as the domain, may have been left out."""
    wanted = given.lower()
    scores = {name: max(_likeness(wanted, name), _likeness(wanted, name.partition(".")[2])) for name in names}
    scores |= {name: 1.0 for name in names if name.lower().endswith(f".{wanted}")}
    best = max(scores.values(), default=0.0)
    close = [name for name in names if scores[name] >= max(_CLOSE, best - _AS_CLOSE)]
    return [f'"{name}"' for name in sorted(close, key=scores.__getitem__, reverse=True)[:_SUGGESTED]]


def _likeness(wanted: str, name: str) -> float:
    return difflib.SequenceMatcher(None, wanted, name.lower()).ratio()
