"""A shot, drawn: sky, land, ground, who is there, what is in the air, and the camera that moves through it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageChops

from penstock.generation.steps import Shot
from penstock.studio.drawing.actor import Actor, Drawn, Shown, from_near, shadow, standing
from penstock.studio.drawing.air import air, beams
from penstock.studio.drawing.camera import Camera, CameraView
from penstock.studio.drawing.canvas import lay, noise
from penstock.studio.drawing.character import Character, character, character_in
from penstock.studio.drawing.colour import darker, lighter, mix
from penstock.studio.drawing.front import draw_fog, fog, front
from penstock.studio.drawing.ground import ground
from penstock.studio.drawing.handheld_things import Prop
from penstock.studio.drawing.land import BACKDROPS
from penstock.studio.drawing.light import figure_light
from penstock.studio.drawing.palette import palette_for
from penstock.studio.drawing.pictures import Given, given, on_screen, portrayed
from penstock.studio.drawing.pose import TRAVELS
from penstock.studio.drawing.props import product
from penstock.studio.drawing.scene_plan import plan
from penstock.studio.drawing.set_pieces import Piece, height_of, pieces
from penstock.studio.drawing.site import NEAR, Deep, Site
from penstock.studio.drawing.sky import sky
from penstock.studio.faces import Face

GRAIN = 1.1
"How much the brightness of a pixel varies from frame to frame. More of it makes files many times larger."
_GRAINS = 5
_HORIZONS = {"wide": 0.64, "medium": 0.6, "close": 0.56}
_TALL = 0.66
"Height of somebody who is seen from head to foot, as a part of the frame."
_HEADS = {"medium": 0.34, "close": 0.5}
"Height of a head."
_MOUTHS = {"medium": 0.44, "close": 0.56}
"Where the mouth is, from the top of the frame."
_STANDING = {"wide": 0.5, "medium": 0.95, "close": 1.0}
"Height of a picture that was given."
_SMALL = {"flyer": 0.7, "hopper": 0.8, "crawler": 0.6, "quadruped": 0.9}
"How large those are who do not stand on two legs, beside one who does."


class DrawnScene:
    """All frames of a shot; the same shot gives the same frames."""

    def __init__(
        self, shot: Shot, palette: Sequence[str], width: int, height: int, fps: int, *, manner: Sequence[str] = ()
    ) -> None:
        self.count = max(round(shot.seconds * fps), 1)
        self._fps, self._size = fps, (width, height)
        self.plan = plan(
            shot.prompt,
            negative=shot.negative_prompt,
            palette=palette,
            manner=manner,
            seed=shot.seed,
            who=shot.character,
        )
        self._camera = Camera(self.plan.camera, self.count / fps, width, height)
        self._behind = Camera(self.plan.camera, self.count / fps, *_coarse(self.plan.size, width, height))
        told = f"{shot.seed}\n{shot.prompt}\n{shot.negative_prompt}\n{shot.character}"
        rng = np.random.default_rng(list(hashlib.sha256(told.encode()).digest()[:16]))
        site, self.site = (self._built_on(rng, camera) for camera in (self._behind, self._camera))
        cast = _cast(shot)
        self.who = cast.who
        self._land, self._standing = BACKDROPS[self.plan.place](site)
        self._standing += self._about(site)
        overcast = self.plan.weather in {"rain", "snow", "fog"}
        self._sky = sky(self.plan.place, self.plan.hour, site, overcast=overcast)
        wet = self.plan.weather == "rain" or self.plan.neon
        self._ground = ground(self.plan.ground, self.plan.place, site, self._land, self._sky.sun, wet=wet)
        wide = self.plan.size != "close"
        before = "stage" if self.plan.place == "stage" else self.plan.ground
        self._screen = self._on_screen(cast)
        self._front = front(before, self.site) if wide else None
        self._fog = fog(site) if self.plan.weather == "fog" else None
        self._airs = [air(kind, self.site) for kind in self._in_the_air()]
        self._actor = self._acting(cast)
        self._beside = self._product(cast)
        self._finish = _finishes(width, height, rng)

    @property
    def mouth(self) -> str:
        """What kind of mouth is seen: that of the character, or of a person in a picture that was given."""
        return self.who.kind if isinstance(self._actor, Drawn) else "person"

    def frame(self, n: int) -> tuple[Image.Image, Face | None]:
        """A frame, and where its mouth is."""
        seconds, view = n / self._fps, self._camera.at(n / max(self.count - 1, 1))
        frame = self._background(view, seconds).resize(self._size, Image.Resampling.BILINEAR)
        if self._front is not None and self._front.depth == 1.0:
            self._front.draw(frame, self._camera, view, seconds)
        face = self._act(frame, view, n, seconds)
        if self._front is not None and self._front.depth > 1.0:
            self._front.draw(frame, self._camera, view, seconds)
        for each in self._airs:
            each.draw(frame, seconds, view.x)
        return ImageChops.multiply(frame, self._finish[n % _GRAINS]), face

    def _background(self, view: CameraView, seconds: float) -> Image.Image:
        """All that nobody looks at first, a little out of focus."""
        camera = self._behind
        frame = Image.new("RGB", (camera.width, camera.height))
        self._sky.draw(frame, camera, view, seconds)
        for depth, layer in self._land:
            (left, top), zoom = camera.seen(view, depth, layer.left, layer.top)
            lay(frame, layer, left, top, zoom)
        self._ground.draw(frame, camera, view, seconds)
        for depth, layer in self._standing:
            (left, top), zoom = camera.seen(view, depth, layer.left, layer.top)
            lay(frame, layer, left, top, zoom)
        if self.plan.place in {"stage", "underwater"}:
            frame = self._lit(frame, seconds)
        if self._fog is not None:
            draw_fog(frame, self._fog, seconds, view.x)
        return frame

    def _built_on(self, rng: np.random.Generator, camera: Camera) -> Site:
        colours = palette_for(self.plan.place, self.plan.hour, self.plan.colours, neon=self.plan.neon)
        horizon = _HORIZONS[self.plan.size] * camera.height
        return Site(camera.width, camera.height, horizon, camera.reach, colours, rng, neon=self.plan.neon)

    def _in_the_air(self) -> list[str]:
        weather = self.plan.weather if self.plan.weather in {"rain", "snow", "dust"} else None
        return list(dict.fromkeys(kind for kind in (weather, self.plan.particles) if kind))

    def _about(self, site: Site) -> list[Deep]:
        """Whatever else is named stands behind the one who acts, on the other side first."""
        if not self.plan.things:
            return []
        low, away = site.horizon / site.height, -1 if self.plan.side > 0 else 1
        spots = (0.5 + 0.27 * away, 0.5 - 0.36 * away, 0.5 + 0.42 * away, 0.5 - 0.1 * away)
        placed = [
            Piece(what, x, low + 0.1 + 0.05 * n, height_of(what))
            for n, (what, x) in enumerate(zip(self.plan.things, spots, strict=False))
        ]
        return [pieces(site, NEAR, placed)]

    def _acting(self, cast: _Cast) -> Actor:
        height = self._size[1]
        if cast.picture is not None and not cast.picture.framed:
            return Shown(cast.picture, _STANDING[self.plan.size] * height, self.plan.action)
        from_left = self._sky.sun is None or self._sky.sun < self._behind.width / 2
        light = figure_light(self.site.palette.light, self.site.palette.sun, from_left=from_left)
        puppet = cast.who.puppet(self.plan.action, self._held(cast.who))
        if self.plan.size == "wide":
            return standing(puppet, _TALL * height * _SMALL.get(puppet.figure.stance, 1.0), light)
        # Animals that are mostly head are not brought nearer than their whole.
        left, top, right, bottom = puppet.rest()
        most = 1.35 * height if self.plan.size == "close" else 0.9 * height
        head = _HEADS[self.plan.size] * height
        if not puppet.upright:
            head = min(head, most / max(bottom - top, 0.6 * (right - left)) * puppet.head)
        return from_near(puppet, head, light, (1 - _MOUTHS[self.plan.size]) * height + self._below())

    def _held(self, who: Character) -> tuple[Prop, ...]:
        """What is told to be in the hands, or what somebody of the trade has there."""
        if self.plan.props:
            return tuple(Prop(word) for word in self.plan.props)
        if self.plan.action in {"sing"}:
            return (Prop("microphone"),)
        free = self.plan.action in {"look", "stand", "walk", "sit"}
        return tuple(Prop(word) for word in who.figure().held[:1]) if free else ()

    def _on_screen(self, cast: _Cast) -> Actor | None:
        """A picture with a background of its own is seen on a screen in the scene."""
        if cast.picture is None or not cast.picture.framed:
            return None
        tall = {"wide": 0.52, "medium": 0.66, "close": 0.8}[self.plan.size] * self._size[1]
        shown = on_screen(cast.picture.picture)
        tall = min(tall, 0.46 * self._size[0] * shown.height / shown.width)
        return Shown(Given(shown, framed=True), tall, "stand")

    def _below(self) -> float:
        """So many pixels somebody goes on below the frame, so that no move of the camera shows where they end."""
        most = max(abs(self._camera.at(n / 16).y) for n in range(17))
        return 0.05 * self._size[1] + most * self._size[0]

    def _product(self, cast: _Cast) -> Actor | None:
        high = self._size[1] * (0.3 if self.plan.size == "wide" else 0.5)
        if cast.product is not None:
            return Shown(cast.product, high)
        if self.plan.product is None:
            return None
        colours = self.site.palette
        drawn = product(self.plan.product, lighter(colours.second, 0.1), colours.accent, high / 1.7)
        return Shown(Given(drawn, framed=False), high)

    def _act(self, frame: Image.Image, view: CameraView, n: int, seconds: float) -> Face | None:
        width, height = self._size
        wide = self.plan.size == "wide"
        beside = self._beside is not None or self._screen is not None
        side = self.plan.side if wide or beside else self.plan.side * 0.3
        if wide and self.plan.action in TRAVELS and not beside:
            side = -0.3 + 0.55 * n / self.count
        x, y = width * (0.5 + 0.5 * side), self._foot()
        (at, foot), zoom = self._camera.seen(view, 1.0, x, y)
        if self.plan.camera == "track":
            # It is followed: the land moves, and not the one who walks through it.
            at = x
        dark = darker(self.site.palette.near, 0.6)
        if wide and self.plan.place not in {"underwater", "sky"} and 0 <= self._lifted() < 0.3:
            shadow(frame, at, foot + self._lifted() * height, 0.26 * height * zoom, dark)
        for actor, high in ((self._screen, 0.9), (self._beside, 0.95)):
            if actor is not None:
                there = width * (0.5 - 0.5 * (0.5 if side >= 0 else -0.5))
                (px, py), _ = self._camera.seen(view, 1.0, there, high * height)
                shadow(frame, px, py - 0.01 * height, 0.3 * height * zoom, dark)
                actor.draw(frame, px, py, zoom, 0.0)
        return self._actor.draw(frame, at, foot, zoom, seconds)

    def _foot(self) -> float:
        """Where whoever acts is pinned to the frame, in pixels from the top."""
        height = self._size[1]
        if isinstance(self._actor, Shown):
            return (0.95 if self.plan.size == "wide" else 1.04) * height
        if self.plan.size != "wide":
            return _MOUTHS[self.plan.size] * height
        return (0.94 - self._lifted()) * height

    def _lifted(self) -> float:
        """How far off the ground somebody swims or flies, in parts of the frame."""
        stance = self._actor.puppet.figure.stance if isinstance(self._actor, Drawn) else ""
        if self.plan.place == "underwater" and (self.plan.action == "swim" or stance == "swimmer"):
            return 0.16
        if self.plan.action == "fly":
            return 0.24
        if self.plan.action == "swim" and self.plan.place in {"sea", "harbour"}:
            return -0.1
        return 0.1 if stance in {"flyer", "swimmer"} else 0.0

    def _lit(self, frame: Image.Image, seconds: float) -> Image.Image:
        colours = self.site.palette
        if self.plan.place == "stage":
            return beams(
                frame, (colours.accent, colours.second, lighter(colours.accent, 0.4)), seconds, from_above=False
            )
        return beams(frame, (mix(colours.sun, colours.middle, 0.4),), seconds, from_above=True)


class _Cast:
    """Who is seen: a drawn character, or the picture of one; and a product, if there is a picture of it."""

    def __init__(self, who: Character, picture: Given | None, product: Given | None) -> None:
        self.who, self.picture, self.product = who, picture, product


def _cast(shot: Shot) -> _Cast:
    who = character(shot.character, prompt=shot.prompt) if shot.character.strip() else character_in(shot.prompt)
    picture = thing = None
    for path in shot.references:
        if _shows_product(path, shot):
            thing = thing or given(path)
        elif (drawn := portrayed(path)) is not None:
            who = drawn
        else:
            picture = picture or given(path)
    return _Cast(who, picture, thing)


def _shows_product(path: Path, shot: Shot) -> bool:
    """By its name; and of several pictures the first is of the character."""
    return "product" in path.name.lower() or path != shot.references[0]


def _coarse(size: str, width: int, height: int) -> tuple[int, int]:
    """The size backgrounds are drawn in: behind a face they are far out of focus."""
    high = min(round(height / 3), 240) if size == "close" else min(height, 432)
    return max(round(width * high / height), 2), max(high, 2)


def _finishes(width: int, height: int, rng: np.random.Generator) -> list[Image.Image]:
    """Corners a little darker and some grain, as something to multiply frames with."""
    x, y = np.linspace(-1, 1, width, dtype=np.float32), np.linspace(-1, 1, height, dtype=np.float32)
    away = np.sqrt(x[None, :] ** 2 + y[:, None] ** 2)
    vignette = 251 - 60 * ((away - 0.55).clip(0, 1) ** 1.6)
    uneven = (noise(rng, width, height, 2, octaves=1) - 0.5) * 4
    finishes = []
    for n in range(_GRAINS):
        fine = rng.normal(0, GRAIN, (height, width)).astype(np.float32)
        values = (vignette + fine + np.roll(uneven, 37 * n, axis=1) * 0.3).clip(0, 255).astype(np.uint8)
        finishes.append(Image.merge("RGB", [Image.fromarray(values)] * 3))
    return finishes
