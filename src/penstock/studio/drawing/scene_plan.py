"""What a shot is to show: what its words tell, and a choice of our own for everything they leave open."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from penstock.studio.concept.somebody import mentions
from penstock.studio.drawing.colour import NAMED
from penstock.studio.drawing.props_told import props_told, things_told
from penstock.studio.vocabulary import HAUNTS, PRODUCTS, PromptReading, read, told, without

_COLOURS = tuple(NAMED)
_GROUNDS = {
    "city": "street",
    "street": "street",
    "rooftop": "roof",
    "desert": "sand",
    "snow": "snow",
    "sea": "water",
    "harbour": "water",
    "space": "dust",
    "moon": "moon",
    "underwater": "sand",
    "market": "stones",
    "station": "metal",
    "kitchen": "tiles",
    "train": "metal",
    "sky": "snow",
    **dict.fromkeys(("stage", "room", "library", "bedroom", "cafe", "classroom"), "floor"),
}
"What one stands on in a place; elsewhere it is grass."
_OPEN = frozenset({"city", "mountains", "forest", "hills", "desert", "castle"})
"Places that may have another ground than usual, as a forest in the snow."
INDOORS = frozenset({"stage", "room", "library", "kitchen", "bedroom", "station", "train", "cafe", "classroom", "cave"})
_NO_WEATHER = INDOORS | {"space", "moon", "underwater"}


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
    props: tuple[str, ...] = ()
    "What is in the hands or under the feet."
    things: tuple[str, ...] = ()
    "What stands about."


def plan(
    prompt: str,
    *,
    negative: str | None = None,
    palette: Sequence[str] = (),
    manner: Sequence[str] = (),
    seed: int = 0,
    who: str = "",
) -> Plan:
    """The plan of a shot; ``who`` describes the character.

    ``palette`` are the director's colours, and ``manner`` the director's phrases: they tell light and moves, but
    nothing that somebody has asked to see.
    """
    rng = np.random.default_rng(list(hashlib.sha256(f"{seed}\n{prompt}".encode()).digest()[:16]))
    wanted, unwanted = read(prompt, _COLOURS), read(negative or "", _COLOURS)
    product = (told(prompt.lower(), PRODUCTS) or "box") if "product" in prompt.lower() else None
    own = without(prompt.lower(), manner)
    place = read(own, ()).backdrop or told(f"{own} {who}".lower(), HAUNTS) or wanted.backdrop
    place = place or ("city" if wanted.neon else _one(rng, "hills", "city", "sea", "mountains"))
    ground = wanted.ground if wanted.ground and place in _OPEN else _GROUNDS.get(place, "grass")
    hours = ("day", "dawn") if ground == "snow" else ("day", "sunset", "dawn", "sunset")
    hour = wanted.hour or _one(rng, *(h for h in hours if h != unwanted.hour))
    if product is not None:
        # What is advertised stands beside the one who acts, once.
        own = without(own, PRODUCTS.get(product, product).split("|"))
    props = props_told(f"{own} {who}".lower())
    action = _action(wanted, props, place)
    moves: tuple[str, ...] = (
        ("track",) if action in {"walk", "run", "skate"} else ("push in", "drift", "pan right", "pull back")
    )
    if action == "stand":
        moves = ("push in", "pull back")
    weather = None if place in _NO_WEATHER else wanted.weather
    return Plan(
        place=place,
        ground=ground,
        hour="night" if wanted.neon else hour,
        weather=weather if weather != unwanted.weather else None,
        particles=_particles(place, wanted.particles if wanted.particles != unwanted.particles else None),
        camera=wanted.camera or _one(rng, *moves),
        size=wanted.shot or ("wide" if action not in {"look", "sing", "wave"} else _one(rng, "wide", "medium")),
        action=action,
        neon=wanted.neon,
        colours=tuple(dict.fromkeys((*wanted.colours, *palette))),
        product=product,
        side=float(rng.uniform(0.14, 0.4)) * (1 if rng.random() < 0.5 else -1),
        props=props,
        things=things_told(own, taken=props, who=_main(f"{who} {own}".lower())),
    )


def _main(text: str) -> list[str]:
    """The names of the one a text is about: who is described by them stands nowhere else."""
    found = mentions(text)
    return [each.subject.name for each in found[:1]] + [
        each.subject.name for each in found[1:] if not text[found[0].stop : each.start].strip(" -")
    ]


def _action(wanted: PromptReading, props: tuple[str, ...], place: str) -> str:
    if wanted.action is not None:
        return wanted.action
    return "swim" if place == "underwater" else "look"


def _one(rng: np.random.Generator, *choices: str) -> str:
    return choices[int(rng.integers(len(choices)))]


def _particles(place: str, wanted: str | None) -> str | None:
    if place == "underwater":
        return "bubbles"
    if place in {"space", "moon"}:
        return None if wanted in {None, "birds", "leaves", "petals"} else wanted
    return wanted
