"""Arrays side by side: rows of an image, or HDUs, one of which holds the wavelengths."""

from __future__ import annotations

import json

import numpy as np

from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.facts import SpectrumFacts
from penstock.astronomy.spectra.flux_units import error_fits, flux_unit
from penstock.astronomy.spectra.image_axis import ImageAxis
from penstock.astronomy.spectra.image_spectra import ERRORS, INVERSES, VARIANCES, as_deviation, image_draft
from penstock.astronomy.spectra.profile import spectrum_profile
from penstock.astronomy.spectra.reading import SpectrumDraft, SpectrumReading
from penstock.astronomy.spectrum import Floats

_WAVES = ("WAVELENGTH", "WAVE", "LAMBDA", "WAV", "LAM", "WAVELEN", "WAVEDATA_VAC_BARY", "WAVEDATA_AIR_BARY")
_FLUXES = ("FLUX", "SCI", "SPECTRUM", "SPEC", "PRIMARY", "DATA", "FLUX_CAL", "SCIDATA")
_MOST_ROWS = 5


def _hdus(facts: SpectrumFacts) -> list[str]:
    images = [hdu for hdu in facts.structure if hdu.kind == "image" and hdu.shape and all(hdu.shape)]
    waves = [hdu for hdu in images if hdu.said("EXTNAME") in _WAVES]
    rest = [hdu for hdu in images if hdu.said("EXTNAME") in _FLUXES or hdu is facts.structure[0]]
    if not waves or not rest or waves[0] is rest[0]:
        return []
    return [f"an HDU is called {waves[0].said('EXTNAME')}", f"one is called {rest[0].said('EXTNAME') or 'primary'}"]


def _rows(facts: SpectrumFacts) -> list[str]:
    """Two to five rows, or three axes of such orders, and no card that tells an axis."""
    image = facts.image
    if image is None or len(image.shape) not in (2, 3):
        return []
    if any(image.said(key) for key in ("CRVAL1", "COEFF0", "WAT0_001", "DC-FLAG")):
        return []
    short, long = image.shape[-2], image.shape[-1]
    if 2 <= short <= _MOST_ROWS < long or (len(image.shape) == 2 and 2 <= long <= _MOST_ROWS < short):
        told = [f"{key} tells a unit" for key in ("XUNITS", "CUNIT1") if image.said(key)]
        return ["the image has a few rows, and no card tells an axis", *told]
    return []


@spectrum_profile("hdu_arrays", version=1, priority=75, recognises=_hdus)
def read_hdus(reading: SpectrumReading) -> list[SpectrumDraft]:
    """Fluxes, errors and wavelengths in HDUs of their own."""
    wave_index = reading.hdu_named(*_WAVES)
    named = reading.hdu_named(*_FLUXES)
    index = 0 if reading.contents.is_image(0) and wave_index != 0 else named
    if wave_index is None or index is None:
        raise UnusableSpectrum("AMBIGUOUS_ROWS", "it cannot be known which HDU holds the fluxes")
    wave, flux = reading.contents.image(wave_index), reading.contents.image(index)
    units = _units(reading)
    told = (("BUNIT", reading.cards(wave_index).text("BUNIT")), ("UNITS", units.get("wave")))
    unit, assumed = reading.axis_unit(*told)
    errors = _errors(reading, index, units.get("flux") or reading.cards(index).text("BUNIT"))
    return [
        image_draft(
            reading,
            index,
            ImageAxis(axis, unit, assumed),
            values,
            uncertainty=error,
            label=label,
            flux_unit=units.get("flux"),
        )
        for label, axis, values, error in _lines(wave, flux, errors)
    ]


def _lines(wave: Floats, flux: Floats, errors: Floats | None) -> list[tuple[str, Floats, Floats, Floats | None]]:
    """One line, or as many as there are rows of fluxes: with wavelengths each, or with the same for all."""
    if flux.size == flux.shape[-1] or wave.size == 1:
        return [("", wave.ravel(), flux.ravel(), None if errors is None else errors.ravel())]
    if flux.ndim != 2 or (wave.shape != flux.shape and wave.ndim != 1) or len(flux) > 100:
        message = f"the fluxes have the shape {flux.shape} and the wavelengths {wave.shape}"
        raise UnusableSpectrum("AMBIGUOUS_ROWS", message)
    axes = wave if wave.ndim == 2 else np.broadcast_to(wave, (len(flux), len(wave)))
    return [
        (f"row {row + 1}", axes[row], flux[row], None if errors is None else errors[row]) for row in range(len(flux))
    ]


def _units(reading: SpectrumReading) -> dict[str, str]:
    """Units that linetools keeps as JSON in one card."""
    text = reading.primary.said("UNITS") or ""
    try:
        told = json.loads(text) if text.startswith("{") and len(text) < 1000 else {}
    except ValueError:
        raise UnusableSpectrum("BAD_CARD", f"UNITS is no JSON: {text[:80]!r}", card="UNITS") from None
    return {str(name): str(unit) for name, unit in told.items()} if isinstance(told, dict) else {}


def _errors(reading: SpectrumReading, of: int, flux: str | None) -> Floats | None:
    """The errors of an image of fluxes, unless their unit is another."""
    shape, written = reading.contents.blocks[of].shape, flux_unit(flux) if flux else None
    for name in (*ERRORS, *VARIANCES, *INVERSES):
        index = reading.hdu_named(name)
        if index is None or not reading.contents.is_image(index) or reading.contents.blocks[index].shape != shape:
            continue
        told = reading.cards(index).said("BUNIT")
        if error_fits(told, written.text if written else "", deviation=name in ERRORS):
            return as_deviation(reading.contents.image(index), name)
        reading.assume("uncertainty", "left out", f"HDU {name} is in {told}, another unit than the flux")
    return None


@spectrum_profile("array_rows", version=1, priority=65, recognises=_rows, plausible=(100.0, 1e7))
def read_rows(reading: SpectrumReading) -> list[SpectrumDraft]:
    """Rows wavelength, flux and error, of one spectrum or of each order; so write Spextool and many by hand."""
    index = next(index for index in range(len(reading.contents.blocks)) if reading.contents.is_image(index))
    cards, data = reading.cards(index), reading.contents.image(index)
    turned = data.T if data.ndim == 2 and data.shape[1] <= _MOST_ROWS < data.shape[0] else data
    orders = turned if turned.ndim == 3 else turned[np.newaxis]
    if len(orders) > 100:
        raise UnusableSpectrum("TOO_MANY_SPECTRA", f"the image has {len(orders)} orders, and 100 are taken")
    told = (("CUNIT1", cards.text("CUNIT1")), ("XUNITS", cards.text("XUNITS")))
    unit, assumed = reading.axis_unit(*told)
    reading.assume("rows", "wavelength, flux, error", "no card tells what the rows are; so it is in most such files")
    drafts = []
    for number, order in enumerate(orders, 1):
        axis = ImageAxis(order[0], unit, assumed)
        error = order[2] if len(order) > 2 else None
        label = f"order {number}" if len(orders) > 1 else ""
        drafts.append(image_draft(reading, index, axis, order[1], uncertainty=error, label=label))
    return drafts
