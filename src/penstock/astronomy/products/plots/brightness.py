"""The measurements of a light curve as arrays, one set for each unit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.astronomy.light_curve import LightCurve, Measurement
from penstock.astronomy.products.plots.plot_words import printable
from penstock.astronomy.spectrum import Floats

_LONGEST_NAME = 16
_MOST_BANDS = 60
"Bands that are told apart; those with the fewest points are one, as nobody could tell their colours apart."
_OTHERS = "other bands"


@dataclass(frozen=True)
class Brightness:
    """Values in one unit. An error that is not known is NaN."""

    unit: str
    jd: Floats
    value: Floats
    error: Floats
    limit: NDArray[np.bool_]
    band: NDArray[Any]

    @classmethod
    def nothing(cls) -> Brightness:
        """A light curve without measurements, which is drawn as an empty frame."""
        return _arrays("mag", [])

    @property
    def magnitudes(self) -> bool:
        """Whether smaller is brighter."""
        return self.unit.strip().lower().startswith("mag") or self.unit.lower().startswith("mmag")

    @cached_property
    def names(self) -> list[str]:
        """The bands, those with the most points first."""
        found, counts = np.unique(self.band, return_counts=True)
        return [str(found[i]) for i in np.lexsort((found, -counts))]


def brightness_by_unit(curve: LightCurve) -> list[Brightness]:
    """The measurements apart by unit, the unit with the most of them first."""
    groups: dict[str, list[Measurement]] = {}
    for one in curve.measurements:
        groups.setdefault(one.unit, []).append(one)
    return [_arrays(unit, points) for unit, points in sorted(groups.items(), key=lambda group: -len(group[1]))]


def _names(bands: Counter[str]) -> dict[str, str]:
    """What each band is called in a picture."""
    names = {band: printable(band)[:_LONGEST_NAME] or "?" for band, _ in bands.most_common(_MOST_BANDS)}
    return names if len(names) == len(bands) else dict.fromkeys(bands, _OTHERS) | names


def _arrays(unit: str, points: list[Measurement]) -> Brightness:
    names = _names(Counter(one.band for one in points))
    errors = [np.nan if one.uncertainty is None else one.uncertainty for one in points]
    return Brightness(
        unit,
        jd=np.array([one.jd for one in points], dtype=np.float64),
        value=np.array([one.value for one in points], dtype=np.float64),
        error=np.array(errors, dtype=np.float64),
        limit=np.array([one.upper_limit for one in points], dtype=bool),
        band=np.array([names[one.band] for one in points], dtype=str),
    )
