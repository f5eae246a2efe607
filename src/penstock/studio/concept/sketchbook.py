"""From an order to a draft: the subject, its colours, what it wears and holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from penstock.generation.asset_steps import AssetOrder
from penstock.studio.concept.accessories import aflame, hold, wear
from penstock.studio.concept.beasts import BEAST_BY_NAME
from penstock.studio.concept.catalogue import Drawer, Subject
from penstock.studio.concept.draft import Draft
from penstock.studio.concept.house_style import HouseStyle, house_style, recoloured
from penstock.studio.concept.outfit import Outfit
from penstock.studio.concept.outfits import BY_NAME
from penstock.studio.concept.painter import Finish
from penstock.studio.concept.people import dressed
from penstock.studio.concept.wish import HATS, Wish, understood
from penstock.studio.drawing.colour import NAMED, Colour


@dataclass(frozen=True, slots=True)
class Sketched:
    """A draft and how it is to be painted."""

    draft: Draft
    finish: Finish
    style: HouseStyle
    subject: Subject
    known: bool
    "Was the subject among those that can be drawn, or made up for the word?"


def sketched(order: AssetOrder, palette: tuple[Colour, ...] = ()) -> Sketched:
    """What an order asks for. The palette of its profile goes before another one, as that of a reference."""
    wish = understood(order.concept, order.details, seed=order.seed)
    words = f"{order.style} {order.concept} {order.details}"
    style = house_style(words, palette=order.palette, outline=order.outline, proportions=order.proportions)
    colours = style.palette or palette
    subject = wish.subject or _made_up(wish, order)
    subject = of_race(subject, wish.race) if wish.race is not None else subject
    draft = drafted(wish, subject, style, colours)
    return Sketched(
        draft, replace(style.finish, textures=textures_of(wish, subject)), style, subject, wish.subject is not None
    )


def _made_up(wish: Wish, order: AssetOrder) -> Subject:
    from penstock.studio.concept.unknown import imagined

    return imagined(wish, order.kind, order.rig)


def drafted(
    wish: Wish, subject: Subject, style: HouseStyle, palette: tuple[Colour, ...] = (), *, empty_handed: bool = False
) -> Draft:
    """A subject as it is wished for; with empty hands, whoever draws it on puts something into them."""
    inks = {ink: _one(wish, choices) for ink, choices in subject.inks.items()}
    asked = _asked(wish, subject)
    inks = recoloured(inks, list(asked), palette) | asked
    traits = dict(wish.traits)
    if style.heads is not None:
        traits["heads"] = style.heads
    outfit = BY_NAME.get(subject.name)
    worn = list(dict.fromkeys((*(outfit.worn if outfit else ()), *_dressed(wish, subject))))
    if "any hat" in worn:
        # A hat that nobody describes is the one of the trade, or any.
        worn.remove("any hat")
        worn += [] if outfit and outfit.hat else ["cowboy hat"]
    if any(name in HATS for name in worn):
        traits["hat"] = 0.0
    draft = Draft(inks, wish.rng, traits, mood=wish.mood, asked=frozenset(asked), looks=wish.looks)
    draft.words = frozenset(re.findall(r"[^\W_]+", wish.text))
    subject.draw(draft)
    named_hats = {outfit.hat} if outfit and "hat" not in traits else set()
    wear(draft, [name for name in worn if name not in named_hats])
    if not empty_handed:
        hold(draft, wish.held or (outfit.held if outfit else ()))
    if draft.words & {"flaming", "burning", "blazing", "aflame"}:
        aflame(draft)
    left = [name for name in draft.inks if name not in inks]
    if palette and left:
        draft.inks.update(recoloured({name: draft.inks[name] for name in left}, list(asked), palette))
    return draft


def _dressed(wish: Wish, subject: Subject) -> tuple[str, ...]:
    """What is worn; a robot that is named a ranger, too, wears what rangers do."""
    if subject.stance == "thing":
        return ()
    other = BY_NAME.get(wish.race.name) if wish.race is not None and subject.family != "people" else None
    return (*wish.worn, *((name for name in (*other.worn, other.hat) if name not in _HIDING) if other else ()))


_HIDING = frozenset({"", "helm", "bubble", "hood"})
"What is worn over the whole head."


def of_race(subject: Subject, race: Subject) -> Subject:
    """A trade and somebody who has it: a skeleton, a cat or a robot that is a pirate."""
    trade, own = BY_NAME.get(subject.name), BY_NAME.get(race.name)
    if trade is None or subject.family != "people":
        return subject
    if own is not None:
        hat = "" if own.face == "skull" and trade.hat == "helm" else trade.hat or own.hat
        merged = replace(
            trade,
            face=own.face or trade.face,
            ears=own.ears or trade.ears,
            hair=own.hair if own.face or own.ears else trade.hair,
            hat=hat,
            beard=max(own.beard, trade.beard),
        )
        inks = {**subject.inks, **{ink: own.inks[ink] for ink in ("skin", "hair", "eyes") if ink in own.inks}}
    elif race.family == "quadrupeds":
        beast = BEAST_BY_NAME[race.name]
        hat = "" if trade.hat == "helm" else trade.hat
        merged = replace(trade, face="beast", ears=f"beast {beast.ears}", hair="", hat=hat, beard=0.0, beast=race.name)
        fur = race.inks.get("fur", "brown")
        inks = {
            **subject.inks,
            "skin": fur,
            "belly": race.inks.get("belly", "cream"),
            "tail": fur,
            "eyes": race.inks["eyes"],
        }
    elif race.stance == "biped" or race.family in {"birds", "swimmers", "crawlers", "monsters"}:
        return replace(race, draw=_wearing(race.draw, trade), name=subject.name)
    else:
        return subject

    def draw(d: Draft) -> None:
        dressed(d, merged)

    return replace(subject, draw=draw, inks=inks)


def _wearing(draw: Drawer, trade: Outfit) -> Drawer:
    def worn(d: Draft) -> None:
        draw(d)
        if trade.hat not in _HIDING:
            wear(d, (trade.hat,))
        elif trade.hat == "helm":
            wear(d, ("horned helmet",))

    return worn


def _one(wish: Wish, choices: str) -> Colour:
    names = choices.split("|")
    return NAMED[names[int(wish.rng.integers(len(names)))]]


def _asked(wish: Wish, subject: Subject) -> dict[str, Colour]:
    """Colours for inks of this subject: without a noun it is the first one's."""
    asked = {name: colour for name, colour in wish.inks.items() if name not in {"", "second"}}
    main = next(iter(subject.inks), "main")
    if "" in wish.inks:
        asked.setdefault(main, wish.inks[""])
    if "second" in wish.inks:
        other = next(
            (ink for ink in list(subject.inks)[1:] if ink not in asked and ink not in {"skin", "eyes"}), "second"
        )
        asked.setdefault(other, wish.inks["second"])
    if "clothes" in asked and "metal" in subject.inks:
        asked.setdefault("metal", asked["clothes"])
    for noun, meant in _MEANT.items():
        if noun in asked:
            found = next((ink for ink in meant if ink in subject.inks and ink not in asked), None)
            if found and noun not in subject.inks:
                asked[found] = asked[noun]
    return asked


_MEANT: Mapping[str, tuple[str, ...]] = {
    "skin": ("fur", "shell", "metal", "skin"),
    "clothes": ("metal", "clothes"),
    "blade": ("blade", "metal"),
    "grip": ("grip", "wood"),
    "wall": ("wall", "stone"),
    "petals": ("petals", "fur"),
    "shell": ("shell", "fur"),
    "tail": ("fur",),
    "hair": ("hair", "fur"),
    "cushion": ("cushion", "cloth"),
    "door": ("door",),
}
"Inks that a noun may mean where a subject has none of that name."


def textures_of(wish: Wish, subject: Subject) -> dict[str, str]:
    main = next(iter(subject.inks), "main")
    return {name or main: texture for name, texture in wish.textures.items() if texture}
