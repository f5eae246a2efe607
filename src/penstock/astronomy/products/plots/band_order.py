"""Bands in order of wavelength, and what those are whose name does not say it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NANOMETRES = {
    "UVW2": 193, "UVM2": 225, "UVW1": 260, "u'": 355, "u": 355, "U": 365, "pg": 430, "B": 440, "CB": 441, "TB": 450,
    "g'": 475, "g": 475, "BP": 510, "TG": 530, "pv": 545, "V": 550, "Vis.": 551, "CV": 552, "unfiltered": 600,
    "TR": 610, "r'": 620, "r": 620, "G": 622, "R": 640, "Rc": 641, "CR": 645, "Ha": 656, "Rj": 700, "i'": 760, "i": 760,
    "RP": 780, "I": 790, "Ic": 791, "Ij": 880, "z'": 900, "z": 900, "Y": 1020, "J": 1220, "H": 1630, "Ks": 2150,
    "K": 2190, "L": 3450, "L'": 3800, "M": 4750, "N": 10_000, "Q": 20_000,
}  # fmt: skip
_LENGTHS = {"å": 0.1, "nm": 1.0, "um": 1e3, "µm": 1e3, "μm": 1e3, "mm": 1e6, "cm": 1e7, "m": 1e9}
_FREQUENCIES = {"mhz": 3e11, "ghz": 3e8, "thz": 3e5}
"The wavelength of one, in nanometres."
_ENERGIES = {"ev": 1240.0, "kev": 1.24, "mev": 1.24e-3}
_NUMBER = re.compile(r"\s*(\d{1,7}(?:\.\d{0,6})?)[\s-]{0,3}([A-Za-zÅµμ]{1,3})\b")
_LAST = 1e12
_MEANINGS = {
    "Vis.": "by eye",
    "CV": "unfiltered, V zero point",
    "CR": "unfiltered, red zero point",
    "CB": "unfiltered, blue zero point",
    "pg": "photographic, blue",
    "pv": "photovisual",
    "TB": "blue of a colour camera",
    "TG": "green of a colour camera",
    "TR": "red of a colour camera",
    "Ha": "hydrogen alpha",
    "unknown": "band not told",
}


def in_order(names: Iterable[str]) -> list[str]:
    """The bands from the shortest wavelength to the longest; those that nobody knows come last, by their names."""
    return sorted(set(names), key=lambda name: (_wavelength(name), name))


def meaning(name: str) -> str:
    """What a band is, if its name does not say it; empty if it does."""
    return _MEANINGS.get(name, "")


def _wavelength(name: str) -> float:
    if name in _NANOMETRES:
        return float(_NANOMETRES[name])
    found = _NUMBER.match(name)
    return _told(float(found[1]), found[2].lower()) if found else _LAST


def _told(number: float, unit: str) -> float:
    """A wavelength, a frequency or an energy in nanometres."""
    if unit in _LENGTHS:
        return number * _LENGTHS[unit]
    once = _FREQUENCIES.get(unit) or _ENERGIES.get(unit)
    return once / number if once and number else _LAST
