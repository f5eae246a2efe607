"""The files that settings are written in: ``.env`` as shells and other tools have it, and ``penstock.toml``."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.errors import Misconfigured


def read_dotenv(path: Path) -> dict[str, str]:
    """``NAME=value`` lines, as shells and other tools write them."""
    found: dict[str, str] = {}
    for number, line in enumerate(_lines(path), 1):
        text = line.strip().removeprefix("export ")
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise Misconfigured(f"{path}, line {number}: write NAME=value")
        found[name.strip()] = _dotenv_value(value)
    return found


def _dotenv_value(text: str) -> str:
    """What stands in quotes, or else before a comment; a sign in the middle of a word begins none."""
    quoted = re.fullmatch(r"""\s*(?:'(?P<single>[^']*)'|"(?P<double>[^"]*)")\s*(?:#.*)?""", text)
    if quoted is not None:
        return next(value for value in quoted.groups() if value is not None)
    return re.split(r"(?:^|\s)#", text, maxsplit=1)[0].strip()


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{path} cannot be read: {error}") from None


def read_toml(path: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """Settings by their short names, in a table ``[penstock]`` or before any; ``[environment]`` for any variables.

    ``variables`` are what the short names stand for.
    """
    try:
        content = tomllib.loads("\n".join(_lines(path)))
    except tomllib.TOMLDecodeError as error:
        raise Misconfigured(f"{path}: {error}") from None
    found: dict[str, str] = {}
    for name, value in _short_names(path, content).items():
        if name not in variables:
            close = difflib.get_close_matches(name, variables, n=1)
            hint = f' Did you mean "{close[0]}"?' if close else f" There are {', '.join(variables)}."
            raise Misconfigured(f"{path}: no setting {name!r}.{hint}")
        found[variables[name]] = _text(path, name, value)
    found.update({name: _text(path, name, value) for name, value in _table(path, content, "environment").items()})
    return found


def _short_names(path: Path, content: Mapping[str, Any]) -> Mapping[str, Any]:
    inside = _table(path, content, "penstock")
    before = {name: value for name, value in content.items() if name not in ("penstock", "environment")}
    for name, value in before.items():
        if isinstance(value, dict):
            raise Misconfigured(f"{path}: no table [{name}]; there are [penstock] and [environment]")
        if name in inside:
            raise Misconfigured(f"{path}: {name} is said twice, in [penstock] and before it; remove one")
    return {**before, **inside}


def _table(path: Path, content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = content.get(name, {})
    if not isinstance(found, dict):
        raise Misconfigured(f"{path}: {name} is a table; write [{name}]")
    return found


def _text(path: Path, name: str, value: Any) -> str:
    """A value as a variable of the environment has it; a list is written by commas there."""
    if isinstance(value, dict):
        raise Misconfigured(f"{path}: {name} is one value, or a list of texts, and no table")
    if not isinstance(value, list):
        return str(value)
    for each in value:
        if not isinstance(each, str):
            raise Misconfigured(f"{path}: {name} lists texts, not {each!r}")
    return ",".join(value)
