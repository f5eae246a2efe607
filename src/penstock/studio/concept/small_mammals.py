"""Small animals with fur or spines: how each is built."""

from __future__ import annotations

from penstock.studio.concept.beast import Beast

RODENTS: tuple[Beast, ...] = (
    Beast(
        "rabbit|bunny|hare",
        {"fur": "white|sand|grey", "belly": "white", "skin": "pink", "eyes": "brown"},
        long=40,
        deep=28,
        leg=14,
        thick=9,
        neck=(4, -12),
        head=16,
        snout=(5, 7),
        ears="rabbit",
        tail="ball",
        more=("whiskers",),
    ),
    Beast(
        "mouse|rat|hamster|gerbil|rodent",
        {"fur": "grey|cream", "skin": "pink", "eyes": "black"},
        long=42,
        deep=26,
        leg=11,
        thick=7,
        neck=(5, -5),
        head=14,
        snout=(10, 6),
        ears="mouse",
        tail="whip",
        more=("whiskers",),
    ),
    Beast(
        "squirrel|chipmunk",
        {"fur": "rust|copper", "belly": "cream", "eyes": "black"},
        long=36,
        deep=24,
        leg=14,
        thick=8,
        neck=(5, -13),
        head=14,
        snout=(7, 6),
        ears="pointed",
        tail="plume",
        more=("muzzle",),
    ),
)

BURROWERS: tuple[Beast, ...] = (
    Beast(
        "hedgehog|porcupine|echidna",
        {"fur": "sand", "hair": "brown"},
        long=44,
        deep=30,
        leg=9,
        thick=7,
        neck=(6, -1),
        head=12,
        snout=(12, 6),
        ears="mouse",
        tail="",
        more=("quills",),
    ),
    Beast(
        "skunk|badger|beaver|otter|weasel|ferret|mole",
        {"fur": "charcoal|brown", "belly": "white", "spots": "white"},
        long=50,
        deep=22,
        leg=12,
        thick=8,
        neck=(6, -8),
        head=14,
        snout=(9, 7),
        ears="round",
        tail="brush",
        more=("muzzle", "stripe"),
    ),
)
