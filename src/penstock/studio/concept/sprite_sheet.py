"""The frames of a sprite, its sheet, and the atlas that tells where they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from penstock.generation.asset_steps import AssetOrder
from penstock.studio.concept.concept_picture import concept_picture
from penstock.studio.concept.house_style import styled
from penstock.studio.concept.painter import Fit, painted
from penstock.studio.concept.poses import loop, moment, union
from penstock.studio.concept.sketchbook import Sketched
from penstock.studio.concept.warp import warped

CELL = 256
IDLE, WALK = 6, 8
DURATIONS = {"idle": 140, "walk": 90}
"Milliseconds that a frame is seen."
_COLUMNS = 7
_MARGIN = 0.05
_LIKE = 9.0
"How much two pictures of the same drawing differ at most, in steps of brightness."


@dataclass(frozen=True, slots=True)
class SpriteSheet:
    """The frames of each clip, all of one size, standing on one line."""

    clips: Mapping[str, list[Image.Image]]
    pivot: tuple[float, float]
    "Where it stands, as parts of a frame."
    drawn: bool
    "Were its parts known, or was a picture bent?"


def sprite_sheet(picture: Image.Image, order: AssetOrder) -> SpriteSheet:
    """Idle and walk frames of a picture: drawn anew in each pose if it was drawn here, and bent if not."""
    sketch = _drawn_here(picture, order)
    return _from_sketch(sketch) if sketch is not None else _from_picture(picture)


def _drawn_here(picture: Image.Image, order: AssetOrder) -> Sketched | None:
    """The draft of a picture, if drawing the order again gives that very picture."""
    again = concept_picture(order, (256, 256))
    if again.sketch is None:
        return None
    one, other = (
        np.asarray(each.resize((64, 64), Image.Resampling.BOX).convert("RGBa"), dtype=np.float32)
        for each in (picture, again.picture)
    )
    return again.sketch if float(np.abs(one - other).mean()) < _LIKE else None


def _from_sketch(sketch: Sketched) -> SpriteSheet:
    stance = sketch.subject.stance
    drafts = {clip: loop(sketch.draft, stance, clip, count) for clip, count in (("idle", IDLE), ("walk", WALK))}
    left, top, right, bottom = union([draft for each in drafts.values() for draft in each])
    room = CELL * (1 - 2 * _MARGIN)
    scale = room / max(right - left, bottom - top, 1e-6)
    fit = Fit(scale, CELL / 2 - scale * (left + right) / 2, CELL * (1 - _MARGIN) - scale * bottom)
    clips = {
        clip: [styled(painted(draft, (CELL, CELL), sketch.finish, fit), sketch.style) for draft in each]
        for clip, each in drafts.items()
    }
    _, _, _, ground = sketch.draft.bounds()
    return SpriteSheet(clips, (0.5, (fit.top + scale * ground) / CELL), drawn=True)


def _from_picture(picture: Image.Image) -> SpriteSheet:
    box = picture.getchannel("A").point([255 if value > 24 else 0 for value in range(256)]).getbbox()
    cut = picture.crop(box) if box else picture
    room = CELL * 0.8
    scale = min(room / cut.width, room / cut.height)
    small = cut.resize((max(round(cut.width * scale), 1), max(round(cut.height * scale), 1)), Image.Resampling.LANCZOS)
    cell = Image.new("RGBA", (CELL, CELL), (0, 0, 0, 0))
    foot = round(CELL * 0.93)
    cell.paste(small, ((CELL - small.width) // 2, foot - small.height))
    clips = {
        clip: [warped(cell, clip, moment(n, count)) for n in range(count)]
        for clip, count in (("idle", IDLE), ("walk", WALK))
    }
    return SpriteSheet(clips, (0.5, foot / CELL), drawn=False)


def sheet_of(sprites: SpriteSheet, provenance: Mapping[str, Any], version: str) -> tuple[Image.Image, dict[str, Any]]:
    """All frames in one picture, and the atlas in the form that engines read."""
    named = [
        (f"{clip}_{n:02d}.png", clip, frame) for clip, frames in sprites.clips.items() for n, frame in enumerate(frames)
    ]
    rows = -(-len(named) // _COLUMNS)
    sheet = Image.new("RGBA", (_COLUMNS * CELL, rows * CELL), (0, 0, 0, 0))
    frames: dict[str, Any] = {}
    for n, (name, clip, frame) in enumerate(named):
        x, y = n % _COLUMNS * CELL, n // _COLUMNS * CELL
        sheet.paste(frame, (x, y))
        frames[name] = {
            "frame": {"x": x, "y": y, "w": CELL, "h": CELL},
            "rotated": False,
            "trimmed": False,
            "spriteSourceSize": {"x": 0, "y": 0, "w": CELL, "h": CELL},
            "sourceSize": {"w": CELL, "h": CELL},
            "pivot": {"x": sprites.pivot[0], "y": round(sprites.pivot[1], 4)},
            "duration": DURATIONS[clip],
        }
    names = list(frames)
    tags = []
    for clip in sprites.clips:
        own = [n for n, name in enumerate(names) if name.startswith(f"{clip}_")]
        tags.append({"name": clip, "from": own[0], "to": own[-1], "direction": "forward"})
    atlas = {
        "frames": frames,
        "animations": {clip: [name for name in names if name.startswith(f"{clip}_")] for clip in sprites.clips},
        "meta": {
            "app": "penstock",
            "version": version,
            "image": "sprites.png",
            "format": "RGBA8888",
            "size": {"w": sheet.width, "h": sheet.height},
            "scale": "1",
            "frameTags": tags,
            "provenance": dict(provenance),
        },
    }
    return sheet, atlas
