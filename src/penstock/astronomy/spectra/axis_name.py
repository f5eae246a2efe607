"""What the name of an axis or of a column says that it counts, which its unit must not gainsay."""

from __future__ import annotations

import re

from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.spectral_units import SpectralUnit

_KINDS = {
    "wavenumber": re.compile(r"WAVE[_ ]?NUM|WAVN|WAVNUM|WN(?![A-Z])|KAYSER"),
    "length": re.compile(r"WAV|AWAV|LAM|WLEN|WL(?![A-Z])|WVL|OPT_WAVE|BOX_WAVE|LOG_?(?:10)?_?(?:LAM|WAVE)"),
    "frequency": re.compile(r"FREQ|NU(?![A-Z])"),
    "energy": re.compile(r"ENER|PHOTON_?ENERGY"),
    "velocity": re.compile(r"VELO|VEL(?![A-Z])|VOPT|VRAD|FELO|RV(?![A-Z])"),
}
_PLURALS = {"length": "wavelengths", "frequency": "frequencies", "energy": "energies"}
_PLURALS |= {"wavenumber": "wavenumbers", "velocity": "velocities"}
_NOT_SPECTRAL = re.compile(
    r"(?:PIXELS?|PIX|XPIX|CHANNELS?|CHAN|INDEX|ROW|SAMPLE|TIME|TIMES|DATE|EPOCH|PHASE|DAYS?|HOURS?|SECONDS?|ORDER|SLIT"
    r"|[HBRT]?JD|H?MJD|BMJD|UTC?|REDSHIFT|ZOPT|BETA|ANGLE|RA|DEC|POSITION|AIRMASS)(?![A-Z])"
)
_NOT_FLUX = re.compile(
    r"(?:[UBVRIJHKGYUGRIZ]_?)?(?:MAG|MAGS|MAGNITUDE|MAGNITUDES)(?![A-Z])|M_[A-Z]|WAVE|LAMBDA|FREQ|ENERGY|PIXEL|TIME(?![A-Z])"
)


def kind_in(name: str) -> str | None:
    """length, frequency, energy, wavenumber or velocity, if a name says so."""
    word = name.strip().upper()
    return next((kind for kind, pattern in _KINDS.items() if pattern.match(word)), None)


def is_no_spectral_name(name: str) -> bool:
    """Does a name plainly say that its numbers are something else than a spectral axis?"""
    return _NOT_SPECTRAL.match(name.strip().upper()) is not None


def is_no_flux_name(name: str) -> bool:
    """Does a name plainly say that its numbers are something else than fluxes?"""
    return _NOT_FLUX.match(name.strip().upper()) is not None


def counts_what_its_name_says(name: str, unit: SpectralUnit, *, assumed: bool) -> None:
    """UnusableSpectrum where the unit of an axis, told or assumed, is none of what its name says that it counts."""
    kind = kind_in(name)
    if kind is None or kind == unit.kind:
        return
    if assumed:
        message = f"{name!r} says that the axis counts {_PLURALS[kind]}, and no unit is told: say it with the hint unit"
        raise UnusableSpectrum("UNKNOWN_UNIT", message, of="wavelength", value=name[:80])
    message = f"{name!r} says that the axis counts {_PLURALS[kind]}, and its unit is {unit.name}"
    raise UnusableSpectrum("CONTRADICTORY_CARDS", message, name=name[:80], unit=unit.name)
