"""Images whose rows are told by cards: UVES_popler, and the first releases of LAMOST."""

from __future__ import annotations

import re

import numpy as np

from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.facts import SpectrumFacts
from penstock.astronomy.spectra.image_axis import ImageAxis, image_axis
from penstock.astronomy.spectra.image_spectra import as_deviation, image_draft
from penstock.astronomy.spectra.medium_and_frame import known
from penstock.astronomy.spectra.profile import spectrum_profile
from penstock.astronomy.spectra.reading import SpectrumDraft, SpectrumReading
from penstock.astronomy.spectrum import Frame, Medium

_ROLES = {
    "wave": re.compile(r"wave\s?-?length|lambda", re.IGNORECASE),
    "ivar": re.compile(r"inverse variance|invvar|ivar", re.IGNORECASE),
    "error": re.compile(r"error|sigma|standard deviation", re.IGNORECASE),
    "other": re.compile(r"mask|status|npix|chi|expected|continuum|sky|clip", re.IGNORECASE),
    "flux": re.compile(r"flux|spectrum", re.IGNORECASE),
}


def _popler(facts: SpectrumFacts) -> list[str]:
    image = facts.image
    if image is None or len(image.shape) != 2:
        return []
    return [f"{key} is there" for key in ("UP_ARR01", "UP_WLSRT") if image.said(key)]


def _labelled(facts: SpectrumFacts) -> list[str]:
    image = facts.image
    if image is None or len(image.shape) != 2 or not image.said("ARRAY1"):
        return []
    return [f"ARRAY1 says {image.said('ARRAY1').lower()}", "the image has rows"]


@spectrum_profile(
    "uves_popler", version=1, priority=95, recognises=_popler, plausible=(2900.0, 11_500.0), assumed=(2900.0, 11_500.0)
)
def read_popler(reading: SpectrumReading) -> list[SpectrumDraft]:
    """Combined echelle spectra: rows flux, error and more, wavelengths of vacuum at the Sun."""
    reading_rows = _rows(reading, "UP_ARR{:02}", "ARRAY{}")
    draft = _draft(reading, reading_rows)
    known(reading, draft, medium=Medium.VACUUM, frame=Frame.HELIOCENTRIC)
    return [draft]


@spectrum_profile("labelled_rows", version=1, priority=88, recognises=_labelled, plausible=(2900.0, 30_000.0))
def read_labelled(reading: SpectrumReading) -> list[SpectrumDraft]:
    """An image whose cards tell what each of its rows is."""
    return [_draft(reading, _rows(reading, "ARRAY{}", "UP_ARR{:02}"))]


def _rows(reading: SpectrumReading, *patterns: str) -> dict[str, int]:
    """Roles, each with the first row that has it."""
    count = reading.contents.blocks[0].shape[0]
    roles: dict[str, int] = {}
    for row in range(min(count, 50)):
        label = next((said for form in patterns if (said := reading.primary.said(form.format(row + 1)))), "")
        role = next((role for role, word in _ROLES.items() if word.search(label)), "other")
        roles.setdefault(role, row)
    if "flux" not in roles:
        raise UnusableSpectrum("AMBIGUOUS_ROWS", "no row is told to be the flux")
    return roles


def _draft(reading: SpectrumReading, roles: dict[str, int]) -> SpectrumDraft:
    data = reading.contents.image(0)
    if "wave" in roles:
        unit, assumed = reading.axis_unit(("CUNIT1", reading.primary.text("CUNIT1")))
        axis = ImageAxis(data[roles["wave"]], unit, assumed)
        _agreeing(reading, axis)
    else:
        axis = image_axis(reading, reading.primary, data.shape[-1])
    error = data[roles["error"]] if "error" in roles else None
    if error is None and "ivar" in roles:
        error = as_deviation(data[roles["ivar"]], "IVAR")
    return image_draft(reading, 0, axis, data[roles["flux"]], uncertainty=error)


def _agreeing(reading: SpectrumReading, axis: ImageAxis) -> None:
    """Wavelengths in a row and an axis in cards must be the same, where both are there."""
    cards = reading.primary
    if not ({"CRVAL1", "COEFF0"} & set(cards)) or not ({"CD1_1", "CDELT1", "COEFF1"} & set(cards)):
        return
    told = image_axis(reading, cards, len(axis.values)).values
    if not np.allclose(told, axis.values, rtol=1e-4, atol=0.0):
        message = f"the row of wavelengths begins at {axis.values[0]:g}, and the axis of the cards at {told[0]:g}"
        raise UnusableSpectrum("CONTRADICTORY_CARDS", message, cards=["CRVAL1"])
