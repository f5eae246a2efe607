"""The embedded artist: portraits of characters, drawn from their description."""

from __future__ import annotations

from pathlib import Path

from penstock.generation.steps import Made
from penstock.media.extra import need
from penstock.media.whole import whole

SIZE = 768
"Pixels, in both directions."


class PortraitArtist:
    """Draws a character on a transparent ground. The same description and seed give the same picture."""

    def draw(self, description: str, into: Path, *, seed: int) -> Made:
        """A PNG; it says whom it shows, so that a film made with it can show the same from head to foot."""
        for package in ("numpy", "PIL"):
            need(package)
        from penstock.studio.drawing.character import character
        from penstock.studio.drawing.pictures import signed
        from penstock.studio.drawing.portrait import portrait

        who = character(description, seed=seed)
        with whole(into) as picture:
            portrait(who, SIZE).save(picture, "PNG", pnginfo=signed(description, seed))
        return Made(metrics={"kind": who.kind})
