"""The European Southern Observatory: science data products, and what its pipelines write."""

from __future__ import annotations

import re

from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.facts import SpectrumFacts
from penstock.astronomy.spectra.fits_contents import FitsTable, TableColumn
from penstock.astronomy.spectra.medium_and_frame import known
from penstock.astronomy.spectra.profile import spectrum_profile
from penstock.astronomy.spectra.profiles.plain import read_images
from penstock.astronomy.spectra.reading import SpectrumDraft, SpectrumReading
from penstock.astronomy.spectra.table_spectra import SpectrumColumns, spectrum_columns, table_drafts
from penstock.astronomy.spectra.wat import wat_unit
from penstock.astronomy.spectrum import Frame, Medium

_CR2RES = re.compile(r"(\d{2}_\d{2})_(SPEC|WL|ERR)$")
_INSTRUMENTS = (
    *("XSHOOTER", "FORS", "EFOSC", "SOFI", "ISAAC", "CRIRES"),
    *("EMMI", "GIRAFFE", "SINFONI", "MUSE", "CES"),
)


def _sdp(facts: SpectrumFacts) -> list[str]:
    marks = {
        "PRODCATG says SCIENCE.SPECTRUM": facts.said("PRODCATG").startswith("SCIENCE.SPECTRUM"),
        "VOCLASS says SPECTRUM": facts.said("VOCLASS").startswith("SPECTRUM"),
    }
    reasons = [mark for mark, seen in marks.items() if seen]
    return reasons if facts.tables else []


def _is_line(facts: SpectrumFacts) -> bool:
    image = facts.image
    return image is not None and len(image.shape) == 1


def _drs(facts: SpectrumFacts) -> list[str]:
    marks = ["there are cards of ESO DRS"] if facts.image is not None and facts.image.said("ESO DRS") else []
    return [*marks, "it is one line"] if marks and _is_line(facts) else []


def _of_instrument(facts: SpectrumFacts, *names: str) -> list[str]:
    told = facts.said("INSTRUME")
    if not _is_line(facts) or not told.startswith(names):
        return []
    return [f"INSTRUME says {told}", *(["ORIGIN says ESO"] if facts.said("ORIGIN").startswith("ESO") else [])]


def _pipeline(facts: SpectrumFacts) -> list[str]:
    reasons = _of_instrument(facts, *_INSTRUMENTS)
    return reasons if "ORIGIN says ESO" in reasons else []


@spectrum_profile(
    "eso_sdp",
    version=1,
    priority=100,
    recognises=_sdp,
    plausible=(900.0, 300_000.0),
    assumed=None,
    providers=("eso",),
)
def read_sdp(reading: SpectrumReading) -> list[SpectrumDraft]:
    """One row of arrays in a table of the IVOA's spectrum model; its columns are told by utype, UCD or name."""
    _required(reading)
    index = next(iter(reading.tables()), None)
    if index is None:
        raise UnusableSpectrum("UNKNOWN_PROFILE", "what should be its table has no rows and columns: NAXIS is not 2")
    table = reading.contents.table(index)
    wave = _told(table, "spec:data.spectralaxis.value", "em.wl")
    flux = _told(table, "spec:data.fluxaxis.value", "meta.main")
    error = _told(table, "spec:data.fluxaxis.accuracy.staterror", None)
    named = spectrum_columns(table)
    if named is not None:
        wave, flux, error = wave or named.wave, flux or named.flux, error or named.error
    if wave is None or flux is None:
        raise UnusableSpectrum("AMBIGUOUS_COLUMNS", "no column is told to hold wavelengths, or none to hold fluxes")
    return table_drafts(reading, index, SpectrumColumns(wave, flux, error))


def _required(reading: SpectrumReading) -> None:
    """The standard of these products demands that a file says what was observed."""
    headers = [block.cards for block in reading.contents.blocks[:2]]
    if not any(cards.said("OBJECT") for cards in headers):
        message = "OBJECT is not there, which a science data product of ESO must have"
        raise UnusableSpectrum("MISSING_METADATA", message, card="OBJECT")


def _told(table: FitsTable, utype: str, ucd: str | None) -> TableColumn | None:
    """The one column of a role: by its utype, or by its UCD if no utype tells it."""
    by_utype = [column for column in table.columns if column.utype.lower() in (utype, utype.partition(":")[2])]
    by_ucd = [column for column in table.columns if ucd and ucd in column.ucd.lower().split(";")]
    # A flux density is told "per wavelength" by the same word that an axis of wavelengths has.
    by_ucd = [column for column in by_ucd if ucd != "em.wl" or column.ucd.lower().startswith("em.wl")]
    found = by_utype or by_ucd
    if len(found) > 1:
        names = [column.name for column in found[:9]]
        raise UnusableSpectrum("AMBIGUOUS_COLUMNS", f"{', '.join(names)} have all the role {utype}", columns=names)
    return found[0] if found else None


@spectrum_profile(
    "eso_drs_s1d",
    version=1,
    priority=90,
    recognises=_drs,
    plausible=(3000.0, 25_000.0),
    assumed=(3000.0, 12_000.0),
    providers=("eso",),
)
def read_drs(reading: SpectrumReading) -> list[SpectrumDraft]:
    """HARPS, CORALIE and their kin: orders put together to one line, corrected for the motion of the Earth."""
    drafts = read_images(reading)
    for draft in drafts:
        known(reading, draft, medium=Medium.AIR, frame=Frame.BARYCENTRIC)
    return drafts


@spectrum_profile(
    "uves_pipeline",
    version=1,
    priority=85,
    recognises=lambda facts: _of_instrument(facts, "UVES"),
    plausible=(2900.0, 11_500.0),
    assumed=(2900.0, 11_500.0),
    providers=("eso",),
)
def read_uves(reading: SpectrumReading) -> list[SpectrumDraft]:
    """One arm of UVES, merged; air wavelengths, as they were observed."""
    drafts = read_images(reading)
    for draft in drafts:
        known(reading, draft, medium=Medium.AIR, frame=Frame.OBSERVED)
    return drafts


@spectrum_profile(
    "feros",
    version=1,
    priority=85,
    recognises=lambda facts: _of_instrument(facts, "FEROS"),
    plausible=(3400.0, 9_500.0),
    assumed=(3400.0, 9_500.0),
    providers=("eso",),
)
def read_feros(reading: SpectrumReading) -> list[SpectrumDraft]:
    """FEROS, merged; its pipeline has taken out the motion of the Earth."""
    drafts = read_images(reading)
    for draft in drafts:
        known(reading, draft, medium=Medium.AIR, frame=Frame.BARYCENTRIC)
    return drafts


@spectrum_profile(
    "eso_pipeline",
    version=1,
    priority=80,
    recognises=_pipeline,
    plausible=(2900.0, 60_000.0),
    providers=("eso",),
)
def read_pipeline(reading: SpectrumReading) -> list[SpectrumDraft]:
    """One line out of another pipeline of ESO."""
    return read_images(reading)


def _crires(facts: SpectrumFacts) -> list[str]:
    for table in facts.tables:
        names = [name.upper() for name, _, _ in table.columns]
        if table.has_columns("Wavelength") and any(name.startswith("EXTRACTED_") for name in names):
            return ["columns Wavelength and Extracted_… are there", f"INSTRUME says {facts.said('INSTRUME')}"]
    return []


@spectrum_profile(
    "crires_table",
    version=1,
    priority=80,
    recognises=_crires,
    plausible=(9_000.0, 60_000.0),
    assumed=None,
    providers=("eso",),
)
def read_crires(reading: SpectrumReading) -> list[SpectrumDraft]:
    """CRIRES: a table whose column of wavelengths has no unit; the header has that of the image it was made from."""
    drafts: list[SpectrumDraft] = []
    for index in reading.tables():
        columns = spectrum_columns(reading.contents.table(index))
        if columns is None:
            continue
        told = None if columns.wave.unit else ("CUNIT1", reading.primary.text("CUNIT1") or wat_unit(reading.primary))
        drafts += table_drafts(reading, index, columns, unit_told=told)
    if not drafts:
        raise UnusableSpectrum("AMBIGUOUS_COLUMNS", "no table has a column of fluxes beside its wavelengths")
    return drafts


def _cr2res(facts: SpectrumFacts) -> list[str]:
    names = [name.upper() for table in facts.tables for name, _, _ in table.columns]
    kinds = {found[2] for name in names if (found := _CR2RES.match(name))}
    return ["columns are named by order and trace"] if {"SPEC", "WL"} <= kinds else []


@spectrum_profile(
    "cr2res",
    version=1,
    priority=90,
    recognises=_cr2res,
    plausible=(9_000.0, 60_000.0),
    assumed=None,
    providers=("eso",),
)
def read_cr2res(reading: SpectrumReading) -> list[SpectrumDraft]:
    """CRIRES+: for each order of each chip, three columns; wavelengths in nanometres where no unit is told."""
    drafts: list[SpectrumDraft] = []
    for index in reading.tables():
        drafts += _orders(reading, index)
    return drafts


def _orders(reading: SpectrumReading, index: int) -> list[SpectrumDraft]:
    table = reading.contents.table(index)
    chip = reading.cards(index).said("EXTNAME") or f"HDU {index}"
    drafts: list[SpectrumDraft] = []
    for order in sorted({found[1] for column in table.columns if (found := _CR2RES.match(column.name.upper()))}):
        wave, flux, error = (table.named(f"{order}_{kind}") for kind in ("WL", "SPEC", "ERR"))
        if wave is None or flux is None:
            raise UnusableSpectrum("AMBIGUOUS_COLUMNS", f"order {order} of {chip} has not both WL and SPEC")
        told = None if wave.unit else ("the profile", "nm")
        if told:
            reading.assume("wavelength_unit", "nm", "CRIRES+ tells no unit and writes nanometres")
        for draft in table_drafts(reading, index, SpectrumColumns(wave, flux, error), unit_told=told):
            draft.label = f"{chip} order {order}"
            drafts.append(draft)
    return drafts
