"""Julian dates of one object in one system: how long its light takes from the Sun, or the barycentre, to the Earth."""

from __future__ import annotations

import math

import numpy as np

from penstock.astronomy.leap_seconds import BEYOND_TAI, in_utc
from penstock.astronomy.sky_position import Position
from penstock.astronomy.spectrum import Floats

COMMON = "JD_UTC"
"The system that others are converted to: universal time at the centre of the Earth."
FURTHEST = "8.3 min"
"How far JD, HJD and BJD are apart at most."
_UNIVERSAL = ("UTC", "UT", "UT1")
_AU_IN_DAYS = 499.004783836 / 86_400
_MJD_ZERO = 2_400_000.5


def in_common_system(jd: Floats, *, system: str, position: Position) -> Floats | None:
    """Julian dates of this system, told as universal time at the centre of the Earth; None if it is not known.

    The telescope is taken to be at the Earth's centre, which is wrong by 21 ms at most. A scale that is not told is
    taken for UTC, or for TDB if they are barycentric: who asks says so to others.
    """
    centre, _, scale = system.partition("_")
    if centre not in ("JD", "HJD", "BJD"):
        return None
    found = jd if centre == "JD" else _at_earth(jd, centre, position)
    clock = scale or ("TDB" if centre == "BJD" else "UTC")
    if clock in BEYOND_TAI:
        return _universal(found, clock)
    return np.asarray(found, dtype=np.float64) if clock in _UNIVERSAL else None


def _at_earth(jd: Floats, centre: str, position: Position) -> Floats:
    """When the light came to the Earth that comes to the other centre then; twice, since the Earth moves meanwhile."""
    found = jd
    for _ in range(2):
        found = jd - _ahead(found, centre, position)
    return found


def _ahead(jd: Floats, centre: str, position: Position) -> Floats:
    """Days by which the Earth is nearer to the object than the centre is."""
    # Astropy's own library of positions, without its tables of the Earth's turning, which would be fetched.
    import erfa

    heliocentric, barycentric, _ = erfa.ufunc.epv00(jd, np.zeros_like(jd))
    places = np.asarray((heliocentric if centre == "HJD" else barycentric)["p"])
    ra, dec = math.radians(position.ra_degrees), math.radians(position.dec_degrees)
    towards = np.array([math.cos(dec) * math.cos(ra), math.cos(dec) * math.sin(ra), math.sin(dec)])
    return np.asarray(places @ towards * _AU_IN_DAYS)


def _universal(jd: Floats, scale: str) -> Floats:
    return np.array([in_utc(each - _MJD_ZERO, scale=scale) + _MJD_ZERO for each in jd.tolist()], dtype=np.float64)
