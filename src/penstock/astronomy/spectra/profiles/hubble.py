"""Spectra from space, and the standards of their calibration: HST, JWST, FUSE, CALSPEC."""

from __future__ import annotations

from penstock.astronomy.spectra.facts import HduFacts, SpectrumFacts
from penstock.astronomy.spectra.medium_and_frame import known
from penstock.astronomy.spectra.profile import spectrum_profile
from penstock.astronomy.spectra.profiles.plain import read_tables
from penstock.astronomy.spectra.reading import SpectrumDraft, SpectrumReading
from penstock.astronomy.spectrum import Frame, Medium

_ROWS = ("SPORDER", "SEGMENT", "NELEM", "DQ", "SDQFLAGS", "EFF_EXPTIME", "DQ_WGT", "NET")


def _waves(facts: SpectrumFacts) -> list[HduFacts]:
    return [table for table in facts.tables if table.has_columns("WAVELENGTH", "FLUX")]


def _x1d(facts: SpectrumFacts) -> list[str]:
    for table in _waves(facts):
        told = [f"column {name} is there" for name in _ROWS if table.has_columns(name)]
        telescope = ["TELESCOP says HST"] if "HST" in facts.said("TELESCOP") else []
        if table.is_vector_table and table.has_columns("ERROR") and (told or telescope):
            return [*told[:3], *telescope]
    return []


def _jwst(facts: SpectrumFacts) -> list[str]:
    if not _waves(facts):
        return []
    marks = {
        "TELESCOP says JWST": facts.said("TELESCOP") == "JWST",
        "a table is called EXTRACT1D": any(
            table.said("EXTNAME") in ("EXTRACT1D", "COMBINE1D") for table in facts.tables
        ),
    }
    return [mark for mark, seen in marks.items() if seen]


def _calspec(facts: SpectrumFacts) -> list[str]:
    for table in _waves(facts):
        units = {unit.upper() for name, _, unit in table.columns if name.upper() == "FLUX"}
        marks = {"the flux is in FLAM": "FLAM" in units, "STATERROR is there": table.has_columns("STATERROR")}
        if any(marks.values()):
            return [mark for mark, seen in marks.items() if seen]
    return []


def _fuse(facts: SpectrumFacts) -> list[str]:
    names = (facts.said("TELESCOP"), facts.said("INSTRUME"), facts.said("EXTNAME"), facts.name.upper())
    table = any(
        hdu.has_columns("FLUX") and (hdu.has_columns("WAVE") or hdu.has_columns("WAVELENGTH")) for hdu in facts.tables
    )
    return ["it names FUSE", "there is a table"] if table and any("FUSE" in name for name in names) else []


@spectrum_profile(
    "hst_x1d",
    version=1,
    priority=80,
    recognises=_x1d,
    plausible=(900.0, 30_000.0),
    assumed=(1100.0, 11_000.0),
    providers=("mast", "hst"),
)
def read_x1d(reading: SpectrumReading) -> list[SpectrumDraft]:
    """STIS, COS and what is made of them: a row for each order or segment."""
    drafts = read_tables(reading)
    for draft in drafts:
        known(reading, draft, medium=Medium.VACUUM, frame=Frame.HELIOCENTRIC)
    return drafts


@spectrum_profile(
    "jwst_x1d",
    version=1,
    priority=90,
    recognises=_jwst,
    plausible=(5000.0, 300_000.0),
    assumed=None,
    providers=("mast", "jwst"),
)
def read_jwst(reading: SpectrumReading) -> list[SpectrumDraft]:
    """Extracted spectra of JWST, a table for each order or slit."""
    drafts = read_tables(reading)
    for draft in drafts:
        known(reading, draft, medium=Medium.VACUUM)
    return drafts


@spectrum_profile("calspec", version=1, priority=70, recognises=_calspec, plausible=(90.0, 4e6), providers=("mast",))
def read_calspec(reading: SpectrumReading) -> list[SpectrumDraft]:
    """Standard stars of CALSPEC: vacuum wavelengths."""
    drafts = read_tables(reading)
    for draft in drafts:
        known(reading, draft, medium=Medium.VACUUM)
    return drafts


@spectrum_profile(
    "fuse",
    version=1,
    priority=70,
    recognises=_fuse,
    plausible=(880.0, 1200.0),
    assumed=(880.0, 1200.0),
    providers=("mast",),
)
def read_fuse(reading: SpectrumReading) -> list[SpectrumDraft]:
    """The far ultraviolet."""
    drafts = read_tables(reading)
    for draft in drafts:
        known(reading, draft, medium=Medium.VACUUM)
    return drafts
