"""Spectra and light curves as FITS tables in the style of the Virtual Observatory."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from astropy.io import fits

from penstock.astronomy.light_curve import LightCurve
from penstock.astronomy.products.ecsv import is_joined
from penstock.astronomy.products.fits_times import put_moment, put_place, put_time_system
from penstock.astronomy.products.product_notes import as_json, light_curve_notes, spectrum_notes
from penstock.astronomy.products.spectrum_columns import SpectrumColumn, spectrum_columns, usable_mask
from penstock.astronomy.products.whole_file import whole_file
from penstock.astronomy.spectrum import Frame, Medium, Spectrum

NOTES = "PSNOTES"
"The HDU of all notes, exactly, as JSON. Cards are for other programs, and shortened if need be."

_COLUMN_NAMES = {"wavelength": "WAVE", "flux": "FLUX", "uncertainty": "ERR"}
_FRAMES = {
    Frame.OBSERVED: "TOPOCENT",
    Frame.HELIOCENTRIC: "HELIOCEN",
    Frame.BARYCENTRIC: "BARYCENT",
    Frame.REST: "SOURCE",
}
_CARDS = {
    "target": ("OBJECT", "what was observed"),
    "telescope": ("TELESCOP", "telescope"),
    "instrument": ("INSTRUME", "instrument"),
    "observer": ("OBSERVER", "who observed"),
    "exposure_seconds": ("EXPTIME", "[s] exposure time"),
}


def write_spectrum_fits(spectrum: Spectrum, path: Path, *, provenance: Mapping[str, Any]) -> None:
    """Write a row a point: WAVE, FLUX and, where it is known, ERR; MASK, and QUALITY where the file has flags.

    What was not measured is NaN. The same spectrum makes the same bytes.
    """
    columns = spectrum_columns(spectrum)
    flags = [fits.Column(name="MASK", format="L", array=usable_mask(spectrum))]
    if spectrum.quality is not None:
        flags.append(fits.Column(name="QUALITY", format="K", array=spectrum.quality))
    table = fits.BinTableHDU.from_columns([*(_column(column) for column in columns), *flags], name="SPECTRUM")
    table.header["VOCLASS"] = ("SPECTRUM V2.0", "IVOA Spectrum data model")
    _describe(table.header, columns)
    _put_medium_and_frame(table.header, spectrum)
    table.header["TITLE"] = (_card_text(_title(spectrum)), "what this is")
    _put_known(table.header, spectrum.metadata)
    put_moment(table.header, spectrum.metadata)
    put_place(table.header, spectrum.metadata)
    _write(path, table, spectrum_notes(spectrum, provenance))


def write_light_curve_fits(curve: LightCurve, path: Path, *, provenance: Mapping[str, Any]) -> None:
    """Write a table with a row a measurement. Texts that are not ASCII are escaped as in JSON: FITS knows no others."""
    table = fits.BinTableHDU.from_columns(_light_curve_columns(curve), name="LIGHTCURVE")
    table.header["VOCLASS"] = ("LIGHTCURVE V1.0", "time series of brightness")
    put_time_system(table.header, curve.time_system)
    table.header["TXTCODE"] = ("JSON", "texts are escaped as within a JSON string")
    _put_known(table.header, curve.source)
    _write(path, table, light_curve_notes(curve, provenance))


def _column(column: SpectrumColumn) -> fits.Column:
    name = _COLUMN_NAMES[column.name]
    unit = column.unit if column.unit.isascii() else ""  # what no FITS unit can be is in the notes alone
    return fits.Column(name=name, format="D", unit=unit or None, array=column.values)


def _describe(header: fits.Header, columns: Sequence[SpectrumColumn]) -> None:
    for number, column in enumerate(columns, 1):
        header[f"TUCD{number}"] = column.ucd
        header[f"TUTYP{number}"] = column.utype


def _put_medium_and_frame(header: fits.Header, spectrum: Spectrum) -> None:
    if spectrum.medium is not Medium.UNKNOWN:
        header["AIRORVAC"] = ("air" if spectrum.medium is Medium.AIR else "vac", "what the wavelengths are told in")
    if spectrum.frame in _FRAMES:
        header["SPECSYS"] = (_FRAMES[spectrum.frame], "what the wavelengths are relative to")


def _title(spectrum: Spectrum) -> str:
    return " ".join(filter(None, (str(spectrum.metadata.get("target", "")), spectrum.label, "spectrum")))


def _put_known(header: fits.Header, metadata: Mapping[str, Any]) -> None:
    for name, (card, comment) in _CARDS.items():
        value = metadata.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value):
            header[card] = (value, comment)
        elif value is not None and (text := _card_text(str(value))):
            header[card] = (text, comment)


def _card_text(text: str) -> str:
    """As much of it as one card has room for, in ASCII: letters lose their accents, other signs become ``?``."""
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    printable = "".join(sign if " " <= sign <= "~" else "?" for sign in bare)
    return printable[:60].strip()


def _light_curve_columns(curve: LightCurve) -> list[fits.Column]:
    points = curve.measurements
    shared = {one.unit for one in points}
    unit = shared.pop() if len(shared) == 1 else None
    errors = [np.nan if one.uncertainty is None else one.uncertainty for one in points]
    return [
        fits.Column(name="TIME", format="D", unit="d", array=np.array([one.jd for one in points], dtype="f8")),
        fits.Column(name="VALUE", format="D", unit=unit, array=np.array([one.value for one in points], dtype="f8")),
        fits.Column(name="ERROR", format="D", unit=unit, array=np.array(errors, dtype="f8")),
        _texts("UNIT", [one.unit for one in points]),
        _texts("BAND", [one.band for one in points]),
        fits.Column(name="UPLIMIT", format="L", array=np.array([one.upper_limit for one in points], dtype=bool)),
        fits.Column(name="ROW", format="K", array=np.array([one.row for one in points], dtype="i8")),
        _texts("TELESCOPE", [one.telescope or "" for one in points]),
        _texts("OBSERVER", [one.observer or "" for one in points]),
        _texts("TIMESYST", [one.time_system or curve.time_system for one in points]),
        *([_texts("DATASET", [one.dataset or "" for one in points])] if is_joined(curve) else []),
    ]


def _texts(name: str, texts: Sequence[str]) -> fits.Column:
    known: dict[str, bytes] = {text: _escaped(text) for text in set(texts)}
    array = np.array([known[text] for text in texts], dtype=bytes)
    return fits.Column(name=name, format=f"{max(array.itemsize, 1)}A", array=array)


def _escaped(text: str) -> bytes:
    inside = json.dumps(text)[1:-1]
    bare = inside.rstrip(" ")  # FITS forgets spaces at the end
    return (bare + "\\u0020" * (len(inside) - len(bare))).encode("ascii")


def _notes(notes: Mapping[str, Any]) -> fits.ImageHDU:
    """The notes as bytes of their JSON: a second table would make readers ask which of the two is meant."""
    found = fits.ImageHDU(np.frombuffer(as_json(notes).encode("ascii"), dtype=np.uint8), name=NOTES)
    found.header["CONTENT"] = ("application/json", "the pixels are its characters")
    return found


def notes_of(path: Path) -> dict[str, Any]:
    """The notes of a product that was written here."""
    told: dict[str, Any] = json.loads(fits.getdata(path, NOTES).tobytes())
    return told


def _write(path: Path, table: fits.BinTableHDU, notes: Mapping[str, Any]) -> None:
    primary = fits.PrimaryHDU()
    primary.header["ORIGIN"] = ("Penstock", "what wrote this file")
    with whole_file(path) as unfinished:
        fits.HDUList([primary, table, _notes(notes)]).writeto(unfinished, overwrite=True)
