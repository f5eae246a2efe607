"""What stands about in a place: things of the catalogue, painted in its light, each on its own spot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageChops

from penstock.studio.concept.catalogue import named, subjects
from penstock.studio.concept.draft import Draft
from penstock.studio.concept.painter import Finish, Fit, painted
from penstock.studio.drawing.canvas import Layer
from penstock.studio.drawing.colour import NAMED, WHITE, Colour, mix
from penstock.studio.drawing.site import Deep, Site

_HIGH = {
    **dict.fromkeys(("tree", "oak", "palm", "pine", "willow", "birch", "windmill", "rocket", "tower", "giraffe"), 0.62),
    **dict.fromkeys(
        ("bus", "truck", "van", "statue", "throne", "spaceship", "boat", "ship", "locomotive", "tent"), 0.42
    ),
    **dict.fromkeys(("horse", "unicorn", "cow", "elephant", "camel", "dragon", "deer", "zebra", "dinosaur"), 0.44),
    **dict.fromkeys(("book", "apple", "key", "coin", "gem", "mug", "cup", "candle", "egg", "mushroom", "bottle"), 0.1),
    **dict.fromkeys(("rock", "chest", "barrel", "crate", "pumpkin", "ball", "drum", "bush", "flower", "box"), 0.17),
    **dict.fromkeys(("mouse", "butterfly", "bee", "crab", "snail", "bird", "frog", "spider"), 0.1),
}
"How high things are, as a part of the frame; others are about as high as a table, and people as people."
_PERSON = 0.58
_FINISH = Finish(outline=0.32, shade=0.9, soft=0.2)


@dataclass(frozen=True, slots=True)
class Piece:
    """A thing, and where it stands: parts of the frame's width and height."""

    what: str
    x: float
    foot: float
    tall: float
    inks: Mapping[str, str] | None = None
    flip: bool = False


def thing(what: str, rng: np.random.Generator, inks: Mapping[str, str] | None = None) -> Draft:
    """Something of the catalogue by a word for it, its foot in the origin."""
    found = named(what)
    subject = found[0].subject if found else subjects()["crate"]
    usual = {ink: choices.split("|") for ink, choices in subject.inks.items()}
    colours = {ink: NAMED[names[int(rng.integers(len(names)))]] for ink, names in usual.items()}
    colours |= {ink: NAMED[name] for ink, name in (inks or {}).items()}
    drawn = Draft(colours, rng, words=frozenset(what.split()))
    subject.draw(drawn)
    left, _, right, bottom = drawn.bounds()
    moved = Draft(dict(drawn.inks), rng)
    moved.take(drawn, -(left + right) / 2, -bottom, 1.0)
    return moved


def height_of(what: str) -> float:
    found = named(what)
    if found and found[0].subject.name in _HIGH:
        return _HIGH[found[0].subject.name]
    usual = _PERSON if found and found[0].subject.family in {"people", "machines"} else 0.28
    return _HIGH.get(what.rstrip("s"), usual)


def pieces(site: Site, depth: float, placed: Iterable[Piece], *, haze: float = 0.0) -> Deep:
    """A layer of things, the farther ones first; haze takes their colours towards that of the air."""
    more = site.reach(depth)
    size = (round(site.width + 2 * more), round(site.height * 1.02))
    draft = Draft({}, site.rng)
    for piece in sorted(placed, key=lambda each: each.foot):
        drawn = thing(piece.what, site.rng, piece.inks)
        _, top, _, _ = drawn.bounds()
        scale = piece.tall * site.height / max(-top, 1e-6)
        with draft.at(more + piece.x * site.width, piece.foot * site.height, flip=piece.flip):
            draft.take(drawn, 0, 0, scale)
    return depth, lit_layer(site, painted(draft, size, _FINISH, Fit(1.0, 0.0, 0.0)), -more, haze=haze)


def lit_layer(site: Site, picture: Image.Image, left: float, *, haze: float = 0.0, share: float = 0.75) -> Layer:
    """A painted picture in the light of a place, without the empty space around it."""
    alpha = picture.getchannel("A")
    box = alpha.getbbox() or (0, 0, 1, 1)
    light: Colour = mix(WHITE, site.palette.light, share)
    flat = picture.convert("RGB").crop(box)
    flat = ImageChops.multiply(flat, Image.new("RGB", flat.size, light))
    if haze:
        flat = Image.blend(flat, Image.new("RGB", flat.size, site.palette.horizon), haze)
    return Layer(flat, alpha.crop(box), left + box[0], float(box[1]))


def scattered(
    site: Site,
    names: tuple[str, ...],
    count: int,
    *,
    foot: tuple[float, float],
    tall: tuple[float, float],
    gap: tuple[float, float] | None = None,
    inks: Mapping[str, str] | None = None,
) -> list[Piece]:
    """Things, evenly but not regularly, from edge to edge and beyond; none in a gap, where somebody acts."""
    rng = site.rng
    found = []
    for n in range(count):
        x = -0.15 + 1.3 * (n + float(rng.uniform(0.2, 0.8))) / count
        if gap is not None and gap[0] < x < gap[1]:
            continue
        what = names[int(rng.integers(len(names)))]
        found.append(
            Piece(what, x, float(rng.uniform(*foot)), float(rng.uniform(*tall)), inks, bool(rng.random() < 0.5))
        )
    return found
