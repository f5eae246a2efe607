"""Places as layers from far to near, each of which goes on where it ends, so that a game can scroll through them."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field

import numpy as np
from PIL import Image

from penstock.generation.asset_steps import AssetOrder
from penstock.studio.concept.catalogue import named, subjects
from penstock.studio.concept.draft import Draft
from penstock.studio.concept.house_style import HouseStyle, house_style, recoloured, styled
from penstock.studio.concept.landscape import Band, Landscape
from penstock.studio.concept.painter import Finish, Fit, painted
from penstock.studio.concept.places import PLACES
from penstock.studio.drawing.canvas import gradient
from penstock.studio.drawing.colour import NAMED, Colour, mix
from penstock.studio.drawing.palette import Palette, palette_for
from penstock.studio.vocabulary import HOURS, scenery_colours, told

WIDE, HIGH = 1600.0, 900.0
"Units of a place; it repeats itself after its width."


@dataclass(frozen=True, slots=True)
class SceneryLayer:
    """A layer of a place."""

    name: str
    speed: float
    "How much of the camera's move it follows."
    picture: Image.Image


@dataclass
class _Scene:
    place: Landscape
    colours: Palette
    style: HouseStyle
    hour: str
    rng: np.random.Generator
    size: tuple[int, int]
    text: str
    palette: tuple[Colour, ...] = ()
    extra: list[str] = field(default_factory=list)


def place_of(text: str) -> Landscape:
    """The place that the words name; a clearing in a forest if they name none."""
    found = told(text.lower(), {name: place.words for name, place in PLACES.items()})
    if found is not None:
        return PLACES[found]
    pick = hashlib.sha256(text.lower().encode()).digest()[0]
    return PLACES[("meadow", "mountains", "forest", "village")[pick % 4]]


def scenery(order: AssetOrder, size: tuple[int, int], palette: tuple[Colour, ...] = ()) -> list[SceneryLayer]:
    """The layers of the place an order asks for, the farthest first; only that one is opaque."""
    text = f"{order.concept} {order.details}".lower()
    place = place_of(text)
    style = house_style(f"{order.style} {text}", palette=order.palette, outline=order.outline)
    hour = told(text, HOURS) or place.hour
    asked = scenery_colours(text, tuple(NAMED))
    colours = palette_for(place.light, hour, asked, neon="neon" in text or "cyberpunk" in text)
    digest = hashlib.sha256(f"{order.seed}\n{text}".encode()).digest()
    scene = _Scene(place, colours, style, hour, np.random.default_rng(list(digest[:16])), size, text)
    scene.palette = style.palette or palette
    own = set(place.words.split("|"))
    more = [
        each
        for each in named(text)
        if each.subject.family in _STANDING and not own & set(text[each.start : each.stop].split())
    ]
    scene.extra = [each.subject.name for each in more if each.subject.name not in own][:3]
    if {"village", "town", "settlement"} & set(text.split()) - own:
        scene.extra.append("house")
    layers = [SceneryLayer("sky", 0.05, _sky(scene))]
    for n, band in enumerate(place.bands):
        speed = 0.2 + 0.8 * (n + 1) / len(place.bands)
        layers.append(SceneryLayer(band.name, round(speed, 2), _band(scene, band, n)))
    return layers


_STANDING = frozenset({"plants", "buildings", "furniture", "containers", "vehicles"})


def composed(layers: list[SceneryLayer]) -> Image.Image:
    """All layers on one another."""
    picture = layers[0].picture.copy()
    for layer in layers[1:]:
        picture.alpha_composite(layer.picture)
    return picture


def _sky(scene: _Scene) -> Image.Image:
    wide, high = scene.size
    colours = [_in_palette(scene, each) for each in (scene.colours.zenith, scene.colours.middle, scene.colours.horizon)]
    if scene.place.walls is not None:
        wall = _in_palette(scene, scene.place.walls)
        colours = [mix(wall, (8, 6, 14), 0.45), wall, mix(wall, (8, 6, 14), 0.3)]
    tint = scene.style.finish.tint
    stops = [tint(each) if tint else each for each in colours]
    picture = gradient(wide, high, [(0, stops[0]), (0.45, stops[1]), (0.78, stops[2]), (1, stops[2])]).convert("RGBA")
    draft = Draft({}, scene.rng)
    if scene.place.walls is None:
        _heavens(scene, draft)
    scene.place.behind(draft, scene.rng) if scene.place.behind else None
    picture.alpha_composite(_painted(scene, draft, 0.0, soft=True))
    return styled(picture, scene.style)


def _heavens(scene: _Scene, d: Draft) -> None:
    """Sun or moon, stars or clouds."""
    rng = scene.rng
    d.inks |= {
        "sun": scene.colours.sun,
        "cloud": scene.colours.cloud,
        "glow": mix(scene.colours.sun, scene.colours.middle, 0.6),
    }
    if scene.colours.dark:
        for _ in range(150):
            x, y, r = rng.uniform(0, WIDE), rng.uniform(0, HIGH * 0.75), rng.uniform(0.8, 2.6)
            d.dot("sun", float(x), float(y), float(r))
    if scene.place.light != "underwater":
        x, y = float(rng.uniform(300, 1300)), float(rng.uniform(120, 240))
        low = scene.hour in {"sunset", "dawn"}
        y = y + 240 if low else y
        d.dot("glow", x, y, 96 if low else 80)
        d.dot("sun", x, y, 64 if low else 52)
    if scene.place.light not in {"space", "underwater"}:
        for _ in range(5):
            x, y, s = float(rng.uniform(0, WIDE)), float(rng.uniform(70, 330)), float(rng.uniform(0.8, 1.7))
            for dx in (-WIDE, 0, WIDE):
                with d.at(x + dx, y, s):
                    for cx, cy, rx in ((-60, 8, 46), (60, 8, 50), (-18, -12, 54), (26, -6, 48), (0, 14, 90)):
                        d.dot("cloud", cx, cy, rx, rx * (0.6 if rx < 80 else 0.3))


def _band(scene: _Scene, band: Band, n: int) -> Image.Image:
    """The land of a band and what stands on it."""
    rng = scene.rng
    d = Draft({}, rng)
    far = 1 - (n + 1) / len(scene.place.bands)
    line = _ridge(rng, band)
    ground = _in_palette(scene, NAMED[band.ink] if band.ink else scene.colours.near)
    light = scene.colours.light
    lit = tuple(channel * shine // 255 for channel, shine in zip(ground, light, strict=True))
    d.inks["ground"] = (lit[0], lit[1], lit[2])
    names = list(band.things)
    if n == len(scene.place.bands) - 2:
        names += scene.extra
    if not band.before:
        _scattered(scene, d, band, names, line)
    xs = np.linspace(-60, WIDE + 60, 240)
    if band.hangs:
        d.poly(
            "ground",
            *((float(x), HIGH - float(y)) for x, y in zip(xs, line(xs), strict=True)),
            (WIDE + 60, -60),
            (-60, -60),
        )
    elif band.tall > 0:
        d.poly(
            "ground",
            *((float(x), HIGH - float(y)) for x, y in zip(xs, line(xs), strict=True)),
            (WIDE + 60, HIGH + 60),
            (-60, HIGH + 60),
        )
        for _ in range(26):
            x = float(rng.uniform(0, WIDE))
            y = HIGH - float(line(np.array([x]))[0]) + float(rng.uniform(16, 130))
            d.mark("ground-" if rng.random() < 0.6 else "ground+", (x - 16, y), (x, y + 3), (x + 16, y), width=4)
    if band.before:
        _scattered(scene, d, band, names, line)
    if band.detail is not None:
        band.detail(d, rng)
    return styled(_painted(scene, d, far), scene.style)


def _scattered(scene: _Scene, d: Draft, band: Band, names: list[str], line: _Line) -> None:
    """Things, evenly but not regularly, on the line of the land."""
    if not names:
        return
    rng = scene.rng
    for k in range(band.count):
        # What is named is there, and not only if chance wants it.
        wanted = scene.extra if not k % 3 and names[-len(scene.extra) :] == scene.extra else names
        drawn_as = wanted[int(rng.integers(len(wanted)))]
        drawn = _thing(scene, drawn_as)
        left, top, right, bottom = drawn.bounds()
        tall = float(rng.uniform(*band.size)) * _LOW.get(drawn_as, 1.0)
        scale = tall / max(bottom - top, 1e-6)
        x = WIDE * (k + float(rng.uniform(0.15, 0.85))) / band.count
        foot = HIGH - float(line(np.array([x]))[0]) + band.sunk * tall + float(rng.uniform(0, band.deep))
        for dx in (-WIDE, 0.0, WIDE):
            if x + dx + scale * right > -60 and x + dx + scale * left < WIDE + 60:
                d.take(drawn, x + dx, foot, scale)


_LOW = {
    "rock": 0.42,
    "bush": 0.5,
    "stump": 0.36,
    "gem": 0.6,
    "car": 0.8,
    "skull": 0.4,
    "castle": 1.7,
    "church": 1.3,
    "house": 1.2,
    "tower": 1.5,
    "windmill": 1.3,
}
"How tall things are beside a tree."


def _thing(scene: _Scene, name: str) -> Draft:
    found = subjects()[name]
    inks = {}
    for ink, choices in found.inks.items():
        usual = choices.split("|")
        inks[ink] = NAMED[usual[int(scene.rng.integers(len(usual)))]]
    inks |= {ink: NAMED[colour] for ink, colour in scene.place.inks.items() if ink in inks}
    inks = recoloured(inks, [], scene.palette)
    light = scene.colours.light
    lit = {ink: _lit(colour, light) for ink, colour in inks.items()}
    drawn = Draft(lit, scene.rng, words=frozenset(scene.text.split()) - {"pirate", "storm"})
    found.draw(drawn)
    left, _, right, bottom = drawn.bounds()
    moved = Draft(drawn.inks, scene.rng)
    moved.take(drawn, -(left + right) / 2, -bottom, 1.0)
    return moved


def _lit(colour: Colour, light: Colour) -> Colour:
    r, g, b = (channel * (255 + 2 * shine) // 765 for channel, shine in zip(colour, light, strict=True))
    return r, g, b


class _Line:
    """A line of heights that goes on where it ends."""

    def __init__(self, rng: np.random.Generator, band: Band) -> None:
        count = 7 if band.sharp < 0.5 else 16
        self._waves = [
            (k, float(rng.normal(0, 1)) / k**0.9, float(rng.uniform(0, 2 * math.pi))) for k in range(1, count)
        ]
        self._band = band
        probe = self._raw(np.linspace(0, WIDE, 400))
        self._low, self._high = float(probe.min()), float(probe.max())

    def _raw(self, x: np.ndarray) -> np.ndarray:
        total = sum(a * np.sin(2 * np.pi * k * x / WIDE + phase) for k, a, phase in self._waves)
        folded = np.abs(total)
        return np.asarray(total * (1 - self._band.sharp) - folded * self._band.sharp)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        share = (self._raw(x) - self._low) / max(self._high - self._low, 1e-9)
        base = self._band.tall if not self._band.hangs else 1 - self._band.tall
        swing = self._band.rough * (share - 0.5)
        return np.asarray((base + swing) * HIGH)


def _ridge(rng: np.random.Generator, band: Band) -> _Line:
    return _Line(rng, band)


def _in_palette(scene: _Scene, colour: Colour) -> Colour:
    return recoloured({"": colour}, [], scene.palette)[""]


def _painted(scene: _Scene, d: Draft, far: float, *, soft: bool = False) -> Image.Image:
    if not d.shapes:
        return Image.new("RGBA", scene.size, (0, 0, 0, 0))
    haze = scene.colours.horizon if scene.place.walls is None else scene.place.walls
    tint = scene.style.finish.tint

    def hazy(colour: Colour) -> Colour:
        seen = mix(colour, haze, 0.62 * far)
        return tint(seen) if tint else seen

    line = 0.0 if soft else scene.style.finish.outline * (0.45 * (1 - far))
    finish = Finish(
        outline=line,
        shade=0.0 if soft else scene.style.finish.shade * (1 - 0.6 * far),
        soft=0.0,
        facets=scene.style.finish.facets,
        line_colour=scene.style.finish.line_colour,
        tint=hazy,
    )
    return painted(d, scene.size, finish, Fit(scene.size[0] / WIDE, 0.0, 0.0), fine=1 if scene.size[0] > 1500 else 2)
