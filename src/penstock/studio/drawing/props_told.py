"""Which things a text puts into somebody's hands, under their feet, and about them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from penstock.studio.concept.catalogue import Mention, named
from penstock.studio.concept.somebody import LIVING, NOT_SOMEBODY
from penstock.studio.drawing.handheld_things import INSTRUMENTS, RIDDEN
from penstock.studio.vocabulary import BACKDROPS, REGIONS, spans

ALWAYS_HELD = (
    "microphone|guitar|electric guitar|ukulele|violin|banjo|umbrella|sword|lantern|balloon|balloons|book|wand"
    "|staff|torch|trumpet|saxophone|flute|camera|telescope|shield|spear|trident|katana|bouquet|suitcase|briefcase"
    "|ice cream|lollipop|magnifying glass|fishing rod|broom|axe|dagger|flag|mug|coffee|candle|rose|map|scroll"
    "|teddy bear|parasol|cutlass"
)
"Things that are in a hand wherever they are named."
_WHEN_HELD = (
    "flower|flowers|sunflower|tulip|daisy|apple|banana|pizza|donut|cake|gift|present|key|gem|heart|star|ball"
    "|bottle|cup|tea|basket|bucket|phone|smartphone|radio|hammer|bow|scythe|shovel|pickaxe|wrench|potion"
    "|paintbrush|brush|bread|carrot|fish|crown|trophy|skull|crystal ball|letter|feather|pencil|pen|frying pan"
    "|spoon|net|bomb|sack|bag|drum|bell|egg|burger"
)
"Things that are in a hand if somebody holds, carries or has them."
_HOLDING = (
    r"\b(?:with|holds?|holding|carry|carries|carrying|waves|waving|raises|raising|eats|eating|drinks|drinking|grips"
    r"|gripping|offers|offering|lifts|lifting|swings|swinging|throws|throwing|has|having|brings)"
    r" (?:up )?(?:[\w-]+ ){0,3}?"
)
_ON_FEET = re.compile(
    r"(?<![\w-])(surfboard|snowboard|magic carpet|flying carpet|skateboard(?:s|ing|er)?|skater)(?![\w-])"
)
_COMPANY = (
    r"\b(?:and|with|beside|meets|chases|hugs|follows|feeds|rides|pets|near|next to|watches|sees|finds|against|fights) "
    r"(?:a|an|the|her|his|their|its|two|three|some|many) "
)
MOST_HELD, MOST_ABOUT = 2, 4
_OF_A_PLACE = frozenset({"buildings", "signs", "clothing", "food"})
"Families whose words are rather parts of a place or of somebody."
_AMBIGUOUS = """
bank bar base bell bolt bow box button cab camp can cape card cherry crown die drill drop earth fall fire
fly fork grass hand home horn leaf lemon letter life light lime love mars mine moon orange pan peach pen
pick planet plate plum ring roast rose school seat shell sky spark spring star stars store sun sweet switch
tank target tear tie tool top wall watch watches well window world
"""
_NOT_MEANT = frozenset(_AMBIGUOUS.split())
"Words for things that mean something else far more often; they are drawn where somebody holds them."


def props_told(text: str) -> tuple[str, ...]:
    """What is held, in the order it is named; what needs both hands is held alone."""
    found: list[tuple[int, str]] = []
    for match in re.finditer(rf"(?<![\w-])({ALWAYS_HELD})(?![\w-])", text):
        found.append((match.start(), match[1]))
    for match in re.finditer(rf"{_HOLDING}({_WHEN_HELD})(?![\w-])", text):
        found.append((match.start(1), match[1]))
    held = list(dict.fromkeys(word for _, word in sorted(found)))
    both = [word for word in held if word in INSTRUMENTS]
    feet = [_board(match[1]) for match in _ON_FEET.finditer(text)][:1]
    return (*(both[:1] or held[:MOST_HELD]), *feet)


def _board(word: str) -> str:
    return word if word in RIDDEN else "magic carpet" if "carpet" in word else "skateboard"


def things_told(text: str, *, taken: tuple[str, ...], who: Sequence[str] = ()) -> tuple[str, ...]:
    """What stands about: things that are named, and neither held nor a place; and who is there besides ``who``."""
    found = []
    spots = [span for each in (BACKDROPS, REGIONS) for words in each.values() for span in spans(text, words)]
    for each in named(text):
        word = text[each.start : each.stop]
        if any(start < each.stop and each.start < stop for start, stop in spots):
            continue
        if any(word in prop or prop in word for prop in taken):
            continue
        if stands_about(each, word) or (each.subject.name not in who and _beside(text, each)):
            found.append(word)
    return tuple(dict.fromkeys(found))[:MOST_ABOUT]


def stands_about(mention: Mention, word: str) -> bool:
    """Is it a thing that can stand somewhere?"""
    family = mention.subject.family
    return family not in LIVING | _OF_A_PLACE and word not in _NOT_MEANT and word.rstrip("s") not in _NOT_MEANT


def _beside(text: str, mention: Mention) -> bool:
    """Is it somebody who is there besides the one the text is about?"""
    if mention.subject.family not in LIVING or text[mention.start : mention.stop] in NOT_SOMEBODY:
        return False
    return bool(re.search(_COMPANY + r"(?:[\w-]+ ){0,2}$", text[: mention.start]))
