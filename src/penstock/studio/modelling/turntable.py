"""A model that turns once around, as a film."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from penstock.media.frame_encoder import encode
from penstock.studio.modelling.model import Clip, Model
from penstock.studio.modelling.posing import posed
from penstock.studio.modelling.rasteriser import Pixels, Rasteriser, framing

SIZE, FRAMES, FPS = 360, 36, 12


def film(model: Model, into: Path, progress: Callable[[float], None]) -> None:
    """An MP4 of the model turning once, and walking if it can; ``progress`` is told the share that is done."""
    clip = next((clip for clip in model.clips if clip.name == "walk"), None)
    encode(_frames(model, clip, progress), into, width=SIZE, height=SIZE, fps=FPS)


def _frames(model: Model, clip: Clip | None, progress: Callable[[float], None]) -> Iterator[Pixels]:
    """All around once; what walks takes whole steps, so that the film can be looped."""
    steps = max(round(FRAMES / FPS / clip.seconds), 1) if clip else 0
    moments = [n / FRAMES * steps * (clip.seconds if clip else 0) for n in range(FRAMES)]
    poses = [posed(model, clip, moment) for moment in moments] if clip else [(model.positions, model.normals)]
    rasteriser = Rasteriser(model, size=SIZE, view=framing([positions for positions, _ in poses]))
    for n in range(FRAMES):
        if n % 6 == 0:
            progress(n / FRAMES)
        positions, normals = poses[n % len(poses)]
        yield np.ascontiguousarray(rasteriser.frame(positions, normals, yaw=2 * math.pi * n / FRAMES))
