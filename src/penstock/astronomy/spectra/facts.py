"""What the choice of a profile rests on: few enough words of a file to be stored beside the verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

from penstock.astronomy.spectra.cards import HeaderCards
from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.fits_contents import FitsContents
from penstock.astronomy.spectra.spectrum_hints import NO_HINTS, SpectrumHints

MOST_TOLD = 40
"HDUs and columns of each that are told; what comes after them is not asked for."


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_CARDS = _words(
    "INSTRUME TELESCOP ORIGIN CREATOR PIPELINE EXTNAME CTYPE1 CUNIT1 BUNIT DC-FLAG WAT0_001 WAT1_001 CRVAL1 "
    "CD1_1 CDELT1 COEFF0 PRODCATG VOCLASS DISPERSN CAMERA UP_ARR01 UP_WLSRT ARRAY1 ARRAY2 ARRAY3 XUNITS "
    "YUNITS UNITS APNUM1 DOPCOR01 SURVEY DATAMODL VERSPIPE FILETYPE SPECTRO"
)


@dataclass(frozen=True, slots=True)
class HduFacts:
    """One HDU: what it is, its shape, its columns with their units, and those cards that profiles are known by."""

    kind: str
    shape: tuple[int, ...]
    columns: tuple[tuple[str, str, str], ...] = ()
    "Name, format and unit."
    cards: Mapping[str, str] = field(default_factory=dict)

    def said(self, key: str) -> str:
        """A card in capitals, empty where it is not there."""
        return self.cards.get(key, "").upper()

    def has_columns(self, *names: str) -> bool:
        """Is there a column of each of these names, in any case?"""
        have = {column[0].upper() for column in self.columns}
        return all(name.upper() in have for name in names)

    @property
    def is_vector_table(self) -> bool:
        """Do columns hold arrays?"""
        return any(column[1][:-1].isdigit() and int(column[1][:-1]) > 1 for column in self.columns)


@dataclass(frozen=True, slots=True)
class SpectrumFacts:
    """All that a choice of a profile may look at."""

    provider: str | None
    name: str
    "The file's own name."
    signature: str
    structure: tuple[HduFacts, ...]
    hints: SpectrumHints = NO_HINTS

    def said(self, key: str) -> str:
        """The first HDU's word under a keyword, in capitals."""
        return next((told for hdu in self.structure if (told := hdu.said(key))), "")

    @property
    def image(self) -> HduFacts | None:
        """The first image with something in it."""
        return next((hdu for hdu in self.structure if hdu.kind == "image" and hdu.shape and all(hdu.shape)), None)

    @property
    def tables(self) -> list[HduFacts]:
        """Tables with something in them."""
        return [hdu for hdu in self.structure if "table" in hdu.kind and hdu.shape and all(hdu.shape)]

    def to_json(self) -> dict[str, Any]:
        """What JSON can say, and `of` reads."""
        return {**asdict(self), "hints": self.hints.to_json()}

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> SpectrumFacts:
        """The facts that were stored."""
        structure = tuple(
            HduFacts(
                hdu["kind"],
                tuple(hdu["shape"]),
                tuple((column[0], column[1], column[2]) for column in hdu["columns"]),
                dict(hdu["cards"]),
            )
            for hdu in told["structure"]
        )
        hints = SpectrumHints.of(told["hints"])
        return cls(told["provider"], told["name"], told["signature"], structure, hints)


def facts_of(contents: FitsContents, *, provider: str | None, name: str, hints: SpectrumHints) -> SpectrumFacts:
    """The facts of a file."""
    structure = tuple(_hdu(contents, index) for index in range(min(len(contents.blocks), MOST_TOLD)))
    return SpectrumFacts(provider, name[:100], header_signature(contents, structure), structure, hints)


def header_signature(contents: FitsContents, structure: tuple[HduFacts, ...]) -> str:
    """One for all files that the same program wrote for the same instrument: no length and no value goes into it."""
    cards = contents.blocks[0].cards
    who = [cards.said(key) for key in ("INSTRUME", "TELESCOP", "ORIGIN")]
    parts = [
        [hdu.kind, len(hdu.shape), hdu.said("CTYPE1"), hdu.said("WAT0_001"), hdu.said("DC-FLAG"), *_unsized(hdu)]
        for hdu in structure[:8]
    ]
    return sha256(json.dumps([who, parts], ensure_ascii=True).encode("ascii")).hexdigest()


def _unsized(hdu: HduFacts) -> Iterator[list[str]]:
    return ([name.upper(), form[-1:], unit] for name, form, unit in hdu.columns)


def _hdu(contents: FitsContents, index: int) -> HduFacts:
    block = contents.blocks[index]
    return HduFacts(block.kind, block.shape[:9], tuple(_columns(contents, index)), _told(block.cards))


def _columns(contents: FitsContents, index: int) -> Iterator[tuple[str, str, str]]:
    if not contents.is_table(index):
        return
    try:
        columns = contents.table(index).columns
    except UnusableSpectrum:
        # A table that cannot be read may be one that is not needed.
        return
    for column in columns[:MOST_TOLD]:
        yield column.name, f"{column.repeat}{column.code}", column.unit


def _told(cards: HeaderCards) -> dict[str, str]:
    told = {key: said for key in _CARDS if (said := cards.said(key)) is not None}
    if "ESO DRS VERSION" in cards or any(key.startswith("ESO DRS ") for key in cards):
        told["ESO DRS"] = "T"
    return told
