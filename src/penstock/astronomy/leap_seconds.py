"""Between the clocks that headers tell times by: universal time, atomic time, and the times that follow it."""

from __future__ import annotations

from bisect import bisect_right

_SINCE = (
    *(41317, 41499, 41683, 42048, 42413, 42778, 43144, 43509, 43874, 44239, 44786, 45151, 45516, 46247),
    *(47161, 47892, 48257, 48804, 49169, 49534, 50083, 50630, 51179, 53736, 54832, 56109, 57204, 57754),
)
"Modified Julian dates since when one second more than before lies between TAI and UTC; ten on the first of them."
BEYOND_TAI = {"TAI": 0.0, "TT": 32.184, "TDT": 32.184, "ET": 32.184, "TDB": 32.184, "TCB": 32.184, "GPS": -19.0}
"Seconds that clocks are ahead of TAI; those of TDB, to two thousandths."
_DAY = 86_400.0
_TCB_RATE, _TCB_SINCE = 1.550519768e-8, 43_144.0003725
"TCB gains half a second a year on TDB, since the first day of 1977."


def seconds_of_tai(mjd: float) -> int:
    """Seconds that TAI is ahead of UTC; before 1972, when they differed by parts of seconds, ten."""
    return 10 + max(0, bisect_right(_SINCE, mjd) - 1)


def in_utc(mjd: float, *, scale: str) -> float:
    """A modified Julian date of a clock of this name, told in UTC. A clock that is not known is taken for UTC."""
    ahead = BEYOND_TAI.get(scale)
    if ahead is None:
        return mjd
    if scale == "TCB":
        mjd -= _TCB_RATE * (mjd - _TCB_SINCE)
    atomic = mjd - ahead / _DAY
    guess = atomic - seconds_of_tai(atomic) / _DAY
    return atomic - seconds_of_tai(guess) / _DAY
