"""A spectrum as everything here hands it on, whatever file it was in."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from penstock.astronomy.judgement import Assumption

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.int64]


class Medium(StrEnum):
    """In what the wavelengths are told."""

    AIR = "air"
    VACUUM = "vacuum"
    UNKNOWN = "unknown"


class Frame(StrEnum):
    """Relative to what the wavelengths are told."""

    OBSERVED = "observed"
    HELIOCENTRIC = "heliocentric"
    BARYCENTRIC = "barycentric"
    REST = "rest"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """Flux over wavelength. Wavelengths are in Ångström and strictly ascending; all arrays have one length."""

    wavelength: Floats
    flux: Floats
    flux_unit: str
    "As astropy's FITS format writes it; empty: relative, without a unit."
    uncertainty: Floats | None = None
    "One standard deviation, in the unit of the flux; NaN where it is not known."
    label: str = ""
    "Which of several in one file: an aperture, an order, a target."
    medium: Medium = Medium.UNKNOWN
    frame: Frame = Frame.UNKNOWN
    wavelength_unit: str = "Angstrom"
    "As the file had it."
    metadata: dict[str, Any] = field(default_factory=dict)
    "What the file tells, under fixed names: target, observed_at (ISO, UTC), telescope, instrument, exposure_seconds, …"
    assumptions: tuple[Assumption, ...] = ()
    quality: Flags | None = None
    "The flags that the file keeps of its points, as it has them; 0: nothing is said against a point."
    bad: NDArray[np.bool_] | None = None
    "Where those flags say, by the rules of their pipeline, that a point is not to be used."
