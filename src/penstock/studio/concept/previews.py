"""Small pictures and short films that show what was made."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import Image, ImageOps

from penstock.studio.concept.sprite_sheet import CELL, DURATIONS, SpriteSheet

THUMBNAIL = (512, 512)
FILM = (512, 512)
WIDE_FILM = (640, 360)


def thumbnail(picture: Image.Image) -> Image.Image:
    """A square of it: all of a subject, and the middle of a background."""
    if picture.width == picture.height:
        return picture.resize(THUMBNAIL, Image.Resampling.LANCZOS)
    if picture.getchannel("A").getextrema()[0] == 255:
        return ImageOps.fit(picture, THUMBNAIL, Image.Resampling.LANCZOS)
    return ImageOps.pad(picture, THUMBNAIL, Image.Resampling.LANCZOS, color=(0, 0, 0, 0))


def walking(sprites: SpriteSheet, count: int, fps: int) -> Iterator[Image.Image]:
    """Frames of a film in which a sprite walks by, and stands for a while in the middle."""
    ground = Image.new("RGB", FILM, (232, 236, 240))
    floor = round(FILM[1] * 0.84)
    ground.paste((206, 212, 218), (0, floor, *FILM))
    for n in range(count):
        part = n / count
        stands = 0.4 < part < 0.6
        clip = "idle" if stands else "walk"
        frames = sprites.clips[clip]
        sprite = frames[int(1000 * n / fps / DURATIONS[clip]) % len(frames)]
        along = 0.5 if stands else part / 0.8 if part <= 0.4 else 0.5 + (part - 0.6) / 0.8
        frame = ground.copy()
        x = round(-CELL + along * (FILM[0] + CELL))
        frame.paste(sprite, (x, floor - round(CELL * sprites.pivot[1])), sprite)
        yield frame
