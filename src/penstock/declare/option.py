"""Options: what a domain lets a deployment choose, as the fields of a dataclass, each read from one setting.

    @dataclass(frozen=True)
    class FilmOptions:
        fps: int = option("FILM_FPS", 24, "Pictures a second.", read=whole(1, 60))
        shown: timedelta = option("FILM_SHOWN", timedelta(hours=1), "How long a URL lasts.", read=duration(1, 86_400))

    SETTINGS = settings_of(FilmOptions)
    read_options(FilmOptions, setting)

What cannot be read is told in one way: FILM_FPS='many' is not a whole number from 1 to 60.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any, TypeVar

from penstock.declare.setting import Setting
from penstock.errors import Misconfigured

T = TypeVar("T")
_SETTING, _READ = "penstock.setting", "penstock.read"
_SHOWN = 80
"Characters of a value that are repeated."


def option(variable: str, default: T, help: str, *, read: Callable[[str], T] | None = None, written: Any = None) -> T:
    """A field of a dataclass of options.

    ``read`` says what a text means, and raises a ValueError whose words follow the setting: "is not …". Without it the
    text itself is meant. ``written`` is the default as somebody would set it, where it is not written as it is.
    """
    shown = default if written is None else written
    if isinstance(shown, timedelta):
        shown = int(shown.total_seconds())
    metadata = {_SETTING: Setting(variable, shown, help), _READ: read or str}
    return field(default=default, metadata=metadata)


def settings_of(options: type[Any]) -> tuple[Setting, ...]:
    """The settings that a dataclass of options is read from, in its order."""
    return tuple(each.metadata[_SETTING] for each in fields(options))


def read_options(options: type[T], setting: Callable[[str], str | None]) -> T:
    """The options as they are set, each with its default; Misconfigured names the first that is wrong."""
    chosen = {}
    for each in fields(options):  # type: ignore[arg-type] # a dataclass, which no protocol can say
        variable = each.metadata[_SETTING].variable
        text = (setting(variable) or "").strip()
        if not text:
            continue
        try:
            chosen[each.name] = each.metadata[_READ](text)
        except ValueError as wrong:
            shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
            raise Misconfigured(f"{variable}={shown!r} {wrong}") from None
    return options(**chosen)


# What a text means


@dataclass(frozen=True, slots=True)
class _Number:
    least: float
    most: float
    whole: bool

    def __call__(self, text: str) -> float:
        try:
            # Python takes more for a number than anybody means: 1_000, ٣, and any number of digits.
            if not text.isascii() or "_" in text or len(text) > 40:
                raise ValueError
            value = int(text) if self.whole else float(text)
        except ValueError:
            value = self.least - 1
        if not self.least <= value <= self.most:
            kind = "whole number" if self.whole else "number"
            raise ValueError(f"is not a {kind} from {self.least} to {self.most}") from None
        return value


def whole(least: int, most: int) -> Callable[[str], int]:
    """A whole number within bounds."""
    return _Number(least, most, whole=True)  # type: ignore[return-value] # whole, as said


def number(least: float, most: float) -> Callable[[str], float]:
    """A number within bounds."""
    return _Number(least, most, whole=False)


def duration(least: int, most: int) -> Callable[[str], timedelta]:
    """A whole number of seconds, as a time."""
    count = whole(least, most)
    return lambda text: timedelta(seconds=count(text))
