"""How a drawing looks whatever it shows: words about style; palette, outline and proportions of a profile."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from penstock.errors import InvalidValue
from penstock.studio.concept.painter import Finish
from penstock.studio.drawing.colour import Colour, darker, lighter, mix
from penstock.studio.vocabulary import Meanings, told

STYLES: Meanings = {
    "pixel": "pixel art|pixel|pixelated|8-bit|8 bit|16-bit|16 bit|retro|voxel",
    "low poly": "low poly|low-poly|lowpoly|polygonal|faceted|ps1",
    "ink": "ink|inked|black and white|monochrome|sketch|line art|manga|noir|pencil",
    "pastel": "pastel|soft colours|soft colors|kawaii|watercolour|watercolor|dreamy",
    "dark": "dark|grim|gritty|gothic|horror|souls|moody|spooky|grimdark",
    "neon": "neon|cyberpunk|synthwave|vaporwave|glowing lines|tron",
    "flat": "flat|minimal|minimalist|vector|icon style",
    "realistic": "realistic|photorealistic|detailed|painterly|semi-realistic",
    "vivid": "vivid|vibrant|colourful|colorful|bright colours|bright colors|saturated",
    "cartoon": "cartoon|cartoony|toon|stylized|stylised|comic|cel-shaded|cel shaded|chunky|hand-drawn|hand drawn|anime",
}
HEADS: Mapping[str, float] = {"chibi": 2.35, "heroic": 4.3, "realistic": 6.2}
"How many heads tall somebody is."
PROPORTIONS: Meanings = {
    "chibi": "chibi|kawaii|super deformed|big-headed|cute",
    "heroic": "heroic|epic|muscular",
    "realistic": "realistic|photorealistic|lifelike|anatomical",
}


@dataclass(frozen=True, slots=True)
class HouseStyle:
    """Everything about a picture but its subject."""

    name: str
    finish: Finish
    palette: tuple[Colour, ...]
    heads: float | None


def house_style(
    words: str, *, palette: Sequence[str] = (), outline: float | None = None, proportions: str | None = None
) -> HouseStyle:
    """The style that is asked for; what the profile says goes before words."""
    text = words.lower()
    name = told(text, STYLES) or "cartoon"
    line, shade, soft, tint = _LOOKS[name]
    thickness = line if outline is None else min(max(float(outline), 0.0), 1.0)
    finish = Finish(
        outline=thickness,
        shade=shade,
        soft=soft,
        facets=name == "low poly",
        line_colour={"ink": (24, 22, 28), "neon": (72, 240, 255)}.get(name),
        tint=tint,
    )
    kind = proportions or told(text, PROPORTIONS)
    return HouseStyle(name, finish, tuple(hex_colour(each) for each in palette), HEADS.get(kind or ""))


def hex_colour(text: str) -> Colour:
    """A colour as a profile writes it; InvalidValue if it is none."""
    found = re.fullmatch(r"#?([0-9a-fA-F]{2})([0-9a-fA-F]{2})([0-9a-fA-F]{2})", text.strip())
    if found is None:
        raise InvalidValue(f"{text[:20]!r} is no colour; write it as #rrggbb")
    return int(found[1], 16), int(found[2], 16), int(found[3], 16)


def recoloured(inks: Mapping[str, Colour], asked: Sequence[str], palette: Sequence[Colour]) -> dict[str, Colour]:
    """Inks in the colours of a palette, the most like first; those that were asked for by name stay as they are."""
    if not palette:
        return dict(inks)
    used: dict[Colour, int] = {}
    result = {}
    for name, colour in inks.items():
        if name in asked or name in _KEPT:
            result[name] = colour
            continue
        nearest = min(palette, key=lambda each: _apart(each, colour) + 60 * used.get(each, 0))
        used[nearest] = used.get(nearest, 0) + 1
        result[name] = mix(colour, nearest, 0.85)
    return result


_KEPT = frozenset({"skin"})


def _apart(one: Colour, other: Colour) -> float:
    """How unlike two colours are, as eyes weigh it."""
    return float(np.linalg.norm((np.array(one) - other) * (0.55, 0.8, 0.4)))


def styled(picture: Image.Image, style: HouseStyle) -> Image.Image:
    """What a style does to a finished picture."""
    if style.name == "pixel":
        return _pixelated(picture)
    return picture


def _pixelated(picture: Image.Image) -> Image.Image:
    """Few large pixels in few colours, and nothing half transparent."""
    by = max(round(max(picture.size) / 96), 1)
    small = picture.resize((max(picture.width // by, 1), max(picture.height // by, 1)), Image.Resampling.BOX)
    alpha = small.getchannel("A").point([255 if value > 110 else 0 for value in range(256)])
    few = small.convert("RGB").quantize(28, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).convert("RGB")
    few.putalpha(alpha)
    return few.resize(picture.size, Image.Resampling.NEAREST)


def _grey(colour: Colour) -> Colour:
    light = 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2]
    tone = round(70 + light * 0.72) if light > 60 else round(light)
    return tone, tone, tone


def _pastel(colour: Colour) -> Colour:
    return lighter(colour, 0.42)


def _dark(colour: Colour) -> Colour:
    return darker(mix(colour, (70, 70, 86), 0.32), 0.22)


def _neon(colour: Colour) -> Colour:
    return darker(_vivid(colour), 0.4)


def _vivid(colour: Colour) -> Colour:
    mean = sum(colour) / 3
    r, g, b = (min(max(round(mean + (each - mean) * 1.45), 0), 255) for each in colour)
    return r, g, b


_LOOKS: Mapping[str, tuple[float, float, float, Callable[[Colour], Colour] | None]] = {
    "cartoon": (0.5, 1.0, 0.3, None),
    "pixel": (0.75, 1.0, 0.0, None),
    "low poly": (0.0, 1.0, 0.0, None),
    "ink": (0.7, 1.2, 0.0, _grey),
    "pastel": (0.3, 0.7, 0.9, _pastel),
    "dark": (0.55, 1.35, 0.6, _dark),
    "neon": (0.5, 1.2, 0.4, _neon),
    "flat": (0.0, 0.0, 0.0, None),
    "realistic": (0.18, 1.2, 1.0, None),
    "vivid": (0.5, 1.0, 0.3, _vivid),
}
"Outline, shade, softness of shadows, and what becomes of colours."
