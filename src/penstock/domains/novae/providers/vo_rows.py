"""The rows of an answer of the Virtual Observatory, as plain values. Import this late: it loads astropy and pyvo."""

from __future__ import annotations

import io
from collections.abc import Iterator
from math import isfinite
from typing import Any

from astropy.io.votable import parse
from pyvo.dal import DALFormatError, DALQuery, DALQueryError, DALResults

from penstock.domains.novae.providers.answer_screen import USUAL_VOTABLE, VotableLimits, screen, unusable
from penstock.domains.novae.providers.vo_answer import VoAnswer, VoRow
from penstock.net.words import excerpt


class _NoSession:
    """Nothing can be fetched by it."""


class ScreenedResults(DALResults):  # type: ignore[misc] # pyvo has no types
    """Results of which an overflow is told, and not printed."""

    def _handle_overflow_warning(self, client_set_maxrec: int | None = None) -> None:
        """It is in ``status``."""


def ask(query: DALQuery, *, host: str, limits: VotableLimits = USUAL_VOTABLE) -> VoAnswer:
    """The answer to a query, asked by GET; UnusableAnswer if it cannot be read, or the service says that it failed."""
    return read_answer(DALQuery.submit(query).content, host=host, limits=limits)


def read_answer(content: bytes, *, host: str, limits: VotableLimits = USUAL_VOTABLE) -> VoAnswer:
    """The rows of a VOTable; UnusableAnswer if it cannot be read, or says that something failed."""
    screen(content, host=host, limits=limits)
    try:
        # The session is any that is none: pyvo would make one of its own, and nothing is fetched by it.
        results = ScreenedResults(parse(io.BytesIO(content), verify="ignore", invalid="mask"), session=_NoSession())
        rows = list(_rows(results, limits.rows))
    except DALQueryError as error:
        words = excerpt(str(error.reason or ""))
        raise unusable("SERVICE_REPORTS_ERROR", host, f"says that the query failed: {words}", said=words) from None
    except DALFormatError as wrong:
        raise unusable(
            "ANSWER_MALFORMED", host, f"answered with a VOTable without a table: {excerpt(str(wrong))}"
        ) from None
    except Exception as wrong:
        # Whatever astropy stumbles over is wrong with the answer: that it is XML, and small, was seen before.
        what = f"answered with a VOTable that cannot be read: {excerpt(str(wrong))}"
        raise unusable("ANSWER_MALFORMED", host, what, error=type(wrong).__name__) from None
    return VoAnswer(rows, overflow=str(results.status[0]).lower() == "overflow")


def _rows(results: DALResults, most: int) -> Iterator[VoRow]:
    table = results.resultstable
    names = [_names(each) for each in table.fields]
    units = {
        name: str(each.unit) for each, known in zip(table.fields, names, strict=True) for name in known if each.unit
    }
    data, masks = table.array.data, table.array.mask
    for number in range(min(len(data), most)):
        values: dict[str, Any] = {}
        for known, value, masked in zip(names, data[number], masks[number], strict=True):
            plain = _plain(value, masked)
            for name in known:
                values.setdefault(name, plain)
        yield VoRow(number + 1, values, units)


def _names(field: Any) -> list[str]:
    utype = str(field.utype or "").rpartition(":")[2].lower()
    return [each for each in (utype, str(field.name or "").lower()) if each]


def _plain(value: Any, masked: Any) -> Any:
    """What Python itself has for it; None for what is not told."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, list) and getattr(masked, "tolist", lambda: masked)() is True:
        return None
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, float) and not isfinite(value):
        return None
    return value
