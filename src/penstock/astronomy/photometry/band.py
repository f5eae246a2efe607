"""Bands and the many names they go by."""

from __future__ import annotations

from dataclasses import dataclass

UNKNOWN = "unknown"
"The band of a brightness that is told without one."

BANDS: dict[str, str] = {
    "U": "Johnson U",
    "B": "Johnson B",
    "V": "Johnson V",
    "R": "red, system not told",
    "I": "near infrared, system not told",
    "Rc": "Cousins R",
    "Ic": "Cousins I",
    "Rj": "Johnson R",
    "Ij": "Johnson I",
    "J": "1.2 µm",
    "H": "1.6 µm",
    "K": "2.2 µm",
    "Ks": "2.2 µm, short",
    "L": "3.5 µm",
    "L'": "3.8 µm",
    "M": "4.8 µm",
    "N": "10 µm",
    "Q": "20 µm",
    "u'": "Sloan u",
    "g'": "Sloan g",
    "r'": "Sloan r",
    "i'": "Sloan i",
    "z'": "Sloan z",
    "Y": "1.0 µm",
    "G": "Gaia G",
    "BP": "Gaia blue",
    "RP": "Gaia red",
    "UVW2": "Swift UVW2",
    "UVM2": "Swift UVM2",
    "UVW1": "Swift UVW1",
    "Vis.": "the eye",
    "pg": "photographic, blue",
    "pv": "photovisual",
    "unfiltered": "no filter",
    "CV": "no filter, V comparison stars",
    "CR": "no filter, R comparison stars",
    "CB": "no filter, B comparison stars",
    "TG": "green of a colour camera",
    "TB": "blue of a colour camera",
    "TR": "red of a colour camera",
    "Ha": "hydrogen alpha",
}
"Every band that is known, with what it is."

_ALIASES = {
    "rc": "Rc",
    "rcousins": "Rc",
    "cousinsr": "Rc",
    "ic": "Ic",
    "icousins": "Ic",
    "cousinsi": "Ic",
    "rj": "Rj",
    "rjohnson": "Rj",
    "johnsonr": "Rj",
    "ij": "Ij",
    "ijohnson": "Ij",
    "johnsoni": "Ij",
    "johnsonu": "U",
    "johnsonb": "B",
    "johnsonv": "V",
    "ujohnson": "U",
    "bjohnson": "B",
    "vjohnson": "V",
    "bessellu": "U",
    "bessellb": "B",
    "bessellv": "V",
    "bessellr": "Rc",
    "besselli": "Ic",
    "kshort": "Ks",
    "ks": "Ks",
    "su": "u'",
    "sg": "g'",
    "sr": "r'",
    "si": "i'",
    "sz": "z'",
    "sloanu": "u'",
    "sloang": "g'",
    "sloanr": "r'",
    "sloani": "i'",
    "sloanz": "z'",
    "sdssu": "u'",
    "sdssg": "g'",
    "sdssr": "r'",
    "sdssi": "i'",
    "sdssz": "z'",
    "u'": "u'",
    "g'": "g'",
    "r'": "r'",
    "i'": "i'",
    "z'": "z'",
    "l'": "L'",
    "vis.": "Vis.",
    "vis": "Vis.",
    "visual": "Vis.",
    "mvis": "Vis.",
    "pg": "pg",
    "pg.": "pg",
    "mpg": "pg",
    "ptg": "pg",
    "photographic": "pg",
    "pv": "pv",
    "pv.": "pv",
    "photovisual": "pv",
    "unfiltered": "unfiltered",
    "clear": "unfiltered",
    "open": "unfiltered",
    "nofilter": "unfiltered",
    "white": "unfiltered",
    "c": "unfiltered",
    "cv": "CV",
    "cr": "CR",
    "cb": "CB",
    "tg": "TG",
    "tb": "TB",
    "tr": "TR",
    "halpha": "Ha",
    "h-alpha": "Ha",
    "ha": "Ha",
    "gbp": "BP",
    "grp": "RP",
    "uvw2": "UVW2",
    "uvm2": "UVM2",
    "uvw1": "UVW1",
}
_LETTERS = {"u": "u'", "g": "g'", "r": "r'", "i": "i'", "z": "z'"}
"A small letter alone is Sloan's: Johnson's are capitals."


@dataclass(frozen=True, slots=True)
class NamedBand:
    """What a source's word for a band was taken for."""

    band: str
    known: bool


def named_band(word: str) -> NamedBand:
    """The band that a word means; a word that nobody knows is a band of its own."""
    word = word.strip().strip('"').strip()
    if word == "":
        return NamedBand(UNKNOWN, known=False)
    if word in BANDS:
        return NamedBand(word, known=True)
    if word in _LETTERS:
        return NamedBand(_LETTERS[word], known=True)
    key = "".join(word.lower().replace("’", "'").replace("′", "'").split()).replace("-band", "").replace("band", "")
    key = key.replace("_", "").replace("(", "").replace(")", "")
    if key in _ALIASES:
        return NamedBand(_ALIASES[key], known=True)
    return _with_the_band_cut_off(word, key)


def _with_the_band_cut_off(word: str, key: str) -> NamedBand:
    """`V band`, `V-band`, `(V)`: the letter is left, and whether it was a capital is told by the word."""
    letter = next((each for each in word if each.isalpha()), "")
    if len(key) == 1 and (letter in BANDS or letter in _LETTERS):
        return NamedBand(letter if letter in BANDS else _LETTERS[letter], known=True)
    return NamedBand(word[:40], known=False)
