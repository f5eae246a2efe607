"""Units of fluxes, as files spell them, written as astropy's FITS format does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_ALIASES = {
    "erg": "erg ergs erg. ergs.",
    "s": "s sec secs second seconds",
    "cm": "cm cms",
    "Angstrom": "a å aa ang angs angstrom angstroms ångström",
    "nm": "nm nanometer nanometers",
    "um": "um µm μm micron microns micrometer",
    "m": "m meter meters",
    "Hz": "hz hertz",
    "W": "w watt watts",
    "J": "j joule joules",
    "ph": "ph phot photon photons",
    # Electrons are counted; the FITS standard has no other word for them.
    "count": "ct cts count counts e e- electron electrons",
    "adu": "adu adus dn du",
    "pix": "pix pixel pixels",
    "arcsec": "arcsec arcsecs",
    "sr": "sr",
    "eV": "ev",
    "keV": "kev",
    "fiber": "fiber fibre",
}
_WORDS = {alias: name for name, aliases in _ALIASES.items() for alias in aliases.split()}
_JANSKY = {"Jy": "Jy", "JY": "Jy", "jy": "Jy", "mJy": "mJy", "uJy": "uJy", "µJy": "uJy", "MJy": "MJy", "nJy": "nJy"}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split("|"))


_RELATIVE = _words(
    "relative flux|relative|rel. flux|relative units|arbitrary|arbitrary units|arb. units|arb units|arb|a.u.|"
    "unknown|none|normalized|normalised|normalized flux|normalised flux|dimensionless|dimensionless_unit|"
    "unitless|no units|normalized intensity|n/a|na|1|flux|intensity|continuum normalized|undefined|"
    "uncalibrated"
)
_NO_VARIANCE = {"mag", "mags", "magnitude", "magnitudes", "mmag", "%", "percent", "db", "decibel", "dex"}
_SPECIAL = {
    "flam": "erg cm-2 s-1 Angstrom-1",
    "fnu": "erg cm-2 s-1 Hz-1",
    "photlam": "photon cm-2 s-1 Angstrom-1",
    "photnu": "photon cm-2 s-1 Hz-1",
    "fn": "",
    "data number": "adu",
    "data numbers": "adu",
    "digital counts": "count",
}
# Texts have single spaces when they are compared with these.
_POWER = r"(?: ?(?:\*\*|\^) ?\(? ?([+-]?\d{1,2})(?: ?\))?|([+-]?\d{1,2}))?"
_TOKEN = re.compile(r" ?(?:([*./()·])|(e-(?!\d)|[A-Za-zÅåµμ]+)" + _POWER + ")")
_SCALE = re.compile(
    r" ?\(? ?(?:10 ?(?:\*\*|\^)? ?\(? ?([+-] ?\d{1,3}) ?\)?|10 ?(?:\*\*|\^) ?(\d{1,3})"
    r"|1(?:\.0*)? ?[eE] ?([+-]?\d{1,3})|[eE]([+-]\d{1,3})) ?\)? ?[*.x]? ?"
)
_LABEL = re.compile(r"(?:flux|f_?lambda|f_?lam|intensity|counts)\s*[(\[](.*)[)\]]$", re.IGNORECASE)
_ENERGY = {"erg", "J", "W", "ph", "eV", "keV", "Jy", "mJy", "uJy", "MJy", "nJy"}
_DENSITIES = {
    # energy, area, time, per wavelength or frequency
    (1, -1, -1, -1),
    (1, -1, -1, 0),
    (1, 0, -1, -1),
    (1, 0, -1, 0),
}


@dataclass(frozen=True, slots=True)
class FluxUnit:
    """A unit of fluxes that is understood."""

    text: str
    "As astropy's FITS format writes it; empty: relative, without a unit."
    relative: bool = False


@lru_cache(maxsize=512)
def flux_unit(text: str) -> FluxUnit | None:
    """The unit of this spelling; None where nobody knows it, or it cannot be one of fluxes."""
    word = " ".join(text[:100].split())
    if found := _LABEL.match(word):
        word = found[1].strip()
    if word.strip("[]()").lower() in _RELATIVE or not word:
        return FluxUnit("", relative=True)
    if (special := _SPECIAL.get(word.lower())) is not None:
        return FluxUnit(_written(0, _powers(special) or {}), relative=not special)
    scale, rest = _scale(word)
    powers = _powers(rest)
    if powers is None or not _is_flux(powers):
        return None
    return FluxUnit(_written(scale, powers))


def error_fits(told: str | None, flux: str, *, deviation: bool = True) -> bool:
    """May errors that are told in a unit belong to fluxes of one that `flux_unit` has written?

    Where no unit is told, or one that says nothing, they do. A variance, or its inverse, has another than the flux.
    """
    if not told or not told.strip():
        return True
    unit = flux_unit(told)
    if not deviation:
        return (unit is None or unit.relative) and told.strip().lower() not in _NO_VARIANCE
    return unit is not None and (unit.relative or unit.text == flux)


def per_angstrom(text: str) -> bool:
    """Does a unit as `flux_unit` writes it count per Ångström?"""
    return "Angstrom-1" in text


def _scale(text: str) -> tuple[int, str]:
    """The power of ten before a unit."""
    found = _SCALE.match(text)
    if found is None or not found[0].strip():
        return 0, text
    told = next(group for group in found.groups() if group is not None)
    inside, rest = found[0].count("(") - found[0].count(")"), text[found.end() :]
    return int(told.replace(" ", "")), "(" * max(0, inside) + rest


def _powers(text: str) -> dict[str, int] | None:
    """Names with their powers; a slash divides by what comes next, which may be in brackets."""
    powers: dict[str, int] = {}
    at, sign, outer = 0, 1, [1]
    while at < len(text.rstrip()):
        found = _TOKEN.match(text, at)
        if found is None:
            return None
        at = found.end()
        if mark := found[1]:
            if mark == "(":
                outer.append(outer[-1] * sign)
            elif mark == ")" and len(outer) > 1:
                outer.pop()
            elif mark == ")":
                return None
            sign = -1 if mark == "/" else 1
            continue
        name = _JANSKY.get(found[2]) or _WORDS.get(found[2].lower())
        if name is None:
            return None
        power = int(found[3] or found[4] or 1) * sign * outer[-1]
        powers[name], sign = powers.get(name, 0) + power, 1
    return {name: power for name, power in powers.items() if power} or None


def _is_flux(powers: dict[str, int]) -> bool:
    """Does something arrive: energy or photons on an area, or counts?"""
    if any(name.endswith("Jy") for name in powers):
        flux = powers.keys() - {"arcsec", "sr", "fiber", "pix"}
        return len(flux) == 1 and powers[flux.pop()] == 1
    for counted in {"count", "adu"} & powers.keys():
        per = {"s", "pix", "Angstrom", "nm", "um", "cm", "Hz", "eV", "keV"}
        return powers[counted] == 1 and powers.keys() <= {counted, *per}
    energy = sum(powers.get(name, 0) for name in _ENERGY)
    area = powers.get("cm", 0) + powers.get("m", 0)
    if area not in (-2, -3, 0):
        return False
    time = powers.get("s", 0) - powers.get("W", 0)
    width = sum(powers.get(name, 0) for name in ("Angstrom", "nm", "um", "Hz", "eV", "keV")) - (area == -3)
    if powers.get("eV", 0) + powers.get("keV", 0) and "ph" in powers:
        energy = powers["ph"]
    return (energy, -1 if area else 0, time, width) in _DENSITIES


def _written(scale: int, powers: dict[str, int]) -> str:
    """As astropy writes it: a power of ten, then names, the highest power first."""
    names = sorted(powers, key=lambda name: (-powers[name], name.lower()))
    told = (name if powers[name] == 1 else f"{name}{powers[name]}" for name in names if name != "fiber")
    return " ".join([*([f"10**{scale}"] if scale else []), *told])
