"""What a shot is to show: what its words tell, and a choice of our own for everything they leave open."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from penstock.studio.drawing.colour import NAMED
from penstock.studio.vocabulary import PRODUCTS, read, told

_COLOURS = tuple(NAMED)
_USUAL_GROUND = {
    "city": "street",
    "desert": "sand",
    "mountains": "grass",
    "forest": "grass",
    "hills": "grass",
    "sea": "water",
    "space": "moon",
    "stage": "floor",
    "underwater": "sand",
    "room": "floor",
}
_ONLY_GROUND = {"sea", "space", "stage", "underwater", "room"}
"Places with one kind of ground, whatever else is named."


@dataclass(frozen=True, slots=True)
class Plan:
    """Every choice about a shot."""

    place: str
    ground: str
    hour: str
    weather: str | None
    particles: str | None
    camera: str
    size: str
    "wide, medium or close."
    action: str
    neon: bool
    colours: tuple[str, ...]
    product: str | None
    side: float
    "Where the character stands, from -1 on the left to 1 on the right."


def plan(prompt: str, *, negative: str | None = None, palette: Sequence[str] = (), seed: int = 0) -> Plan:
    """The plan of a shot; ``palette`` are the director's colours."""
    rng = np.random.default_rng(list(hashlib.sha256(f"{seed}\n{prompt}".encode()).digest()[:16]))
    wanted, unwanted = read(prompt, _COLOURS), read(negative or "", _COLOURS)
    place = wanted.backdrop or _one(rng, "hills", "city", "sea", "mountains")
    ground = wanted.ground if wanted.ground and place not in _ONLY_GROUND else _USUAL_GROUND[place]
    hours = ("day", "dawn") if ground == "snow" else ("day", "sunset", "dawn", "sunset")
    hour = wanted.hour or _one(rng, *(h for h in hours if h != unwanted.hour))
    action = wanted.action or "look"
    moves = ("track",) if action in {"walk", "run"} else ("push in", "drift", "pan right", "pull back")
    product = (told(prompt.lower(), PRODUCTS) or "box") if "product" in prompt.lower() else None
    weather = None if place in {"space", "stage", "underwater", "room"} else wanted.weather
    return Plan(
        place=place,
        ground=ground,
        hour="night" if wanted.neon else hour,
        weather=weather if weather != unwanted.weather else None,
        particles=_particles(place, wanted.particles if wanted.particles != unwanted.particles else None),
        camera=wanted.camera or _one(rng, *moves),
        size=wanted.shot or ("wide" if action in {"walk", "run", "dance"} else _one(rng, "wide", "medium")),
        action=action,
        neon=wanted.neon,
        colours=tuple(dict.fromkeys((*wanted.colours, *palette))),
        product=product,
        side=float(rng.uniform(0.25, 0.6)) * (1 if rng.random() < 0.5 else -1),
    )


def _one(rng: np.random.Generator, *choices: str) -> str:
    return choices[int(rng.integers(len(choices)))]


def _particles(place: str, wanted: str | None) -> str | None:
    if place == "underwater":
        return "bubbles"
    if place == "space":
        return "dust" if wanted in {None, "birds", "leaves", "petals"} else wanted
    return wanted
