"""The embedded camera: films that are drawn frame by frame, from the words of the prompt, without any model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from penstock.errors import InvalidValue
from penstock.generation.directors import director
from penstock.generation.errors import for_good
from penstock.generation.steps import Made, Shot, StepReporter
from penstock.media.extra import need
from penstock.media.frame_encoder import encode
from penstock.media.whole import whole
from penstock.studio.faces import Face, Faces, note_faces

_LONGEST = 600.0


class ProceduralFilmer:
    """Films a shot by drawing it. The same shot with the same seed gives the same bytes."""

    def __init__(self, width: int = 1280, height: int = 720, fps: int = 24) -> None:
        self.width, self.height, self.fps = width, height, fps

    def film(self, shot: Shot, into: Path, reporter: StepReporter) -> Made:
        """An MP4 of a shot, exact to the frame; where the character's mouth is, is noted in it."""
        with for_good():
            scene = self._scene(shot)
        faces: list[Face] = []
        with whole(into) as film:
            frames, limit = self._frames(scene, faces, reporter), timedelta(seconds=600 + 30 * shot.seconds)
            encode(frames, film, width=self.width, height=self.height, fps=self.fps, limit=limit)
            if len(faces) == scene.count:
                note_faces(film, Faces(scene.who.kind, faces))
        reporter.progress(1.0)
        return Made(metrics={"frames": scene.count, "place": scene.plan.place, "hour": scene.plan.hour})

    def _scene(self, shot: Shot) -> Any:
        """The drawn scene, whose type cannot be named where the extra is not installed."""
        for package in ("numpy", "PIL"):
            need(package)
        from penstock.studio.drawing.scene import DrawnScene

        if not math.isfinite(shot.seconds) or not 0 < shot.seconds <= _LONGEST:
            raise InvalidValue(
                f"a shot of {shot.seconds:g} seconds cannot be filmed; ask for more than 0 and at most 600"
            )
        palette = director(shot.director).palette if shot.director else ()
        return DrawnScene(shot, palette, self.width, self.height, self.fps)

    def _frames(self, scene: Any, faces: list[Face], reporter: StepReporter) -> Iterator[bytes]:
        """The frames, one by one; the reporter hears of every half second, and may stop it there."""
        for n in range(scene.count):
            if n % max(self.fps // 2, 1) == 0:
                reporter.progress(n / scene.count, "filming")
            picture, face = scene.frame(n)
            if face is not None:
                faces.append(face)
            yield picture.tobytes()
