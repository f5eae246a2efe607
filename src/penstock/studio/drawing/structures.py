"""What is built for one place alone: a water tank on a roof, the stalls of a market, its bunting."""

from __future__ import annotations

from PIL import ImageDraw

from penstock.studio.drawing.colour import Colour, darker
from penstock.studio.drawing.site import Site


def water_tank(brush: ImageDraw.ImageDraw, x: float, foot: float, unit: float, *, tall: bool) -> None:
    """A water tank on legs, or a chimney."""
    if not tall:
        brush.rectangle((x, foot - 26 * unit, x + 13 * unit, foot), fill=(150, 84, 68, 255))
        brush.rectangle((x - unit, foot - 29 * unit, x + 14 * unit, foot - 25 * unit), fill=(110, 62, 52, 255))
        for n in (2, 8):
            brush.rectangle(
                (x + n * unit, foot - 34 * unit, x + (n + 3) * unit, foot - 29 * unit), fill=(176, 110, 86, 255)
            )
        return
    for n in (1, 10, 19):
        brush.line(
            (x + n * unit, foot - 20 * unit, x + n * unit, foot), fill=(70, 60, 56, 255), width=round(1.4 * unit)
        )
    brush.line(
        (x + unit, foot - 3 * unit, x + 19 * unit, foot - 18 * unit), fill=(70, 60, 56, 255), width=round(0.8 * unit)
    )
    brush.rectangle((x - unit, foot - 42 * unit, x + 21 * unit, foot - 18 * unit), fill=(150, 112, 80, 255))
    for n in range(6):
        left = x + (n * 3.8 - 1) * unit
        brush.line((left, foot - 42 * unit, left, foot - 18 * unit), fill=(112, 80, 56, 255), width=1)
    for n in (37, 23):
        brush.line(
            (x - unit, foot - n * unit, x + 21 * unit, foot - n * unit), fill=(80, 66, 60, 255), width=round(unit)
        )
    brush.polygon(
        [(x - 3 * unit, foot - 42 * unit), (x + 10 * unit, foot - 52 * unit), (x + 23 * unit, foot - 42 * unit)],
        fill=(96, 74, 62, 255),
    )


def stall(brush: ImageDraw.ImageDraw, x: float, foot: float, unit: float, stripe: Colour, site: Site) -> None:
    wide = 36 * unit
    for post in (0.04, 0.94):
        brush.rectangle(
            (x + post * wide, foot - 44 * unit, x + post * wide + 1.4 * unit, foot), fill=(120, 84, 56, 255)
        )
    brush.rectangle((x, foot - 17 * unit, x + wide, foot), fill=(164, 116, 74, 255))
    for n in range(4):
        brush.line(
            (x, foot - (4 + 4 * n) * unit, x + wide, foot - (4 + 4 * n) * unit), fill=(126, 86, 54, 255), width=1
        )
    fruits: tuple[Colour, ...] = ((226, 60, 50), (246, 160, 40), (126, 190, 60), (246, 214, 70), (140, 70, 150))
    for heap in range(4):
        colour = fruits[int(site.rng.integers(len(fruits)))]
        for row in range(3):
            for n in range(4 - row):
                r = 1.5 * unit
                cx, cy = x + (2.5 + heap * 8.6 + n * 2.3 + row * 1.15) * unit, foot - (18 + row * 2.2) * unit
                brush.ellipse(
                    (cx - r, cy - r, cx + r, cy + r), fill=(*colour, 255), outline=(*darker(colour, 0.35), 255)
                )
    for n in range(8):
        left = x - 2 * unit + n * (wide + 4 * unit) / 8
        right = left + (wide + 4 * unit) / 8
        fill = (*stripe, 255) if n % 2 == 0 else (248, 244, 236, 255)
        brush.rectangle((left, foot - 47 * unit, right, foot - 36 * unit), fill=fill)
        brush.pieslice((left, foot - 39.5 * unit, right, foot - 32.5 * unit), 0, 180, fill=fill)


def bunting(brush: ImageDraw.ImageDraw, wide: int, unit: float, colours: tuple[Colour, ...]) -> None:
    brush.line((0, 6 * unit, wide, 6 * unit), fill=(90, 80, 80, 255), width=1)
    for n in range(round(wide / (7 * unit)) + 1):
        x = n * 7 * unit
        brush.polygon(
            [(x, 6 * unit), (x + 5 * unit, 6 * unit), (x + 2.5 * unit, 12 * unit)], fill=(*colours[n % 4], 255)
        )
