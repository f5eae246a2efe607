"""Units of spectral axes, by all the names that files have for them, and their way to Ångström."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectrum import Floats

LIGHT = 299_792_458.0
"Metres in a second."
_HC = 12398.419843320026
"Electronvolt times Ångström."


@dataclass(frozen=True, slots=True)
class SpectralUnit:
    """What the numbers of a spectral axis count."""

    name: str
    "As astropy's FITS format writes it."
    kind: str
    "length, frequency, energy, wavenumber or velocity."
    factor: float
    "To Ångström, hertz, electronvolt, 1/cm or m/s."
    log10: bool = False
    "The numbers are decimal logarithms."


def _named(kind: str, name: str, factor: float, *aliases: str) -> dict[str, SpectralUnit]:
    unit = SpectralUnit(name, kind, factor)
    return dict.fromkeys((name.lower(), *aliases), unit)


ANGSTROM = SpectralUnit("Angstrom", "length", 1.0)
_ANGSTROMS = "a å aa ang angs angst angstr ansgtroms angstroem ångström ångströms ångstrom ångstroms angstroms angström"
_UNITS: dict[str, SpectralUnit] = {
    **_named("length", "Angstrom", 1.0, *_ANGSTROMS.split(), "0.1nm", "0.1 nm", "10**-10 m", "10^-10 m", "1e-10 m"),
    **_named("length", "nm", 10.0, "nanometer", "nanometers", "nanometre", "nanometres", "millimicrons", "nms"),
    **_named("length", "um", 1e4, "µm", "μm", "micron", "microns", "micrometer", "micrometers", "micrometre", "mum"),
    **_named("length", "um", 1e4, "micrometres", "mic"),
    **_named("length", "mm", 1e7, "millimeter", "millimeters", "millimetre", "millimetres"),
    **_named("length", "cm", 1e8, "centimeter", "centimeters", "centimetre", "centimetres"),
    **_named("length", "m", 1e10, "meter", "meters", "metre", "metres"),
    **_named("frequency", "Hz", 1.0, "hertz"),
    **_named("frequency", "kHz", 1e3, "kilohertz"),
    **_named("frequency", "MHz", 1e6, "megahertz"),
    **_named("frequency", "GHz", 1e9, "gigahertz"),
    **_named("frequency", "THz", 1e12, "terahertz"),
    **_named("energy", "eV", 1.0, "electronvolt", "electronvolts"),
    **_named("energy", "keV", 1e3, "kiloelectronvolt"),
    **_named("wavenumber", "cm-1", 1.0, "1/cm", "cm^-1", "cm**-1", "cm**(-1)", "kayser", "wavenumber"),
    **_named("wavenumber", "m-1", 0.01, "1/m", "m^-1", "m**-1", "inverse meters", "inverse metres"),
    **_named("wavenumber", "um-1", 1e4, "1/um", "um^-1", "1/micron", "inverse microns"),
    **_named("wavenumber", "Angstrom-1", 1e8, "1/angstrom", "1/a", "inverse angstroms"),
    **_named("velocity", "km s-1", 1e3, "km/s", "km s^-1", "kms-1", "km/sec", "km*s**-1", "kms^-1", "km s**-1"),
    **_named("velocity", "m s-1", 1.0, "m/s", "m s^-1", "ms-1", "m/sec"),
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOT_SPECTRAL = _words(
    "pixel pixels pix chan channel channels deg degree degrees arcsec arcmin s sec second seconds day days jd "
    "mjd mag count counts ct adu index bin bins none unknown dimensionless order phase row sample"
)
_MEDIUM = re.compile(r"[(\[,]?\s*(?:in )?(?:air|vacuum|vac)\s*[)\]]?$", re.IGNORECASE)
_LOG = re.compile(r"(?:log10|log|dex|lg)\s*[(\[]?\s*([^)\]]*?)\s*[)\]]?$")


def is_not_spectral(text: str) -> bool:
    """Is this a unit that people know, of something else than a spectral axis?"""
    return text.strip().strip("[]()").lower() in _NOT_SPECTRAL


@lru_cache(maxsize=512)
def spectral_unit(text: str) -> SpectralUnit | None:
    """The unit of this name, in any of its spellings; None where nobody knows it."""
    word = " ".join(_MEDIUM.sub("", text[:60]).strip().strip("[]()").strip().lower().split())
    if word in _UNITS:
        return _UNITS[word]
    if found := _LOG.match(word):
        inner = _UNITS.get(found[1] or "") or (ANGSTROM if found[1] in ("wavelength", "lambda", "wave") else None)
        return replace(inner, log10=True) if inner is not None and inner.kind == "length" else None
    return None


def to_angstrom(values: Floats, unit: SpectralUnit, *, rest: float | None = None) -> Floats:
    """An axis in Ångström. Velocities are those of the optical convention about a rest wavelength."""
    with np.errstate(all="ignore"):
        plain: Floats = np.power(10.0, values) if unit.log10 else values
        return _in_angstrom(plain, unit, rest)


def _in_angstrom(values: Floats, unit: SpectralUnit, rest: float | None) -> Floats:
    told = values if unit.factor == 1.0 else values * unit.factor
    match unit.kind:
        case "length":
            return told
        case "frequency":
            return LIGHT * 1e10 / told
        case "energy":
            return _HC / told
        case "wavenumber":
            return 1e8 / told
    if rest is None:
        message = "the axis counts velocities, and no rest wavelength is told: RESTWAV or RESTFRQ is needed"
        raise UnusableSpectrum("NO_WAVELENGTH", message, unit=unit.name)
    return rest * (1.0 + told / LIGHT)
