"""What stands about in towns, harbours and camps."""

from __future__ import annotations

from penstock.studio.concept.catalogue import subject
from penstock.studio.concept.draft import Draft


@subject("anchor|ship anchor", metal="steel|charcoal|navy", rope="sand")
def anchor(d: Draft) -> None:
    d.hoop("metal", 0, -50, 9, 6)
    d.limb("metal", ((0, -42), (0, 44)), 10)
    d.limb("metal", ((-24, -26), (24, -26)), 8)
    d.limb("metal", ((-42, 10), (-30, 38), (0, 48), (30, 38), (42, 10)), 7, 11, 7)
    for side in (-1, 1):
        d.poly("metal", (side * 52, 18), (side * 40, -6), (side * 28, 14))


@subject("ladder|rope ladder|stepladder", wood="brown|copper")
def ladder(d: Draft) -> None:
    for x in (-22, 22):
        d.limb("wood", ((x, -60), (x, 60)), 8)
    for y in range(-48, 60, 18):
        d.block("wood+", 0, y, 24, 3.4, 1.6)


@subject("target|bullseye|dartboard|archery target", face="red", wood="brown")
def target(d: Draft) -> None:
    for side in (-1, 1):
        d.limb("wood", ((side * 16, 20), (side * 34, 62)), 7)
    for n, ink in enumerate(("face", "white", "face", "white", "face")):
        d.oval(ink, 0, 0, 46 - 9 * n)


@subject("wheel|ship wheel|steering wheel|helm wheel|wagon wheel", wood="brown|copper", trim="gold")
def ship_wheel(d: Draft) -> None:
    for turn in range(0, 360, 45):
        with d.at(0, 0, turn=turn):
            d.limb("wood-", ((0, 0), (0, -56)), 6)
            d.oval("wood", 0, -56, 5)
    d.hoop("wood", 0, 0, 34, 11)
    d.oval("trim", 0, 0, 12)


@subject("traffic light|stoplight|semaphore", metal="charcoal")
def traffic_light(d: Draft) -> None:
    d.block("metal", 0, 52, 5, 24, 1)
    d.block("metal", 0, -10, 22, 48, 8)
    for y, ink in ((-38, "red"), (-10, "amber"), (18, "lime")):
        d.oval(ink, 0, y, 12)


@subject("fire hydrant|hydrant|water pump", paint="red|amber", trim="silver")
def hydrant(d: Draft) -> None:
    d.block("paint-", 0, 46, 30, 7, 3)
    for side in (-1, 1):
        d.block("trim", side * 30, -2, 8, 9, 2)
    d.block("paint", 0, 8, 23, 36, 3)
    d.pie("paint", 0, -26, 25, 24, 180, 360)
    d.block("trim", 0, -52, 7, 5, 2)
    d.block("paint-", 0, -26, 28, 4, 2)
    d.oval("trim", 0, 2, 10)


@subject("sofa|couch|bench|park bench", cloth="teal|crimson|violet|copper", wood="brown")
def sofa(d: Draft) -> None:
    for x in (-46, 46):
        d.limb("wood", ((x, 26), (x, 38)), 7)
    d.block("cloth", 0, -14, 52, 26, 12)
    for side in (-1, 1):
        d.block("cloth+", side * 24, 10, 24, 11, 6)
        d.block("cloth-", side * 58, 8, 12, 22, 10)
    d.block("cloth-", 0, 24, 58, 7, 4)


@subject("fridge|refrigerator|freezer|washing machine|vending machine", body="white|sky|coral", trim="steel")
def fridge(d: Draft) -> None:
    d.block("body", 0, 0, 34, 60, 7)
    d.mark("body--", (-33, -16), (33, -16), width=2.4)
    for y in (-34, 8):
        d.limb("trim", ((-22, y - 9), (-22, y + 9)), 5)


@subject("bathtub|bath|tub|toilet|sink", body="white|ivory", liquid="sky", trim="gold")
def bathtub(d: Draft) -> None:
    for x in (-40, 40):
        d.blob("trim", (x - 8, 26), (x + 8, 26), (x + 10, 42), (x - 10, 42))
    d.limb("trim", ((52, -16), (52, -44), (38, -44)), 6)
    for x, y, r in ((-30, -20, 13), (-10, -26, 15), (12, -22, 14), (30, -18, 11)):
        d.oval("white", x, y, r)
    d.blob("body", (-62, -14), (62, -14), (54, 20), (34, 32), (-34, 32), (-54, 20))
    d.block("body+", 0, -14, 66, 6, 6)


@subject("catapult|ballista|trebuchet|siege engine", wood="brown|copper", stone="grey", trim="steel")
def catapult(d: Draft) -> None:
    d.limb("wood", ((10, 10), (-56, -58)), 8)
    d.pie("wood-", -58, -60, 17, 13, -10, 190)
    d.oval("stone", -58, -66, 11)
    for x in (-8, 30):
        d.limb("wood", ((x, 20), (11, -40)), 8)
    d.block("wood", 0, 22, 62, 7, 2)
    for x in (-42, 42):
        d.oval("wood-", x, 32, 15)
        d.oval("trim", x, 32, 5)


@subject("totem|totem pole|tiki|idol|effigy", wood="copper|brown", paint="red|teal", trim="amber")
def totem(d: Draft) -> None:
    for side in (-1, 1):
        d.poly("paint", (side * 18, -40), (side * 54, -58), (side * 48, -36), (side * 18, -22))
    for n, ink in enumerate(("wood", "paint", "wood")):
        y = -42 + 38 * n
        d.block(ink, 0, y, 24, 19, 4)
        for side in (-1, 1):
            d.oval("white", side * 10, y - 5, 6)
            d.dot("black", side * 10, y - 4, 3)
        d.block("trim", 0, y + 9, 13, 4, 2)
    d.poly("trim", (-6, -62), (6, -62), (0, -76))


@subject("lever|switch|button|control panel|joystick|gamepad|controller", metal="steel|charcoal", trim="red|lime")
def lever(d: Draft) -> None:
    d.limb("silver", ((0, 20), (22, -36)), 8)
    d.oval("trim", 24, -42, 13)
    d.block("metal", 0, 32, 42, 15, 6)
    d.pie("metal-", 0, 20, 20, 12, 180, 360)
    for x in (-28, 28):
        d.oval("trim", x, 33, 5)
