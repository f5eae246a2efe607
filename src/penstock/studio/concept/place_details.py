"""What is in a place beside its land: torches, planets, waves."""

from __future__ import annotations

import numpy as np

from penstock.studio.concept.draft import Draft


def bricks(d: Draft, rng: np.random.Generator) -> None:
    """A wall of large stones, with arches and torches."""
    d.inks |= {"joint": (44, 40, 52), "light": (92, 84, 96), "hole": (18, 14, 24)}
    for row in range(10):
        y = 40.0 + 84 * row
        d.mark("joint", (-20, y), (1620, y), width=5)
        for n in range(9):
            x = n * 200.0 - (100 if row % 2 else 0)
            d.mark("joint", (x, y), (x, y + 84), width=5)
            if rng.random() < 0.2:
                d.patch("light", (x + 8, y + 8), (x + 190, y + 8), (x + 190, y + 76), (x + 8, y + 76))
    for x in (300.0, 1100.0):
        d.blob("hole", (x - 90, 640), (x - 90, 380), (x, 270), (x + 90, 380), (x + 90, 640))
        for n in range(-2, 3):
            d.mark("joint", (x + n * 34, 320 + abs(n) * 26), (x + n * 34, 640), width=8)


def torches(d: Draft, rng: np.random.Generator) -> None:
    d.inks |= {"wood": (112, 74, 46), "iron": (70, 70, 80)}
    for x in (120.0, 520.0, 920.0, 1320.0):
        d.limb("wood", ((x, 470), (x, 400)), 16, 22)
        d.block("iron", x, 404, 20, 10, 4)
        d.blob("orange", (x, 400), (x - 34, 370), (x - 14, 320), (x, 278), (x + 16, 322), (x + 34, 370))
        d.blob("lemon", (x, 398), (x - 16, 374), (x, 330), (x + 16, 374))


def pillars(d: Draft, rng: np.random.Generator) -> None:
    d.inks |= {"pillar": (112, 106, 116)}
    for x in (200.0, 1000.0):
        d.block("pillar", x, 380, 56, 420)
        d.block("pillar+", x, 30, 84, 34, 6)
        d.block("pillar+", x, 780, 84, 34, 6)
        for y in range(140, 720, 96):
            d.mark("pillar--", (x - 54, y), (x + 54, y), width=4)


def stalactites(d: Draft, rng: np.random.Generator) -> None:
    for n in range(13):
        x, long, half = n * 123.0 + float(rng.uniform(0, 60)), float(rng.uniform(80, 260)), float(rng.uniform(26, 60))
        for dx in (-1600, 0, 1600):
            d.poly("ground", (x + dx - half, 60), (x + dx + half, 60), (x + dx + half * 0.2, 110 + long))


def crystals(d: Draft, rng: np.random.Generator) -> None:
    for _ in range(7):
        x, tall = float(rng.uniform(80, 1520)), float(rng.uniform(70, 150))
        ink = ("cyan", "violet", "magenta")[int(rng.integers(3))]
        for lean in (-24, 0, 22):
            with d.at(x, 800, turn=lean):
                d.poly(ink, (-16, 0), (-18, -tall * 0.7), (0, -tall), (18, -tall * 0.7), (16, 0))


def weeds(d: Draft, rng: np.random.Generator) -> None:
    d.inks |= {"weed": (34, 146, 120), "bubble": (190, 236, 246)}
    for n in range(18):
        x, tall = n * 90.0 + float(rng.uniform(0, 50)), float(rng.uniform(120, 330))
        bend = float(rng.uniform(-40, 40))
        ink = ("weed", "coral", "weed-")[int(rng.integers(3))]
        d.limb(
            ink,
            ((x, 880), (x + bend, 880 - tall * 0.4), (x - bend, 880 - tall * 0.7), (x + bend * 0.5, 880 - tall)),
            22,
            16,
            5,
        )
    for _ in range(24):
        d.dot("bubble", float(rng.uniform(0, 1600)), float(rng.uniform(100, 800)), float(rng.uniform(3, 10)))


def shoal(d: Draft, rng: np.random.Generator) -> None:
    for _ in range(9):
        x, y, s = float(rng.uniform(60, 1540)), float(rng.uniform(160, 560)), float(rng.uniform(0.6, 1.3))
        ink = ("orange", "lemon", "coral", "violet")[int(rng.integers(4))]
        with d.at(x, y, s, flip=bool(rng.random() < 0.5)):
            d.poly(ink, (-30, 0), (-62, -24), (-56, 0), (-62, 24))
            d.oval(ink, 0, 0, 40, 22)
            d.dot("white", 20, -5, 7)
            d.dot("black", 22, -5, 4)


def rays(d: Draft, rng: np.random.Generator) -> None:
    d.inks["ray"] = (150, 224, 234)
    for n in range(5):
        x = 120.0 + 330 * n + float(rng.uniform(-60, 60))
        d.patch("ray", (x, -10), (x + 60, -10), (x - 130, 620), (x - 210, 620))


def planets(d: Draft, rng: np.random.Generator) -> None:
    d.inks |= {"nebula": (92, 52, 142), "ring": (230, 200, 150)}
    for _ in range(5):
        d.dot(
            "nebula",
            float(rng.uniform(0, 1600)),
            float(rng.uniform(100, 700)),
            float(rng.uniform(120, 260)),
            float(rng.uniform(30, 70)),
            -18,
        )
    for _ in range(110):
        d.dot("white", float(rng.uniform(0, 1600)), float(rng.uniform(0, 900)), float(rng.uniform(0.8, 2.8)))


def orbs(d: Draft, rng: np.random.Generator) -> None:
    d.inks |= {"ring": (230, 200, 150)}
    for x, y, r, ink in ((380, 300, 130, "coral"), (1120, 200, 70, "teal"), (1330, 470, 40, "amber")):
        d.oval(ink, x, y, r)
        d.mark(ink + "-", (x - r * 0.9, y - r * 0.2), (x, y - r * 0.05), (x + r * 0.9, y - r * 0.2), width=r * 0.14)
        d.mark(ink + "-", (x - r * 0.8, y + r * 0.4), (x, y + r * 0.55), (x + r * 0.8, y + r * 0.4), width=r * 0.1)
    d.limb("ring", ((210, 372), (300, 372), (460, 300), (550, 226)), 16)


def craters(d: Draft, rng: np.random.Generator) -> None:
    for _ in range(9):
        x, y, r = float(rng.uniform(0, 1600)), float(rng.uniform(760, 880)), float(rng.uniform(30, 80))
        d.oval("ground-", x, y, r, r * 0.3)


def waves(d: Draft, rng: np.random.Generator) -> None:
    for row in range(5):
        for n in range(9):
            x = n * 180.0 + 60 * (row % 2)
            y = 585.0 + 36 * row
            d.mark("white", (x, y), (x + 30, y - 7), (x + 60, y), width=5)


def lava(d: Draft, rng: np.random.Generator) -> None:
    d.inks |= {"hot": (255, 176, 60)}
    for n in range(10):
        x = n * 165.0 + float(rng.uniform(0, 60))
        d.limb("hot", ((x, 850), (x + 60, 838), (x + 120, 854)), 12)


def vines(d: Draft, rng: np.random.Generator) -> None:
    d.inks |= {"vine": (62, 108, 62)}
    for n in range(11):
        x, long = n * 150.0 + float(rng.uniform(0, 80)), float(rng.uniform(130, 380))
        d.limb("vine", ((x, -10), (x + 14, long * 0.5), (x - 8, long)), 9, 7, 4)
        for k in range(4):
            d.oval("vine+", x + (12 if k % 2 else -12), long * (k + 1) / 5, 15, 8, 30)


def lilies(d: Draft, rng: np.random.Generator) -> None:
    for _ in range(9):
        x, y = float(rng.uniform(40, 1560)), float(rng.uniform(790, 870))
        d.pie("lime", x, y, 50, 16, 20, 340)
        if rng.random() < 0.5:
            d.star("pink", x, y - 8, 16, 8, 6)


def windows(d: Draft, rng: np.random.Generator) -> None:
    d.inks |= {"panel": (46, 54, 74), "light": (96, 220, 240)}
    for n in range(4):
        x = 200.0 + 400 * n
        d.block("panel", x, 330, 150, 170, 40)
        d.block("navy", x, 330, 120, 140, 30)
        for _ in range(16):
            d.dot(
                "white",
                x + float(rng.uniform(-100, 100)),
                330 + float(rng.uniform(-120, 120)),
                float(rng.uniform(1, 3)),
            )
        d.block("light", x + 200, 330, 8, 150, 6)


def panes(d: Draft, rng: np.random.Generator) -> None:
    d.inks |= {"frame": (120, 82, 54), "pane": (160, 214, 240)}
    for x in (400.0, 1200.0):
        d.block("frame", x, 300, 140, 150, 8)
        d.block("pane", x, 300, 120, 130)
        d.block("frame", x, 300, 8, 130)
        d.block("frame", x, 300, 120, 8)
