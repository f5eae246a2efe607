"""Every code that a refused spectrum can carry, with its verdict; `docs/spectra.md` has the same table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.astronomy.judgement import FileFinding, FileVerdict

_UNITS = ("unit",)
_OF = {"wavelength": _UNITS, "flux": ("flux_unit",)}
_TERMINAL, _QUARANTINED = FileVerdict.TERMINAL_INVALID, FileVerdict.QUARANTINED


@dataclass(frozen=True, slots=True)
class SpectrumCode:
    """What a code says of a file."""

    verdict: FileVerdict
    meaning: str
    hints: tuple[str, ...] = ()
    "The hints that may help; of a code without, none can."


CODES: Mapping[str, SpectrumCode] = {
    "EMPTY_FILE": SpectrumCode(_TERMINAL, "the file has no bytes"),
    "NOT_A_SPECTRUM_FILE": SpectrumCode(_TERMINAL, "it is neither FITS nor a table of numbers"),
    "TRUNCATED": SpectrumCode(_TERMINAL, "the file ends before what its headers promise"),
    "MALFORMED": SpectrumCode(_TERMINAL, "the structure contradicts itself or breaks the FITS standard"),
    "NO_DATA": SpectrumCode(_TERMINAL, "there are headers, and no data after them"),
    "TOO_LARGE": SpectrumCode(_QUARANTINED, "it is, or unpacks to, more than is read"),
    "UNSUPPORTED_COMPRESSION": SpectrumCode(_QUARANTINED, "it is packed in a way that is not unpacked here"),
    "UNREADABLE": SpectrumCode(_QUARANTINED, "astropy could not read a part of it"),
    "CHECKSUM_MISMATCH": SpectrumCode(_QUARANTINED, "the bytes are not those that CHECKSUM or DATASUM was made for"),
    "UNKNOWN_PROFILE": SpectrumCode(_QUARANTINED, "no profile recognises it", ("profile",)),
    "NO_WAVELENGTH": SpectrumCode(_QUARANTINED, "its axis is not one of wavelengths, or is not calibrated", _UNITS),
    "MISSING_CARD": SpectrumCode(_QUARANTINED, "a card is not there that the axis needs"),
    "MISSING_METADATA": SpectrumCode(_QUARANTINED, "a card is not there that its profile requires"),
    "BAD_CARD": SpectrumCode(_QUARANTINED, "a card's value is of the wrong kind or absurd"),
    "CONTRADICTORY_CARDS": SpectrumCode(_QUARANTINED, "two cards say different things of the same"),
    "MALFORMED_DISPERSION": SpectrumCode(_QUARANTINED, "a multispec dispersion function cannot be read"),
    "UNKNOWN_UNIT": SpectrumCode(_QUARANTINED, "a unit is told that nobody knows", (*_UNITS, "flux_unit")),
    "MISSING_UNIT": SpectrumCode(_QUARANTINED, "no unit is told, and its profile allows no assumption", _UNITS),
    "LENGTH_MISMATCH": SpectrumCode(_QUARANTINED, "wavelengths, fluxes and errors are not of one number"),
    "TOO_FEW_POINTS": SpectrumCode(_QUARANTINED, "it has fewer than two points"),
    "NON_FINITE_WAVELENGTH": SpectrumCode(_QUARANTINED, "a wavelength is not a number"),
    "NON_POSITIVE_WAVELENGTH": SpectrumCode(_QUARANTINED, "a wavelength is zero or less"),
    "ZERO_DISPERSION": SpectrumCode(_QUARANTINED, "all wavelengths are the same"),
    "NOT_MONOTONIC": SpectrumCode(_QUARANTINED, "wavelengths go up and down"),
    "IMPLAUSIBLE_RANGE": SpectrumCode(
        _QUARANTINED, "wavelengths lie outside what its profile can have measured", (*_UNITS, "profile")
    ),
    "NON_FINITE_FLUX": SpectrumCode(_QUARANTINED, "most fluxes are not numbers"),
    "CONSTANT_FLUX": SpectrumCode(_QUARANTINED, "all fluxes are the same"),
    "AMBIGUOUS_COLUMNS": SpectrumCode(_QUARANTINED, "it cannot be known which column is which"),
    "AMBIGUOUS_ROWS": SpectrumCode(_QUARANTINED, "it cannot be known which row is which", ("aperture",)),
    "TOO_MANY_SPECTRA": SpectrumCode(
        _QUARANTINED, "it holds more spectra than are taken from one file", ("aperture", "target")
    ),
    "HINT_CONTRADICTS": SpectrumCode(_QUARANTINED, "a hint says what the file denies"),
    "UNKNOWN_HINT": SpectrumCode(_QUARANTINED, "a hint says a word that nobody knows"),
    "UNREADABLE_ROWS": SpectrumCode(_QUARANTINED, "rows of a text table are not numbers"),
    "MACHINE_FAILURE": SpectrumCode(FileVerdict.RETRYABLE_ERROR, "this machine could not read the file"),
}


class UnusableSpectrum(Exception):
    """Says why a file is refused, on the way to its judgement; nobody outside sees it."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        hints = _OF.get(str(details.get("of")), CODES[code].hints)
        self.finding = FileFinding(code, message, details | ({"hints": list(hints)} if hints else {}))
        self.verdict = CODES[code].verdict


def no_card(key: str, *, why: str) -> UnusableSpectrum:
    """A card that the axis needs is not there."""
    return UnusableSpectrum("MISSING_CARD", f"{key} is not there, and {why}: give the axis in another way", card=key)
