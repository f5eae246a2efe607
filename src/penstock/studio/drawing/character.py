"""How a character looks, from the words that describe it. The same words make the same character in every scene."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

import numpy as np

from penstock.studio.drawing.colour import NAMED, Colour, darker, lighter
from penstock.studio.vocabulary import Meanings, told

KINDS: Meanings = {
    "robot": "robot|robots|android|droid|cyborg|machine|mech|automaton|bot",
    "cat": "cat|cats|kitten|kitty|feline|tiger|lion|panther",
    "dog": "dog|dogs|puppy|hound|wolf|corgi",
    "fox": "fox|foxes|raccoon",
    "bear": "bear|bears|panda|koala|teddy",
    "rabbit": "rabbit|bunny|hare",
    "alien": "alien|aliens|martian|extraterrestrial",
    "astronaut": "astronaut|cosmonaut|spaceman|spacewoman|space explorer",
}
HAIR: Meanings = {
    "long": "long hair|long-haired|flowing hair|ponytail",
    "curly": "curly|curls|afro|curly-haired",
    "bald": "bald|shaved head|hairless",
    "mohawk": "mohawk|punk|rocker",
    "short": "short hair|short-haired",
}
USUAL_HAIR: Meanings = {
    "long": "woman|girl|she|her|princess|queen|lady|actress|diva|witch|mermaid|cowgirl",
    "short": "man|boy|he|his|guy|king|prince|cowboy|detective|gentleman",
}
EXTRAS: Meanings = {
    "cowboy hat": "cowboy hat|cowboy|cowgirl|stetson",
    "hat": "hat|fedora|detective|top hat|magician",
    "cap": "cap|baseball cap|beanie|skater",
    "crown": "crown|king|queen|princess|prince|royal",
    "sunglasses": "sunglasses|shades|cool",
    "glasses": "glasses|spectacles|nerd|professor|scientist",
    "headphones": "headphones|dj|headset",
    "scarf": "scarf|shawl|bandana",
    "beard": "beard|bearded|moustache|mustache|wizard",
    "antenna": "antenna|antennas|antennae",
    "bow tie": "bow tie|bowtie|tuxedo|tie",
    "cape": "cape|superhero|hero|cloak",
}

_PARTS: Meanings = {
    "hair": "hair|haired|curls|beard|mohawk|afro|ponytail",
    "eyes": "eyes|eyed|visor|lights|lamps|led|glow|lens|lenses",
    "skin": (
        "skin|fur|furred|body|metal|metallic|plating|chrome|robot|android|droid|cat|kitten|dog|puppy|fox|bear|rabbit"
        "|bunny|alien|steel|feline|machine"
    ),
    "legs": "trousers|jeans|pants|skirt|shorts|leggings|boots",
}


@dataclass(frozen=True, slots=True)
class Character:
    """Everything that is drawn of somebody."""

    kind: str
    hair: str
    extras: frozenset[str]
    skin: Colour
    "Or fur, or metal."
    clothes: Colour
    trousers: Colour
    tresses: Colour
    eyes: Colour
    trim: Colour

    @property
    def furry(self) -> bool:
        return self.kind in {"cat", "dog", "fox", "bear", "rabbit"}


def character(description: str, *, seed: int = 0) -> Character:
    """Somebody who fits a description; what it does not tell is chosen by the words as a whole and the seed."""
    text = description.lower()
    digest = hashlib.sha256(f"{seed}\n{' '.join(text.split())}".encode()).digest()
    rng = np.random.default_rng(list(digest[:16]))
    kind = told(text, KINDS) or "person"
    worn = _colours(text)
    extras = frozenset(extra for extra, words in EXTRAS.items() if told(text, {extra: words}))
    if "cowboy hat" in extras:
        extras -= {"hat"}
    if kind == "robot" and not extras & {"cowboy hat", "hat", "cap", "crown"}:
        extras |= {"antenna"}
    clothes = worn.get("clothes") or _one(
        rng, *(NAMED[n] for n in ("coral", "teal", "indigo", "amber", "emerald", "rose"))
    )
    skins = {
        "robot": ((176, 188, 202), (150, 172, 190), (206, 204, 196)),
        "cat": ((232, 158, 86), (120, 124, 136), (70, 70, 82), (240, 228, 208)),
        "dog": ((196, 146, 96), (236, 214, 178), (124, 90, 66)),
        "fox": ((224, 120, 56),),
        "bear": ((142, 100, 70), (96, 70, 54)),
        "rabbit": ((236, 230, 226), (186, 170, 158)),
        "alien": ((134, 204, 120), (120, 190, 210)),
        "astronaut": ((238, 196, 160), (176, 122, 84), (124, 82, 56)),
        "person": ((246, 208, 176), (224, 172, 132), (184, 128, 88), (130, 86, 60), (96, 62, 46)),
    }[kind]
    skin = worn.get("skin") if kind not in {"person", "astronaut"} else None
    hairs = ("short", "long", "curly")
    return Character(
        kind=kind,
        hair=told(text, HAIR) or told(text, USUAL_HAIR) or _style(rng, *hairs),
        extras=extras,
        skin=skin or _one(rng, *skins),
        clothes=(238, 240, 244) if kind == "astronaut" and "clothes" not in worn else clothes,
        trousers=worn.get("legs") or _one(rng, (58, 70, 108), (70, 62, 74), (88, 92, 104), darker(clothes, 0.45)),
        tresses=worn.get("hair") or _one(rng, (46, 34, 32), (92, 60, 40), (146, 92, 50), (212, 168, 96), (40, 42, 56)),
        eyes=worn.get("eyes") or _one(rng, (92, 220, 255), (120, 255, 190), (255, 206, 90), (120, 160, 255)),
        trim=lighter(_one(rng, *(NAMED[n] for n in ("amber", "cyan", "coral", "lime", "pink"))), 0.1),
    )


def _one(rng: np.random.Generator, *choices: Colour) -> Colour:
    return choices[int(rng.integers(len(choices)))]


def _style(rng: np.random.Generator, *choices: str) -> str:
    return choices[int(rng.integers(len(choices)))]


def _colours(text: str) -> dict[str, Colour]:
    """Colours by what they are of: the next thing named within three words, or the clothes."""
    words = re.findall(r"[a-zé]+", text)
    found: dict[str, Colour] = {}
    for n, word in enumerate(words):
        if word not in NAMED or (word == "sky" or word == "sand"):
            continue
        near = " ".join(words[n + 1 : n + 4])
        found.setdefault(told(near, _PARTS) or "clothes", NAMED[word])
    return found
