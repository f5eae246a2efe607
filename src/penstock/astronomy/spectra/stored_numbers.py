"""The numbers of a file that could not be judged, for a person to look at: as they are stored, over their pixels."""

from __future__ import annotations

import numpy as np

from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.fits_contents import FitsContents
from penstock.astronomy.spectra.table_spectra import FLUXES, WAVES
from penstock.astronomy.spectrum import Floats

MOST_STORED = 200_000
"Points that are kept of a refused file."
_MOST_READ = 2_000_000
"Numbers of an image or a column that are read for it."

StoredNumbers = tuple[Floats | None, Floats | None]
"Values, and the wavelengths that the file claims for them."


def stored_numbers(contents: FitsContents) -> StoredNumbers:
    """The first row of the first image, or the likeliest columns of the first table; nothing where that fails too."""
    for index in range(min(len(contents.blocks), 20)):
        try:
            found = _image(contents, index) if contents.is_image(index) else _table(contents, index)
        except UnusableSpectrum:
            continue
        if found[0] is not None:
            return found
    return None, None


def _image(contents: FitsContents, index: int) -> StoredNumbers:
    block = contents.blocks[index]
    if np.prod(block.shape, dtype=float) > _MOST_READ:
        return None, None
    return _first_row(contents.image(index)), None


def _table(contents: FitsContents, index: int) -> StoredNumbers:
    if not contents.is_table(index):
        return None, None
    table = contents.table(index)
    if table.rows * max((column.repeat for column in table.columns), default=1) > _MOST_READ:
        return None, None
    numeric = [column for column in table.columns if column.is_number]
    names = {column.name.upper(): column for column in reversed(numeric)}
    flux = next((names[name] for name in FLUXES if name in names), None)
    wave = next((names[name] for name in WAVES if name in names), None)
    flux = flux or next((column for column in numeric if column is not wave), None)
    if flux is None:
        return None, None
    values = _first_row(_column(table.numbers(flux)))
    return values, None if wave is None else _first_row(_column(table.numbers(wave)))


def _column(values: Floats | list[Floats]) -> Floats:
    if isinstance(values, list):
        return values[0] if values else np.zeros(0)
    return values[:, 0] if values.shape[-1] == 1 else values


def _first_row(values: Floats) -> Floats:
    while values.ndim > 1:
        values = values[0]
    return np.ascontiguousarray(values[:MOST_STORED])
