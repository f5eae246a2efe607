"""A film, and one command written by hand that makes the rungs of a stream of it, with what it costs in CPU.

The command makes segments only, and has nobody to tell of them; the rungs, the encoder's settings and the length of the
segments are those of ours. Something can be played when all rungs have a segment and a playlist that names it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from time import sleep

from bench import family_cpu
from bench.measure import FULL, Clock, Effort, Round
from penstock.media.ffmpeg import binary, run, writing
from penstock.media.ladder import Rung, rungs
from penstock.media.probe import probe
from penstock.media.probed import Probed

COMMAND = "one command"
_SMALL = 0.1
"Efforts below this size encode a small film."
_ENCODER = "-c:v libx264 -preset veryfast -crf 23 -bf 0 -g 50 -keyint_min 50 -sc_threshold 0 -pix_fmt yuv420p"
_SOUND = "-c:a aac -b:a 128k -ac 2 -ar 48000"
_SEGMENTS = "-f hls -hls_time 2 -hls_playlist_type event -hls_segment_type fmp4 -master_pl_name master.m3u8"


@dataclass(frozen=True)
class Film:
    """What is encoded, and where to."""

    source: Path
    probed: Probed
    ladder: list[Rung]
    into: Path


def film_for(effort: Effort, folder: Path) -> Film:
    """Something that moves, with a little grain and a tone."""
    small = effort.size < _SMALL
    size, seconds = ("320x180", 3) if small else ("1280x720", 8)
    seen = f"testsrc2=size={size}:rate=25:duration={seconds},noise=alls=4:allf=t"
    made = ["-f", "lavfi", "-i", seen, "-f", "lavfi", "-i", f"sine=duration={seconds}", "-pix_fmt", "yuv420p"]
    source = folder / "film.mp4"
    run([*made, "-c:v", "libx264", "-preset", "veryfast", "-c:a", "aac", writing(source)])
    probed = probe(source)
    return Film(source, probed, rungs(probed), folder / "out")


def rounds_for(effort: Effort) -> int:
    """How often it is encoded: each time takes seconds."""
    return 7 if effort.rounds >= FULL.rounds else min(3, effort.rounds)


def own_clock() -> Clock:
    """Seconds of this process and of all it has started, whether they have ended or not."""
    alive = family_cpu.clock(os.getpid())
    return lambda: alive() + sum(os.times()[2:4])


def whole_by_hand(film: Film) -> float:
    """The seconds for all of the film."""
    cpu = own_clock()
    begun = cpu()
    with _by_hand(film) as process:
        process.wait()
    if process.returncode:
        raise RuntimeError("the command has failed")
    return cpu() - begun


def first_by_hand(film: Film) -> float:
    """The seconds until something can be played."""
    cpu = own_clock()
    begun = cpu()
    with _by_hand(film) as process:
        playlists = [film.into / f"{rung.name}.m3u8" for rung in film.ladder]
        while process.poll() is None:
            if all(playlist.exists() for playlist in playlists):
                return cpu() - begun
            sleep(0.01)
    raise RuntimeError("there was nothing to be played")


@contextmanager
def _by_hand(film: Film) -> Iterator[subprocess.Popen[bytes]]:
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


def encoding_round(film: Film, way: Callable[[Film], float]) -> Round:
    """A way to encode the film, in microseconds, into an empty folder."""

    def measured() -> float:
        rmtree(film.into, ignore_errors=True)
        return way(film) * 1e6

    return measured
