"""Texts for pictures: units as people write them, numbers with the digits they need, signs that the font has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
from astropy import units
from matplotlib.ft2font import FT2Font

_RAISED = str.maketrans("0123456789-+./", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺·ᐟ")
_NAMES = {"Angstrom": "Å", "AA": "Å", "um": "µm", "micron": "µm", "ct": "counts", "electron": "e⁻", "photon": "photons"}
_LONGEST = 600


def raised(text: str | int) -> str:
    """A number as an exponent is written."""
    return str(text).translate(_RAISED)


def power_of_ten(exponent: int) -> str:
    """Such as 10⁻¹⁵."""
    return f"10{raised(exponent)}"


def unit_words(text: str) -> tuple[str, float]:
    """A unit in signs, such as ``erg s⁻¹ cm⁻² Å⁻¹``, and the number it is multiplied by.

    A unit that astropy does not know is told as it stands.
    """
    if not text:
        return "", 1.0
    unit = units.Unit(text, format="fits", parse_strict="silent")
    if isinstance(unit, units.UnrecognizedUnit) or not hasattr(unit, "bases"):
        return text, 1.0
    return " ".join(_factor(base, power) for base, power in _ordered(unit)), float(abs(unit.scale))


def _ordered(unit: Any) -> list[tuple[str, Fraction]]:
    powers = ((base.to_string(), Fraction(power)) for base, power in zip(unit.bases, unit.powers, strict=True))
    places = {"s": 1, "cm": 2, "m": 2, "Angstrom": 3, "AA": 3, "um": 3, "nm": 3, "Hz": 3}
    return sorted(powers, key=lambda factor: (factor[1] < 0, places.get(factor[0], 0)))


def _factor(base: str, power: Fraction) -> str:
    name = _NAMES.get(base, base)
    return name if power == 1 else name + raised(str(power))


def flux_words(unit: str, exponent: int, *, error: bool = False) -> str:
    """What stands along the flux axis whose numbers were divided by this power of ten; of errors, that they are."""
    signs, scale = unit_words(unit)
    name = _quantity(signs)
    if not signs and scale == 1:
        name = "Relative flux"
    name = f"Uncertainty of the {name.lower()}, 1σ" if error else name
    multiple = _multiple(scale, exponent)
    inside = " ".join(filter(None, (multiple, signs))) if signs else ", ".join(filter(None, (multiple, "no unit")))
    return f"{name} ({inside})"


def _quantity(signs: str) -> str:
    """What a unit is one of: a flux is energy on an area, a flux density that per wavelength or frequency."""
    if any(each in signs for each in ("Å⁻¹", "nm⁻¹", "µm⁻¹", "Hz⁻¹", "cm⁻³", "m⁻³", "Jy")):
        return "Flux density"
    return "Signal" if signs.startswith(("counts", "count", "adu", "e⁻")) else "Flux"


def _multiple(scale: float, exponent: int) -> str:
    own = round(math.log10(scale)) if scale > 0 else 0
    rest = scale / 10.0**own if abs(own) < 300 else 1.0
    if not math.isclose(rest, 1.0, rel_tol=1e-9):
        return f"{scale:.4g} ×{power_of_ten(exponent)}" if exponent else f"{scale:.4g}"
    return power_of_ten(own + exponent) if own + exponent else ""


def number_words(values: Sequence[float]) -> list[str]:
    """Numbers with as many digits as tell neighbours apart, a proper minus, and thin spaces in long ones."""
    steps = [abs(b - a) for a, b in pairwise(values) if b != a]
    smallest = min(steps, default=abs(values[0]) if values else 1.0) or 1.0
    digits = next((n for n in range(9) if _whole(smallest * 10**n)), 9)
    return [_grouped(f"{value:.{digits}f}") for value in values]


def _whole(number: float) -> bool:
    return number >= 0.999 and abs(number - round(number)) < 1e-6 * max(1.0, number)


def _grouped(number: str) -> str:
    bare = number.lstrip("-")
    head, dot, tail = bare.partition(".")
    if len(head) > 5:
        head = f"{int(head):,}".replace(",", "\u2009")
    zero = not bare.strip("0.")
    return ("−" if number.startswith("-") and not zero else "") + head + dot + tail


def printable(text: str, *, most: int = _LONGEST) -> str:
    """A text in one line, of signs that the font has; others are shown as a box. What is very long is cut."""
    known = _signs()
    return "".join(_sign(sign, known) for sign in " ".join(text[: 4 * most].split())[:most])


def _sign(sign: str, known: frozenset[int]) -> str:
    return sign if ord(sign) in known and sign.isprintable() else "□"


@lru_cache(1)
def _signs() -> frozenset[int]:
    return frozenset(FT2Font(str(Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf"))).get_charmap())
