"""A nova made by rule: when and where it shines, how bright, how fast it fades."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np

from penstock.astronomy.spectrum import Floats

BANDS = {"B": (0.25, 0.10), "V": (0.0, 0.0), "R": (-0.25, -0.35), "I": (-0.45, -0.30)}
"By how much each band is fainter than V: at maximum, and how much is added in a hundred days. Hα makes R bright late."
_RISE_DAYS = 2.0
_PLACES = {
    "v1324 sco": (267.7246, -32.6223, 2456098.0),
    "v339 del": (305.8778, 20.7677, 2456520.5),
    "v5668 sgr": (279.2368, -28.9277, 2457102.5),
}
"Right ascension and declination in degrees, Julian date of maximum; all else is made for these as for any other."


@dataclass(frozen=True, slots=True)
class SyntheticNova:
    """What decides everything about it."""

    name: str
    seed: int
    ra: float
    "Degrees."
    dec: float
    peak_jd: float
    peak_v: float
    "Magnitude at maximum."
    quiet_v: float
    "Magnitude before and long after."
    t2: float
    "Days after maximum in which it fades by two magnitudes in V; t3 likewise by three."
    t3: float
    expansion: float
    "Velocity of the shell, km/s."
    motion: float
    "Velocity of the whole, away from us, km/s."
    reddening: float
    "E(B−V)."

    def random(self, what: str) -> np.random.Generator:
        """Chance of its own for each part, so that one can change without the others."""
        return _chance(self.name, self.seed, what)

    def magnitude(self, days: Floats, band: str = "V") -> Floats:
        """How bright it is so many days after maximum, without noise."""
        offset, reddens = BANDS[band]
        after = np.maximum(days, 0.0)
        bright = self.peak_v + self._fade() * np.log10(1 + after / self._bend()) + offset + reddens * after / 100
        rising = self.peak_v + offset + (self.quiet_v - self.peak_v) * np.minimum(-days / _RISE_DAYS, 1.0) ** 2
        outburst = np.where(days >= 0, bright, rising)
        found: Floats = -2.5 * np.log10(10 ** (-0.4 * outburst) + 10 ** (-0.4 * (self.quiet_v + offset)))
        return found

    def _bend(self) -> float:
        """The time at which the decline bends, such that both t2 and t3 hold."""
        low, high = 1e-3, 1e4
        for _ in range(80):
            middle = math.sqrt(low * high)
            ratio = math.log1p(self.t3 / middle) / math.log1p(self.t2 / middle)
            low, high = (middle, high) if ratio < 1.5 else (low, middle)
        return low

    def _fade(self) -> float:
        return 2.0 / math.log10(1 + self.t2 / self._bend())


def synthetic_nova(name: str, *, seed: int) -> SyntheticNova:
    """A nova for a name. The same name and seed make the same nova."""
    chance = _chance(name, seed, "nova")
    t2 = float(np.round(10 ** chance.uniform(0.8, 1.6), 1))
    place = (chance.uniform(255, 300), chance.uniform(-38, 22), np.floor(chance.uniform(2453400, 2459000)) + 0.5)
    ra, dec, peak = _PLACES.get(_plain(name), place)
    return SyntheticNova(
        name=name,
        seed=seed,
        ra=round(float(ra), 4),
        dec=round(float(dec), 4),
        peak_jd=float(peak),
        peak_v=round(float(chance.uniform(5.5, 9.0)), 2),
        quiet_v=round(float(chance.uniform(18.0, 20.5)), 2),
        t2=t2,
        t3=round(2.75 * t2**0.88, 1),  # as novae of the Milky Way have it (Warner 1995)
        expansion=float(np.round(2600 * t2**-0.35 + chance.uniform(-100, 100))),
        motion=float(np.round(chance.uniform(-60, 60))),
        reddening=round(float(chance.uniform(0.2, 0.9)), 2),
    )


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").lower().split())


def _chance(name: str, seed: int, what: str) -> np.random.Generator:
    digest = hashlib.sha256(f"{seed}\n{_plain(name)}\n{what}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16])))
