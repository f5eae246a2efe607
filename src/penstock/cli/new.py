"""``penstock new``: a small, complete domain, for somebody to begin with."""

from __future__ import annotations

import keyword
import os
import re
import shutil
import sys
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated

import typer

from penstock.cli.installed import serving
from penstock.cli.terminal import tell
from penstock.errors import Conflict, InvalidValue, Misconfigured, PenstockError
from penstock.runtime.discovery import RESERVED

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_LONGEST = 40
_TAKEN = RESERVED | {"src", "tests", "test", "public", "information_schema"}
"Names of the package's own folders, and schemas that a database has already."
_PLACEHOLDER, _SUFFIX = "NAME", ".txt"


def new(name: Annotated[str, typer.Argument(help="Of the domain and its package, such as films.")]) -> None:
    """Write a small, complete domain of your own, with tests, into a folder of its name."""
    _check(name)
    target = Path.cwd() / name
    if target.exists() or target.is_symlink():
        raise Conflict(f"{target} is there already, and nothing is overwritten; choose another name or folder")
    _write(name, target)
    tell(f"{name}/ is written: see {name}/README.md. Its tests, and the service with it:")
    tell(f"  cd {name} && pip install -e '.[test]' && pytest")
    tell("  penstock up")


def _check(name: str) -> None:
    """Refuse a name that Python, a database or a URL would trip over, or that is somebody else's."""
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise InvalidValue(
            f"a domain is called by at most {_LONGEST} small letters, digits and single underscores, beginning with a "
            f"letter, not {_short(name)}{_better(name)}"
        )
    if keyword.iskeyword(name) or name in sys.stdlib_module_names or name in _TAKEN or name.startswith("pg_"):
        raise InvalidValue(f"{name!r} means something else already, to Python, a database or Penstock; choose another")
    if name in _served() or find_spec(name) is not None:
        raise InvalidValue(f"there is a package or a domain {name!r} here already; choose another name")


def _served() -> set[str]:
    try:
        return {plugin.domain.name for plugin in serving().found}
    except PenstockError:  # another domain's trouble
        return set()


def _short(name: str) -> str:
    return repr(name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…")


def _better(name: str) -> str:
    """Perhaps it is only written otherwise."""
    other = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:_LONGEST].strip("_")
    return f'; such as "{other}"' if _NAME.fullmatch(other) and other != name else ""


def _write(name: str, target: Path) -> None:
    """All of it, or nothing."""
    words = {"name": name, "distribution": name.replace("_", "-"), "table": "".join(map(str.title, name.split("_")))}
    try:
        folder = Path(mkdtemp(prefix=f".{name}-", dir=target.parent))
    except OSError as error:
        raise Misconfigured(f"nothing can be written in {target.parent}: {error.strerror}") from None
    try:
        for path, text in _template(files("penstock.cli").joinpath("template"), Path()):
            file = folder / str(path).replace(_PLACEHOLDER, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(_filled(text, words), encoding="utf-8")
        folder.chmod(0o777 & ~_umask())
        folder.rename(target)
    except OSError as error:
        raise Misconfigured(f"{target} cannot be written: {error.strerror}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _template(folder: Traversable, path: Path) -> Iterator[tuple[Path, str]]:
    """The files of the template with their texts; their names end so that no tool takes them for code."""
    for each in folder.iterdir():
        if each.is_dir():
            yield from _template(each, path / each.name)
        elif each.name.endswith(_SUFFIX):
            yield path / each.name.removesuffix(_SUFFIX), each.read_text(encoding="utf-8")


def _filled(text: str, words: dict[str, str]) -> str:
    for name, word in words.items():
        text = text.replace(f"{{{{{name}}}}}", word)
    return text


def _umask() -> int:
    """What new folders are usually made with, for `mkdtemp` makes them private."""
    before = os.umask(0o077)
    os.umask(before)
    return before
