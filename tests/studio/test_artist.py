"""The embedded artist: portraits that fit their description, repeat themselves, and can be cut out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from penstock.generation.steps import Artist
from penstock.media.soundness import sound_image
from penstock.studio.artist import SIZE, PortraitArtist
from penstock.studio.drawing.character import character
from penstock.studio.drawing.pictures import given, portrayed

ARTIST: Artist = PortraitArtist()


def draw(description: str, into: Path, seed: int = 0) -> Image.Image:
    ARTIST.draw(description, into, seed=seed)
    with Image.open(into) as picture:
        return picture.convert("RGBA")


def test_a_portrait_is_a_sound_square_png_with_nothing_around_it(tmp_path: Path) -> None:
    into = tmp_path / "robot.png"
    picture = draw("a friendly robot", into)
    found = sound_image(into)
    assert found.picture is not None
    assert (found.container, found.picture.width, found.picture.height) == ("png", SIZE, SIZE)
    alpha = np.asarray(picture.getchannel("A"))
    assert alpha[:40, :40].max() == alpha[:40, -40:].max() == 0
    assert 0.2 < (alpha > 128).mean() < 0.7
    assert [path.name for path in tmp_path.iterdir()] == ["robot.png"]


def test_the_same_description_and_seed_give_the_same_picture(tmp_path: Path) -> None:
    once, again = tmp_path / "1.png", tmp_path / "2.png"
    for path in (once, again):
        ARTIST.draw("a woman with a hat", path, seed=4)
    assert once.read_bytes() == again.read_bytes()
    others = {draw("a woman with a hat", tmp_path / "o.png", seed).tobytes() for seed in range(4)}
    assert len(others) == 4


@pytest.mark.parametrize(
    ("description", "told"),
    [
        ("a copper robot with green eyes", {"kind": "robot", "skin": (190, 112, 66), "eyes": (72, 156, 84)}),
        ("young woman, curly blonde hair, red jacket", {"kind": "person", "hair": "curly", "clothes": (214, 58, 54)}),
        ("An old man with a beard and glasses", {"kind": "person", "hair": "short", "extras": {"beard", "glasses"}}),
        ("Kitten wearing headphones", {"kind": "cat", "extras": {"headphones"}}),
        ("cowboy", {"kind": "person", "extras": {"cowboy hat"}}),
        ("an astronaut", {"kind": "astronaut"}),
        ("", {"kind": "person"}),
    ],
)
def test_a_character_is_as_described(description: str, told: dict[str, object]) -> None:
    who = character(description)
    assert {name: getattr(who, name) for name in told} == told


def test_colours_are_seen(tmp_path: Path) -> None:
    shares = []
    for coat in ("crimson", "emerald"):
        pixels = np.asarray(draw(f"a man in a {coat} coat", tmp_path / "man.png")).astype(int)
        coat_pixels = pixels[650:][pixels[650:, :, 3] > 200]
        shares.append(float((coat_pixels[:, 0] > coat_pixels[:, 1] + 30).mean()))
    assert shares[0] > 0.6
    assert shares[1] < 0.3


def test_a_portrait_tells_whom_it_shows_and_can_be_cut_out(tmp_path: Path) -> None:
    into = tmp_path / "cat.png"
    description = "A café-au-lait cat, 猫"
    draw(description, into, seed=-7)
    assert portrayed(into) == character(description, seed=-7)
    assert not given(into).framed
    plain = tmp_path / "plain.png"
    draw(description, into).save(plain)
    assert portrayed(plain) is None
