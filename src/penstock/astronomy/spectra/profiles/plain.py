"""Files that name no known instrument: an image with an axis, or a table whose columns say what they are."""

from __future__ import annotations

from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.facts import SpectrumFacts
from penstock.astronomy.spectra.image_axis import image_axis
from penstock.astronomy.spectra.image_spectra import companion_uncertainty, image_draft, iraf_rows, spectral_images
from penstock.astronomy.spectra.profile import spectrum_profile
from penstock.astronomy.spectra.reading import SpectrumDraft, SpectrumReading
from penstock.astronomy.spectra.table_spectra import spectrum_columns, table_drafts


def _image(facts: SpectrumFacts) -> list[str]:
    return ["there is an image"] if facts.image is not None else []


def _table(facts: SpectrumFacts) -> list[str]:
    return ["there is a table"] if facts.tables else []


@spectrum_profile("plain_image", version=1, priority=10, recognises=_image, plausible=(100.0, 1e7))
def read_images(reading: SpectrumReading) -> list[SpectrumDraft]:
    """All images of fluxes, each with its own axis."""
    drafts: list[SpectrumDraft] = []
    indices = spectral_images(reading)
    for index in indices:
        drafts += _of_image(reading, index, label=f"HDU {index}" if len(indices) > 1 else "")
    return drafts


def _of_image(reading: SpectrumReading, index: int, *, label: str) -> list[SpectrumDraft]:
    cards, data = reading.cards(index), reading.contents.image(index)
    axis = image_axis(reading, cards, data.shape[-1])
    rows = iraf_rows(reading, cards, data)
    beside = companion_uncertainty(reading, index, data.shape) if len(rows) == 1 else None
    return [
        image_draft(
            reading,
            index,
            axis,
            flux,
            uncertainty=beside.reshape(-1, len(flux))[0] if beside is not None else error,
            label=" ".join(filter(None, (label, row))),
        )
        for row, flux, error in rows
    ]


@spectrum_profile("plain_table", version=1, priority=12, recognises=_table)
def read_tables(reading: SpectrumReading) -> list[SpectrumDraft]:
    """The first table that has columns of wavelengths and fluxes, and others that have the very same columns."""
    found = [
        (index, columns) for index in reading.tables() if (columns := spectrum_columns(reading.contents.table(index)))
    ]
    if not found:
        message = "no table has columns that are known to be wavelengths and fluxes"
        raise UnusableSpectrum("UNKNOWN_PROFILE", message)
    first = found[0][1]
    alike = [(index, columns) for index, columns in found if columns.wave.name == first.wave.name]
    drafts: list[SpectrumDraft] = []
    for index, columns in alike:
        for draft in table_drafts(reading, index, columns):
            draft.label = " ".join(filter(None, (f"HDU {index}" if len(alike) > 1 else "", draft.label)))
            drafts.append(draft)
    return drafts
