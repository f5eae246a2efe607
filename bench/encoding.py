"""What an adaptive stream costs, against one command written by hand that makes the same rungs: CPU, also ffmpeg's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.contender import Limit
from bench.films import COMMAND, Film, encoding_round, film_for, first_by_hand, own_clock, rounds_for, whole_by_hand
from bench.measure import Contest, Effort
from bench.topic import Contests
from penstock.media.adaptive import encode_adaptive

WHOLE, FIRST = "encoding.whole", "encoding.first"
GROUPS = {WHOLE: "CPU of a film", FIRST: "CPU until something can be played"}
BASELINE = COMMAND
ADAPTIVE = "encode_adaptive"
OWN = (ADAPTIVE,)
LIMITS = (
    Limit(f"{WHOLE}: at most 1.10 of one command", WHOLE, ADAPTIVE, COMMAND, 1.10),
    Limit(f"{FIRST}: at most 1.2 of one command", FIRST, ADAPTIVE, COMMAND, 1.2),
)


class _Enough(Exception):
    """Something can be played."""


def _whole(film: Film) -> float:
    cpu = own_clock()
    begun = cpu()
    encode_adaptive(film.source, film.probed, film.ladder, film.into)
    return cpu() - begun


def _first(film: Film) -> float:
    cpu, taken = own_clock(), 0.0
    begun = cpu()

    def stop(file: Path) -> None:
        nonlocal taken
        if file.name == "master.m3u8":
            taken = cpu() - begun
            raise _Enough

    try:
        encode_adaptive(film.source, film.probed, film.ladder, film.into, grown=stop)
    except _Enough:
        return taken
    raise RuntimeError("there was nothing to be played")


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """One film, encoded in turns."""
    ways = {
        WHOLE: {COMMAND: whole_by_hand, ADAPTIVE: _whole},
        FIRST: {COMMAND: first_by_hand, ADAPTIVE: _first},
    }
    with TemporaryDirectory() as folder:
        film = film_for(effort, Path(folder))
        for group in groups:
            rounds = {name: encoding_round(film, way) for name, way in ways[group].items()}
            yield group, Contest(rounds, rounds_for(effort))
