"""What stands between the sky and the ground, from far to near. Far things fade into the air."""

from __future__ import annotations

from collections.abc import Callable

from penstock.studio.drawing.colour import darker, lit, mix
from penstock.studio.drawing.indoors import curtain, truss, wall
from penstock.studio.drawing.nature import dunes, firs, mesas, peaks, rolling, weeds
from penstock.studio.drawing.site import FAR, MIDDLE, NEAR, Deep, Site
from penstock.studio.drawing.towers import towers


def city(site: Site) -> list[Deep]:
    return [
        (FAR, towers(site, FAR, 0.36, mix(site.palette.far, site.palette.horizon, 0.45), windows=0.0)),
        (MIDDLE, towers(site, MIDDLE, 0.40, mix(site.palette.near, site.palette.far, 0.55), windows=0.35)),
        (NEAR, towers(site, NEAR, 0.30, site.palette.near, windows=0.6)),
    ]


def desert(site: Site) -> list[Deep]:
    sand = lit((222, 178, 122), site.palette.light)
    rock = lit((190, 106, 74), site.palette.light)
    return [
        (FAR, mesas(site, FAR, 0.24, mix(site.palette.far, rock, 0.45))),
        (MIDDLE, dunes(site, MIDDLE, 0.13, mix(site.palette.far, sand, 0.6))),
        (NEAR, dunes(site, NEAR, 0.07, mix(site.palette.near, sand, 0.7), cacti=True)),
    ]


def mountains(site: Site) -> list[Deep]:
    return [
        (FAR, peaks(site, FAR, 0.42, mix(site.palette.far, site.palette.horizon, 0.4), snow=0.5)),
        (MIDDLE, peaks(site, MIDDLE, 0.26, mix(site.palette.far, site.palette.near, 0.45), snow=0.0)),
        (NEAR, firs(site, NEAR, 0.13, site.palette.near)),
    ]


def forest(site: Site) -> list[Deep]:
    green = (40, 78, 58)
    return [
        (FAR, firs(site, FAR, 0.34, mix(mix(site.palette.far, site.palette.horizon, 0.4), green, 0.12))),
        (MIDDLE, firs(site, MIDDLE, 0.40, mix(mix(site.palette.far, site.palette.near, 0.5), green, 0.2))),
        (NEAR, firs(site, NEAR, 0.36, mix(site.palette.near, darker(green, 0.4), 0.3))),
    ]


def hills(site: Site) -> list[Deep]:
    return [
        (FAR, rolling(site, FAR, 0.20, mix(site.palette.far, site.palette.horizon, 0.35))),
        (MIDDLE, rolling(site, MIDDLE, 0.13, mix(site.palette.far, (96, 140, 84), 0.35), trees=True)),
        (NEAR, rolling(site, NEAR, 0.07, mix(site.palette.near, (84, 128, 70), 0.4), trees=True)),
    ]


def sea(site: Site) -> list[Deep]:
    return [(FAR, peaks(site, FAR, 0.11, mix(site.palette.far, site.palette.horizon, 0.45), snow=0.0, sunk=0.62))]


def space(site: Site) -> list[Deep]:
    return [(MIDDLE, peaks(site, MIDDLE, 0.12, site.palette.far, snow=0.0))]


def stage(site: Site) -> list[Deep]:
    return [(FAR, curtain(site)), (MIDDLE, truss(site))]


def underwater(site: Site) -> list[Deep]:
    return [
        (FAR, rolling(site, FAR, 0.22, mix(site.palette.far, site.palette.middle, 0.3))),
        (MIDDLE, rolling(site, MIDDLE, 0.14, site.palette.far)),
        (NEAR, weeds(site, NEAR, 0.26)),
    ]


def room(site: Site) -> list[Deep]:
    return [(MIDDLE, wall(site))]


BACKDROPS: dict[str, Callable[[Site], list[Deep]]] = {
    "city": city,
    "desert": desert,
    "mountains": mountains,
    "forest": forest,
    "hills": hills,
    "sea": sea,
    "space": space,
    "stage": stage,
    "underwater": underwater,
    "room": room,
}
