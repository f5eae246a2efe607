"""The axis that the cards of an image tell: linear, logarithmic, or of the kinds that the FITS standard knows."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from penstock.astronomy.spectra.axis_name import counts_what_its_name_says
from penstock.astronomy.spectra.cards import HeaderCards
from penstock.astronomy.spectra.codes import UnusableSpectrum, no_card
from penstock.astronomy.spectra.reading import SpectrumReading
from penstock.astronomy.spectra.spectral_units import LIGHT, SpectralUnit, spectral_unit
from penstock.astronomy.spectra.wat import wat_unit
from penstock.astronomy.spectrum import Floats

_KINDS = {"FREQ": "frequency", "ENER": "energy", "WAVN": "wavenumber", "WAVE": "length", "AWAV": "length"}
_VELOCITIES = {"VOPT", "VRAD", "VELO", "ZOPT", "BETA", "FELO"}
_LOG_WORDS = {"LOGLIN", "LOG-LINEAR", "LOGLAM", "LOGLAMBDA", "LOG-LAMBDA", "LOG_LAMBDA", "LOG", "LOGWAVE", "LOG10"}
_PLAIN_WORDS = re.compile(
    r"(LINEAR|LAMBDA|WAVELENGTH|WAVELEN|WAVE|WAVEREST|AWAV|LAM|WAVE[_ ]?OBS|SPECTRAL|DISPERSION)\b"
)
_NOT_WORDS = re.compile(r"(PIXEL|PIX|CHANNEL|POSITION|RA--|DEC-|GLON|GLAT|ELON|ELAT|TIME|STOKES|SLIT|ORDER|XPIX)")
_CLOSE = 1e-6
"Relative difference up to which two cards say the same."


@dataclass(frozen=True, slots=True)
class ImageAxis:
    """Numbers of an axis, and what they count."""

    values: Floats
    unit: SpectralUnit
    assumed: bool
    rest: float | None = None


def image_axis(reading: SpectrumReading, cards: HeaderCards, length: int) -> ImageAxis:
    """The spectral axis along the first axis of an image."""
    ctype = (cards.text("CTYPE1") or "").upper()
    if _NOT_WORDS.match(ctype):
        raise _no_wavelength(f"CTYPE1 says {ctype!r}", "CTYPE1")
    log = _is_log(cards, ctype)
    start, step, pixel = _line(reading, cards, log=log)
    unit, assumed = _unit(reading, cards, ctype)
    _check_type(ctype, unit, assumed=assumed)
    # An axis of more or fewer logarithms than a float64 has is refused by what it becomes.
    values = start + (np.arange(1, length + 1, dtype=np.float64) - pixel) * step
    if _mapping(ctype) == "LOG":
        return ImageAxis(_natural(values, start), unit, assumed)
    if log:
        return ImageAxis(values if unit.log10 else _power(values), unit, assumed)
    return _of_kind(cards, ctype, values, unit, assumed)


def _mapping(ctype: str) -> str:
    """The code behind a kind that the FITS standard knows: how values go on from pixel to pixel."""
    return ctype[5:] if ctype[4:5] == "-" and ctype[:4] in {*_KINDS, *_VELOCITIES} else ""


def _check_type(ctype: str, unit: SpectralUnit, *, assumed: bool) -> None:
    """What CTYPE1 says the axis counts must be what its unit counts, in steps that are read here."""
    mapping = _mapping(ctype)
    if mapping not in ("", "LIN", "LOG") or (mapping == "LOG" and ctype[:4] in _VELOCITIES):
        raise _no_wavelength(f"CTYPE1 says {ctype!r}, a mapping that is not read here", "CTYPE1")
    if mapping == "LOG" and unit.log10:
        message = f"CTYPE1 says {ctype}, values that grow by factors, and the unit is a logarithm"
        raise UnusableSpectrum("CONTRADICTORY_CARDS", message, cards=["CTYPE1", "CUNIT1"])
    if ctype[:4] in ("ZOPT", "BETA"):
        raise _no_wavelength(f"CTYPE1 says {ctype!r}, a velocity without a unit", "CTYPE1")
    if _unit_in(ctype) is None and ctype not in _LOG_WORDS:
        counts_what_its_name_says(ctype, unit, assumed=assumed)


def _power(values: Floats) -> Floats:
    return np.asarray(np.power(10.0, values))


def _natural(values: Floats, start: float) -> Floats:
    """A logarithmic axis of the FITS standard: CRVAL1 times e to the share that was gone."""
    if start <= 0:
        raise UnusableSpectrum(
            "BAD_CARD", f"CRVAL1 of a logarithmic axis must be positive and is {start}", card="CRVAL1"
        )
    return np.asarray(start * np.exp(values / start - 1.0))


def _is_log(cards: HeaderCards, ctype: str) -> bool:
    """Are the numbers decimal logarithms?"""
    flag = cards.number("DC-FLAG")
    if flag is not None and flag not in (0.0, 1.0):
        if flag == -1.0:
            raise _no_wavelength("DC-FLAG is -1: the spectrum is not calibrated", "DC-FLAG")
        raise UnusableSpectrum("BAD_CARD", f"DC-FLAG must be -1, 0 or 1 and is {flag:g}", card="DC-FLAG")
    by_name = ctype in _LOG_WORDS
    if by_name and flag == 0.0:
        message = f"CTYPE1 says {ctype} and DC-FLAG says that the axis is linear"
        raise UnusableSpectrum("CONTRADICTORY_CARDS", message, cards=["CTYPE1", "DC-FLAG"])
    return by_name or flag == 1.0 or ("COEFF0" in cards and flag is None)


def _line(reading: SpectrumReading, cards: HeaderCards, *, log: bool) -> tuple[float, float, float]:
    """The value at a pixel, the step, and the pixel."""
    start, step = cards.number("CRVAL1"), _step(reading, cards)
    if log and start is None and step is None:
        start, step, pixel = cards.number("COEFF0"), cards.number("COEFF1"), 1.0
    else:
        pixel = _pixel(reading, cards)
        if log:
            _same(cards, start, "CRVAL1", "COEFF0", plus=(1.0 - pixel) * (step or 0.0))
            _same(cards, step, "CD1_1", "COEFF1", plus=0.0)
    if start is None:
        raise no_card("CRVAL1", why="where the axis begins cannot be known")
    if step is None:
        raise no_card("CD1_1", why="neither is CDELT1, so the dispersion cannot be known")
    if step == 0.0:
        raise UnusableSpectrum(
            "ZERO_DISPERSION", "the dispersion is zero: CD1_1 or CDELT1 must be another", card="CD1_1"
        )
    return start, step, pixel


def _step(reading: SpectrumReading, cards: HeaderCards) -> float | None:
    """CD1_1 rules over CDELT1, as the FITS standard has it."""
    matrix = cards.number("CD1_1")
    if matrix is None:
        scale, share = cards.number("CDELT1"), cards.number("PC1_1")
        return scale if scale is None or share is None else scale * share
    others = [value for value in cards.values("CDELT1") if not isinstance(value, (str, bool)) and value != matrix]
    if others:
        why = "CD1_1 says so, which the FITS standard puts over CDELT1, though that says otherwise"
        reading.assume("dispersion", repr(matrix), why)
    return matrix


def _pixel(reading: SpectrumReading, cards: HeaderCards) -> float:
    pixel = cards.number("CRPIX1")
    if pixel is None:
        reading.assume("reference_pixel", "1", "CRPIX1 is not there")
        return 1.0
    return pixel


def _same(cards: HeaderCards, told: float | None, key: str, other: str, *, plus: float) -> None:
    """COEFF0 and COEFF1 repeat the axis of SDSS; when they do not, one of the two was changed."""
    another = cards.number(other)
    if told is None or another is None:
        return
    if abs(told + plus - another) > _CLOSE * max(abs(another), 1e-12):
        message = f"{key} says {told} and {other} says {another}"
        raise UnusableSpectrum("CONTRADICTORY_CARDS", message, cards=[key, other])


def units_told(cards: HeaderCards) -> list[tuple[str, str | None]]:
    """What each card says that may tell the unit of an image's first axis."""
    told = [("WAT1_001", wat_unit(cards)), ("CUNIT1", cards.text("CUNIT1")), ("XUNITS", cards.text("XUNITS"))]
    return [*told, ("CTYPE1", _unit_in((cards.text("CTYPE1") or "").upper()))]


def _unit(reading: SpectrumReading, cards: HeaderCards, ctype: str) -> tuple[SpectralUnit, bool]:
    told = units_told(cards)
    if ctype and not _unit_in(ctype) and ctype not in _LOG_WORDS and ctype[:4] not in {*_KINDS, *_VELOCITIES}:
        _known_type(reading, ctype, has_unit=any(spectral_unit(text) for _, text in told if text))
    return reading.axis_unit(*told)


def _known_type(reading: SpectrumReading, ctype: str, *, has_unit: bool) -> None:
    if _PLAIN_WORDS.match(ctype):
        return
    if not has_unit and reading.hints.unit is None:
        raise _no_wavelength(f"CTYPE1 says {ctype!r}, and no unit of wavelengths is told", "CTYPE1")
    reading.assume("axis", "wavelength", f"its unit is one of wavelengths, though CTYPE1 says {ctype!r}")


def _unit_in(ctype: str) -> str | None:
    """The unit that some programs put where the kind of the axis belongs."""
    found = re.search(r"[\[(]([^\[(\])]+)[\])]", ctype)
    if found and spectral_unit(found[1]):
        return found[1].strip()
    return ctype if spectral_unit(ctype) else None


def _of_kind(cards: HeaderCards, ctype: str, values: Floats, unit: SpectralUnit, assumed: bool) -> ImageAxis:
    """Velocities as those of the optical convention; all else as it is."""
    if unit.kind != "velocity":
        return ImageAxis(values, unit, assumed)
    rest = _rest(cards)
    return ImageAxis(_optical(ctype, values * unit.factor, rest) / unit.factor, unit, assumed, rest)


def _rest(cards: HeaderCards) -> float:
    """The rest wavelength in Ångström."""
    metres, hertz = cards.number("RESTWAV"), cards.number("RESTFRQ") or cards.number("RESTFREQ")
    if metres is not None and 0 < metres < 1e-3:
        return metres * 1e10
    if hertz is not None and hertz > 0:
        return LIGHT * 1e10 / hertz
    raise _no_wavelength("the axis counts velocities, and neither RESTWAV (in m) nor RESTFRQ is told", "RESTWAV")


def _optical(ctype: str, speed: Floats, rest: float) -> Floats:
    """Velocities of any convention as those of the optical one, in m/s."""
    share = speed / LIGHT
    match ctype.partition("-")[0]:
        case "VOPT":
            return speed
        case "VRAD":
            return np.asarray(LIGHT * (1.0 / (1.0 - share) - 1.0))
        case "VELO":
            return np.asarray(LIGHT * (np.sqrt((1.0 + share) / (1.0 - share)) - 1.0))
    raise _no_wavelength(f"the axis counts velocities of a convention that CTYPE1 {ctype!r} does not tell", "CTYPE1")


def _no_wavelength(why: str, card: str) -> UnusableSpectrum:
    return UnusableSpectrum("NO_WAVELENGTH", f"{why}; the wavelengths cannot be known", card=card)
