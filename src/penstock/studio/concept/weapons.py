"""What is fought with. Whatever a hand holds is drawn upright around the place where it is held."""

from __future__ import annotations

from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.draft import Draft


@subject(
    "sword|longsword|broadsword|excalibur|blade|rapier|claymore|saber|sabre|cutlass|scimitar|lightsaber|greatsword",
    blade="silver|steel",
    trim="gold|bronze",
    grip="brown|navy",
    gem="crimson|cyan",
)
def sword(d: Draft) -> None:
    if d.words & {"lightsaber"}:
        d.block("steel", 0, 2, 4, 12, 2)
        d.limb("eyes" if "eyes" in d.inks else "cyan", ((0, -10), (0, -80)), 7)
        d.mark("white", (0, -10), (0, -80), width=2.4)
        return
    d.poly("blade", (0, -88), (7.4, -74), (6.4, -9), (-6.4, -9), (-7.4, -74))
    d.patch("blade+", (0, -86), (-6.2, -74), (-5.4, -10), (0, -10))
    d.mark("blade--", (0, -70), (0, -12), width=1.6)
    d.limb("grip", ((0, -6), (0, 12)), 6.4)
    for y in (-2, 3, 8):
        d.mark("grip--", (-3, y), (3, y + 2), width=1)
    d.limb("trim", ((-21, -5), (-10, -8), (0, -8), (10, -8), (21, -5)), 4.4, 6.4, 6.4, 4.4)
    d.oval("trim", 0, 16, 5.4)
    d.oval("gem", 0, -8, 3.4)


@subject("katana|wakizashi|samurai sword|machete", blade="silver", grip="charcoal|crimson", trim="gold")
def katana(d: Draft) -> None:
    d.blob("blade", (7, -90), (8, -66), (4.4, -36), (3, -8), (-4.6, -8), (-4.4, -40), (-1, -72))
    d.limb("grip", ((-1, -5), (-2, 22)), 5.6)
    for y in (0, 6, 12, 18):
        d.patch("cream", (-4, y), (-1.2, y - 2.4), (1.4, y), (-1.2, y + 2.4))
    d.block("trim", -1, -7, 7.4, 2, 1.6)


@subject(
    "dagger|knife|shiv|stiletto|kunai|throwing knife", blade="silver", grip="brown", trim="gold|bronze", gem="emerald"
)
def dagger(d: Draft) -> None:
    d.poly("blade", (0, -54), (8, -40), (6, -8), (-6, -8), (-8, -40))
    d.patch("blade+", (0, -52), (-6.6, -40), (-5, -9), (0, -9))
    d.limb("grip", ((0, -6), (0, 14)), 7.4)
    d.limb("trim", ((-14, -10), (0, -7), (14, -10)), 5)
    d.oval("trim", 0, 18, 5.4)
    d.dot("gem", 0, -7, 2.6)


@subject("axe|battle axe|battleaxe|hatchet|tomahawk|halberd", blade="silver|steel", grip="brown", trim="bronze")
def axe(d: Draft) -> None:
    d.limb("grip", ((0, -74), (0, 26)), 6.4, 7)
    for _ in d.sides() if d.words & {"battle", "double", "viking"} else (1,):
        d.blob("blade", (2, -66), (14, -72), (30, -80), (36, -58), (30, -36), (14, -46), (2, -50))
        d.pool("blade+", (30, -79), (36, -58), (30, -37), (28.6, -58))
    d.block("trim", 0, -58, 6, 9, 1.6)
    d.oval("trim", 0, -76, 4.4)
    for y in (4, 10, 16):
        d.mark("grip--", (-3.4, y), (3.4, y + 2), width=1.4)


@subject("bow|longbow|crossbow|shortbow|bow and arrow|arrow|arrows", grip="brown|copper", trim="gold", blade="silver")
def bow(d: Draft) -> None:
    d.mark("cream", (-14, -48), (-14, 48), width=1.4)
    d.limb("grip", ((-16, -50), (-4, -34), (8, -14), (8, 0), (8, 14), (-4, 34), (-16, 50)), 3.4, 6, 7, 6, 3.4)
    d.block("trim", 8, 0, 4.6, 8, 2)
    d.limb("sand", ((-30, 0), (38, 0)), 2)
    d.poly("blade", (50, 0), (36, -6), (39, 0), (36, 6))
    for y in (-1, 1):
        d.poly("red", (-30, 0), (-40, y * 7), (-26, y * 7), (-20, 0))


@subject("spear|lance|javelin|pike|harpoon", blade="silver", grip="brown", trim="crimson")
def spear(d: Draft) -> None:
    d.limb("grip", ((0, -60), (0, 44)), 6.4)
    d.poly("blade", (0, -94), (9, -70), (4, -58), (-4, -58), (-9, -70))
    d.patch("blade+", (0, -92), (-7.6, -70), (-3, -59), (0, -59))
    d.blob("trim", (-5, -58), (5, -58), (8, -44), (0, -48), (-8, -44))


@subject("trident|pitchfork|fork", blade="gold|steel", grip="brown")
def trident(d: Draft) -> None:
    d.limb("grip", ((0, -50), (0, 44)), 6.4)
    d.limb("blade", ((-15, -76), (-14, -58), (0, -50), (14, -58), (15, -76)), 4)
    d.limb("blade", ((0, -50), (0, -82)), 4)
    for x, y in ((-15, -76), (0, -82), (15, -76)):
        d.poly("blade", (x, y - 14), (x + 6, y), (x - 6, y))


@subject("scythe|sickle", blade="silver", grip="brown|charcoal")
def scythe(d: Draft) -> None:
    d.limb("grip", ((4, -84), (0, -20), (2, 56)), 5)
    d.blob("blade", (2, -86), (-18, -90), (-44, -80), (-60, -56), (-40, -70), (-16, -76), (4, -72))
    d.limb("grip-", ((2, -6), (12, -8)), 4)


@subject("hammer|war hammer|warhammer|mallet|sledgehammer|mjolnir", metal="steel|silver", grip="brown", trim="gold")
def hammer(d: Draft) -> None:
    d.limb("grip", ((0, -46), (0, 24)), 7)
    d.block("metal", 0, -58, 27, 14, 3)
    d.block("metal+", -27, -58, 4, 16.4, 2)
    d.block("metal+", 27, -58, 4, 16.4, 2)
    d.block("trim", 0, -58, 7, 15.4, 1)
    for y in (6, 12, 18):
        d.mark("grip--", (-3.4, y), (3.4, y + 2), width=1.4)


@subject("mace|club|morning star|flail|baseball bat|cudgel", metal="steel", grip="brown", horns="silver")
def mace(d: Draft) -> None:
    if d.words & {"club", "bat", "cudgel", "ogre", "orc", "troll", "caveman", "giant"}:
        d.limb("grip", ((0, 22), (0, -20), (1, -66)), 8, 13, 25)
        for x, y in ((-9, -60), (8, -66), (0, -44), (9, -40), (-7, -32)):
            d.poly("horns", (x - 3, y + 2), (x + (8 if x > 0 else -8), y - 4), (x + 3, y - 3))
        return
    d.limb("grip", ((0, -40), (0, 24)), 6)
    d.star("horns", 0, -58, 27, 15, 10)
    d.oval("metal", 0, -58, 18)


@subject(
    "staff|magic staff|wizard staff|rod|cane|quarterstaff", grip="brown|copper", gem="cyan|violet|lime", trim="gold"
)
def staff(d: Draft) -> None:
    d.limb("grip", ((1, 44), (-1, 10), (1, -30), (0, -64)), 7, 6.4, 7.4)
    d.limb("grip", ((0, -62), (-11, -70), (-10, -86), (-2, -92)), 5, 4.4, 2)
    d.limb("grip", ((0, -62), (11, -70), (10, -86), (5, -90)), 5, 4.4, 2)
    d.oval("gem", 0, -78, 8.6)
    d.dot("white", -3, -81, 2.2)
    d.block("trim", 0, -56, 4.4, 2.4, 1)


@subject("wand|magic wand|fairy wand", grip="brown|charcoal", star="gold|lemon")
def wand(d: Draft) -> None:
    d.limb("grip", ((0, 14), (0, -36)), 5, 3.6)
    d.block("white", 0, -36, 3, 3, 1)
    d.star("star", 0, -47, 18, 8, 5)


@subject("scepter|sceptre", trim="gold", gem="crimson|violet")
def scepter(d: Draft) -> None:
    d.limb("trim", ((0, 36), (0, -44)), 5.4)
    d.oval("gem", 0, -56, 11)
    d.dot("white", -4, -60, 3)
    for _ in d.sides():
        d.limb("trim", ((3, -44), (13, -52), (9, -66)), 3.4, 2)
    d.star("trim", 0, -70, 8, 4, 4)


@subject(
    "shield|buckler|round shield|kite shield|tower shield",
    face="blue|crimson|emerald|brown",
    trim="silver|gold",
    star="gold|silver",
)
def shield(d: Draft) -> None:
    if d.words & {"round", "viking", "buckler"}:
        d.oval("trim", 0, 0, 48)
        d.oval("face", 0, 0, 41)
        for x in (-26, -9, 9, 26):
            d.mark("face--", (x, -36 + abs(x) * 0.3), (x, 36 - abs(x) * 0.3), width=1.4)
        d.oval("trim", 0, 0, 12)
        return
    d.blob(
        "trim",
        (0, -52),
        (22, -46),
        (42, -48),
        (42, -14),
        (30, 24),
        (0, 54),
        (-30, 24),
        (-42, -14),
        (-42, -48),
        (-22, -46),
    )
    d.blob(
        "face",
        (0, -44),
        (20, -39),
        (35, -40),
        (35, -12),
        (25, 19),
        (0, 44),
        (-25, 19),
        (-35, -12),
        (-35, -40),
        (-20, -39),
    )
    d.patch("face+", (0, -42), (0, 41), (-22, 19), (-32, -10), (-33, -37))
    if d.chance(0.5):
        d.star("star", 0, -6, 20, 9, 5)
    else:
        d.block("star", 0, -4, 5, 30, 1)
        d.block("star", 0, -12, 24, 5, 1)


@subject(
    "blaster|gun|pistol|revolver|ray gun|raygun|laser gun|handgun|phaser",
    metal="steel|charcoal|silver",
    grip="brown|charcoal",
    flame="cyan|lime|red",
)
def blaster(d: Draft) -> None:
    d.poly("grip", (-8, -6), (6, -6), (0, 18), (-13, 18))
    d.limb("metal-", ((6, -2), (12, 6), (4, 8)), 2)
    d.blob("metal", (-20, -22), (8, -24), (20, -20), (20, -8), (-16, -6), (-23, -12))
    d.block("metal-", 34, -15, 16, 4.4, 1)
    for x in (26, 33, 40):
        d.block("flame", x, -15, 1.8, 7, 1)
    d.oval("flame", 51, -15, 4.4)
    d.poly("metal-", (-12, -23), (-2, -30), (4, -24))


@subject(
    "rifle|shotgun|machine gun|musket|sniper rifle|assault rifle|bazooka|rocket launcher|flamethrower",
    metal="charcoal|steel",
    grip="brown|olive",
    flame="red",
)
def rifle(d: Draft) -> None:
    d.poly("grip", (-60, -8), (-24, -16), (-22, -2), (-58, 14))
    d.block("metal", 6, -10, 32, 8, 2)
    d.block("metal-", 56, -12, 26, 3.4, 1)
    d.poly("grip", (-10, -2), (2, -2), (-4, 18), (-14, 18))
    d.poly("metal-", (12, -2), (24, -2), (28, 20), (16, 20))
    d.limb("metal-", ((-8, -26), (20, -26)), 6)
    d.block("metal-", 6, -20, 2, 4)
    d.block("grip", 34, -8, 14, 6, 2)


@subject("cannon|artillery|mortar|turret", metal="charcoal|steel", wood="brown", trim="gold|bronze")
def cannon(d: Draft) -> None:
    with d.at(0, -36, turn=-20):
        d.oval("metal", -44, 0, 7)
        d.poly("metal", (-36, -19), (48, -13), (48, 13), (-36, 19))
        d.oval("metal", -34, 0, 10, 19)
        d.block("trim", -8, 0, 4, 18.4, 1)
        d.block("metal+", 47, 0, 5, 17, 2)
        d.oval("black", 53, 0, 4, 11)
    d.poly("wood", (-52, -8), (20, -32), (26, -20), (-40, 2))
    with d.part("wheel"):
        d.oval("wood-", 0, -20, 24)
        d.oval("wood+", 0, -20, 17)
        for turn in (0, 45, 90, 135):
            with d.at(0, -20, turn=turn):
                d.block("wood-", 0, 0, 18, 2.4, 1)
        d.oval("metal", 0, -20, 6)


@subject("bomb|grenade|dynamite|explosive|mine", metal="charcoal", flame="amber", trim="steel")
def bomb(d: Draft) -> None:
    if d.words & {"dynamite"}:
        for x in (-18, 0, 18):
            d.block("red", x, 0, 9, 38, 4)
            d.block("cream", x, -34, 9, 4, 2)
        d.block("charcoal", 0, 0, 29, 5, 1)
        d.limb("sand", ((0, -38), (4, -50), (16, -54)), 2.6)
        d.star("flame", 19, -55, 11, 5, 8)
        return
    d.oval("metal", 0, 0, 40)
    d.dot("grey", -15, -16, 9, 6, -40)
    with d.at(22, -36, turn=32):
        d.block("trim", 0, 0, 11, 7, 2)
        d.limb("sand", ((0, -6), (4, -18), (-4, -26)), 3)
        d.star("flame", -4, -29, 14, 6, 8)
        d.star("lemon", -4, -29, 7, 3, 8)
