"""The embedded concept artist and retoucher: pictures that fit their words, repeat themselves, and can be modelled."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from penstock.generation.asset_steps import AssetOrder, PictureMaker, PictureRefiner
from penstock.media.soundness import sound_image
from penstock.studio.concept.catalogue import FAMILIES, subjects
from penstock.studio.concept.concept_picture import concept_picture
from penstock.studio.concept.regions import regions
from penstock.studio.concept.wish import understood
from penstock.studio.concept_artist import ConceptArtist
from penstock.studio.drawing.colour import NAMED
from penstock.studio.retoucher import Retoucher
from penstock.work import Terminal

ARTIST: PictureMaker = ConceptArtist()
RETOUCHER: PictureRefiner = Retoucher()


class Silent:
    """A reporter that keeps what it is told."""

    def __init__(self) -> None:
        self.heard: list[float] = []

    def progress(self, fraction: float, note: str | None = None) -> None:
        self.heard.append(fraction)

    def remember(self, job: str) -> None:
        raise AssertionError("nothing is begun elsewhere")


def small(concept: str, kind: str = "character", size: int = 128, **more: object) -> Image.Image:
    order = AssetOrder(kind, concept, **more)  # type: ignore[arg-type]
    return concept_picture(order, (size, size) if kind != "background" else (256, 144)).picture


def solid(picture: Image.Image) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    return np.asarray(np.asarray(picture.getchannel("A")) > 128)


def apart(one: Image.Image, other: Image.Image) -> float:
    """How far two pictures are from each other, in steps of brightness, seen from afar."""
    a, b = (np.asarray(each.convert("RGBa").resize((32, 32)), dtype=np.float32) for each in (one, other))
    return float(np.abs(a - b).mean())


def near(picture: Image.Image, colour: str) -> float:
    """The share of its solid pixels that are about of a colour."""
    pixels = np.asarray(picture, dtype=np.float32)
    seen = pixels[pixels[..., 3] > 200][:, :3]
    return float((np.abs(seen - NAMED[colour]).max(axis=1) < 26).mean())


def test_a_concept_is_a_sound_png_with_its_subject_whole_in_the_middle(tmp_path: Path) -> None:
    into, reporter = tmp_path / "concept.png", Silent()
    made = ARTIST.draw(AssetOrder("character", "Space ranger robot with a red scarf"), into, reporter)
    found = sound_image(into).picture
    assert found is not None
    assert (found.width, found.height, found.has_alpha) == (1024, 1024, True)
    assert made.metrics["subject"] == "robot"
    assert made.metrics["recognised"] is True
    assert made.metrics["bytes"] == into.stat().st_size
    assert reporter.heard[-1] == 1.0
    assert [path.name for path in tmp_path.iterdir()] == ["concept.png"]
    with Image.open(into) as picture:
        mask = solid(picture)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    assert min(rows[0], columns[0]) > 20
    assert max(rows[-1], columns[-1]) < 1003
    assert abs((rows[0] + rows[-1]) / 2 - 511.5) < 12
    assert abs((columns[0] + columns[-1]) / 2 - 511.5) < 12


def test_the_same_order_gives_the_same_bytes_and_another_seed_another_picture(tmp_path: Path) -> None:
    one, two, three = (tmp_path / name for name in ("1.png", "2.png", "3.png"))
    for path, seed in ((one, 4), (two, 4), (three, 5)):
        ARTIST.draw(AssetOrder("character", "a wizard with a staff", seed=seed), path, Silent())
    assert one.read_bytes() == two.read_bytes()
    assert one.read_bytes() != three.read_bytes()


def test_every_subject_of_the_catalogue_is_drawn_as_one_piece_within_its_frame() -> None:
    broken = []
    for name in subjects():
        mask = solid(small(name, size=96))
        _, sizes = regions(mask)
        share = sizes[1:].max() / sizes[1:].sum()
        touches = mask[0].any() or mask[-1].any() or mask[:, 0].any() or mask[:, -1].any()
        if share < 0.96 or touches or mask.mean() < 0.03:
            broken.append((name, round(float(share), 2), bool(touches), round(float(mask.mean()), 2)))
    assert broken == []


def test_each_family_brings_subjects() -> None:
    families = {each.family for each in subjects().values()}
    assert families == set(FAMILIES)
    assert len(subjects()) > 180


def test_different_words_give_different_pictures() -> None:
    words = "robot|knight|wizard|cat|horse|dragon|owl|fish|spider|slime|sword|shield|potion|chest|tree|house|car|rocket"
    drawn = [small(word) for word in words.split("|")]
    nearest = min(apart(a, b) for n, a in enumerate(drawn) for b in drawn[n + 1 :])
    assert nearest > 8


@pytest.mark.parametrize("kind", ["character", "prop"])
def test_words_that_nobody_knows_give_pictures_of_their_own(kind: str) -> None:
    drawn = [small(word, kind) for word in ("flumbergast", "zorblax", "quixel", "snorp", "glimmerwock", "thrumbo")]
    assert min(apart(a, b) for n, a in enumerate(drawn) for b in drawn[n + 1 :]) > 4
    assert small("flumbergast", kind).tobytes() == drawn[0].tobytes()


@pytest.mark.parametrize(
    ("words", "colour", "least"),
    [
        ("robot with a red scarf", "red", 0.02),
        ("a knight in emerald armor", "emerald", 0.1),
        ("witch with a teal hat", "teal", 0.03),
        ("magenta dragon", "magenta", 0.15),
        ("dog with a navy cape", "navy", 0.03),
        ("a lime house with a violet roof", "violet", 0.05),
        ("orange car", "orange", 0.2),
        ("potion with purple liquid", "purple", 0.1),
        ("black cat", "black", 0.25),
    ],
)
def test_a_colour_that_is_asked_for_is_there_and_on_what_it_was_asked_for(
    words: str, colour: str, least: float
) -> None:
    assert near(small(words), colour) > least


def test_what_is_worn_held_or_meant_is_understood() -> None:
    wish = understood("a tall skeleton pirate with a blue hat, holding a golden sword", "angry, green eyes")
    assert wish.subject is not None
    assert wish.race is not None
    assert (wish.subject.name, wish.race.name, wish.held, wish.mood) == ("pirate", "skeleton", ("sword",), "angry")
    assert wish.inks["hat"] == NAMED["blue"]
    assert wish.inks["eyes"] == NAMED["green"]
    assert "held sword" in wish.inks
    assert wish.traits["tall"] > 1


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("robot dog", "dog"),
        ("a picture of a treasure chest full of gold coins", "chest"),
        ("knight with a dog", "knight"),
        ("teddy bear", "teddy bear"),
        ("a bottle of poison", "bottle"),
        ("three wolves", "wolf"),
        ("dragon egg", "egg"),
    ],
)
def test_the_subject_is_the_noun_that_the_others_describe(words: str, name: str) -> None:
    assert concept_picture(AssetOrder("prop", words), (64, 64)).subject == name


def test_accessories_are_put_on_whoever_has_a_place_for_them() -> None:
    for who in ("cat", "robot", "owl", "frog", "slime"):
        plain = small(who)
        for worn in ("crown", "top hat", "scarf", "glasses"):
            assert apart(plain, small(f"{who} with a {worn}")) > 0.4, (who, worn)


@pytest.mark.parametrize("style", ["pixel art", "low poly", "ink", "pastel", "dark", "neon", "flat", "realistic"])
def test_a_style_changes_how_the_same_thing_looks(style: str) -> None:
    assert apart(small("fox"), small("fox", style=style)) > 1.0


def test_a_style_profile_sets_palette_outline_and_proportions() -> None:
    palette = ("#102040", "#e0c060", "#a03050")
    pixels = np.asarray(small("wizard", palette=palette), dtype=np.float32)
    seen = pixels[pixels[..., 3] > 200][:, :3]
    wanted = np.array([(16, 32, 64), (224, 192, 96), (160, 48, 80)], dtype=np.float32)
    away = np.abs(seen[:, None, :] - wanted[None]).max(axis=2).min(axis=1)
    assert (away < 48).mean() > 0.4
    heads = [small("knight", proportions=kind) for kind in ("chibi", "heroic", "realistic")]
    widths = [solid(each)[:40].sum() / solid(each).sum() for each in heads]
    assert widths[0] > widths[1] > widths[2]
    dark = []
    for thickness in (0.0, 1.0):
        ghost = small("ghost", size=256, outline=thickness)
        dark.append(float((np.asarray(ghost.convert("L"))[solid(ghost)] < 90).mean()))
    assert dark[1] > dark[0] + 0.03


def test_a_colour_of_a_profile_that_is_none_is_refused_for_good(tmp_path: Path) -> None:
    with pytest.raises(Terminal, match="no colour"):
        ARTIST.draw(AssetOrder("prop", "sword", palette=["reddish"]), tmp_path / "x.png", Silent())
    assert list(tmp_path.iterdir()) == []


def test_a_reference_on_a_plain_ground_gives_its_silhouette(tmp_path: Path) -> None:
    photo = Image.new("RGB", (300, 400), (240, 240, 240))
    ImageDraw.Draw(photo).polygon([(150, 40), (260, 360), (40, 360)], fill=(30, 120, 60))
    photo.save(tmp_path / "photo.jpg")
    drawn = concept_picture(AssetOrder("prop", "a tent", reference=tmp_path / "photo.jpg"), (128, 128)).picture
    mask = solid(drawn)
    widths = mask.sum(axis=1)
    rows = np.flatnonzero(widths)
    assert widths[rows[len(rows) // 4]] < widths[rows[3 * len(rows) // 4]]
    r, g, b = np.asarray(drawn)[96, 64, :3].astype(int)
    assert g > r + 30
    assert g > b + 20


def test_a_reference_without_a_clear_subject_gives_its_colours(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 90, (200, 200, 3), dtype=np.uint8)
    noise[..., 2] += 160
    Image.fromarray(noise).save(tmp_path / "blue.png")
    plain, steered = small("fox"), small("fox", reference=tmp_path / "blue.png")
    means = [np.asarray(each)[solid(each)].mean(axis=0) for each in (plain, steered)]
    assert means[0][2] < means[0][0]
    assert means[1][2] > means[1][0] + 30


def test_a_reference_that_is_no_picture_or_a_bomb_is_refused_for_good(tmp_path: Path) -> None:
    text, bomb = tmp_path / "text.png", tmp_path / "bomb.png"
    text.write_bytes(b"this is no picture")

    def chunk(name: bytes, body: bytes) -> bytes:
        return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")

    size = (60_000).to_bytes(4, "big") * 2
    bomb.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size + b"\x08\x06\0\0\0") + chunk(b"IDAT", b"") + chunk(b"IEND", b"")
    )
    for path in (text, bomb):
        with pytest.raises(Terminal):
            ARTIST.draw(AssetOrder("prop", "sword", reference=path), tmp_path / "x.png", Silent())
        with pytest.raises(Terminal):
            RETOUCHER.refine(path, AssetOrder("prop", "sword"), tmp_path / "x.png", Silent())
    assert not (tmp_path / "x.png").exists()


def test_words_of_any_kind_are_drawn() -> None:
    for words in (
        "",
        "   ",
        "日本の城",
        "🐉",
        "a" * 5000,
        "red red red",
        "with a hat",
        "\x00\n",
        "'; drop table",
        "l'été",
    ):
        for kind in ("character", "prop"):
            assert small(words, kind, size=48).size == (48, 48)
    assert small("日本の城 \x00", "background").size == (256, 144)


def test_refining_cleans_the_edge_and_doubles_the_size(tmp_path: Path) -> None:
    given, refined = tmp_path / "concept.png", tmp_path / "refined.png"
    picture = Image.new("RGBA", (512, 512), (0, 0, 0, 0))
    brush = ImageDraw.Draw(picture)
    brush.ellipse((100, 100, 412, 412), fill=(255, 255, 255, 90))
    brush.ellipse((102, 102, 410, 410), fill=(200, 40, 40, 255))
    brush.ellipse((250, 250, 254, 254), fill=(0, 0, 0, 0))
    brush.rectangle((20, 20, 23, 23), fill=(0, 0, 255, 255))
    picture.save(given)
    made = RETOUCHER.refine(given, AssetOrder("prop", "ball"), refined, Silent())
    with Image.open(refined) as opened:
        result = opened.convert("RGBA")
    assert result.size == (2048, 2048)
    assert made.metrics["specks"] == 1
    assert made.metrics["holes"] == 1
    assert {"decontaminate", "remove specks", "fill holes", "upscale", "sharpen"} <= set(made.metrics["operations"])
    pixels = np.asarray(result).astype(int)
    edge = (pixels[..., 3] > 20) & (pixels[..., 3] < 235)
    assert edge.any()
    assert pixels[edge][:, 1].mean() < 110, "the white it stood before is gone from its edge"
    _, sizes = regions(pixels[..., 3] > 128)
    assert len(sizes) == 2
    again = tmp_path / "again.png"
    RETOUCHER.refine(given, AssetOrder("prop", "ball"), again, Silent())
    assert again.read_bytes() == refined.read_bytes()


def test_a_picture_from_elsewhere_loses_its_plain_ground(tmp_path: Path) -> None:
    photo = Image.new("RGB", (256, 256), (250, 250, 250))
    ImageDraw.Draw(photo).ellipse((60, 40, 200, 220), fill=(40, 90, 160))
    photo.save(tmp_path / "elsewhere.png")
    made = RETOUCHER.refine(tmp_path / "elsewhere.png", AssetOrder("prop", "pot"), tmp_path / "r.png", Silent())
    assert "remove background" in made.metrics["operations"]
    with Image.open(tmp_path / "r.png") as result:
        assert result.getchannel("A").getpixel((4, 4)) == 0


def test_pixel_art_keeps_its_blocks(tmp_path: Path) -> None:
    order = AssetOrder("prop", "sword", style="pixel art")
    ARTIST.draw(order, tmp_path / "c.png", Silent())
    RETOUCHER.refine(tmp_path / "c.png", order, tmp_path / "r.png", Silent())
    with Image.open(tmp_path / "r.png") as result:
        alpha = np.asarray(result.getchannel("A"))
    assert set(np.unique(alpha)) <= {0, 255}
