"""How something is read that could be read otherwise: letter by letter, as a date, as a number."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

Refuse = Callable[[str], NoReturn]
"Told what is wrong."

_ENGLISH = frozenset({"en"})
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_DATE_FORMATS = ("mdy", "dmy", "ymd", "md", "dm", "ym", "my", "y")


@dataclass(frozen=True, slots=True)
class SpokenForm:
    """What is said, and in which language that is, where it has words of one."""

    text: str
    languages: frozenset[str] = frozenset()


def said_as(kind: str, format: str | None, text: str, refuse: Refuse) -> SpokenForm:
    """A text as a kind of thing; what it cannot be is refused."""
    reader = KINDS.get(kind)
    if reader is None:
        refuse(f"<say-as interpret-as={kind!r}> is not understood; there are {', '.join(KINDS)}")
    if format is not None and kind != "date":
        refuse(f"format of <say-as> is for dates, not for {kind}")
    if not text:
        refuse(f"<say-as interpret-as={kind!r}> is empty")
    return reader(text, format, refuse)


def _letters(text: str, format: str | None, refuse: Refuse) -> SpokenForm:
    for sign in text:
        if not sign.isalnum() and sign not in " -":
            refuse(f"{sign!r} in <say-as> has no name; write it in words")
    groups = re.split(r"[ -]+", text.upper())
    return SpokenForm(", ".join(" ".join(group) for group in groups if group))


def _digits(text: str, format: str | None, refuse: Refuse) -> SpokenForm:
    if not re.fullmatch(r"[0-9 ()./+-]+", text):
        refuse(f"{text!r} in <say-as> is not made of digits")
    return SpokenForm(", ".join(" ".join(group) for group in re.findall(r"[0-9]+", text)))


def _number(text: str, format: str | None, refuse: Refuse) -> SpokenForm:
    if not re.fullmatch(r"[+-]?\d{1,3}(,\d{3})*(\.\d+)?|[+-]?\d{1,30}(\.\d+)?", text):
        refuse(f"{text!r} in <say-as> is no number")
    return SpokenForm(text.replace(",", ""))


def _ordinal(text: str, format: str | None, refuse: Refuse) -> SpokenForm:
    if not re.fullmatch(r"\d{1,9}", text):
        refuse(f"{text!r} in <say-as> is no whole number of at most nine digits")
    number = int(text)
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return SpokenForm(f"{number}{ending}", _ENGLISH)


def _date(text: str, format: str | None, refuse: Refuse) -> SpokenForm:
    chosen = format or "ymd"
    if chosen not in _DATE_FORMATS:
        refuse(f"format of a date is {chosen!r}; there are {', '.join(_DATE_FORMATS)}")
    numbers = re.split(r"[-/. ]", text)
    if len(numbers) != len(chosen) or not all(re.fullmatch(r"\d{1,4}", number) for number in numbers):
        refuse(f"{text!r} in <say-as> is no date of the format {chosen}")
    told = dict(zip(chosen, map(int, numbers), strict=True))
    if not 1 <= told.get("m", 1) <= 12 or not 1 <= told.get("d", 1) <= 31:
        refuse(f"{text!r} in <say-as> is no date of the format {chosen}")
    day = " ".join([*([_MONTHS[told["m"] - 1]] if "m" in told else []), *([str(told["d"])] if "d" in told else [])])
    return SpokenForm(", ".join([*([day] if day else []), *([str(told["y"])] if "y" in told else [])]), _ENGLISH)


def _time(text: str, format: str | None, refuse: Refuse) -> SpokenForm:
    if not re.fullmatch(r"\d{1,2}:\d{2}(:\d{2})?( ?[ap]\.?m\.?)?", text, re.IGNORECASE):
        refuse(f"{text!r} in <say-as> is no time such as 14:30 or 2:30 pm")
    return SpokenForm(text)


KINDS: dict[str, Callable[[str, str | None, Refuse], SpokenForm]] = {
    **dict.fromkeys(("characters", "spell-out", "verbatim"), _letters),
    **dict.fromkeys(("digits", "telephone"), _digits),
    **dict.fromkeys(("cardinal", "number"), _number),
    "ordinal": _ordinal,
    "date": _date,
    "time": _time,
}
