"""Positions on the sky: how they are written, how far apart they are, and in which cell of the sky they lie.

The sky is cut into 10,000 bands of declination, 64.8″ each, from pole to pole, and each band into cells of right
ascension that are nowhere narrower. Whoever keeps things by cell finds all within an arcminute of a position by looking
into the few cells of `cells_around`, and at nothing else.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum

from penstock.astronomy.judgement import FileFinding

FURTHEST = 60.0
"Arcseconds: the largest radius that is searched. It is less than a cell, so that three in a row suffice."
SAME = 2.0
"Arcseconds: what is nearer is the same object."
OTHER = 10.0
"Arcseconds: what is further is another object."
MOST_CELLS = 9
"In which anything within that radius can lie."

_BANDS = 10_000
_DEGREES_A_BAND = 180 / _BANDS
_TURN = 360.0
_SLACK = 1e-9
"Degrees by which a search is widened, as sines and roots are not exact."
_AT_A_POLE = 1e-16

_NUMBER = re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{0,15})?")
_SEXAGESIMAL = re.compile(
    r"([+\-−]?) ?([0-9]{1,3}) ?[:hd° ] ?([0-9]{1,2}) ?[:m'′ ] ?([0-9]{1,2}(?:\.[0-9]{0,12})?) ?[s\"″]?",
)


class SkyMatch(StrEnum):
    """What the distance of two positions says."""

    SAME = "same"
    AMBIGUOUS = "ambiguous"
    "A person decides."
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Position:
    """A place on the sky: right ascension from 0 to below 360 degrees, declination from -90 to 90."""

    ra_degrees: float
    dec_degrees: float

    def __post_init__(self) -> None:
        if not (0 <= self.ra_degrees < _TURN and -90 <= self.dec_degrees <= 90):
            raise ValueError(f"{self.ra_degrees}, {self.dec_degrees} is no position on the sky")


def position_of(ra: str | float, dec: str | float) -> Position | FileFinding:
    """The position that is told in degrees or in hours, degrees, minutes and seconds; or what is wrong with it."""
    right, declination = _angle(ra, hours=True), _angle(dec, hours=False)
    if right is None or not 0 <= right <= _TURN:
        return _no_position("right ascension", ra, "degrees from 0 to 360, or hours such as 17 50 53.9")
    if declination is None or not -90 <= declination <= 90:
        return _no_position("declination", dec, "degrees from -90 to 90, or such as -32 37 20.5")
    return Position(right % _TURN, declination)


def separation(one: Position, other: Position) -> float:
    """How far two positions are apart, in arcseconds: exact for the nearest, at the poles, and for opposite ones."""
    turn = math.radians(other.ra_degrees - one.ra_degrees)
    here, there = math.radians(one.dec_degrees), math.radians(other.dec_degrees)
    across = math.cos(there) * math.sin(turn)
    # sin(a - b) + …: the difference of declinations is taken before sines are, so that nothing is cancelled.
    along = math.sin(there - here) + 2 * math.sin(here) * math.cos(there) * math.sin(turn / 2) ** 2
    ahead = math.sin(here) * math.sin(there) + math.cos(here) * math.cos(there) * math.cos(turn)
    return math.degrees(math.atan2(math.hypot(across, along), ahead)) * 3600


def match_of(arcseconds: float) -> SkyMatch:
    """What a distance says: below 2″ the same object, above 10″ another, and between a person decides."""
    if not arcseconds >= 0:
        raise ValueError(f"{arcseconds} is no distance")
    if arcseconds < SAME:
        return SkyMatch.SAME
    return SkyMatch.NEW if arcseconds > OTHER else SkyMatch.AMBIGUOUS


def sky_cell(position: Position) -> str:
    """The one cell that a position lies in."""
    band = _band(position.dec_degrees)
    return _name(band, _place(position.ra_degrees, _cells_in(band)))


def cells_around(position: Position, *, arcseconds: float) -> tuple[str, ...]:
    """The cells, nine at most, in one of which lies every position that is no further than so much, 60″ at most."""
    if not 0 <= arcseconds <= FURTHEST:
        raise ValueError(f"{arcseconds} is not between 0 and {FURTHEST} arcseconds")
    radius = arcseconds / 3600 + _SLACK
    low, high = _band(position.dec_degrees - radius), _band(position.dec_degrees + radius)
    found: list[str] = []
    for band in range(low, high + 1):
        found += _of_band(band, position, radius)
    return tuple(found)


def _of_band(band: int, position: Position, radius: float) -> list[str]:
    """The cells of one band that a circle touches."""
    count = _cells_in(band)
    reach = _reach(position.dec_degrees, radius, _widest(position.dec_degrees, radius, band))
    first = math.floor((position.ra_degrees - reach) / _TURN * count)
    last = math.floor((position.ra_degrees + reach) / _TURN * count)
    return [_name(band, place % count) for place in range(first, min(last, first + count - 1) + 1)]


def _widest(declination: float, radius: float, band: int) -> float:
    """The declination in a band at which a circle is widest in right ascension."""
    # Where it is widest at all lies nearer to the pole than its middle; told by the distance from the pole, which
    # is exact where a sine of the declination is not.
    pole = math.radians(90 - abs(declination))
    inside = math.sin(pole) ** 2 - math.sin(math.radians(radius)) ** 2
    from_pole = math.degrees(math.asin(min(1.0, math.sqrt(max(0.0, inside)) / math.cos(math.radians(radius)))))
    widest = math.copysign(90 - from_pole, declination)
    return min(max(widest, band * _DEGREES_A_BAND - 90), (band + 1) * _DEGREES_A_BAND - 90)


def _reach(declination: float, radius: float, at: float) -> float:
    """How far a circle goes to each side in right ascension, at one declination; half a turn: all around."""
    share = math.cos(math.radians(declination)) * math.cos(math.radians(at))
    half = math.sin(math.radians(radius / 2)) ** 2 - math.sin(math.radians((at - declination) / 2)) ** 2
    if half >= share or share < _AT_A_POLE:
        return _TURN / 2
    return math.degrees(2 * math.asin(math.sqrt(max(0.0, half) / share))) * (1 + _SLACK) + _SLACK


def _band(declination: float) -> int:
    return min(max(math.floor((declination + 90) / _DEGREES_A_BAND), 0), _BANDS - 1)


def _cells_in(band: int) -> int:
    """So many that none is narrower than a band is high at its narrow edge, the one nearer to a pole; there, one."""
    edge = max(abs(band * _DEGREES_A_BAND - 90), abs((band + 1) * _DEGREES_A_BAND - 90))
    return max(1, math.floor(_TURN / _DEGREES_A_BAND * math.cos(math.radians(min(edge, 90.0)))))


def _place(ra: float, count: int) -> int:
    return min(math.floor(ra / _TURN * count), count - 1)


def _name(band: int, place: int) -> str:
    return f"{band:05d}-{place:05d}"


def _angle(told: str | float, *, hours: bool) -> float | None:
    """Degrees, from a number of degrees or from three numbers, of which the first are hours for right ascension."""
    if not isinstance(told, str):
        return float(told) if not isinstance(told, bool) and math.isfinite(told) else None
    text = told.strip()
    if len(text) > 40:
        return None
    if _NUMBER.fullmatch(text):
        return float(text)
    match = _SEXAGESIMAL.fullmatch(text)
    return None if match is None else _sexagesimal(match, hours=hours)


def _sexagesimal(match: re.Match[str], *, hours: bool) -> float | None:
    whole, minutes, seconds = int(match[2]), int(match[3]), float(match[4])
    if minutes >= 60 or seconds >= 60 or (hours and (match[1] not in ("", "+") or whole >= 24)):
        return None
    size = whole + minutes / 60 + seconds / 3600
    return size * (15 if hours else 1) * (-1 if match[1] in ("-", "−") else 1)


def _no_position(what: str, value: object, wanted: str) -> FileFinding:
    shown = repr(value)[:60]
    return FileFinding("BAD_POSITION", f"The {what} is {shown}; it should be {wanted}.", {"value": shown})


def precessed(position: Position, *, since: float) -> Position:
    """A position of the equinox of this year, told for J2000 (Lieske 1977); to 2″ from B1950, whose frame is another.

    Only precession is taken off: nothing is known here of how the object itself moves.
    """
    years = (2000.0 - since) / 100
    if abs(years) < 1e-6:
        return position
    first, last, tilt = (math.radians(angle / 3600) for angle in _precession(years))
    ra, dec = math.radians(position.ra_degrees), math.radians(position.dec_degrees)
    turned = ra + first
    across = math.cos(dec) * math.sin(turned)
    along = math.cos(tilt) * math.cos(dec) * math.cos(turned) - math.sin(tilt) * math.sin(dec)
    up = math.sin(tilt) * math.cos(dec) * math.cos(turned) + math.cos(tilt) * math.sin(dec)
    return Position(
        math.degrees(math.atan2(across, along) + last) % _TURN, math.degrees(math.asin(max(-1.0, min(1.0, up))))
    )


def _precession(years: float) -> tuple[float, float, float]:
    """The angles zeta, z and theta, in arcseconds, over so many centuries that end at J2000."""
    # Written from J2000, the way back to an equinox; forward to J2000, the angles change places and signs.
    t = -years
    zeta = 2306.2181 * t + 0.30188 * t**2 + 0.017998 * t**3
    z = 2306.2181 * t + 1.09468 * t**2 + 0.018203 * t**3
    theta = 2004.3109 * t - 0.42665 * t**2 - 0.041833 * t**3
    return -z, -zeta, -theta
