"""Texts that a regular expression is slow at, made from the expression itself, and how its time grows with them."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from re import _constants as c
from re import _parser
from typing import Any

_POOL = "a0 \n\t\r.\"'#%/:;,-_=&?!<>[](){}\\@+~xeZ\u00e9\u2028"
_GENERIC = ("\n", " ", "\t", "0", "a", "A", "/", ".", "-", ":", "#", "<", ">", "[", "(", "{", '"', "'", "\\", "%", ",")
_CATEGORIES = {
    c.CATEGORY_DIGIT: r"\d",
    c.CATEGORY_NOT_DIGIT: r"\D",
    c.CATEGORY_SPACE: r"\s",
    c.CATEGORY_NOT_SPACE: r"\S",
    c.CATEGORY_WORD: r"\w",
    c.CATEGORY_NOT_WORD: r"\W",
}
_REPEATS = (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT)
_OFTEN = 8
"What may be repeated less often than this is not worth pumping."
_VARIANTS = 5
_TAILS = ("", "\0")
_SMALL, _LARGE = 2048, 8192
_STEP = 4
_AT_ONCE = 0.0001
_SWIFT = 0.002
"Seconds for a small text, and for a large one, below which no growth can be bad: a square takes longer."
_LINEAR = 2.0 * _STEP
"A text so many times as long takes as many times the time; a quadratic expression takes the square of it."
_PATIENCE = 0.5
"Seconds of one search, after which it is given up."

Search = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Pump:
    """A text that can be had in every size."""

    head: str
    unit: str
    tail: str

    def text(self, size: int) -> str:
        return self.head + self.unit * max(1, size // len(self.unit)) + self.tail


def pumps(pattern: str, flags: int = 0) -> set[Pump]:
    """Worst cases for an expression: each part that repeats, each stretch of it, and what is bad for many."""
    bare = {("", unit) for unit in _GENERIC}
    items = list(_parser.parse(pattern, flags))
    bare |= set(_attacks(items, "")) if _repeats(items) else set()
    return {Pump(head, unit, tail) for head, unit in bare if unit for tail in _TAILS}


def grows_too_fast(search: Search, pump: Pump) -> str | None:
    """How the time grows, if it grows faster than the text."""
    if _at_once(search, pump.text(_SMALL)):
        return None
    for size in (_LARGE, 2 * _LARGE):  # twice, for a machine may have been busy once
        before = _least(search, pump.text(size // _STEP), times=3)
        for _ in range(3):  # the first that is quick enough will do: it can only have taken too long
            taken = _least(search, pump.text(size), times=1)
            if taken >= _PATIENCE:
                return f"{size} characters take more than {_PATIENCE} s"
            if taken < _SWIFT or taken < _LINEAR * before:
                return None
    return f"{_STEP} times the text takes {taken / before:.0f} times the time, {taken * 1000:.0f} ms"


def _at_once(search: Search, text: str) -> bool:
    """By the clock on the wall, which is read in no time; the processor's takes longer than most searches."""
    began = time.perf_counter()
    try:
        with given_up_after(_PATIENCE):
            search(text)
    except TooLong:
        return False
    return time.perf_counter() - began < _AT_ONCE


def _least(search: Search, text: str, *, times: int) -> float:
    """The seconds of the processor for it, at best; no more than anybody has the patience for."""
    best = _PATIENCE
    for _ in range(times):
        began = time.thread_time()
        try:
            with given_up_after(_PATIENCE):
                search(text)
        except TooLong:
            return _PATIENCE
        best = min(best, time.thread_time() - began)
    return best


class TooLong(Exception):
    """Nobody waits any more."""


@contextmanager
def given_up_after(seconds: float) -> Iterator[None]:
    """The engine of `re` looks for signals on its way, so that even one without an end can be ended."""

    def ring(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _attacks(items: list[Any], head: str) -> Iterator[tuple[str, str]]:
    """What stands before a part, and what of it to repeat."""
    for start in range(len(items)):
        here = head + _text(items[:start])
        for stop in range(start + 1, min(start + 8, len(items)) + 1):
            stretch = _text(items[start:stop])
            yield from (("", stretch), (here, stretch))
        op, argument = items[start]
        if op in _REPEATS and argument[1] >= _OFTEN:
            yield from ((here, unit) for unit in _texts(list(argument[2])))
        for inner in _within(op, argument):
            yield from _attacks(inner, here)


def _repeats(items: list[Any]) -> bool:
    """Is there anything in it that may be repeated? What has no such part looks no further than it is long itself."""
    return any(
        (op in _REPEATS and argument[1] >= _OFTEN) or any(map(_repeats, _within(op, argument)))
        for op, argument in items
    )


def _within(op: Any, argument: Any) -> list[list[Any]]:
    """The sequences a part consists of."""
    if op in _REPEATS:
        return [list(argument[2])]
    if op is c.BRANCH:
        return [list(branch) for branch in argument[1]]
    if op is c.SUBPATTERN:
        return [list(argument[3])]
    if op is c.ATOMIC_GROUP:
        return [list(argument)]
    return [list(argument[1])] if op in (c.ASSERT, c.ASSERT_NOT) else []


def _text(items: Iterable[Any]) -> str:
    return "".join(next(iter(_variants(item)), "") for item in items)


def _texts(items: list[Any]) -> list[str]:
    """Several texts that match a sequence, each another in one of its parts."""
    found = [_text(items)]
    for n, item in enumerate(items):
        before, after = _text(items[:n]), _text(items[n + 1 :])
        found += [before + variant + after for variant in _variants(item)]
    return list(dict.fromkeys(found))


def _variants(item: Any) -> list[str]:
    """Some of the texts that match one part."""
    op, argument = item
    if op is c.LITERAL:
        return [chr(argument)]
    if op in (c.NOT_LITERAL, c.ANY, c.IN):
        return _characters(op, argument)
    if op in _REPEATS:
        return [text * max(1, argument[0]) for text in _texts(list(argument[2]))]
    if op is c.ASSERT:
        return [_text(argument[1])] if argument[0] < 0 else [""]
    if op in (c.BRANCH, c.SUBPATTERN, c.ATOMIC_GROUP):
        return [text for inner in _within(op, argument) for text in _texts(inner)]
    return [""]


def _characters(op: Any, argument: Any) -> list[str]:
    if op is c.ANY:
        return ["a", "\t"]
    return list(_fitting(tuple(argument) if op is c.IN else ((c.NEGATE, None), (c.LITERAL, argument))))


@cache
def _fitting(members: tuple[Any, ...]) -> list[str]:
    negated = (c.NEGATE, None) in members
    named = [chr(m[1] if m[0] is c.LITERAL else m[1][0]) for m in members if m[0] in (c.LITERAL, c.RANGE)]
    fitting = [s for s in dict.fromkeys([*named, *_POOL]) if any(_is(s, m) for m in members) is not negated]
    return fitting[: 3 * _VARIANTS]


def _is(character: str, member: Any) -> bool:
    op, argument = member
    if op is c.CATEGORY:
        return re.match(_CATEGORIES[argument], character) is not None
    if op is c.RANGE:
        return bool(argument[0] <= ord(character) <= argument[1])
    return op is c.LITERAL and ord(character) == argument
