"""The Sloan surveys and those that follow their formats: SDSS, BOSS, APOGEE, LAMOST."""

from __future__ import annotations

from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.facts import SpectrumFacts
from penstock.astronomy.spectra.image_axis import image_axis
from penstock.astronomy.spectra.image_spectra import image_draft
from penstock.astronomy.spectra.medium_and_frame import known
from penstock.astronomy.spectra.profile import spectrum_profile
from penstock.astronomy.spectra.reading import SpectrumDraft, SpectrumReading
from penstock.astronomy.spectra.table_spectra import SpectrumColumns, table_drafts
from penstock.astronomy.spectrum import Frame, Medium

_SLOAN = (3000.0, 11_000.0)
_TYPO = "erg/cm/s/Ang"
"BUNIT of the old spSpec files, in which the square of the area was forgotten."


def _spec(facts: SpectrumFacts) -> list[str]:
    for table in facts.tables:
        if table.has_columns("loglam", "flux", "ivar"):
            named = ["the table is called COADD"] if table.said("EXTNAME") == "COADD" else []
            return ["columns loglam, flux and ivar are there", *named]
    return []


def _spspec(facts: SpectrumFacts) -> list[str]:
    image = facts.image
    if image is None or not image.said("COEFF0") or image.said("ARRAY1"):
        return []
    telescope = ["TELESCOP says SDSS"] if "SDSS" in image.said("TELESCOP") else []
    return ["COEFF0 tells the axis", *telescope] if telescope and len(image.shape) <= 2 else []


def _apogee(facts: SpectrumFacts) -> list[str]:
    images = [hdu for hdu in facts.structure if hdu.kind == "image" and hdu.shape and all(hdu.shape)]
    if not images or images[0].said("CTYPE1") != "LOG-LINEAR" or facts.structure[0].shape:
        return []
    return ["CTYPE1 says LOG-LINEAR", "the first HDU has no data"]


@spectrum_profile("sdss_spec", version=1, priority=95, recognises=_spec, plausible=_SLOAN, providers=("sdss", "lamost"))
def read_spec(reading: SpectrumReading) -> list[SpectrumDraft]:
    """The coadded spectrum; no single exposure behind it takes the place of one that is broken."""
    named = reading.hdu_named("COADD")
    index = 1 if named is None else named
    table = reading.contents.table(index) if index in reading.tables() else None
    wave, flux = (table.named(name) if table is not None else None for name in ("loglam", "flux"))
    if table is None or wave is None or flux is None:
        message = f"HDU {index}, where the coadded spectrum is, has no columns loglam and flux that can be read"
        raise UnusableSpectrum("AMBIGUOUS_COLUMNS", message, hdu=index)
    drafts = table_drafts(reading, index, SpectrumColumns(wave, flux, table.named("ivar")))
    for draft in drafts:
        known(reading, draft, medium=Medium.VACUUM, frame=Frame.HELIOCENTRIC)
    return drafts


@spectrum_profile("sdss_spspec", version=1, priority=85, recognises=_spspec, plausible=_SLOAN, providers=("sdss",))
def read_spspec(reading: SpectrumReading) -> list[SpectrumDraft]:
    """A line, or rows of which the first is the flux and the third its error."""
    cards, data = reading.primary, reading.contents.image(0)
    axis = image_axis(reading, cards, data.shape[-1])
    rows = data.reshape(-1, data.shape[-1])
    error = None
    if len(rows) >= 3:
        error = rows[2]
        reading.assume("rows", "1 and 3", "the first row of spSpec files is the flux, the third its error")
    elif len(rows) == 2:
        raise UnusableSpectrum("AMBIGUOUS_ROWS", "the image has 2 rows, and spSpec files have 1, or 3 and more", rows=2)
    draft = image_draft(reading, 0, axis, rows[0], uncertainty=error, flux_unit=_unit(reading))
    known(reading, draft, medium=Medium.VACUUM, frame=Frame.HELIOCENTRIC)
    return [draft]


def _unit(reading: SpectrumReading) -> str | None:
    told = reading.primary.text("BUNIT")
    if told is None or _TYPO not in told:
        return told
    reading.assume("flux_unit", "per cm2", f"BUNIT says {told!r}, a slip in these files")
    return told.replace(_TYPO, "erg/cm2/s/Ang")


@spectrum_profile("apogee", version=1, priority=90, recognises=_apogee, plausible=(15_000.0, 17_200.0))
def read_apogee(reading: SpectrumReading) -> list[SpectrumDraft]:
    """apStar and aspcapStar: HDU 1 has fluxes, HDU 2 errors; the first row is the combined spectrum."""
    contents = reading.contents
    data = contents.image(1)
    if data.ndim > 2:
        raise UnusableSpectrum("AMBIGUOUS_ROWS", f"the image has {data.ndim} axes, and APOGEE's have one or two")
    axis = image_axis(reading, reading.cards(1), data.shape[-1])
    errors = None
    if len(contents.blocks) > 2 and contents.is_image(2) and contents.blocks[2].shape == data.shape:
        errors = contents.image(2).reshape(-1, data.shape[-1])[0]
        reading.assume("uncertainty", "HDU 2", "in APOGEE's files it follows the flux")
    rows = data.reshape(-1, data.shape[-1])
    if len(rows) > 1:
        reading.assume("rows", "1", f"the first of {len(rows)} rows is the combined spectrum in APOGEE's files")
    draft = image_draft(reading, 1, axis, rows[0], uncertainty=errors)
    known(reading, draft, medium=Medium.VACUUM, frame=Frame.REST)
    return [draft]
