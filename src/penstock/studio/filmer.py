"""The embedded camera: films that are drawn frame by frame, from the words of the prompt, without any model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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
                note_faces(film, Faces(scene.mouth, faces))
        reporter.progress(1.0)
        metrics = {"frames": scene.count, "place": scene.plan.place, "hour": scene.plan.hour}
        return Made(metrics=metrics, not_drawn=self._not_drawn(shot, scene))

    def _not_drawn(self, shot: Shot, scene: Any) -> Sequence[str]:
        """What the prompt names and the film does not show."""
        from penstock.studio.not_drawn import not_drawn

        described = shot.character if shot.character.lower() not in shot.prompt.lower() else ""
        return not_drawn(f"{shot.prompt}\n{described}", scene.plan, [scene.who.figure()], manner=_manner(shot))

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
        return DrawnScene(shot, palette, self.width, self.height, self.fps, manner=_manner(shot))

    def _frames(self, scene: Any, faces: list[Face], reporter: StepReporter) -> Iterator[bytes]:
        """The frames, one by one; the reporter hears of every half second, and may stop it there."""
        for n in range(scene.count):
            if n % max(self.fps // 2, 1) == 0:
                reporter.progress(n / scene.count, "filming")
            picture, face = scene.frame(n)
            if face is not None:
                faces.append(face)
            yield picture.tobytes()


def _manner(shot: Shot) -> Sequence[str]:
    """The phrases of a shot's director, which the writer has put into the prompt."""
    manner = director(shot.director)
    return (*manner.camera, *manner.light)
