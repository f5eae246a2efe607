"""Spectra in text: columns of numbers, described by a ticket or by their own first line, or recognised."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from penstock.astronomy.judgement import Assumption
from penstock.astronomy.spectra.axis_name import (
    counts_what_its_name_says,
    is_no_flux_name,
    is_no_spectral_name,
    kind_in,
)
from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.description import SpectrumDescription
from penstock.astronomy.spectra.flux_units import error_fits
from penstock.astronomy.spectra.medium_and_frame import place
from penstock.astronomy.spectra.profile import EVERYTHING, OPTICAL, SpectrumProfile
from penstock.astronomy.spectra.reading import ReadingNotes, SpectrumDraft
from penstock.astronomy.spectra.spectrum_hints import SpectrumHints
from penstock.astronomy.spectra.spectrum_soundness import sound_spectrum
from penstock.astronomy.spectra.table_spectra import DEVIATIONS, FLUXES, WAVES
from penstock.astronomy.spectrum import Floats, Spectrum

MOST_TEXT = 64 * 1024 * 1024
MOST_LINES = 500_000
_LONGEST_LINE = 2000
_LONGEST_PIECE = 64 * 1024
"Bytes without the end of a line: what has more is no text."
_ENDS = b"\n\r\x0b\x0c\x1c\x1d\x1e\x85"
"All that ends a line in Latin-1."
_MOST_COLUMNS = 50
_HEADING = re.compile(r"([^(\[]{1,80})(?:[(\[]([^)\]]{1,80})[)\]])?$")
_WITH_UNIT = re.compile(r"[^\s(\[]+(?: ?[(\[][^)\]]{0,80}[)\]])?|[(\[][^)\]]{0,80}[)\]]")
"A name between blanks, and the brackets behind it."
_UNIT_BEHIND = re.compile(r"(.{2,}?)_(A|AA|ANG|ANGSTROMS?|NM|UM|MICRONS?|HZ|GHZ|KEV|EV|CM-1)$")
_SEPARATORS = (",", ";", "\t", None)
_DAYS = re.compile(r"[+-]?\d+(?:\.(\d*))?(?:[eE]\+?(\d{1,2}))?$")

TEXT_PROFILE = SpectrumProfile("text_table", 1, 0, lambda facts: [], lambda reading: [], EVERYTHING, OPTICAL)
_REGIMES: dict[object, tuple[float, float]] = {"ultraviolet": (900.0, 4000.0), "infrared": (6000.0, 300_000.0)}
"Ångström that a table may lie between that tells no unit, by what its description says of it; else the optical."
_OTHERS: tuple[tuple[tuple[bytes, ...], str], ...] = (
    ((b"<!doctype html", b"<html", b"<head"), "an HTML page, such as a server sends in place of a file that is gone"),
    ((b"<?xml", b"<votable"), "an XML document"),
    ((b"{", b"["), "JSON"),
    ((b"%pdf",), "a PDF document"),
    ((b"\x89png",), "a picture"),
)
Gather = Callable[[list[str]], None]


@dataclass(frozen=True, slots=True)
class TextColumns:
    """Which column is which, and what was told of their units."""

    wave: int
    flux: int
    error: int | None
    unit: str | None = None
    flux_unit: str | None = None
    named: bool = False
    name: str = ""
    "What the table itself calls its axis."
    error_unit: str | None = None


def text_spectrum(
    data: bytes, *, hints: SpectrumHints, description: SpectrumDescription | None, gather: Gather
) -> Spectrum:
    """The spectrum of a text table, or the reason why there is none."""
    lines = _lines(data)
    gather([line[:200] for _, line in lines[:40]])
    heading, numbers = _table(lines)
    columns = _columns(heading, numbers, description)
    profile = replace(TEXT_PROFILE, assumed=_REGIMES.get(description and description.regime, OPTICAL))
    reading = ReadingNotes(profile=profile, hints=hints)
    draft = _draft(reading, numbers, columns, description)
    return sound_spectrum(draft, profile, reading.assumptions)


def _lines(data: bytes) -> list[tuple[int, str]]:
    """Lines with their numbers, without those that are blank."""
    if len(data) > MOST_TEXT:
        raise UnusableSpectrum("TOO_LARGE", f"the text has more than {MOST_TEXT} bytes, the most that is read")
    start = data[:4096]
    if b"\0" in start or start.lstrip()[:1] in (b"<", b"{", b"["):
        raise UnusableSpectrum("NOT_A_SPECTRUM_FILE", _what_else(start), begins=start[:40].decode("latin-1"))
    _bounded(data)
    text = data.decode("utf-8-sig", errors="replace") if data[:3] == b"\xef\xbb\xbf" else data.decode("latin-1")
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if any(len(line) > _LONGEST_LINE for _, line in lines):
        raise UnusableSpectrum(
            "NOT_A_SPECTRUM_FILE", f"a line is longer than {_LONGEST_LINE} characters: no such table"
        )
    return lines


def _bounded(data: bytes) -> None:
    """How many lines there are, and how long, is known before the first of them is cut out."""
    count = len(data) - len(data.translate(None, _ENDS)) + data.count(b"\xe2\x80\xa8") + data.count(b"\xe2\x80\xa9")
    if count > MOST_LINES:
        raise UnusableSpectrum("TOO_LARGE", f"the text has more than {MOST_LINES} lines, the most that is read")
    start = 0
    while len(data) - start > _LONGEST_PIECE:
        end = max(data.rfind(mark, start, start + _LONGEST_PIECE) for mark in (b"\n", b"\r"))
        if end < 0:
            message = f"there are more than {_LONGEST_PIECE} bytes without the end of a line, the most that is read"
            raise UnusableSpectrum("TOO_LARGE", message)
        start = end + 1


def _what_else(start: bytes) -> str:
    """What a file is that is no table, from its beginning."""
    begins = " ".join(start[:200].decode("latin-1").split())[:60]
    low = start.lstrip().lower()
    for marks, what in _OTHERS:
        if low.startswith(marks):
            return f"the file is {what}, and no spectrum: it begins with {begins!r}"
    kind = "it has bytes that no text has" if b"\0" in start else f"it begins with {begins!r}"
    return f"the file is neither FITS nor a table of numbers: {kind}"


def _table(lines: list[tuple[int, str]]) -> tuple[list[str], Floats]:
    """The names of the columns, if the lines before the numbers tell any, and the numbers."""
    comments = [line.lstrip("#%;! ").strip() for _, line in lines if line[0] in "#%!"]
    rows = [(number, line) for number, line in lines if line[0] not in "#%!"]
    separator = _separator(rows)
    heading: list[str] = []
    if rows and _numbers(rows[0][1], separator) is None:
        heading = _words(rows[0][1], separator)
        rows = rows[1:]
    if not rows or _numbers(rows[0][1], separator) is None:
        begins = lines[0][1][:60] if lines else ""
        message = f"the file is neither FITS nor a table of numbers: it begins with {begins!r}"
        raise UnusableSpectrum("NOT_A_SPECTRUM_FILE", message)
    numbers = _rows(rows, separator)
    if not heading and comments:
        last = _words(comments[-1], separator)
        heading = last if len(last) == numbers.shape[1] and not _numbers(comments[-1], separator) else []
    return heading, numbers


def _separator(rows: list[tuple[int, str]]) -> str | None:
    sample = rows[min(1, len(rows) - 1)][1] if rows else ""
    return next((mark for mark in _SEPARATORS if mark is None or mark in sample), None)


def _words(line: str, separator: str | None) -> list[str]:
    found = line.split(separator) if separator is not None else _WITH_UNIT.findall(line)
    return [word.strip().strip('"') for word in found][:_MOST_COLUMNS]


def _numbers(line: str, separator: str | None) -> list[float] | None:
    if "_" in line:  # which Python takes for a part of a number, and nobody else does
        return None
    try:
        words = line.split(separator)
        return [float(word) for word in (words if words[-1].strip() else words[:-1])]
    except (ValueError, IndexError):
        return None


def _rows(rows: list[tuple[int, str]], separator: str | None) -> Floats:
    width = len(_numbers(rows[0][1], separator) or ())
    if width > _MOST_COLUMNS:
        raise UnusableSpectrum("AMBIGUOUS_COLUMNS", f"the table has more than {_MOST_COLUMNS} columns")
    table, bad = array("d"), array("q")  # bare numbers: each as an object of its own takes four times the room
    for number, line in rows:
        numbers = _numbers(line, separator)
        if numbers is None or len(numbers) != width:
            bad.append(number)
        else:
            table.extend(numbers)
    if bad:
        message = f"{len(bad)} of {len(rows)} lines are not {width} numbers, the first of them line {bad[0]}"
        raise UnusableSpectrum("UNREADABLE_ROWS", message, lines=list(bad[:20]), count=len(bad))
    return np.array(table, dtype=np.float64).reshape(-1, width)


def _columns(heading: list[str], numbers: Floats, description: SpectrumDescription | None) -> TextColumns:
    count = numbers.shape[1]
    if description is not None:
        told = (description.wavelength_column, description.flux_column, description.error_column)
        if any(column is not None and column >= count for column in told):
            message = f"the description names columns {told}, counted from 0, and the table has {count}"
            raise UnusableSpectrum("LENGTH_MISMATCH", message)
        return TextColumns(*told, description.wavelength_unit, description.flux_unit, named=True)
    named = _by_heading(heading)
    if named is not None:
        return named
    _not_otherwise(heading)
    if count not in (2, 3):
        message = f"the table has {count} columns without names that are known: a description must tell what they are"
        raise UnusableSpectrum("AMBIGUOUS_COLUMNS", message, columns=count)
    return TextColumns(0, 1, 2 if count == 3 else None)


def _by_heading(heading: list[str]) -> TextColumns | None:
    """Columns by the names of FITS tables, each with its unit in brackets."""
    names, units = _names_and_units(heading)

    def column(known: list[str]) -> int | None:
        found = next((name for name in known if name in names), None)
        if found is not None and names.count(found) > 1:
            message = f"{names.count(found)} columns are called {found}: a description must tell which it is"
            raise UnusableSpectrum("AMBIGUOUS_COLUMNS", message, column=found)
        return None if found is None else names.index(found)

    wave, flux = column(list(WAVES)), column(list(FLUXES))
    if wave is None or flux is None:
        return None
    error = column(list(DEVIATIONS))
    told = None if error is None else units[error]
    return TextColumns(wave, flux, error, units[wave], units[flux], named=True, name=names[wave], error_unit=told)


def _names_and_units(heading: list[str]) -> tuple[list[str], list[str | None]]:
    found = [_HEADING.match(word) for word in heading]
    names = [match[1].strip().upper().replace(" ", "_") if match else "" for match in found]
    units = [(match[2] or "").strip() or None if match else None for match in found]
    for at, name in enumerate(names):
        behind = _UNIT_BEHIND.match(name)
        if behind and behind[1] in WAVES and units[at] is None:
            names[at], units[at] = behind[1], behind[2]
    return names, units


def _not_otherwise(heading: list[str]) -> None:
    """A heading that plainly says that the first two columns are something else is believed."""
    names, _ = _names_and_units(heading)
    if names and (is_no_spectral_name(names[0]) or (is_no_flux_name(names[0]) and kind_in(names[0]) is None)):
        message = f"the first column is called {heading[0][:80]!r}: that is no axis of wavelengths"
        raise UnusableSpectrum("NO_WAVELENGTH", message, column=heading[0][:80])
    if len(names) > 1 and is_no_flux_name(names[1]):
        message = f"the second column is called {heading[1][:80]!r}: that is no flux; a description must tell what is"
        raise UnusableSpectrum("AMBIGUOUS_COLUMNS", message, column=heading[1][:80])
    if names and (kind := kind_in(names[0])) not in (None, "length"):
        message = f"the first column is called {heading[0][:80]!r}, a {kind}, and nothing tells which is the flux"
        raise UnusableSpectrum("AMBIGUOUS_COLUMNS", message, column=heading[0][:80])


def _draft(
    reading: ReadingNotes, numbers: Floats, columns: TextColumns, description: SpectrumDescription | None
) -> SpectrumDraft:
    if not columns.named:
        told = "wavelength, flux" + (", error" if columns.error is not None else "")
        reading.assume("columns", told, "the table has no names for its columns; so it is in most such tables")
    unit, assumed = reading.axis_unit(("the heading", columns.unit))
    counts_what_its_name_says(columns.name, unit, assumed=assumed)
    flux_unit = reading.flux_unit(columns.flux_unit, where="the description" if description else "the heading")
    error = numbers[:, columns.error] if columns.error is not None else None
    if error is not None and not error_fits(columns.error_unit, flux_unit):
        why = f"the heading says that it is in {columns.error_unit}, another unit than the flux"
        reading.assume("uncertainty", "left out", why)
        error = None
    draft = SpectrumDraft(numbers[:, columns.wave], unit, numbers[:, columns.flux], flux_unit, error)
    draft.unit_assumed = assumed
    place(reading, draft)
    if description is not None:
        _described(draft, description)
    return draft


def _described(draft: SpectrumDraft, description: SpectrumDescription) -> None:
    """What the description tells; where it tells the range, the table must have it."""
    draft.metadata.update(description.observation())
    if description.julian_date is not None:
        _dated(draft, description.julian_date)
    if description.wavelength_range is None:
        return
    low, high = sorted(description.wavelength_range)
    first, last = float(np.nanmin(draft.axis)), float(np.nanmax(draft.axis))
    if abs(first - low) > 1e-3 * low or abs(last - high) > 1e-3 * high:
        message = f"the table reaches from {first:g} to {last:g}, and its description says {low:g} to {high:g}"
        raise UnusableSpectrum("CONTRADICTORY_CARDS", message, told=[low, high], found=[first, last])


def _dated(draft: SpectrumDraft, text: str) -> None:
    """A Julian date, and how well it is known: tables cut it to as few digits as 2.4473e+06."""
    found = _DAYS.match(text)
    if found is None:
        return
    precision = 10.0 ** (int(found[2] or 0) - len(found[1] or ""))
    draft.metadata["observed_jd"] = float(text)
    if precision >= 1.0:
        draft.metadata["observed_jd_precision_days"] = precision
        why = f"the metadata says {text}, of which the last digit stands for {precision:g} days"
        draft.assumptions.append(Assumption("observed_jd", text, why))
