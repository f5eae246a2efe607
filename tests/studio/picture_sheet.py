"""Sixteen prompts and a thumbnail of each on one sheet, without a word on it: whoever looks at it names what they see.

Run by ``python -m tests.studio.picture_sheet``; the sheet is `build/pictures/sheet.png`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from penstock.generation.steps import Shot
from penstock.media.compose import FfmpegComposer
from penstock.studio.filmer import ProceduralFilmer
from tests.generation.listening_reporter import ListeningReporter

PROMPTS: tuple[tuple[str, str, str], ...] = (
    ("A cat astronaut with a flag stands still on the moon", "cat", "moon"),
    ("A mermaid with long red hair sings into a microphone under water", "mermaid", "underwater"),
    (
        "A red-haired woman with freckles and a leather jacket plays guitar on a rooftop at sunset",
        "woman",
        "rooftop",
    ),
    ("A silver robot with an umbrella walks down a city street in the rain at night", "robot", "street"),
    ("A red dragon flies over a castle in bright daylight", "dragon", "castle"),
    ("A fox detective with a lantern walks through the forest at night", "fox", "forest"),
    (
        "An old man with a white beard, glasses and a green sweater sits in a library and reads a book",
        "person",
        "library",
    ),
    ("A ghost with a red balloon in a graveyard at midnight", "ghost", "graveyard"),
    ("A blonde girl in a yellow dress dances on a stage", "woman", "stage"),
    ("A knight in silver armour raises a sword in the desert at noon", "knight", "desert"),
    ("A bear chef with a frying pan in the kitchen in the morning", "bear", "kitchen"),
    ("A green alien waves in a space station", "alien", "station"),
    ("A penguin on a snowy mountain while it is snowing, by day", "penguin", "snow"),
    ("A dog in a blue suit jumps at the market at noon", "dog", "market"),
    ("A boy in a red hoodie rides a skateboard, seen in a bedroom at night", "person", "bedroom"),
    ("A pirate with a black beard and a sword stands on the sea shore at sunset", "pirate", "sea"),
)
"What is asked for, who is in it, and where it is."
SIZE = (640, 360)
_ACROSS = 4


def thumbnail(prompt: str, into: Path, *, seconds: float = 1.5) -> Image.Image:
    """The picture that a project shows of a scene: from the film, as the pipeline makes it."""
    clip = into / "clip.mp4"
    ProceduralFilmer(*SIZE, 12).film(Shot(f"Wide shot. {prompt}.", seconds, seed=1), clip, ListeningReporter())
    FfmpegComposer(*SIZE, 12).thumbnail(clip, into / "clip.jpg")
    with Image.open(into / "clip.jpg") as picture:
        return picture.convert("RGB")


def sheet() -> Image.Image:
    """All of them, four in a row."""
    wide, high = 480, 270
    found = Image.new("RGB", (_ACROSS * wide, -(-len(PROMPTS) // _ACROSS) * high), "white")
    with TemporaryDirectory() as folder:
        for n, (prompt, _, _) in enumerate(PROMPTS):
            picture = thumbnail(prompt, Path(folder)).resize((wide - 6, high - 6), Image.Resampling.LANCZOS)
            found.paste(picture, (n % _ACROSS * wide + 3, n // _ACROSS * high + 3))
    return found


if __name__ == "__main__":
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "build/pictures/sheet.png")
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet().save(path)
    print(path)
