"""A shot, drawn: sky, land, ground, who is there, what is in the air, and the camera that moves through it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageChops

from penstock.generation.steps import Shot
from penstock.studio.drawing.actor import TALL, Actor, Drawn, Shown, shadow
from penstock.studio.drawing.air import air, beams
from penstock.studio.drawing.body import LEGS
from penstock.studio.drawing.camera import Camera, CameraView
from penstock.studio.drawing.canvas import lay, noise
from penstock.studio.drawing.character import Character, character
from penstock.studio.drawing.colour import darker, lighter, mix
from penstock.studio.drawing.front import draw_fog, fog, front
from penstock.studio.drawing.ground import ground
from penstock.studio.drawing.land import BACKDROPS
from penstock.studio.drawing.light import figure_light
from penstock.studio.drawing.palette import palette_for
from penstock.studio.drawing.pictures import Given, given, portrayed
from penstock.studio.drawing.props import product
from penstock.studio.drawing.scene_plan import plan
from penstock.studio.drawing.site import Site
from penstock.studio.drawing.sky import sky
from penstock.studio.faces import Face

GRAIN = 1.1
"How much the brightness of a pixel varies from frame to frame. More of it makes files many times larger."
_GRAINS = 5
_HORIZONS = {"wide": 0.64, "medium": 0.6, "close": 0.56}
_HEADS = {"medium": 0.3, "close": 0.47}
"Height of a head, as a part of the frame."
_SEEN = {"medium": 1.3, "close": 0.62}
"How far below the neck the frame ends, in heads."
_STANDING = {"wide": 0.5, "medium": 0.95, "close": 1.0}
"Height of a picture that was given."


class DrawnScene:
    """All frames of a shot; the same shot gives the same frames."""

    def __init__(self, shot: Shot, palette: Sequence[str], width: int, height: int, fps: int) -> None:
        self.count = max(round(shot.seconds * fps), 1)
        self._fps, self._size = fps, (width, height)
        self.plan = plan(shot.prompt, negative=shot.negative_prompt, palette=palette, seed=shot.seed)
        self._camera = Camera(self.plan.camera, self.count / fps, width, height)
        self._behind = Camera(self.plan.camera, self.count / fps, *_coarse(self.plan.size, width, height))
        told = f"{shot.seed}\n{shot.prompt}\n{shot.negative_prompt}\n{shot.character}"
        rng = np.random.default_rng(list(hashlib.sha256(told.encode()).digest()[:16]))
        site, self.site = (self._built_on(rng, camera) for camera in (self._behind, self._camera))
        cast = _cast(shot)
        self.who = cast.who
        self._land = BACKDROPS[self.plan.place](site)
        overcast = self.plan.weather in {"rain", "snow", "fog"}
        self._sky = sky(self.plan.place, self.plan.hour, site, overcast=overcast)
        wet = self.plan.weather == "rain" or self.plan.neon
        self._ground = ground(self.plan.ground, self.plan.place, site, self._land, self._sky.sun, wet=wet)
        wide = self.plan.size != "close"
        before = "stage" if self.plan.place == "stage" else self.plan.ground
        self._front = front(before, self.site) if wide else None
        self._fog = fog(site) if self.plan.weather == "fog" else None
        self._airs = [air(kind, self.site) for kind in self._in_the_air()]
        self._actor = self._acting(cast)
        self._beside = self._product(cast)
        self._finish = _finishes(width, height, rng)

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

    def _acting(self, cast: _Cast) -> Actor:
        height = self._size[1]
        if cast.picture is not None:
            return Shown(cast.picture, _STANDING[self.plan.size] * height)
        from_left = self._sky.sun is None or self._sky.sun < self._behind.width / 2
        light = figure_light(self.site.palette.light, self.site.palette.sun, from_left=from_left)
        if self.plan.size == "wide":
            return Drawn(cast.who, self.plan.action, 0.5 * height / TALL, LEGS, light)
        unit = _HEADS[self.plan.size] * height
        down = _SEEN[self.plan.size] + self._below() / unit
        calm = self.plan.action if self.plan.action in {"sing", "wave", "dance"} else "look"
        steps = 24 if self.plan.size == "medium" else 16
        return Drawn(cast.who, calm, unit, min(down, LEGS), light, steps)

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
        side = self.plan.side if wide or self._beside is not None else self.plan.side * 0.3
        if wide and self.plan.action in {"walk", "run"}:
            side = -0.3 + 0.55 * n / self.count
        x = width * (0.5 + 0.5 * side)
        y = 0.93 * height if wide else height + self._below()
        if isinstance(self._actor, Shown):
            y = 0.95 * height if wide else 1.04 * height
        (at, foot), zoom = self._camera.seen(view, 1.0, x, y)
        if self.plan.camera == "track":
            # It is followed: the land moves, and not the one who walks through it.
            at = x
        if wide:
            shadow(frame, at, foot, 0.26 * height * zoom, darker(self.site.palette.near, 0.6))
        if self._beside is not None:
            there = width * (0.5 - 0.5 * (0.5 if side >= 0 else -0.5))
            (px, py), _ = self._camera.seen(view, 1.0, there, 0.95 * height)
            shadow(frame, px, py - 0.01 * height, 0.3 * height * zoom, darker(self.site.palette.near, 0.6))
            self._beside.draw(frame, px, py, zoom, 0.0)
        return self._actor.draw(frame, at, foot, zoom, seconds)

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
    who = character(shot.character or shot.prompt)
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
