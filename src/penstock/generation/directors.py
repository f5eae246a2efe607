"""Directors: named manners of filming, as data in `directors.toml`."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from penstock.generation.errors import DirectorNotFound


@dataclass(frozen=True, slots=True)
class Director:
    """A manner of filming."""

    name: str
    summary: str
    palette: tuple[str, ...]
    "Colours by name, the most important first."
    camera: tuple[str, ...]
    light: tuple[str, ...]
    hours: tuple[str, ...]
    "Hours of the day, in the order a story goes through them."
    pacing: str
    negative_prompt: str


@cache
def directors() -> Sequence[Director]:
    """All there are; the first is taken where nobody chooses."""
    text = files("penstock.generation").joinpath("directors.toml").read_text("utf-8")
    return tuple(_read(told) for told in tomllib.loads(text)["director"])


def director(name: str | None) -> Director:
    """One by its name; DirectorNotFound tells which there are."""
    known = {each.name: each for each in directors()}
    if name is None:
        return directors()[0]
    found = known.get(name.strip().lower())
    if found is None:
        close = difflib.get_close_matches(name.strip().lower(), known, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise DirectorNotFound(f"no director's configuration {name!r}; {hint}There are {', '.join(known)}")
    return found


def _read(told: dict[str, Any]) -> Director:
    parts: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
    return Director(**parts)
