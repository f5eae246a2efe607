"""What is looked at before a VOTable is read: only one that costs no more than it weighs, and fetches nothing, is.

astropy would make room for as many rows as a table says it has and as wide as its fields say they are, open whatever
URL or file a stream names, and unpack what entities are made of. Here each of them is refused, after one pass over the
bytes that keeps nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from xml.parsers import expat

from penstock.astronomy.judgement import Finding
from penstock.domains.novae.providers.provider import UnusableAnswer

_PAGE_BEGINS = (b"<!doctype html", b"<html", b"<head", b"<body")
_DEEPEST = 32
_ELSEWHERE = frozenset({"FITS", "PARQUET"})
"Ways of sending a table that are a file of another kind, mostly somewhere else."


@dataclass(frozen=True, slots=True)
class VotableLimits:
    """How large a VOTable may be."""

    bytes: int = 16 * 1024 * 1024
    rows: int = 10_000
    fields: int = 500
    cells: int = 20_000_000
    "Rows times the values of a row, as wide as its fields are said to be."
    encoded: int = 4 * 1024 * 1024
    "Characters of a table that is sent in binary, which says nothing of its rows."


USUAL_VOTABLE = VotableLimits()


def looks_like_a_page(content: bytes) -> bool:
    """Is it a page for people?"""
    begin = content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    while begin.startswith(b"<!--") and (end := begin.find(b"-->")) > 0:
        begin = begin[end + 3 :].lstrip()
    return begin.startswith(_PAGE_BEGINS) or (begin.startswith(b"<?xml") and b"<html" in begin)


def screen(content: bytes, *, host: str, limits: VotableLimits = USUAL_VOTABLE) -> None:
    """UnusableAnswer if it is no VOTable that may be read."""
    if looks_like_a_page(content):
        raise unusable("ANSWER_IS_A_PAGE", host, "answered with a page for people and not with a VOTable")
    if len(content) > limits.bytes:
        raise unusable("ANSWER_TOO_LONG", host, f"answered with more than {limits.bytes} bytes", bytes=len(content))
    passing = _Screen(host, limits)
    try:
        passing.parser.Parse(content, True)
    except expat.ExpatError as wrong:
        what = f"answered with XML that cannot be read: {expat.ErrorString(wrong.code)}, line {wrong.lineno}"
        raise unusable("ANSWER_MALFORMED", host, what, line=wrong.lineno) from None
    except (LookupError, ValueError) as wrong:
        what = f"answered with XML in an encoding that is not read: {str(wrong)[:60]}"
        raise unusable("ANSWER_MALFORMED", host, what) from None
    passing.judge()


def unusable(code: str, host: str, what: str, **details: Any) -> UnusableAnswer:
    """What cannot be used of an answer, and what to do about it."""
    message = f"{host} {what}; ask there by hand, or take it out of the settings"
    return UnusableAnswer(Finding(code, message, {"host": host, **details}))


class _Screen:
    """One pass over a document."""

    def __init__(self, host: str, limits: VotableLimits) -> None:
        self._host, self._limits = host, limits
        self._depth = self._rows = self._fields = self._width = self._encoded = 0
        self._is_votable = self._in_stream = False
        self.parser = expat.ParserCreate()  # without namespaces: many who write VOTables forget to declare them
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text

    def judge(self) -> None:
        """What is known only at the end."""
        if not self._is_votable:
            raise unusable("ANSWER_IS_NO_VOTABLE", self._host, "answered with XML that is no VOTable")
        if self._rows * max(1, self._width) > self._limits.cells:
            self._refuse("ANSWER_TOO_LARGE", f"answered with {self._rows} rows of {self._width} values each")

    def _doctype(self, *_: object) -> None:
        self._refuse("ANSWER_HAS_ENTITIES", "answered with a document type, which may define entities without end")

    def _start(self, name: str, told: Mapping[str, str]) -> None:
        name = name.rpartition(":")[2].upper()
        self._is_votable = self._is_votable or (not self._depth and name == "VOTABLE")
        self._depth += 1
        if self._depth > _DEEPEST:
            self._refuse("ANSWER_TOO_DEEP", f"answered with elements more than {_DEEPEST} deep")
        if name == "TR":
            self._row()
        elif name == "FIELD":
            self._field(told)
        elif name == "TABLE":
            self._table(told)
        elif name == "STREAM" or name in _ELSEWHERE:
            self._stream(name, told)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name.rpartition(":")[2].upper() == "STREAM":
            self._in_stream = False

    def _text(self, text: str) -> None:
        if self._in_stream:
            self._encoded += len(text)
            if self._encoded > self._limits.encoded:
                self._refuse("ANSWER_TOO_LARGE", f"answered with more than {self._limits.encoded} bytes of binary rows")

    def _row(self) -> None:
        self._rows += 1
        if self._rows > self._limits.rows:
            self._refuse("TOO_MANY_ROWS", f"answered with more than {self._limits.rows} rows", most=self._limits.rows)

    def _field(self, told: Mapping[str, str]) -> None:
        self._fields += 1
        if self._fields > self._limits.fields:
            self._refuse("ANSWER_TOO_LARGE", f"answered with more than {self._limits.fields} columns")
        self._width += _width(told.get("arraysize", ""), self._limits.cells)
        if self._width > self._limits.cells:
            self._refuse("ANSWER_TOO_LARGE", f"says that a row has more than {self._limits.cells} values")

    def _table(self, told: Mapping[str, str]) -> None:
        rows = told.get("nrows", "").strip()
        if rows and not (rows.isascii() and rows.isdigit() and len(rows) <= 9 and int(rows) <= self._limits.rows):
            self._refuse(
                "TOO_MANY_ROWS", f"says that a table has {rows[:40]} rows; at most {self._limits.rows} are read"
            )

    def _stream(self, name: str, told: Mapping[str, str]) -> None:
        if name in _ELSEWHERE or told.get("href") or told.get("encoding", "base64").lower() != "base64":
            self._refuse("ANSWER_IS_ELSEWHERE", "answered with a table that is to be fetched from elsewhere")
        self._in_stream = True

    def _refuse(self, code: str, what: str, **details: Any) -> None:
        raise unusable(code, self._host, what, **details)


def _width(arraysize: str, most: int) -> int:
    """How many values a cell has; a length that varies costs what is there."""
    width = 1
    for part in arraysize.strip().split("x"):
        if part.isascii() and part.isdigit() and part:
            width *= int(part[:12])
        if width > most:
            return most + 1
    return width
