"""How thick a subject is at every point of its silhouette: round, or a slab with a bevel."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from penstock.generation.asset_steps import AssetOrder
from penstock.studio.modelling.model import Doubles
from penstock.studio.modelling.morphology import distance
from penstock.studio.modelling.shell import way_to_zero

_ROUNDS = 90
"Of relaxation, on each level."
_COARSEST = 20
_LEAST = 1.2
"Steps of the grid that a bevel is wide at least, and half a slab thick."


@dataclass(frozen=True, slots=True)
class Profile:
    """How a silhouette becomes solid."""

    name: str
    depth: float
    "Of round ones: how deep they are, as a part of how wide. Of slabs: half their thickness, see `growth`."
    bevel: float = 0.0
    "Of slabs: how wide the bevel is, as a part of half the width of their widest part; 0 is round."
    growth: float = 1.0
    "Of slabs: 1 are as much thicker as they are wider; 0 are all of one thickness, as a part of their long side."
    grain: float = 1.0
    "How finely it is modelled, beside others; what has high walls has enough vertices in them."


BODY = Profile("body", 0.86)
ROUND = Profile("round", 1.0)
SLAB = Profile("slab", 0.085, 0.16, 0.5)
COIN = Profile("disc", 0.05, 0.08, 0.5)
BOX = Profile("box", 0.7, 0.1, grain=0.5)

_FLAT = """
    sword blade knife dagger shield key axe arrow spear card map scroll paper leaf feather star badge medal gear cog
    saw flag banner sign board door window mirror painting picture frame wing fan scythe hammer wrench spanner bow
    boomerang trident katana sabre saber halberd pickaxe shovel rake fork spoon comb ladder gate fence bone tablet
    phone emblem plate bracelet amulet pendant ticket letter envelope symbol rune snowflake crossbow pitchfork staff
    wand
"""
_DISC = "coin token disc disk medallion clock watch wheel cookie pizza compass button record"
_BOXY = """
    crate box chest house tower castle book tome cabinet wardrobe shelf fridge television tv radio computer building
    cottage hut shed brick cube block car truck bus van tank train wagon bed sofa couch chair table bench desk throne
    altar bookshelf dresser oven stove gift present dice anvil tombstone gravestone safe locker suitcase briefcase
    cannon
"""
_KINDS = {word: kind for words, kind in ((_FLAT, SLAB), (_DISC, COIN), (_BOXY, BOX)) for word in words.split()}


def profile(order: AssetOrder) -> Profile:
    """What a subject of this name is like: people and animals are bodies; of things, the last known noun decides."""
    if order.kind == "character":
        return BODY
    # "A chest with a sword": what stands behind such a word is not what the thing is.
    subject = re.split(r"\b(?:with|on|in|of|for|from|and|by)\b|,", order.concept.lower(), maxsplit=1)[0]
    words = re.findall(r"[a-z]+", subject)
    for word in reversed(words):
        for form in (word, word.removesuffix("s"), word.removesuffix("es")):
            if form in _KINDS:
                return _KINDS[form]
    return ROUND


def thickness(level: Doubles, how: Profile) -> Doubles:
    """Half the thickness at each point of a grid, in its steps; 0 where its level is not positive."""
    inside = level > 0
    if not how.bevel:
        # The root of Poisson's equation: a strip becomes a round limb, and a disc a slightly flattened ball.
        return how.depth * np.sqrt(_relaxed(level))
    away = np.maximum(distance(inside) - 0.5, 0.3) * inside
    widest = float(away.max())
    long = max(int(inside.any(axis=axis).sum()) for axis in (0, 1))
    wide, half = how.bevel * widest, how.depth * widest**how.growth * long ** (1 - how.growth)
    wide, half = max(wide, _LEAST), max(half, _LEAST)
    up = np.minimum(away / wide, 1.0)
    found: Doubles = half * np.sqrt(1 - (1 - up) ** 2) * inside
    return found


def _relaxed(level: Doubles) -> Doubles:
    """The solution of Poisson's equation, 0 where the level is: by relaxation, from coarse to fine."""
    inside = level > 0
    found = np.zeros(level.shape)
    if min(level.shape) > _COARSEST:
        coarse = _relaxed(level[::2, ::2])
        found = 4 * np.repeat(np.repeat(coarse, 2, axis=0), 2, axis=1)[: level.shape[0], : level.shape[1]]
    around = np.pad(found * inside, 1)
    middle = around[1:-1, 1:-1]
    # The contour lies between two points of the grid: its 0 is nearer than the next point, and counts for more.
    wide = np.pad(level, 1, constant_values=-0.5)
    beside = np.stack([wide[:-2, 1:-1], wide[2:, 1:-1], wide[1:-1, :-2], wide[1:-1, 2:]])
    weight = np.where(beside > 0, 1.0, 1 / way_to_zero(np.where(inside, level, 0.5), np.minimum(beside, 0))).sum(axis=0)
    checks = np.indices(level.shape).sum(axis=0) % 2
    # The best over-relaxation for a domain as wide as this one is.
    across = 2 * float(distance(inside).max()) + 2
    more = 2 / (1 + np.sin(np.pi / across))
    fields = [(inside & (checks == colour)) * more for colour in (0, 1)]
    for _ in range(_ROUNDS):
        for field in fields:
            sums = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
            middle += field * ((sums + 2.0) / weight - middle)
    return np.maximum(middle, 0.0)
