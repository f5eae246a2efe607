"""Files that tests make, and what is made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.astronomy.judgement import Verdict
from penstock.astronomy.light_curve import LightCurve
from penstock.astronomy.photometry import PhotometryJudgement, judge_photometry
from penstock.astronomy.ticket import PhotometryTicket

TICKET = PhotometryTicket(
    object_name="V1_Tst",
    time_units="days",
    flux_units="mags",
    flux_error_units="mags",
    time_system="JD",
    time_column=0,
    flux_column=1,
    flux_error_column=2,
    band_column=3,
    limit_column=4,
)


def judged(folder: Path, content: str | bytes, **more: Any) -> PhotometryJudgement:
    path = folder / "table.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return judge_photometry(path, **more)


def curve(folder: Path, content: str | bytes, **more: Any) -> LightCurve:
    """The light curve of a file that is valid."""
    found = judged(folder, content, **more)
    assert (found.verdict, found.finding) == (Verdict.VALID, None)
    assert found.curve is not None
    return found.curve


def code(folder: Path, content: str | bytes, **more: Any) -> tuple[str, str]:
    """The verdict and the code of a file that is not."""
    found = judged(folder, content, **more)
    assert found.finding is not None
    assert found.finding.message
    return found.verdict.value, found.finding.code


def flagged(found: LightCurve) -> list[tuple[str, str]]:
    return [(each.about, each.value) for each in found.assumptions]
