"""Where a header says that the telescope, or its target, was: hours, degrees or radians, as each card tells it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.astronomy.judgement import FileFinding
from penstock.astronomy.sky_position import Position, position_of, precessed, separation
from penstock.astronomy.spectra.cards import CardValue, HeaderCards

_PAIRS = (
    # The target before the telescope's pointing, which may be the middle of a field of degrees.
    *(("PLUG_RA", "PLUG_DEC"), ("RA_TARG", "DEC_TARG"), ("TARG_RA", "TARG_DEC"), ("RA_OBJ", "DEC_OBJ")),
    *(("OBJRA", "OBJDEC"), ("OBJ-RA", "OBJ-DEC"), ("CAT-RA", "CAT-DEC"), ("LTARGRA", "LTARGDEC")),
    *(("STARGRA", "STARGDEC"), ("ESO OBS ALPHACAT", "ESO OBS DELTACAT"), ("RA", "DEC"), ("RA2000", "DEC2000")),
    *(("RADEG", "DECDEG"), ("RA-D", "DEC-D"), ("RA-DEG", "DEC-DEG"), ("RA_DEG", "DEC_DEG"), ("RA-RAD", "DEC-RAD")),
    *(("LRA", "LDEC"), ("SRA", "SDEC"), ("TELRA", "TELDEC"), ("RA_PNT", "DEC_PNT"), ("RA_NOM", "DEC_NOM")),
)
_IN_DEGREES = {"PLUG_RA", "RA_TARG", "TARG_RA", "RA_OBJ", "RADEG", "RA-D", "RA_DEG", "LRA", "SRA", "LTARGRA", "STARGRA"}
_IN_DEGREES |= {"RA_PNT", "RA_NOM"}
"Right ascensions that are told in degrees wherever they are, unless their own comment says otherwise."
_HOURS = re.compile(r"\bhours?\b|\bhrs?\b|\[h\]|\bhh\b|h:m")
_RADIANS = re.compile(r"\bradian|\[rad\]")
_DEGREES = re.compile(r"\bdeg|\[d\]")
_NUMBER = re.compile(r"[+-]?(?:\d{1,12}(?:\.\d{0,20})?|\.\d{1,20})(?:[EeDd][+-]?\d{1,3})?$")
_UNITS = re.compile(r"(?<=\d)\s*[hdm°'′:]\s*")
_FAR = 2.0 * 3600
"Arcseconds. A field of fibres is three degrees wide: its middle is no contradiction to a target in it."


@dataclass(frozen=True, slots=True)
class CardPosition:
    """What a pair of cards says: the places it may mean, one if it is certain."""

    cards: str
    told: str
    places: tuple[Position, ...]


def told_position(*headers: HeaderCards) -> dict[str, Any]:
    """Right ascension and declination in degrees of J2000, and the cards they are from; or why they are not told."""
    found = list(_pairs(headers))
    if not found:
        return {}
    certain = [each for each in found if len(each.places) == 1]
    agreed = [each for each in found for place in [_borne_out(each, certain)] if place is not None]
    if not agreed:
        return {"position_not_read": _why_not(found)}
    groups = [[other for other in certain if _near(each, other, certain)] for each in agreed]
    largest = max(len(group) for group in groups)
    best = agreed[[len(group) for group in groups].index(largest)]
    against = [each for each in certain if each not in groups[agreed.index(best)] and each is not best]
    if against and largest <= len(against):
        return {"position_not_read": f"{_why(best)} and {_why(against[0])} are two places"}
    place = _borne_out(best, certain)
    assert place is not None
    return _told(best, place, against, headers)


def _told(
    best: CardPosition, place: Position, against: list[CardPosition], headers: tuple[HeaderCards, ...]
) -> dict[str, Any]:
    equinox = next((year for cards in headers if (year := _equinox(cards))), None)
    told: dict[str, Any] = {"position_from": best.cards, "position_told": best.told}
    if equinox is not None:
        told["equinox"] = equinox
        if "2000" not in best.cards:
            place = precessed(place, since=equinox)
    if against:
        told["position_contradicted"] = f"{_why(against[0])}, another place"
    return told | {"right_ascension": round(place.ra_degrees, 7), "declination": round(place.dec_degrees, 7)}


def _pairs(headers: tuple[HeaderCards, ...]) -> Iterator[CardPosition]:
    for ra_key, dec_key in _PAIRS:
        for cards in headers:
            if ra_key in cards and (read := _pair(cards, ra_key, dec_key)) is not None:
                yield read
                break


def _pair(cards: HeaderCards, ra_key: str, dec_key: str) -> CardPosition | None:
    ra, dec = _plain(cards.first(ra_key)), _plain(cards.first(dec_key))
    if ra is None or (ra == 0 and dec in (0, None)):
        return None
    comment = cards.comment(ra_key)
    told = f"{ra_key} = {ra}" + (f", {dec_key} = {dec}" if dec is not None else f" and no {dec_key}")
    readings = [] if dec is None else _readings(ra, comment, always_degrees=ra_key in _IN_DEGREES)
    radians = bool(_RADIANS.search(cards.comment(dec_key)))
    down = math.degrees(dec) if radians and isinstance(dec, float) else dec
    places = (position_of(right, down) for right in readings if down is not None)
    return CardPosition(
        f"{ra_key}, {dec_key}", told, tuple(each for each in places if not isinstance(each, FileFinding))
    )


def _plain(value: CardValue | None) -> str | float | None:
    """A number, or a text of hours or degrees with colons in it."""
    if value is None or isinstance(value, bool):
        return None
    if not isinstance(value, str):
        return float(value) if math.isfinite(value) else None
    text = value.strip()[:40]
    if _NUMBER.match(text):
        return float(text.upper().replace("D", "E"))
    return _UNITS.sub(":", text).rstrip('s"″') or None


def _readings(ra: str | float, comment: str, *, always_degrees: bool) -> list[str | float]:
    """The right ascensions that a card may mean, in degrees or as hours, minutes and seconds."""
    if isinstance(ra, str):
        return [ra]
    if _RADIANS.search(comment):
        return [math.degrees(ra)]
    if _HOURS.search(comment):
        return [ra * 15]
    if always_degrees or ra >= 24 or ra < 0 or _DEGREES.search(comment):
        return [ra]
    return [ra, ra * 15]


def _borne_out(one: CardPosition, certain: list[CardPosition]) -> Position | None:
    """The place of a pair: the only one, or the one of two that another pair is near to."""
    if len(one.places) == 1:
        return one.places[0]
    close = [place for place in one.places if any(separation(place, other.places[0]) < _FAR for other in certain)]
    return close[0] if len(close) == 1 else None


def _near(one: CardPosition, other: CardPosition, certain: list[CardPosition]) -> bool:
    place = _borne_out(one, certain)
    return place is not None and separation(place, other.places[0]) < _FAR


def _why(one: CardPosition) -> str:
    return f"the cards say {one.told}"


def _why_not(found: list[CardPosition]) -> str:
    open_to_doubt = [each for each in found if len(each.places) > 1]
    if open_to_doubt:
        return f"{open_to_doubt[0].told}: hours or degrees, nothing tells"
    return f"{found[0].told}: no place on the sky"


def _equinox(cards: HeaderCards) -> float | None:
    """The year of the equinox; EPOCH means it only in files that have no EQUINOX, and is then a round year."""
    for key, years in (("EQUINOX", None), ("LEQUINOX", None), ("EPOCH", (1900.0, 1950.0, 1975.0, 2000.0))):
        found = re.search(r"\d{4}(?:\.\d{0,8})?", cards.said(key) or "")
        year = float(found[0]) if found else 0.0
        if 1850 <= year <= 2100 and (years is None or year in years):
            return year
    return 1950.0 if (cards.said("RADECSYS") or cards.said("RADESYS") or "").upper().startswith("FK4") else None
