"""Units of brightness as tables spell them, and as they are handed on."""

from __future__ import annotations

import re

MAGNITUDE = "mag"

_BASES = {
    "mag": "mag",
    "mags": "mag",
    "magnitude": "mag",
    "magnitudes": "mag",
    "abmag": "mag",
    "stmag": "mag",
    "vegamag": "mag",
    "jy": "Jy",
    "jansky": "Jy",
    "janskys": "Jy",
    "mjy": "mJy",
    "millijy": "mJy",
    "millijansky": "mJy",
    "ujy": "uJy",
    "µjy": "uJy",
    "μjy": "uJy",
    "microjy": "uJy",
    "microjansky": "uJy",
    "njy": "nJy",
    "erg": "erg",
    "ergs": "erg",
    "w": "W",
    "watt": "W",
    "watts": "W",
    "s": "s",
    "sec": "s",
    "second": "s",
    "seconds": "s",
    "cm": "cm",
    "m": "m",
    "hz": "Hz",
    "a": "Angstrom",
    "å": "Angstrom",
    "aa": "Angstrom",
    "ang": "Angstrom",
    "angstrom": "Angstrom",
    "angstroms": "Angstrom",
    "um": "um",
    "µm": "um",
    "μm": "um",
    "micron": "um",
    "microns": "um",
    "nm": "nm",
    "count": "count",
    "counts": "count",
    "ct": "count",
    "cts": "count",
}
_CAPITALS = {"MJy": "", "MJY": ""}
"A capital M is a million, and no unit of a nova's brightness."

_SPELT: dict[frozenset[tuple[str, int]], str] = {
    frozenset({("mag", 1)}): MAGNITUDE,
    frozenset({("Jy", 1)}): "Jy",
    frozenset({("mJy", 1)}): "mJy",
    frozenset({("uJy", 1)}): "uJy",
    frozenset({("nJy", 1)}): "nJy",
    frozenset({("erg", 1), ("s", -1), ("cm", -2)}): "erg s-1 cm-2",
    frozenset({("erg", 1), ("s", -1), ("cm", -2), ("Angstrom", -1)}): "erg Angstrom-1 s-1 cm-2",
    frozenset({("erg", 1), ("s", -1), ("cm", -2), ("Hz", -1)}): "erg Hz-1 s-1 cm-2",
    frozenset({("erg", 1), ("s", -1), ("cm", -2), ("um", -1)}): "erg s-1 um-1 cm-2",
    frozenset({("W", 1), ("m", -2)}): "W m-2",
    frozenset({("W", 1), ("cm", -2)}): "W cm-2",
    frozenset({("W", 1), ("m", -2), ("Hz", -1)}): "W Hz-1 m-2",
    frozenset({("W", 1), ("m", -2), ("um", -1)}): "W um-1 m-2",
    frozenset({("W", 1), ("m", -2), ("nm", -1)}): "W nm-1 m-2",
    frozenset({("count", 1), ("s", -1)}): "count s-1",
}
KNOWN_UNITS = tuple(_SPELT.values())
"Every unit that is handed on, as astropy's FITS format writes it."

_TOKEN = re.compile(r"([/*.·]?)([A-Za-zµμÅå]{1,12})(?:\^|\*\*)?\(?([+-]?[0-9])?\)?\^?")
_BRACKET = re.compile(r" ?/ ?\(([^()]{1,40})\)")
"erg / (s cm2): all in the bracket is below."
_SCALES = ({"Jy": 1.0, "mJy": 1e-3, "uJy": 1e-6, "nJy": 1e-9}, {MAGNITUDE: 1.0, "mmag": 1e-3})
"Units that are parts of one another."
_MILLI = ("mmag", "mmags", "millimag", "millimags", "millimagnitude", "millimagnitudes", "0.001mag")
_NO_UNITS = ("", "-", "--", "---", "1", "1sigma", "1-sigma", "1 sigma", "sigma", "stat", "rms", "std", "stddev")
"What stands behind the name of an uncertainty and is no unit."


def named_unit(text: str) -> str | None:
    """The unit that a text means, as astropy's FITS format writes it; `None` if nobody knows it."""
    text = " ".join(text.strip().strip("[]").split())
    if len(text) > 60 or text in _CAPITALS:
        return None
    powers: dict[str, int] = {}
    text = _BRACKET.sub(lambda found: "/" + "/".join(found[1].split()), text)
    for part in _parts(re.sub(r" ?([/*·]) ?", r"\1", text)):
        if part is None or part[0] in powers:
            return None
        powers[part[0]] = part[1]
    return _SPELT.get(frozenset(powers.items()))


def error_unit(text: str) -> str:
    """The unit of an uncertainty: empty if none is told, and as it is written if nobody knows it."""
    word = " ".join(text.strip().strip("[]").split())
    if word.lower() in _NO_UNITS:
        return ""
    return "mmag" if word.lower() in _MILLI else named_unit(word) or word[:40]


def ratio(unit: str, *, to: str) -> float | None:
    """By what a number in one unit is multiplied to be in the other; `None` if that cannot be."""
    if unit == to:
        return 1.0
    return next((scales[unit] / scales[to] for scales in _SCALES if unit in scales and to in scales), None)


def _parts(text: str) -> list[tuple[str, int] | None]:
    """The factors of a unit with their powers; a `None` among them for what is no factor."""
    found: list[tuple[str, int] | None] = []
    for word in text.replace("mag(AB)", "mag").replace("mag (AB)", "mag").split(" "):
        found += _factors(word)
    return found


def _factors(word: str) -> list[tuple[str, int] | None]:
    found: list[tuple[str, int] | None] = []
    at = 0
    while at < len(word):
        match = _TOKEN.match(word, at)
        base = _BASES.get(match[2].lower()) if match else None
        if match is None or base is None:
            return [None]
        power = int(match[3] or 1)
        found.append((base, -power if match[1] == "/" else power))
        at = match.end()
    return found
