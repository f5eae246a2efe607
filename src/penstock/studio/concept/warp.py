"""How a picture moves whose parts nobody knows: it is bent, as if it were printed on rubber."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image

from penstock.studio.drawing.canvas import Floats


def warped(picture: Image.Image, clip: str, part: float) -> Image.Image:
    """A square picture with a margin around its subject, at a moment of a loop."""
    alpha = np.asarray(picture.getchannel("A")) > 40
    rows, columns = np.flatnonzero(alpha.any(axis=1)), np.flatnonzero(alpha.any(axis=0))
    if not len(rows):
        return picture
    top, bottom, left, right = rows[0], rows[-1], columns[0], columns[-1]
    tall, wide, middle = max(bottom - top, 1), max(right - left, 1), (left + right) / 2
    y, x = np.mgrid[0 : picture.height, 0 : picture.width].astype(np.float32)
    up, side = (bottom - y) / tall, (x - middle) / wide
    swing = math.sin(2 * math.pi * part)
    if clip == "idle":
        from_y = bottom - (bottom - y) / (1 + 0.025 * swing)
        from_x = x - 0.012 * wide * swing * up.clip(0, 1) ** 2
    else:
        legs = (1 - up / 0.45).clip(0, 1)
        right_side = 1 / (1 + np.exp(-18 * side))
        lift = 0.09 * tall * legs * (max(swing, 0) * right_side + max(-swing, 0) * (1 - right_side))
        bob = 0.02 * tall * abs(math.cos(2 * math.pi * part)) * (up / 0.45).clip(0, 1)
        from_y = y + lift + bob
        from_x = x - 0.05 * wide * swing * (up - 0.3).clip(0, 1)
    return _sampled(picture, from_x.astype(np.float32), from_y.astype(np.float32))


def _sampled(picture: Image.Image, x: Floats, y: Floats) -> Image.Image:
    """Pixels from elsewhere, between four of them; what is half transparent counts half."""
    source = np.asarray(picture.convert("RGBa"), dtype=np.float32)
    high, wide = source.shape[:2]
    x, y = x.clip(0, wide - 1.001), y.clip(0, high - 1.001)
    x0, y0 = x.astype(np.int32), y.astype(np.int32)
    fx, fy = (x - x0)[..., None], (y - y0)[..., None]
    above = source[y0, x0] * (1 - fx) + source[y0, x0 + 1] * fx
    below = source[y0 + 1, x0] * (1 - fx) + source[y0 + 1, x0 + 1] * fx
    result = (above * (1 - fy) + below * fy + 0.5).clip(0, 255).astype(np.uint8)
    return Image.frombytes("RGBa", (wide, high), result.tobytes()).convert("RGBA")
