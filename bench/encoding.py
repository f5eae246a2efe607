"""What an adaptive stream costs, against one command written by hand that makes the same rungs: CPU, ours and ffmpeg's.

The command makes segments only, and has nobody to tell of them; the rungs, the encoder's settings and the length of the
segments are the same. Something can be played when all rungs have a segment and a playlist that names it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from time import sleep

from bench.contender import Limit
from bench.family_cpu import clock
from bench.measure import FULL, Contest, Effort, Round
from bench.topic import Contests
from penstock.media.adaptive import encode_adaptive
from penstock.media.ffmpeg import binary, run, writing
from penstock.media.ladder import Rung, rungs
from penstock.media.probe import probe
from penstock.media.probed import Probed

WHOLE, FIRST = "encoding.whole", "encoding.first"
GROUPS = {WHOLE: "CPU of a film", FIRST: "CPU until something can be played"}
BASELINE = COMMAND = "one command"
ADAPTIVE = "encode_adaptive"
OWN = (ADAPTIVE,)
LIMITS = (
    Limit(f"{WHOLE}: at most 1.10 of one command", WHOLE, ADAPTIVE, COMMAND, 1.10),
    Limit(f"{FIRST}: at most 1.2 of one command", FIRST, ADAPTIVE, COMMAND, 1.2),
)
_SMALL = 0.1
"Efforts below this size encode a small film."
_ENCODER = "-c:v libx264 -preset veryfast -crf 23 -bf 0 -g 50 -keyint_min 50 -sc_threshold 0 -pix_fmt yuv420p"
_SOUND = "-c:a aac -b:a 128k -ac 2 -ar 48000"
_SEGMENTS = "-f hls -hls_time 2 -hls_playlist_type event -hls_segment_type fmp4 -master_pl_name master.m3u8"


class _Enough(Exception):
    """Something can be played."""


@dataclass(frozen=True)
class _Film:
    """What is encoded, and where to."""

    source: Path
    probed: Probed
    ladder: list[Rung]
    into: Path


def _whole(film: _Film) -> float:
    begun = _all_cpu()
    encode_adaptive(film.source, film.probed, film.ladder, film.into)
    return _all_cpu() - begun


def _first(film: _Film) -> float:
    cpu, taken = clock(os.getpid()), 0.0
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


def _whole_by_hand(film: _Film) -> float:
    begun = _all_cpu()
    with _by_hand(film) as process:
        process.wait()
    if process.returncode:
        raise RuntimeError("the command has failed")
    return _all_cpu() - begun


def _first_by_hand(film: _Film) -> float:
    cpu = clock(os.getpid())
    begun = cpu()
    with _by_hand(film) as process:
        playlists = [film.into / f"{rung.name}.m3u8" for rung in film.ladder]
        while process.poll() is None:
            if all(playlist.exists() for playlist in playlists):
                return cpu() - begun
            sleep(0.01)
    raise RuntimeError("there was nothing to be played")


@contextmanager
def _by_hand(film: _Film) -> Iterator[subprocess.Popen[bytes]]:
    film.into.mkdir()
    numbers = range(len(film.ladder))
    split = f"[0:v]split={len(film.ladder)}" + "".join(f"[s{n}]" for n in numbers)
    scaled = [f"[s{n}]scale={rung.width}:{rung.height}[v{n}]" for n, rung in enumerate(film.ladder)]
    bits = [
        (f"{option}:v:{n}", str(film.ladder[n].video_bitrate)) for n in numbers for option in ("-maxrate", "-bufsize")
    ]
    command = [
        *(binary(), "-loglevel", "error", "-nostdin", "-i", str(film.source)),
        *("-filter_complex", ";".join([split, *scaled])),
        *(part for n in numbers for part in ("-map", f"[v{n}]", "-map", "0:a")),
        *(*_ENCODER.split(), *(part for pair in bits for part in pair), *_SOUND.split(), *_SEGMENTS.split()),
        *("-var_stream_map", " ".join(f"v:{n},a:{n},name:{film.ladder[n].name}" for n in numbers)),
        *("-hls_segment_filename", f"{film.into}/%v_%03d.m4s", f"{film.into}/%v.m3u8"),
    ]
    with subprocess.Popen(command) as process:
        try:
            yield process
        finally:
            process.kill()


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """One film, encoded in turns."""
    small = effort.size < _SMALL
    count = 7 if effort.rounds >= FULL.rounds else min(3, effort.rounds)
    ways = {
        WHOLE: {COMMAND: _whole_by_hand, ADAPTIVE: _whole},
        FIRST: {COMMAND: _first_by_hand, ADAPTIVE: _first},
    }
    with TemporaryDirectory() as folder:
        film = _film(Path(folder), size="320x180" if small else "1280x720", seconds=3 if small else 8)
        for group in groups:
            yield group, Contest({name: _round(film, way) for name, way in ways[group].items()}, count)


def _round(film: _Film, way: Callable[[_Film], float]) -> Round:
    def measured() -> float:
        rmtree(film.into, ignore_errors=True)
        return way(film) * 1e6

    return measured


def _film(folder: Path, *, size: str, seconds: int) -> _Film:
    """Something that moves, with a little grain and a tone."""
    seen = f"testsrc2=size={size}:rate=25:duration={seconds},noise=alls=4:allf=t"
    made = ["-f", "lavfi", "-i", seen, "-f", "lavfi", "-i", f"sine=duration={seconds}", "-pix_fmt", "yuv420p"]
    source = folder / "film.mp4"
    run([*made, "-c:v", "libx264", "-preset", "veryfast", "-c:a", "aac", writing(source)])
    probed = probe(source)
    return _Film(source, probed, rungs(probed), folder / "out")


def _all_cpu() -> float:
    """Seconds of this process and of those it has started, if they have ended."""
    return sum(os.times()[:4])
