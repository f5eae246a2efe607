"""Spectra that lie in images: which HDU, which rows, and which of them are errors."""

from __future__ import annotations

import numpy as np

from penstock.astronomy.spectra.cards import HeaderCards
from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.flux_units import error_fits, flux_unit
from penstock.astronomy.spectra.image_axis import ImageAxis
from penstock.astronomy.spectra.medium_and_frame import place
from penstock.astronomy.spectra.observation import observation
from penstock.astronomy.spectra.reading import SpectrumDraft, SpectrumReading
from penstock.astronomy.spectrum import Floats

ERRORS = (
    "ERR",
    "ERRS",
    "ERROR",
    "ERRORS",
    "SIGMA",
    "SIG",
    "STDDEV",
    "UNCERT",
    "UNCERTAINTY",
    "NOISE",
    "STAT_ERR",
    "ERRDATA",
)
VARIANCES = ("VAR", "VARIANCE", "STAT")
INVERSES = ("IVAR", "INVVAR", "IVARIANCE")
_FLUXES = ("SCI", "FLUX", "SPECTRUM", "SPEC", "DATA", "PRIMARY", "FLUX_CAL", "SPECTRA")
_NO_FLUXES = (*ERRORS, *VARIANCES, *INVERSES, "DQ", "MASK", "QUAL", "QUALITY", "SKY", "WAVE", "WAVELENGTH", "CONTINUUM")
_A_FEW_ROWS = 4
_NO_SPECTRUM = ("background", "sky", "sigma", "continuum", "error", "variance")


def spectral_images(reading: SpectrumReading) -> list[int]:
    """The HDUs whose images are fluxes: the first one if it has an image, else those that are called so."""
    contents = reading.contents
    images = [index for index in range(len(contents.blocks)) if contents.is_image(index)]
    if not images or images[0] == 0:
        return images[:1]
    names = {index: (reading.cards(index).said("EXTNAME") or "").upper() for index in images}
    named = [index for index in images if names[index] in _FLUXES]
    if named:
        return named
    left = [index for index in images if names[index] not in _NO_FLUXES]
    if len(left) > 1:
        why = f"it is the first of {len(left)} images whose names do not tell what they are"
        reading.assume("hdu", str(left[0]), why)
    return left[:1]


def image_draft(
    reading: SpectrumReading,
    index: int,
    axis: ImageAxis,
    flux: Floats,
    *,
    uncertainty: Floats | None = None,
    label: str = "",
    flux_unit: str | None = None,
) -> SpectrumDraft:
    """A spectrum of an image, with what its header tells."""
    cards = reading.cards(index)
    unit = reading.flux_unit(flux_unit or _flux_unit_told(reading, cards), where="BUNIT")
    draft = SpectrumDraft(axis.values, axis.unit, flux, unit, uncertainty, label, rest=axis.rest)
    draft.unit_assumed = axis.assumed
    draft.metadata = observation(cards, reading.primary) if index else observation(cards)
    place(reading, draft, *((cards, reading.primary) if index else (cards,)))
    return draft


def _flux_unit_told(reading: SpectrumReading, cards: HeaderCards) -> str | None:
    for header in (cards, reading.primary):
        for key in ("BUNIT", "YUNITS", "FLUXUNIT"):
            if told := header.text(key):
                return told
    return None


def iraf_rows(
    reading: SpectrumReading, cards: HeaderCards, data: Floats, *, numbered: bool = False
) -> list[tuple[str, Floats, Floats | None]]:
    """Labels, fluxes and errors: along the second axis are apertures, along the third bands, of which one is it.

    ``numbered``: other cards tell what each aperture is.
    """
    while data.ndim > 3 and len(data) == 1:
        data = data[0]
    if data.ndim > 3:
        raise UnusableSpectrum("AMBIGUOUS_ROWS", f"the image has {data.ndim} axes: which row is it? Say it as aperture")
    bands = data.reshape((1,) * (3 - data.ndim) + data.shape)
    sigma = _sigma_band(reading, cards, len(bands))
    count = bands.shape[1]
    rows = [(row, "") for row in range(count)] if numbered else _apertures(reading, cards, count)
    return [
        (label if count > 1 else "", bands[0, row], bands[sigma, row] if sigma is not None else None)
        for row, label in rows
    ]


def _sigma_band(reading: SpectrumReading, cards: HeaderCards, count: int) -> int | None:
    """The band that is labelled as errors."""
    labels = [(cards.said(f"BANDID{number}") or "").lower() for number in range(1, count + 1)]
    if labels[0].startswith(_NO_SPECTRUM):
        message = f"BANDID1 says that the first band is {labels[0][:40]!r}, which is no spectrum"
        raise UnusableSpectrum("AMBIGUOUS_ROWS", message, card="BANDID1")
    if count == 1:
        return None
    if not all(labels):
        why = f"it is the first of {count} bands, and BANDIDn does not tell what all the others are"
        reading.assume("band", "1", why)
    return next((number for number, label in enumerate(labels) if label.startswith("sigma")), None)


def _apertures(reading: SpectrumReading, cards: HeaderCards, count: int) -> list[tuple[int, str]]:
    if count == 1:
        return [(0, "")]
    labelled = [(cards.said(f"APNUM{number}") or "").split() for number in range(1, count + 1)]
    if all(labelled):
        why = "each row is taken for the aperture that APNUMn names; whether it holds fluxes is not told"
        reading.assume("rows", f"{count} apertures", why)
        return [(row, f"aperture {words[0]}") for row, words in enumerate(labelled)]
    if reading.hints.aperture:
        return [(row, f"row {row + 1}") for row in range(count)]
    if count > _A_FEW_ROWS:
        message = f"the image has {count} rows, and nothing tells what they are: say which it is with the hint aperture"
        raise UnusableSpectrum("AMBIGUOUS_ROWS", message, rows=count)
    reading.assume("rows", "1", f"the first of {count} rows is taken for the spectrum, as it is in most such files")
    return [(0, "row 1")]


def companion_uncertainty(reading: SpectrumReading, index: int, shape: tuple[int, ...]) -> Floats | None:
    """Errors out of an extension of their own, where its name tells what it holds."""
    told = _flux_unit_told(reading, reading.cards(index))
    unit = flux_unit(told) if told else None
    for other in range(index + 1, len(reading.contents.blocks)):
        block = reading.contents.blocks[other]
        name = (block.cards.said("EXTNAME") or "").upper()
        if name in _FLUXES and other != index:
            return None
        if not (reading.contents.is_image(other) and block.shape == shape and name in ERRORS + VARIANCES + INVERSES):
            continue
        said = block.cards.said("BUNIT")
        if error_fits(said, unit.text if unit else "", deviation=name in ERRORS):
            return as_deviation(reading.contents.image(other), name)
        reading.assume("uncertainty", "left out", f"HDU {name} is in {said}, another unit than the flux")
    return None


def as_deviation(values: Floats, name: str) -> Floats:
    """Standard deviations out of what an array of this name holds; NaN where nothing is known."""
    if name.upper() in VARIANCES:
        return np.asarray(np.sqrt(np.where(values >= 0, values, np.nan)))
    if name.upper() in INVERSES:
        return np.asarray(1.0 / np.sqrt(np.where(values > 0, values, np.nan)))
    return values
