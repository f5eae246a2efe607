"""What is worn on a head: drawn in units of half a head's width, with the origin on top of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from penstock.studio.concept.draft import Draft


def cowboy(d: Draft) -> None:
    hat = d.slot("hat", "brown")
    d.blob(hat, (-0.75, 0.2), (-0.66, -0.5), (-0.3, -0.78), (0, -0.6), (0.3, -0.78), (0.66, -0.5), (0.75, 0.2))
    d.block(d.slot("belt", "charcoal"), 0, 0.12, 0.76, 0.13, 0.05)
    d.blob(
        hat, (-1.65, -0.12), (-0.9, 0.24), (0, 0.3), (0.9, 0.24), (1.65, -0.12), (1.2, 0.44), (0, 0.58), (-1.2, 0.44)
    )


def pointed(d: Draft) -> None:
    hat = d.slot("hat", "indigo")
    d.blob(hat, (-0.92, 0.3), (-0.55, -0.7), (-0.1, -1.7), (0.5, -2.25), (0.36, -1.5), (0.6, -0.6), (0.92, 0.3))
    d.oval(hat, 0, 0.3, 1.6, 0.3)
    d.blob(d.slot("trim", "gold"), (-0.86, 0.1), (0, 0.26), (0.86, 0.1), (0.78, -0.16), (0, 0), (-0.78, -0.16))
    d.star("gold", -0.02, -0.66, 0.24, 0.1, 5)


def top(d: Draft) -> None:
    hat = d.slot("hat", "charcoal")
    d.poly(hat, (-0.72, 0.15), (-0.8, -1.25), (0.8, -1.25), (0.72, 0.15))
    d.oval(hat + "+", 0, -1.25, 0.8, 0.16)
    d.poly(d.slot("trim", "crimson"), (-0.73, 0.05), (-0.75, -0.25), (0.75, -0.25), (0.73, 0.05))
    d.oval(hat, 0, 0.16, 1.3, 0.24)


def cap(d: Draft) -> None:
    hat = d.slot("hat", "red")
    d.pie(hat, 0, 0.36, 0.98, 0.86, 180, 360)
    d.blob(hat + "-", (-0.9, 0.36), (0, 0.16), (0.9, 0.36), (0.98, 0.6), (0, 0.44), (-0.98, 0.6))
    d.oval(hat + "+", 0, -0.5, 0.12)
    d.dot("white", 0, -0.08, 0.24)


def party(d: Draft) -> None:
    d.poly(d.slot("hat", "magenta"), (-0.55, 0.2), (0, -1.2), (0.55, 0.2))
    for x, y in ((-0.2, -0.1), (0.15, -0.35), (0.0, -0.75), (0.25, 0.02)):
        d.dot("yellow", x, y, 0.09)
    d.star("gold", 0, -1.25, 0.28, 0.13, 6)


def santa(d: Draft) -> None:
    hat = d.slot("hat", "red")
    d.blob(hat, (-0.9, 0.25), (-0.6, -0.7), (0.2, -1.1), (1.1, -0.5), (1.3, 0.1), (0.75, -0.3), (0.9, 0.25))
    d.oval("white", 1.3, 0.2, 0.25)
    d.block("white", 0, 0.28, 1.05, 0.24, 0.24)


def straw(d: Draft) -> None:
    hat = d.slot("hat", "sand")
    d.pie(hat, 0, 0.25, 0.8, 0.85, 180, 360)
    d.poly(d.slot("trim", "red"), (-0.8, 0.2), (-0.76, -0.1), (0.76, -0.1), (0.8, 0.2))
    d.oval(hat, 0, 0.3, 1.6, 0.3)


def hard(d: Draft) -> None:
    hat = d.slot("hat", "yellow")
    d.pie(hat, 0, 0.35, 1.02, 0.95, 180, 360)
    d.blob(hat, (-0.16, 0.3), (-0.18, -0.55), (0, -0.7), (0.18, -0.55), (0.16, 0.3))
    d.block(hat + "-", 0, 0.38, 1.18, 0.13, 0.12)


def horned(d: Draft) -> None:
    hat = d.slot("hat", "steel")
    for _ in d.sides():
        d.limb("ivory", ((0.8, -0.05), (1.3, -0.2), (1.45, -0.9)), 0.42, 0.34, 0.06)
    d.pie(hat, 0, 0.4, 1.02, 1.05, 180, 360)
    d.block(hat + "-", 0, 0.36, 1.04, 0.15, 0.1)
    d.block(hat + "-", 0, -0.1, 0.13, 0.5, 0.05)
    for x in (-0.7, -0.35, 0.35, 0.7):
        d.dot(hat + "+", x, 0.36, 0.07)


def royal(d: Draft) -> None:
    gold = d.slot("crown", "gold")
    d.poly(gold, (-0.78, 0.35), (-0.92, -0.6), (-0.45, -0.12), (0, -0.8), (0.45, -0.12), (0.92, -0.6), (0.78, 0.35))
    d.block(gold + "-", 0, 0.28, 0.8, 0.13, 0.06)
    d.oval(d.slot("gem", "crimson"), 0, -0.1, 0.16, 0.2)
    for x, y in ((-0.92, -0.62), (0, -0.84), (0.92, -0.62)):
        d.oval(gold + "+", x, y, 0.12)
    for x in (-0.5, 0.5):
        d.dot("cyan", x, 0.28, 0.09)


def beanie(d: Draft) -> None:
    hat = d.slot("hat", "teal")
    d.oval("white", 0, -0.72, 0.24)
    d.pie(hat, 0, 0.3, 0.98, 1.0, 180, 360)
    d.block(hat + "-", 0, 0.3, 1.04, 0.2, 0.18)


def helm(d: Draft) -> None:
    """A knight's, closed, with a plume: it covers the whole head."""
    steel, plume = d.slot("metal", "silver"), d.slot("plume", "crimson")
    with d.behind():
        d.blob(plume, (0, -0.1), (0.3, -0.85), (1.0, -0.85), (1.5, -0.2), (1.5, 0.6), (1.1, 0.1), (0.5, -0.1))
    d.blob(
        steel,
        (-1.0, 0.8),
        (-0.95, 0.1),
        (-0.5, -0.36),
        (0, -0.45),
        (0.5, -0.36),
        (0.95, 0.1),
        (1.0, 0.8),
        (0.86, 1.6),
        (0, 1.98),
        (-0.86, 1.6),
    )
    d.blob(steel + "-", (-0.98, 0.62), (0, 0.5), (0.98, 0.62), (0.9, 1.5), (0, 1.9), (-0.9, 1.5))
    d.block("black", 0, 0.76, 0.74, 0.12, 0.08)
    d.block(steel + "+", 0, 0.7, 0.07, 1.0, 0.05)
    for x in (-0.45, -0.25, 0.25, 0.45):
        d.mark("black", (x, 1.15), (x, 1.45), width=0.07)


def hood(d: Draft) -> None:
    """Around the face, which stays open."""
    cloth = d.slot("hat", "green")
    with d.behind():
        d.blob(cloth + "-", (-1.2, 2.1), (-1.15, 0.6), (-0.6, -0.25), (0, -0.5), (0.6, -0.25), (1.15, 0.6), (1.2, 2.1))
    d.blob(
        cloth,
        (-1.1, 1.7),
        (-1.16, 0.6),
        (-0.66, -0.22),
        (0.1, -0.62),
        (0.7, -0.2),
        (1.16, 0.6),
        (1.1, 1.7),
        (0.86, 1.2),
        (0.78, 0.6),
        (0.4, 0.2),
        (0, 0.1),
        (-0.4, 0.2),
        (-0.78, 0.6),
        (-0.86, 1.2),
    )


def tricorn(d: Draft) -> None:
    """A pirate's, with skull and bones."""
    hat = d.slot("hat", "black")
    d.blob(
        hat,
        (-1.5, 0.3),
        (-1.05, -0.5),
        (-0.4, -0.9),
        (0, -1.0),
        (0.4, -0.9),
        (1.05, -0.5),
        (1.5, 0.3),
        (0.8, 0.3),
        (0, 0.1),
        (-0.8, 0.3),
    )
    d.mark("gold", (-1.4, 0.2), (-0.75, 0.2), (0, 0.0), (0.75, 0.2), (1.4, 0.2), width=0.09)
    d.mark("ivory", (-0.4, -0.16), (0.4, -0.54), width=0.1)
    d.mark("ivory", (0.4, -0.16), (-0.4, -0.54), width=0.1)
    d.dot("ivory", 0, -0.44, 0.24)
    d.dot("ivory", 0, -0.24, 0.15, 0.13)
    for x in (-0.09, 0.09):
        d.dot("black", x, -0.42, 0.065)


def chef(d: Draft) -> None:
    for x, y, r in ((-0.6, -0.6, 0.5), (0.6, -0.6, 0.5), (0, -0.85, 0.6)):
        d.oval("white", x, y, r)
    d.block("white", 0, -0.1, 0.76, 0.42, 0.1)


def bubble(d: Draft) -> None:
    """A space helmet, open in front: a ring around the whole head, with the face behind glass."""
    suit = d.slot("hat", "white")
    with d.behind():
        d.oval(suit, 0, 0.86, 1.42, 1.42)
    d.hoop(suit, 0, 0.86, 1.24, 0.32)
    for _ in d.sides():
        d.block(d.slot("trim", "orange"), 1.42, 0.9, 0.16, 0.34, 0.12)
    d.mark("white", (-0.78, 0.32), (-0.5, 0.02), (-0.2, -0.1), width=0.12)


def halo(d: Draft) -> None:
    d.oval("gold", 0, -0.5, 0.8, 0.25)
    d.dot("ivory", 0, -0.5, 0.6, 0.13)


def horns(d: Draft) -> None:
    ink = d.slot("horns", "ivory")
    for _ in d.sides():
        d.limb(ink, ((0.5, 0.25), (0.95, -0.1), (0.9, -0.75)), 0.4, 0.32, 0.06)


def antenna(d: Draft) -> None:
    d.limb("steel", ((0, 0.2), (0, -0.6)), 0.12)
    d.oval(d.slot("flame", "red"), 0, -0.68, 0.2)


def headphones(d: Draft) -> None:
    ink = d.slot("headphones", "charcoal")
    d.limb(ink, ((-1.05, 0.9), (-0.9, 0.0), (0, -0.22), (0.9, 0.0), (1.05, 0.9)), 0.2)
    for _ in d.sides():
        d.block(ink, 1.06, 0.95, 0.22, 0.4, 0.2)
        d.dot(d.slot("trim", "cyan"), 1.12, 0.95, 0.1, 0.24)


def flowers(d: Draft) -> None:
    for x, y, ink in (
        (-0.8, 0.3, "pink"),
        (-0.4, 0.08, "lemon"),
        (0, 0.02, "rose"),
        (0.4, 0.08, "lavender"),
        (0.8, 0.3, "coral"),
    ):
        d.oval(ink, x, y, 0.24)
        d.dot("yellow", x, y, 0.08)


def ribbon(d: Draft) -> None:
    ink = d.slot("bow", "pink")
    for _ in d.sides():
        d.blob(ink, (0.05, 0.1), (0.5, -0.25), (0.66, 0.1), (0.5, 0.42))
    d.oval(ink + "-", 0, 0.1, 0.16)


def band(d: Draft) -> None:
    ink = d.slot("hat", "red")
    d.blob(ink, (-0.96, 0.5), (0, 0.36), (0.96, 0.5), (0.98, 0.74), (0, 0.62), (-0.98, 0.74))


HEADWEAR: Mapping[str, Callable[[Draft], None]] = {
    "cowboy hat": cowboy,
    "wizard hat": pointed,
    "top hat": top,
    "cap": cap,
    "party hat": party,
    "santa hat": santa,
    "straw hat": straw,
    "helmet": hard,
    "horned helmet": horned,
    "crown": royal,
    "beanie": beanie,
    "helm": helm,
    "hood": hood,
    "tricorn": tricorn,
    "chef hat": chef,
    "bubble": bubble,
    "halo": halo,
    "horns": horns,
    "antenna": antenna,
    "headphones": headphones,
    "flower": flowers,
    "bow ribbon": ribbon,
    "headband": band,
}
