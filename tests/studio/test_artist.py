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
from penstock.studio.drawing.colour import NAMED
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
    assert draw("a woman with a hat", tmp_path / "o.png", 8).tobytes() != draw("a woman with a hat", once, 4).tobytes()


@pytest.mark.parametrize(
    "description", ["a red-haired woman in a leather jacket", "a silver robot", "a dragon", "a cat"]
)
def test_four_pictures_show_one_figure_from_four_sides(tmp_path: Path, description: str) -> None:
    pictures = [draw(description, tmp_path / f"{seed}.png", seed) for seed in range(4)]
    assert len({portrayed(tmp_path / f"{seed}.png") for seed in range(4)}) == 1
    for n, one in enumerate(pictures):
        for other in pictures[n + 1 :]:
            apart = np.abs(np.asarray(one).astype(int) - np.asarray(other).astype(int)).mean()
            assert apart > 8
    assert portrayed(tmp_path / "0.png") != character(description, seed=1)


def test_the_artist_says_what_it_could_not_draw(tmp_path: Path) -> None:
    made = ARTIST.draw("a tall woman with a tattoo and a green dress", tmp_path / "1.png", seed=0)
    assert made.not_drawn == ["tattoo"]
    assert ARTIST.draw("a red-haired woman, freckles, leather jacket", tmp_path / "2.png", seed=0).not_drawn == []


@pytest.mark.parametrize(
    ("description", "kind", "inks", "looks", "worn"),
    [
        ("a copper robot with green eyes", "robot", {"metal": "copper", "eyes": "green"}, {}, set()),
        (
            "woman, curly blonde hair, red jacket",
            "woman",
            {"clothes": "red"},
            {"hair": "curly", "garment": "jacket"},
            set(),
        ),
        ("An old man with a beard and glasses", "person", {"hair": "silver"}, {"beard": "beard"}, {"glasses"}),
        ("Kitten wearing headphones", "cat", {}, {"garment": "fur"}, {"headphones"}),
        ("a cat in a blue spacesuit", "cat", {"clothes": "blue"}, {"garment": "suit"}, set()),
        ("freckles, long hair, leather jacket", "person", {}, {"freckles": "freckles", "hair": "long"}, set()),
        ("a merman with a violet tail", "mermaid", {"tail": "violet"}, {}, set()),
        ("", "person", {}, {}, set()),
    ],
)
def test_a_character_is_as_described(
    description: str, kind: str, inks: dict[str, str], looks: dict[str, str], worn: set[str]
) -> None:
    figure = character(description).figure()
    assert figure.kind == kind
    assert {ink: figure.draft.inks[ink] for ink in inks} == {ink: NAMED[colour] for ink, colour in inks.items()}
    assert looks.items() <= figure.wish.looks.items()
    assert worn <= set(figure.wish.worn)


def test_a_trade_is_worn_by_whoever_has_it_and_a_garment_that_is_named_goes_before_it() -> None:
    cat = character("a cat astronaut").figure()
    assert (cat.kind, cat.trade, cat.draft.inks["clothes"]) == ("cat", "astronaut", NAMED["white"])
    spaceman = character("a red-haired astronaut").figure()
    assert any(shape.ink.startswith("hat") for shape in spaceman.draft.shapes)
    # What is called red in hair is no signal red.
    assert spaceman.draft.inks["hair"] != NAMED["red"]
    without = character("a red-haired astronaut, freckles, leather jacket").figure()
    # Nobody wears a bubble over a jacket.
    assert not any(shape.ink.startswith("hat") for shape in without.draft.shapes)


def test_colours_are_seen(tmp_path: Path) -> None:
    shares = []
    for coat in ("crimson", "emerald"):
        pixels = np.asarray(draw(f"a man in a {coat} coat", tmp_path / "man.png")).astype(int)
        coat_pixels = pixels[400:520, 330:440][pixels[400:520, 330:440, 3] > 200]
        shares.append(float((coat_pixels[:, 0] > coat_pixels[:, 1] + 30).mean()))
    assert shares[0] > 0.6
    assert shares[1] < 0.3


def test_a_portrait_tells_whom_it_shows_and_can_be_cut_out(tmp_path: Path) -> None:
    into = tmp_path / "cat.png"
    description = "A café-au-lait cat, 猫"
    draw(description, into, seed=-7)
    assert portrayed(into) == character(description, seed=-2)
    assert not given(into).framed
    plain = tmp_path / "plain.png"
    draw(description, into).save(plain)
    assert portrayed(plain) is None
