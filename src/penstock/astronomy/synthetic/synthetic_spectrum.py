"""The spectrum of a made nova at any day: a cooling continuum, P Cygni lines, then a nebula's emission."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock.astronomy.spectrum import Floats
from penstock.astronomy.synthetic.synthetic_nova import SyntheticNova

LIGHT = 299_792.458
"km/s."
_ZERO = 3.63e-9
"Flux density of magnitude 0 in V, erg/s/cm²/Å."
TELLURIC = (7590.0, 7690.0)
"Where the air of the Earth swallows the light, and careful observers leave a gap."


@dataclass(frozen=True, slots=True)
class SyntheticLine:
    """A line: its wavelength in air, what kind it is, and its equivalent width in Å when it is strongest."""

    wavelength: float
    kind: str
    width: float


SYNTHETIC_LINES = tuple(
    SyntheticLine(wavelength, kind, width)
    for kind, lines in {
        "balmer": ((4101.74, 25), (4340.47, 40), (4861.33, 70), (6562.80, 320)),
        "iron": ((4923.92, 22), (5018.44, 28), (5169.03, 32), (5316.61, 16), (6247.56, 8)),
        "sodium": ((5889.95, 10),),
        "oxygen": ((7773.4, 45), (8446.4, 80)),
        "helium": ((5875.64, 30), (6678.15, 12), (7065.19, 18)),
        "ionised": ((4685.68, 60),),
        "nebular": ((4363.21, 90), (4958.91, 150), (5006.84, 450), (5754.64, 60), (6300.30, 40)),
    }.items()
    for wavelength, width in lines
)
"Hydrogen, Fe II, Na I, O I, He I, He II, and what a thin nebula shows: [O III], [N II], [O I]."
_ABSORBING = {"balmer": 1.0, "iron": 0.9, "sodium": 0.8, "oxygen": 0.7}


def synthetic_flux(nova: SyntheticNova, wavelength: Floats, days: float) -> Floats:
    """Flux density in erg/s/cm²/Å over wavelengths in air, so many days after maximum, without noise."""
    continuum = _continuum(nova, wavelength, days)
    found = np.ones_like(wavelength)
    for line in SYNTHETIC_LINES:
        found += _emission(nova, wavelength, line, days)
    for line in SYNTHETIC_LINES:
        found *= 1 - _absorption(nova, wavelength, line, days)
    flux: Floats = continuum * found
    return flux


def with_noise(flux: Floats, chance: np.random.Generator, *, signal_to_noise: float) -> tuple[Floats, Floats]:
    """The flux as a detector would see it, and its uncertainty: photons and a floor of sky."""
    usual = float(np.median(flux))
    error = np.sqrt(np.maximum(flux, 0) * usual + (0.5 * usual) ** 2) / (1.1 * signal_to_noise)
    return flux + error * chance.standard_normal(flux.size), error


def observed_wavelength(nova: SyntheticNova, rest: float) -> float:
    """Where a line is seen, since the nova as a whole moves."""
    return rest * (1 + nova.motion / LIGHT)


def _continuum(nova: SyntheticNova, wavelength: Floats, days: float) -> Floats:
    temperature = min(25_000.0, 8_500.0 + 120.0 * days)
    body = wavelength**-5.0 / np.expm1(1.4388e8 / (wavelength * temperature))
    middle = 5500.0**-5.0 / np.expm1(1.4388e8 / (5500.0 * temperature))
    dust = 10 ** (-0.4 * 3.1 * nova.reddening * ((5500.0 / wavelength) ** 1.3 - 1))
    bright = _ZERO * 10 ** (-0.4 * float(nova.magnitude(np.array([days]))[0]))
    found: Floats = bright * body / middle * dust
    return found


def strength(kind: str, days: float, t2: float) -> float:
    """How strong lines of a kind are at a time, compared with when they are strongest. Fast novae change faster."""
    age = days * 12.0 / t2
    rises = {"helium": 15.0, "ionised": 40.0, "nebular": 50.0}
    if kind in rises:
        return float(1 - np.exp(-max(0.0, age - rises[kind]) / 40.0))
    grown = 0.15 + 0.85 * (1 - np.exp(-age / 12.0))
    fades = {"iron": 35.0, "sodium": 30.0, "oxygen": 120.0, "balmer": 1e6}
    return float(grown * np.exp(-age / fades[kind]))


def _emission(nova: SyntheticNova, wavelength: Floats, line: SyntheticLine, days: float) -> Floats:
    centre = observed_wavelength(nova, line.wavelength)
    spread = 0.5 * nova.expansion / LIGHT * centre
    height = line.width * strength(line.kind, days, nova.t2) / (spread * np.sqrt(2 * np.pi))
    found: Floats = height * np.exp(-0.5 * ((wavelength - centre) / spread) ** 2)
    return found


def _absorption(nova: SyntheticNova, wavelength: Floats, line: SyntheticLine, days: float) -> Floats:
    """The blue side of a P Cygni profile, which goes as the shell thins."""
    strong = _ABSORBING.get(line.kind, 0.0) * min(1.0, line.width / 25)
    depth = 0.65 * strong * float(np.exp(-days / nova.t2))
    centre = observed_wavelength(nova, line.wavelength) * (1 - nova.expansion / LIGHT)
    spread = 0.18 * nova.expansion / LIGHT * centre
    found: Floats = depth * np.exp(-0.5 * ((wavelength - centre) / spread) ** 2)
    return found
