"""Somebody who acts: a subject that lives, on two legs where its kind can be told from its head alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.studio.concept.catalogue import Mention, Subject, named, subjects
from penstock.studio.concept.draft import Draft
from penstock.studio.concept.house_style import house_style
from penstock.studio.concept.outfits import BY_NAME
from penstock.studio.concept.painter import Finish
from penstock.studio.concept.sketchbook import drafted, of_race, textures_of
from penstock.studio.concept.wish import Wish, understood

LIVING = frozenset({"people", "machines", "quadrupeds", "birds", "swimmers", "crawlers", "monsters"})
"Families of those who can be the one a film is about."
UPRIGHT = frozenset({"dog", "wolf", "fox", "cat", "tiger", "lion", "leopard", "bear", "rabbit", "mouse", "squirrel"})
"Animals that act on two legs; the others are known by their whole shape."
NOT_SOMEBODY = frozenset(
    {
        *("fly", "flies", "count", "eye", "eyes", "shell", "coral", "bug", "boss", "pet", "death", "bones", "cock"),
        *("ram", "machine", "monarch", "guard", "drake", "spirit", "beast"),
    }
)
"Words for creatures that mean something else far more often."


@dataclass(frozen=True, slots=True)
class Figure:
    """Somebody, drawn at rest and with empty hands."""

    draft: Draft
    finish: Finish
    kind: str
    "What it is: a cat, also if it is an astronaut."
    trade: str
    "What it does or wears, if that has a name: astronaut, pirate, person."
    stance: str
    held: tuple[str, ...]
    "What somebody of the trade has in hand."
    wish: Wish


def figure_of(text: str, *, seed: int = 0, mood: str | None = None) -> Figure:
    """Somebody who fits a text; a person if it names nobody."""
    wish = understood(text, seed=seed, families=LIVING, never=NOT_SOMEBODY)
    if mood is not None:
        wish = replace(wish, mood=mood)
    subject, race = _who(wish)
    merged = of_race(subject, race) if race is not None else subject
    if race is not None and race.name in UPRIGHT:
        # A colour without a noun is that of the fur, and whoever wears nothing by trade wears fur.
        merged = replace(merged, inks={"skin": merged.inks["skin"], **merged.inks})
        if subject.name == "person" and "garment" not in wish.looks:
            wish = replace(wish, looks={**wish.looks, "garment": "fur"})
    style = house_style("")
    draft = drafted(wish, merged, style, empty_handed=True)
    outfit = BY_NAME.get(subject.name)
    # Shadows with an edge: those that fade cost a quarter more, in every pose.
    finish = replace(style.finish, soft=0.0, textures=textures_of(wish, merged))
    kind = (race or subject).name
    held = outfit.held if outfit is not None else ()
    stance = subject.stance if subject.family == "people" else merged.stance
    return Figure(draft, finish, kind, subject.name, stance, held, wish)


def _who(wish: Wish) -> tuple[Subject, Subject | None]:
    """The trade and the race; an animal without a trade is somebody, too, if it goes upright."""
    known = subjects()
    subject = wish.subject or known["person"]
    if subject.name in UPRIGHT:
        return known["person"], subject
    return subject, wish.race


def mentions(text: str) -> list[Mention]:
    """All that a text in lower case names that lives."""
    return [
        each
        for each in named(text)
        if each.subject.family in LIVING and text[each.start : each.stop] not in NOT_SOMEBODY
    ]
