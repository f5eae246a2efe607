"""The first moment at which a file of a nova shows it: of a light curve the first measurement that is no upper limit,
of spectra the first that was taken."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.dataset_science import JudgedFile

_NOON = datetime(1858, 11, 17, tzinfo=UTC)
_MJD_ZERO = 2_400_000.5
_EARLIEST, _LATEST = 2_200_000.0, 2_600_000.0
"Julian dates from 1311 to 2406; what is counted otherwise is none."
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?!\d)")
DETECTED = "first_detection"


def first_detection(judged: JudgedFile) -> dict[str, str]:
    """The day of the first detection in a valid file, as its summary keeps it; nothing where none is told."""
    curve = getattr(judged.contents, "curve", None)
    if curve is not None:
        days = [day for each in curve.measurements if not each.upper_limit and (day := day_of(each.jd)) is not None]
    else:
        spectra = getattr(judged.contents, "spectra", ())
        days = [day for each in spectra if (day := _day_of_text(each.metadata.get("observed_at"))) is not None]
    return {DETECTED: min(days)} if days else {}


def detected_on(dataset: Dataset) -> str | None:
    """The day of the first detection in a dataset that was judged; None where none is told."""
    told = dataset.summary or {}
    if (day := _day_of_text(told.get(DETECTED))) is not None:
        return day
    if (day := _day_of_text((told.get("metadata") or {}).get("observed_at"))) is not None:
        return day
    # A table that was judged before its first detection was kept.
    span = told.get("time_range")
    return day_of(float(span[0])) if span and not told.get("upper_limits") else None


def day_of(jd: float) -> str | None:
    """The day of a Julian date; None if that is none."""
    if not _EARLIEST < jd < _LATEST:
        return None
    return f"{_NOON + timedelta(days=jd - _MJD_ZERO):%Y-%m-%d}"


def _day_of_text(told: Any) -> str | None:
    found = _DAY.match(told) if isinstance(told, str) else None
    return None if found is None else found[0]
