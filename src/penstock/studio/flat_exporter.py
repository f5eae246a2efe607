"""The embedded exporters of what stays flat: sprites as a sheet with an atlas, backgrounds as layers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.generation.asset_steps import AssetOrder
from penstock.generation.errors import for_good
from penstock.generation.steps import Made, StepReporter
from penstock.media.extra import need
from penstock.media.frame_encoder import encode
from penstock.media.whole import whole

_FPS = 24
_SECONDS = 4


class SpriteExporter:
    """Makes a sprite sheet of a picture: it stands and it walks. The same picture and order give the same bytes."""

    name = "penstock.sprite-exporter"
    version = "1"

    def export(
        self, made: Path, order: AssetOrder, provenance: Mapping[str, Any], into: Path, reporter: StepReporter
    ) -> Made:
        """``sprites.png``, ``sprites.json``, ``engine.md``, ``thumbnail.png`` and ``turntable.mp4`` in a folder."""
        for package in ("numpy", "PIL"):
            need(package)
        from penstock.studio.concept.picture_file import opened_safely, save
        from penstock.studio.concept.previews import FILM, thumbnail, walking
        from penstock.studio.concept.sprite_sheet import CELL, sheet_of, sprite_sheet

        with for_good():
            picture = opened_safely(made, longest=2048)
            reporter.progress(0.1, "moving")
            sprites = sprite_sheet(picture, order)
        sheet, atlas = sheet_of(sprites, provenance, self.version)
        reporter.progress(0.4, "saving")
        with whole(into / "sprites.png") as file:
            save(sheet, file, provenance)
        _written(into / "sprites.json", json.dumps(atlas, indent=1, ensure_ascii=False, default=str))
        _written(into / "engine.md", _SPRITE_NOTE.format(cell=CELL, pivot=round(sprites.pivot[1], 3)))
        with whole(into / "thumbnail.png") as file:
            save(thumbnail(picture), file, provenance)
        reporter.progress(0.6, "filming")
        frames = (frame.tobytes() for frame in walking(sprites, _FPS * _SECONDS, _FPS))
        encode(frames, into / "turntable.mp4", width=FILM[0], height=FILM[1], fps=_FPS)
        reporter.progress(1.0)
        counts = {clip: len(frames) for clip, frames in sprites.clips.items()}
        metrics = {
            "frames": counts,
            "cell": CELL,
            "parts_known": sprites.drawn,
            "width": sheet.width,
            "height": sheet.height,
        }
        return Made(metrics={**metrics, **_bytes(into)})


class BackgroundExporter:
    """Makes parallax layers of a background. The same picture and order give the same bytes."""

    name = "penstock.background-exporter"
    version = "1"

    def export(
        self, made: Path, order: AssetOrder, provenance: Mapping[str, Any], into: Path, reporter: StepReporter
    ) -> Made:
        """``layer_0.png`` and on, ``layers.json``, ``background.png``, a note, a thumbnail and a film in a folder."""
        for package in ("numpy", "PIL"):
            need(package)
        from penstock.studio.concept.parallax import parallax
        from penstock.studio.concept.picture_file import opened_safely, save
        from penstock.studio.concept.previews import WIDE_FILM, thumbnail

        with for_good():
            picture = opened_safely(made, longest=2048)
            reporter.progress(0.1, "parting layers")
            layered = parallax(picture, order)
        told = []
        for n, layer in enumerate(layered.layers):
            with whole(into / f"layer_{n}.png") as file:
                save(layer.picture, file, provenance)
            told.append({"image": f"layer_{n}.png", "name": layer.name, "depth": n, "speed": layer.speed})
        background = layered.composed()
        with whole(into / "background.png") as file:
            save(background, file, provenance)
        width, height = background.size
        index = {
            "width": width,
            "height": height,
            "tiles": layered.tiles,
            "layers": told,
            "provenance": dict(provenance),
        }
        _written(into / "layers.json", json.dumps(index, indent=1, ensure_ascii=False, default=str))
        _written(into / "engine.md", _LAYER_NOTE.format(count=len(told), again="" if layered.tiles else "not "))
        with whole(into / "thumbnail.png") as file:
            save(thumbnail(background), file, provenance)
        reporter.progress(0.6, "filming")
        frames = (frame.tobytes() for frame in layered.drift(_FPS * _SECONDS, WIDE_FILM))
        encode(frames, into / "turntable.mp4", width=WIDE_FILM[0], height=WIDE_FILM[1], fps=_FPS)
        reporter.progress(1.0)
        metrics = {"layers": len(told), "tiles": layered.tiles, "width": width, "height": height}
        return Made(metrics={**metrics, **_bytes(into)})


def _written(into: Path, text: str) -> None:
    with whole(into) as file:
        file.write_text(text + "\n", encoding="utf-8")


def _bytes(folder: Path) -> dict[str, Any]:
    sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir()) if path.is_file()}
    return {"files": sizes, "bytes": sum(sizes.values())}


_SPRITE_NOTE = """# How to use this sprite

- `sprites.png` with `sprites.json` (TexturePacker, JSON hash): frames of {cell} × {cell} pixels, straight alpha.
- Clips: `idle` and `walk`, both loops; each frame has its duration in milliseconds, as in `meta.frameTags`.
- The pivot is where it stands: 0.5 from the left, {pivot} from the top.
- Unity: import as Sprite (2D), Multiple, slice {cell} × {cell}. Godot: SpriteFrames from the sheet.
- Phaser: `load.atlas`. PixiJS: `Assets.load`.
"""
_LAYER_NOTE = """# How to use this background

- `layer_0.png` is the farthest and opaque; {count} layers lie on one another, straight alpha, all of one size.
- `background.png` is all of them together.
- `layers.json` tells for each how much of the camera's move it follows (`speed`, from 0 to 1).
- Layers do {again}repeat themselves from left to right.
- Unity: one sprite for each, sorted by depth. Godot: one ParallaxLayer each, with `motion_scale` as its speed.
"""
