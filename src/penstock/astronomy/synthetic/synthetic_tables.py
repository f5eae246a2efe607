"""Photometry of a made nova as tables: an export of observers' estimates, and two that papers would have."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from penstock.astronomy.spectrum import Floats
from penstock.astronomy.synthetic.synthetic_nova import BANDS, SyntheticNova

_OBSERVERS = ("SYNA", "SYNB", "SYNC", "SYND")
_TICKET = """OBJECT NAME: {name}
TIME UNITS: days
FLUX UNITS: mags
FLUX ERROR UNITS: mags
FILTER SYSTEM: Johnson-Cousins
MAGNITUDE SYSTEM: Vega
WAVELENGTH REGIME: optical
TIME SYSTEM: JD
ASSUMED DATE OF OUTBURST: NA
TELESCOPE: NA
OBSERVER: Penstock (synthetic)
REFERENCE: synthetic data, made for demonstration
BIBCODE: NA
DATA FILENAME: {file}
TIME COLUMN NUMBER: 0
FLUX COLUMN NUMBER: 1
FLUX ERROR COLUMN NUMBER: 2
FILTER/FREQUENCY/ENERGY RANGE COLUMN NUMBER: 3
UPPER LIMIT FLAG COLUMN NUMBER: 4
TELESCOPE COLUMN NUMBER: 5
OBSERVER COLUMN NUMBER: 6
FILTER SYSTEM COLUMN NUMBER: NA
TICKET STATUS: completed
"""


@dataclass(frozen=True, slots=True)
class SyntheticPoint:
    """One brightness of a made light curve."""

    jd: float
    magnitude: float
    error: float
    band: str
    limit: bool = False


def synthetic_points(nova: SyntheticNova, *, nights: int = 90, part: str = "points") -> list[SyntheticPoint]:
    """A light curve in four bands: limits before the outburst, then points on most nights, rarer as it fades."""
    chance = nova.random(part)
    found = [*_limits(nova, chance)]
    days = np.sort(np.concatenate([chance.uniform(-1.0, 2.0, 8), 400.0 * chance.uniform(0, 1, nights) ** 2.2]))
    for band in BANDS:
        seen = days[chance.uniform(size=days.size) < 0.8]
        found += _measured(nova, chance, seen, band)
    return sorted(found, key=lambda point: (point.jd, point.band))


def _limits(nova: SyntheticNova, chance: np.random.Generator) -> Iterator[SyntheticPoint]:
    for days in np.sort(chance.uniform(-40.0, -3.0, 9)):
        yield SyntheticPoint(_jd(nova, days), round(float(chance.uniform(13.0, 16.0)), 1), 0.0, "V", limit=True)


def _measured(nova: SyntheticNova, chance: np.random.Generator, days: Floats, band: str) -> Iterator[SyntheticPoint]:
    true = nova.magnitude(days, band)
    errors = 0.02 + 0.01 * 10 ** (0.18 * np.maximum(true - 12.0, 0.0))
    noise = chance.standard_normal(days.size) * errors
    for day, magnitude, error in zip(days, true + noise, errors, strict=True):
        yield SyntheticPoint(_jd(nova, day), round(float(magnitude), 3), round(float(error), 3), band)


def _jd(nova: SyntheticNova, days: float) -> float:
    return round(nova.peak_jd + float(days), 4)


def observers_export(nova: SyntheticNova) -> str:
    """Twenty-five fields without a header, as the export of an association of observers has them."""
    chance = nova.random("observers")
    rows = [_exported(nova, point, str(chance.choice(_OBSERVERS))) for point in synthetic_points(nova, nights=140)]
    return _text(rows)


def _exported(nova: SyntheticNova, point: SyntheticPoint, observer: str) -> list[str]:
    row = [""] * 25
    row[0], row[1], row[2] = f"{point.jd:.4f}", f"{point.magnitude:.3f}", str(int(point.limit))
    row[3] = "" if point.limit else f"{point.error:.3f}"
    row[5], row[6], row[11], row[14] = point.band, observer, "SYNTHETIC", "V"
    row[18], row[20] = nova.name.upper(), "STD"
    return row


def ticketed_table(nova: SyntheticNova) -> str:
    """Columns without names, which only the ticket beside the table explains."""
    points = synthetic_points(nova, nights=60, part="ticketed")
    return _text([[f"{one.jd:.4f}", f"{one.magnitude:.3f}", f"{one.error:.3f}", one.band, str(int(one.limit)),
                   "synthetic 1 m telescope", "Penstock, P."] for one in points])  # fmt: skip


def ticket(nova: SyntheticNova, file: str) -> str:
    """The ticket of that table."""
    return _TICKET.format(name=nova.name.replace(" ", "_"), file=file)


def headed_table(nova: SyntheticNova) -> str:
    """A table whose first row names its columns, as a catalogue of light curves has it."""
    points = [one for one in synthetic_points(nova, nights=50, part="headed") if one.band == "V" and not one.limit]
    head = ["#Nova", "JD", "T", "o_Vmag", "Mag", "e_Mag", "Band"]
    rows = [
        [
            nova.name,
            f"{one.jd:.3f}",
            f"{one.jd - nova.peak_jd:.2f}",
            "1",
            f"{one.magnitude:.2f}",
            f"{one.error:.2f}",
            "V",
        ]
        for one in points
    ]
    return _text([head, *rows])


def _text(rows: Sequence[Sequence[str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()
