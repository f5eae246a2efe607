"""The embedded artist: portraits of characters, drawn from their description."""

from __future__ import annotations

from pathlib import Path

from penstock.generation.steps import Made
from penstock.media.extra import need
from penstock.media.whole import whole

SIZE = 768
"Pixels, in both directions."


class PortraitArtist:
    """Draws a character on a transparent ground. The same description and seed give the same picture.

    Four seeds in a row show one figure: from the front, from two sides, and from near.
    """

    def draw(self, description: str, into: Path, *, seed: int) -> Made:
        """A PNG; it says whom it shows, so that a film made with it can show the same from head to foot."""
        for package in ("numpy", "PIL"):
            need(package)
        from penstock.studio.drawing.pictures import portrait_of, signed
        from penstock.studio.drawing.portrait import portrait
        from penstock.studio.not_drawn import not_portrayed

        who, view = portrait_of(description, seed)
        with whole(into) as picture:
            portrait(who, SIZE, view).save(picture, "PNG", pnginfo=signed(description, seed))
        return Made(metrics={"kind": who.kind, "view": view}, not_drawn=not_portrayed(description, who.figure()))
