"""Places: what stands between the sky and the ground, from far to near, and what stands on the ground.

Far things fade into the air. Every place has something large in it by which it is known.
"""

from __future__ import annotations

from collections.abc import Callable

from PIL import Image, ImageDraw

from penstock.generation.asset_steps import AssetOrder
from penstock.studio.concept.scenery import scenery
from penstock.studio.drawing.canvas import Layer, cut_out
from penstock.studio.drawing.colour import Colour, darker, lit, mix
from penstock.studio.drawing.indoors import curtain, truss, wall
from penstock.studio.drawing.interiors import INTERIORS
from penstock.studio.drawing.nature import dunes, firs, mesas, peaks, rolling, weeds
from penstock.studio.drawing.set_pieces import Piece, lit_layer, pieces, scattered
from penstock.studio.drawing.site import FAR, MIDDLE, NEAR, Deep, Site
from penstock.studio.drawing.structures import bunting, stall, water_tank
from penstock.studio.drawing.towers import towers

Built = tuple[list[Deep], list[Deep]]
"What is behind the ground, and what stands on it."
_MIDDLE = (0.3, 0.7)
"Where nothing large stands, for somebody acts there."


def _low(site: Site) -> float:
    return site.horizon / site.height


def city(site: Site) -> Built:
    skyline = [
        (FAR, towers(site, FAR, 0.36, mix(site.palette.far, site.palette.horizon, 0.45), windows=0.0)),
        (MIDDLE, towers(site, MIDDLE, 0.40, mix(site.palette.near, site.palette.far, 0.55), windows=0.35)),
        (NEAR, towers(site, NEAR, 0.30, site.palette.near, windows=0.6)),
    ]
    return skyline, []


def street(site: Site) -> Built:
    """Between shops: houses, lamps, a taxi."""
    low = _low(site)
    behind = [(FAR, towers(site, FAR, 0.44, mix(site.palette.far, site.palette.horizon, 0.35), windows=0.3))]
    houses = [
        Piece(what, x, low + 0.03, tall)
        for what, x, tall in (
            ("skyscraper", -0.12, 0.62),
            ("shop", 0.08, 0.36),
            ("apartment", 0.27, 0.58),
            ("cafe", 0.46, 0.35),
            ("hotel", 0.66, 0.6),
            ("bakery", 0.86, 0.36),
            ("apartment", 1.06, 0.62),
        )
    ]
    near = [
        Piece("street lamp", 0.2, low + 0.08, 0.44),
        Piece("street lamp", 0.8, low + 0.08, 0.44),
        Piece("taxi", 0.08, low + 0.17, 0.17),
        Piece("traffic light", 0.94, low + 0.12, 0.4),
        Piece("hydrant", 0.88, low + 0.14, 0.1),
    ]
    return behind, [pieces(site, MIDDLE, houses), pieces(site, NEAR, near)]


def rooftop(site: Site) -> Built:
    """High above a city: chimneys, a water tank, an aerial, and roofs to the horizon."""
    low = _low(site)
    skyline = [
        (FAR, towers(site, FAR, 0.3, mix(site.palette.far, site.palette.horizon, 0.45), windows=0.2)),
        (MIDDLE, towers(site, MIDDLE, 0.2, mix(site.palette.near, site.palette.far, 0.5), windows=0.5)),
    ]
    more = site.reach(NEAR)
    unit = site.height / 100
    brick: Colour = (156, 88, 70)
    picture = Image.new("RGBA", (round(site.width + 2 * more), site.height), (0, 0, 0, 0))
    brush = ImageDraw.Draw(picture)
    top = site.horizon - 7 * unit
    brush.rectangle((0, top, picture.width, site.horizon + 2 * unit), fill=(*brick, 255))
    for row in range(4):
        y = top + (1.4 + 2.2 * row) * unit
        brush.line((0, y, picture.width, y), fill=(*darker(brick, 0.3), 255), width=1)
        for n in range(round(picture.width / (5 * unit)) + 1):
            x = (n * 5 + 2.5 * (row % 2)) * unit
            brush.line((x, y - 2.2 * unit, x, y), fill=(*darker(brick, 0.3), 255), width=1)
    brush.rectangle((0, top - 2 * unit, picture.width, top + unit), fill=(200, 192, 184, 255))
    for x in (0.14, 0.78):
        water_tank(brush, more + x * site.width, site.horizon + 4 * unit, unit, tall=x < 0.5)
    aerial = more + 0.62 * site.width
    brush.line((aerial, top - 26 * unit, aerial, site.horizon), fill=(60, 62, 70, 255), width=round(unit))
    for n, half in enumerate((7, 5, 6)):
        y = top - (24 - 5 * n) * unit
        brush.line(
            (aerial - half * unit, y, aerial + half * unit, y), fill=(60, 62, 70, 255), width=max(round(0.6 * unit), 1)
        )
    return skyline, [
        (NEAR, lit_layer(site, picture, -more)),
        pieces(site, NEAR, [Piece("chair", 0.95, low + 0.16, 0.22)]),
    ]


def desert(site: Site) -> Built:
    sand = lit((222, 178, 122), site.palette.light)
    rock = lit((190, 106, 74), site.palette.light)
    low = _low(site)
    land = [
        (FAR, mesas(site, FAR, 0.24, mix(site.palette.far, rock, 0.45))),
        (MIDDLE, dunes(site, MIDDLE, 0.13, mix(site.palette.far, sand, 0.6))),
        (NEAR, dunes(site, NEAR, 0.07, mix(site.palette.near, sand, 0.7), cacti=True)),
    ]
    cacti = [
        Piece("cactus", 0.1, low + 0.14, 0.46),
        Piece("cactus", 0.9, low + 0.1, 0.36),
        Piece("rock", 0.8, low + 0.2, 0.1, {"stone": "copper"}),
        Piece("skull", 0.22, low + 0.25, 0.07),
    ]
    return land, [pieces(site, NEAR, cacti)]


def mountains(site: Site) -> Built:
    land = [
        (FAR, peaks(site, FAR, 0.42, mix(site.palette.far, site.palette.horizon, 0.4), snow=0.5)),
        (MIDDLE, peaks(site, MIDDLE, 0.26, mix(site.palette.far, site.palette.near, 0.45), snow=0.0)),
        (NEAR, firs(site, NEAR, 0.13, site.palette.near)),
    ]
    return land, []


def snow(site: Site) -> Built:
    """White mountains, firs under snow, a snowman."""
    low = _low(site)
    white = mix((244, 248, 255), site.palette.light, 0.4)
    land = [
        (FAR, peaks(site, FAR, 0.5, mix(site.palette.far, site.palette.horizon, 0.3), snow=1.0)),
        (MIDDLE, rolling(site, MIDDLE, 0.12, mix(white, site.palette.far, 0.2))),
    ]
    trees = scattered(
        site, ("pine",), 12, foot=(low, low + 0.06), tall=(0.2, 0.36), gap=(0.38, 0.62), inks={"leaves": "mint"}
    )
    near = [
        Piece("pine", 0.05, low + 0.2, 0.6, {"leaves": "mint"}),
        Piece("snowman", 0.9, low + 0.2, 0.3),
    ]
    return land, [pieces(site, MIDDLE, trees), pieces(site, NEAR, near)]


def forest(site: Site) -> Built:
    green = (40, 78, 58)
    low = _low(site)
    land = [
        (FAR, firs(site, FAR, 0.42, mix(mix(site.palette.far, site.palette.horizon, 0.4), green, 0.2))),
        (MIDDLE, firs(site, MIDDLE, 0.46, mix(mix(site.palette.far, site.palette.near, 0.5), green, 0.35))),
    ]
    trees = scattered(
        site, ("tree", "pine", "oak"), 9, foot=(low + 0.02, low + 0.07), tall=(0.5, 0.66), inks={"leaves": "green"}
    )
    near = [
        Piece("oak", -0.02, low + 0.22, 0.92, {"leaves": "emerald"}),
        Piece("tree", 1.0, low + 0.2, 0.9, {"leaves": "green"}),
        Piece("mushroom", 0.2, low + 0.27, 0.11),
        Piece("mushroom", 0.25, low + 0.29, 0.07),
        Piece("fern", 0.82, low + 0.27, 0.1),
        Piece("stump", 0.8, low + 0.18, 0.1),
    ]
    return land, [pieces(site, MIDDLE, trees, haze=0.08), pieces(site, NEAR, near)]


def hills(site: Site) -> Built:
    low = _low(site)
    land = [
        (FAR, rolling(site, FAR, 0.20, mix(site.palette.far, site.palette.horizon, 0.35))),
        (MIDDLE, rolling(site, MIDDLE, 0.13, mix(site.palette.far, (96, 140, 84), 0.35), trees=True)),
        (NEAR, rolling(site, NEAR, 0.07, mix(site.palette.near, (84, 128, 70), 0.4), trees=True)),
    ]
    kinds = ("flower", "daisy", "tulip", "poppy", "sunflower")
    flowers = scattered(site, kinds, 26, foot=(low + 0.1, low + 0.34), tall=(0.06, 0.11))
    return land, [pieces(site, NEAR, flowers)]


def sea(site: Site) -> Built:
    """A shore: a sail on the water, palms and a parasol on the sand."""
    low = _low(site)
    land = [(FAR, peaks(site, FAR, 0.11, mix(site.palette.far, site.palette.horizon, 0.45), snow=0.0, sunk=0.62))]
    sail = [Piece("sailboat", 0.3, low + 0.05, 0.17)]
    shore = [
        Piece("palm", 0.04, 0.94, 0.78),
        Piece("palm", 0.13, 0.92, 0.58),
        Piece("parasol", 0.86, 0.97, 0.34),
        Piece("starfish", 0.8, 0.97, 0.05),
        Piece("beach ball", 0.24, 0.965, 0.07),
    ]
    return land, [pieces(site, MIDDLE, sail), pieces(site, 0.98, shore)]


def harbour(site: Site) -> Built:
    low = _low(site)
    land = [(FAR, rolling(site, FAR, 0.1, mix(site.palette.far, site.palette.horizon, 0.3)))]
    ships = [
        Piece("lighthouse", 0.12, low + 0.02, 0.52),
        Piece("galleon", 0.78, low + 0.1, 0.44),
        Piece("sailboat", 0.4, low + 0.06, 0.2),
    ]
    pier = [Piece("barrel", 0.1, 0.94, 0.15), Piece("crate", 0.92, 0.95, 0.15), Piece("anchor", 0.84, 0.96, 0.13)]
    return land, [pieces(site, MIDDLE, ships), pieces(site, 0.98, pier)]


def moon(site: Site) -> Built:
    """Grey hills under a black sky; the craters are in the ground, and the earth in the sky."""
    grey: Colour = (150, 150, 156)
    low = _low(site)
    land = [
        (FAR, rolling(site, FAR, 0.13, darker(grey, 0.35))),
        (MIDDLE, rolling(site, MIDDLE, 0.07, darker(grey, 0.16))),
    ]
    near = [
        Piece("rock", 0.06, low + 0.12, 0.12, {"stone": "grey"}),
        Piece("rock", 0.9, low + 0.1, 0.09, {"stone": "grey"}),
        Piece("rocket", 0.88, low + 0.05, 0.44),
    ]
    return land, [pieces(site, NEAR, near)]


def space(site: Site) -> Built:
    return [(MIDDLE, peaks(site, MIDDLE, 0.12, site.palette.far, snow=0.0))], []


def stage(site: Site) -> Built:
    low = _low(site)
    boxes = [
        *(Piece("drum", x, low + 0.08, 0.22) for x in (0.16, 0.84)),
    ]
    return [(FAR, curtain(site)), (MIDDLE, truss(site))], [pieces(site, NEAR, boxes)]


def underwater(site: Site) -> Built:
    low = _low(site)
    land = [
        (FAR, rolling(site, FAR, 0.22, mix(site.palette.far, site.palette.middle, 0.3))),
        (MIDDLE, rolling(site, MIDDLE, 0.14, site.palette.far)),
        (NEAR, weeds(site, NEAR, 0.26)),
    ]
    shoal = scattered(site, ("fish", "tropical fish", "clownfish"), 9, foot=(0.14, low - 0.06), tall=(0.05, 0.1))
    bed = [
        Piece("octopus", 0.08, low + 0.16, 0.2),
        Piece("starfish", 0.26, low + 0.3, 0.08),
        Piece("crab", 0.84, low + 0.3, 0.1),
        Piece("treasure chest", 0.93, low + 0.2, 0.17),
        Piece("shell", 0.7, low + 0.33, 0.06),
    ]
    return land, [pieces(site, MIDDLE, shoal), pieces(site, NEAR, bed)]


def room(site: Site) -> Built:
    low = _low(site)
    furniture = [
        Piece("sofa", 0.12, low + 0.18, 0.24),
        Piece("lamp", 0.9, low + 0.12, 0.36),
        Piece("table", 0.84, low + 0.24, 0.16),
        Piece("plant pot", 0.99, low + 0.16, 0.2),
    ]
    return [(MIDDLE, wall(site))], [pieces(site, NEAR, furniture)]


def castle(site: Site) -> Built:
    """On a green hill, with towers and flags."""
    low = _low(site)
    land = [
        (FAR, peaks(site, FAR, 0.3, mix(site.palette.far, site.palette.horizon, 0.45), snow=0.2)),
        (MIDDLE, rolling(site, MIDDLE, 0.12, mix(site.palette.far, (96, 150, 84), 0.55))),
    ]
    walls = [
        Piece("castle", 0.5, low + 0.02, 0.62, {"stone": "silver"}),
        Piece("tower", 0.14, low + 0.02, 0.46, {"stone": "silver"}),
        Piece("tower", 0.86, low + 0.02, 0.46, {"stone": "silver"}),
    ]
    near = [
        *(Piece("flag", x, low + 0.16, 0.3, {"flag": "crimson"}) for x in (0.07, 0.93)),
        Piece("bush", 0.1, low + 0.2, 0.1),
        Piece("bush", 0.9, low + 0.18, 0.1),
    ]
    return land, [pieces(site, MIDDLE, walls), pieces(site, NEAR, near)]


def market(site: Site) -> Built:
    """Stalls with striped awnings, fruit in heaps, bunting above."""
    low = _low(site)
    behind = [
        Piece(what, x, low + 0.01, 0.4)
        for what, x in (("house", -0.02), ("house", 0.22), ("church", 0.44), ("house", 0.68), ("house", 0.94))
    ]
    more = site.reach(NEAR)
    picture = Image.new("RGBA", (round(site.width + 2 * more), site.height), (0, 0, 0, 0))
    brush = ImageDraw.Draw(picture)
    unit = site.height / 100
    stripes: tuple[Colour, ...] = ((206, 56, 52), (44, 122, 166), (62, 148, 84), (226, 154, 44))
    for n, x in enumerate((-0.2, 0.02, 0.68, 0.92, 1.14)):
        stall(brush, more + x * site.width, site.horizon + 15 * unit, unit, stripes[n % 4], site)
    bunting(brush, picture.width, unit, stripes)
    near = [Piece("barrel", 0.29, low + 0.2, 0.13), Piece("basket", 0.66, low + 0.22, 0.1)]
    return [], [pieces(site, MIDDLE, behind), (NEAR, lit_layer(site, picture, -more)), pieces(site, NEAR, near)]


def _of_concept(words: str) -> Callable[[Site], Built]:
    """A place of the asset creator: its layers, from the hills to what is near, without its sky."""

    def built(site: Site) -> Built:
        seed = int(site.rng.integers(1 << 16))
        hour = "at night" if site.palette.dark else "by day"
        layers = scenery(AssetOrder("background", f"{words} {hour}", seed=seed), (site.width, site.height))
        first = 0 if words == "cave" else 1
        return [], [_tiled(site, 0.2 + 0.5 * layer.speed, layer.picture) for layer in layers[first:]]

    return built


def _tiled(site: Site, depth: float, picture: Image.Image) -> Deep:
    """A layer that goes on where it ends, as wide as the camera may see."""
    more = round(site.reach(depth))
    wide = Image.new("RGBA", (site.width + 2 * more, picture.height), (0, 0, 0, 0))
    for left in range(more % picture.width - picture.width, wide.width, picture.width):
        wide.paste(picture, (left, 0))
    layer = cut_out(wide)
    return depth, Layer(layer.paint, layer.mask, layer.left - more, layer.top)


BACKDROPS: dict[str, Callable[[Site], Built]] = {
    "city": city,
    "street": street,
    "rooftop": rooftop,
    "desert": desert,
    "mountains": mountains,
    "snow": snow,
    "forest": forest,
    "hills": hills,
    "sea": sea,
    "harbour": harbour,
    "moon": moon,
    "space": space,
    "stage": stage,
    "underwater": underwater,
    "room": room,
    "castle": castle,
    "market": market,
    **INTERIORS,
    **{
        name: _of_concept(name)
        for name in ("jungle", "cave", "graveyard", "volcano", "ruins", "swamp", "village", "sky")
    },
}
