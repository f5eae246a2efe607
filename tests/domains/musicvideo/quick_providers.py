"""Providers that take no time: each film is the same few pictures, with its history written behind them.

Stands in for whoever films elsewhere, where a test is about the pipeline. What it makes are real files, and the text
behind a film tells which scene, take and sound went into it.
"""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from penstock.domains.musicvideo.film_studio import FilmProviders
from penstock.generation.steps import Brief, Made, SceneIdea, Shot, StepReporter
from penstock.media.compose import Cut, CutProgress
from penstock.media.ffmpeg import binary


def _picture() -> bytes:
    into = BytesIO()
    Image.new("RGB", (64, 64), "teal").save(into, "PNG")
    return into.getvalue()


PICTURE = _picture()


@cache
def film(seconds: float = 0.5, *, audio: bool = False) -> bytes:
    """A real film of a few pictures; or half a second of sound."""
    picture = f"testsrc2=size=64x36:rate=12:duration={seconds}"
    source, form = (f"sine=frequency=440:duration={seconds}", "mp3") if audio else (picture, "mp4")
    flags = ["-movflags", "frag_keyframe+empty_moov"] if not audio else []
    command = [binary(), "-v", "error", "-nostdin", "-f", "lavfi", "-i", source, *flags, "-f", form, "pipe:1"]
    return subprocess.run(command, check=True, capture_output=True, timeout=60).stdout


def with_history(film: bytes, history: Any) -> bytes:
    """A film with something written behind it, which no player minds."""
    told = json.dumps(history).encode()
    return film + struct.pack(">I4s", len(told) + 8, b"free") + told


def history_of(film: bytes) -> Any:
    """What is written behind a film."""
    at = film.rindex(b"free")
    return json.loads(film[at + 4 :])


class QuickWriter:
    """As many scenes as are wanted; ``meanwhile`` is called while it writes, and may want fewer."""

    def __init__(self) -> None:
        self.meanwhile: Callable[[Brief], Brief] = lambda brief: brief

    def write(self, brief: Brief, reporter: StepReporter) -> Sequence[SceneIdea]:
        brief = self.meanwhile(brief)
        return [
            SceneIdea(f"{brief.concept}, part {n}", brief.seconds, needs_lip_sync=n == 1)
            for n in range(1, brief.scenes + 1)
        ]

    def add(self, brief: Brief, concept: str, earlier: Sequence[str], reporter: StepReporter) -> SceneIdea:
        return SceneIdea(f"{concept}, after {len(earlier)}", brief.seconds)


class QuickProviders:
    """Everybody at once. What is asked of it is counted; ``meanwhile`` is called while it films."""

    def __init__(self) -> None:
        self.writer = QuickWriter()
        self.filmed: list[Shot] = []
        self.heard: list[tuple[float, float]] = []
        "Where each part of a track begins that was cut out, and how long it is."
        self.meanwhile: Callable[[Shot], None] = lambda shot: None
        self.not_drawn: list[str] | None = None

    def film(self, shot: Shot, into: Path, reporter: StepReporter) -> Made:
        self.filmed.append(shot)
        reporter.progress(0.5, "half way")
        self.meanwhile(shot)
        into.write_bytes(with_history(film(), {"prompt": shot.prompt, "seed": shot.seed}))
        return Made(cost=0.25, metrics={"frames": 6}, not_drawn=self.not_drawn)

    def sync(
        self,
        clip: Path,
        audio: Path,
        into: Path,
        reporter: StepReporter,
        *,
        words: str | None = None,
        job: str | None = None,
        order: str = "",
    ) -> Made:
        into.write_bytes(with_history(film(), {"sings": words or "la", "clip": history_of(clip.read_bytes())}))
        return Made()

    def compose(self, clips: Sequence[Path], track: Path | None, into: Path, progress: CutProgress) -> Cut:
        into.write_bytes(with_history(film(), [history_of(clip.read_bytes()) for clip in clips]))
        return Cut()

    def trim(self, clip: Path, into: Path, *, start: float, stop: float) -> Cut:
        part = film(round(stop - start, 2))
        into.write_bytes(with_history(part, {"part": [start, stop], "clip": history_of(clip.read_bytes())}))
        return Cut()

    def excerpt(self, track: Path, into: Path, *, start: float, seconds: float) -> Cut:
        self.heard.append((start, seconds))
        into.write_bytes(film(audio=True))
        return Cut()

    def thumbnail(self, clip: Path, into: Path) -> Cut:
        into.write_bytes(PICTURE)
        return Cut()

    def draw(self, description: str, into: Path, *, seed: int) -> Made:
        into.write_bytes(PICTURE)
        return Made(not_drawn=self.not_drawn)

    def providers(self) -> FilmProviders:
        return FilmProviders(self.writer, self, self, self, self)
