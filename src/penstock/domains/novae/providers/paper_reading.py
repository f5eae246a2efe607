"""What bibliographies say of a paper, checked: bibcodes and dates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from penstock.astronomy.judgement import Finding
from penstock.domains.novae.providers.provider import BadPaper, Paper
from penstock.domains.novae.providers.told_value import told_value

_BIBCODE = re.compile(r"[12]\d{3}[\x21-\x7e]{15}")
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:T[\d:.]{0,20}Z?)?")
_MOST_AUTHORS, _LONGEST_TITLE, _LONGEST_NAME = 500, 2000, 300


def is_bibcode(text: str) -> bool:
    """Has it the form of one: nineteen characters, the first four a year?"""
    return _BIBCODE.fullmatch(text) is not None


def paper_date(told: str) -> str:
    """YYYY-MM-DD with 00 for what is not told; ValueError says what is wrong."""
    found = _DATE.fullmatch(told.strip())
    if found is None:
        raise ValueError(f"has the date {told[:40]!r}, which is none such as 2012-06-00")
    year, month, day = int(found[1]), int(found[2] or 0), int(found[3] or 0)
    if day and not month:
        raise ValueError(f"has the date {told[:40]!r}, a day without a month")
    try:
        date(max(year, 1), month or 1, day or 1)
    except ValueError:
        raise ValueError(f"has the date {told[:40]!r}, which no calendar has") from None
    return f"{year:04d}-{month:02d}-{day:02d}"


def year_of(bibcode: str) -> str:
    """The date that a bibcode tells."""
    return f"{bibcode[:4]}-00-00"


def read_paper(told: Mapping[str, Any] | Any, *, source: str) -> Paper | BadPaper:
    """A paper as ADS writes it, or as a manifest does: bibcode, title, author(s), pubdate or date, doi, pub."""
    row = told if isinstance(told, Mapping) else {}
    bibcode = row.get("bibcode")
    if not isinstance(bibcode, str) or not is_bibcode(bibcode):
        return _bad("BAD_BIBCODE", f"has the bibcode {told_value(bibcode)}, which is none", source, bibcode)
    told_date = row.get("pubdate") or row.get("date")
    try:
        dated = paper_date(_date_text(told_date)) if told_date else year_of(bibcode)
    except ValueError as wrong:
        return _bad("BAD_DATE", str(wrong), source, bibcode)
    return Paper(
        reference_id=bibcode,
        title=_first(row.get("title"), _LONGEST_TITLE),
        authors=_authors(row.get("author") or row.get("authors")),
        date=dated,
        doi=_first(row.get("doi"), _LONGEST_NAME),
        publication=_first(row.get("pub"), _LONGEST_NAME),
        source=source,
    )


def _date_text(told: Any) -> str:
    return told if isinstance(told, str) else told_value(told)


def _bad(code: str, why: str, source: str, bibcode: Any) -> BadPaper:
    named = told_value(bibcode) if bibcode else "without a bibcode"
    message = f"a paper of {source} ({named}) {why}; it is left out"
    return BadPaper(Finding(code, message, {"source": source, "bibcode": told_value(bibcode)}))


def _first(told: Any, longest: int) -> str | None:
    text = told[0] if isinstance(told, list) and told else told
    return " ".join(text.split())[:longest] or None if isinstance(text, str) else None


def _authors(told: Any) -> tuple[str, ...]:
    listed = [told] if isinstance(told, str) else told if isinstance(told, list) else []
    return tuple(
        each.strip()[:_LONGEST_NAME] for each in listed[:_MOST_AUTHORS] if isinstance(each, str) and each.strip()
    )
