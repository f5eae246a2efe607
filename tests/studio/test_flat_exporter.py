"""What stays flat: sprites that move within their cells, and backgrounds whose layers are the background."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from penstock.generation.asset_steps import AssetExporter, AssetOrder
from penstock.media.probe import probe
from penstock.studio.concept.concept_picture import concept_picture
from penstock.studio.concept.parallax import parallax
from penstock.studio.concept.places import PLACES
from penstock.studio.concept.poses import MOVEMENTS
from penstock.studio.concept.scenery import composed, scenery
from penstock.studio.concept.sprite_sheet import sprite_sheet
from penstock.studio.flat_exporter import BackgroundExporter, SpriteExporter
from penstock.work import Terminal

SPRITES: AssetExporter = SpriteExporter()
BACKGROUNDS: AssetExporter = BackgroundExporter()
PROVENANCE = {"prompt": "a fox, ключ", "seed": 3, "model": "penstock.concept-artist"}


class Silent:
    def progress(self, fraction: float, note: str | None = None) -> None: ...

    def remember(self, job: str) -> None: ...


def differ(one: Image.Image, other: Image.Image) -> float:
    a, b = (np.asarray(each.convert("RGBa"), dtype=np.float32) for each in (one, other))
    return float(np.abs(a - b).mean())


def test_a_sprite_sheet_has_an_atlas_that_tells_its_frames_and_where_it_came_from(tmp_path: Path) -> None:
    order = AssetOrder("sprite", "fox")
    concept_picture(order, (512, 512)).picture.save(tmp_path / "refined.png")
    into = tmp_path / "out"
    into.mkdir()
    made = SPRITES.export(tmp_path / "refined.png", order, PROVENANCE, into, Silent())
    assert {path.name for path in into.iterdir()} == {
        "sprites.png",
        "sprites.json",
        "engine.md",
        "thumbnail.png",
        "turntable.mp4",
    }
    atlas = json.loads((into / "sprites.json").read_text())
    assert len(atlas["animations"]["idle"]) >= 4
    assert len(atlas["animations"]["walk"]) >= 6
    assert atlas["meta"]["provenance"] == PROVENANCE
    with Image.open(into / "sprites.png") as sheet:
        assert atlas["meta"]["size"] == {"w": sheet.width, "h": sheet.height}
        assert json.loads(sheet.info["penstock:provenance"]) == PROVENANCE
        pictures = sheet.convert("RGBA")
    cells = []
    for frame in atlas["frames"].values():
        box = frame["frame"]
        assert frame["duration"] > 0
        assert 0 <= frame["pivot"]["x"] <= 1
        assert 0 <= frame["pivot"]["y"] <= 1
        cell = pictures.crop((box["x"], box["y"], box["x"] + box["w"], box["y"] + box["h"]))
        alpha = np.asarray(cell.getchannel("A"))
        assert alpha.max() == 255
        assert max(alpha[0].max(), alpha[-1].max(), alpha[:, 0].max(), alpha[:, -1].max()) == 0
        cells.append(cell)
    assert min(differ(a, b) for n, a in enumerate(cells[6:]) for b in cells[6 + n + 1 :]) > 0.2
    assert min(differ(a, b) for a, b in pairwise(cells[:6])) > 0.1
    assert made.metrics["frames"] == {"idle": 6, "walk": 8}
    assert made.metrics["parts_known"] is True
    film = probe(into / "turntable.mp4").picture
    assert film is not None
    assert (film.width, film.height) == (512, 512)
    with Image.open(into / "thumbnail.png") as thumbnail:
        assert thumbnail.size == (512, 512)


@pytest.mark.parametrize(
    ("words", "stance"),
    [
        ("knight", "biped"),
        ("horse", "quadruped"),
        ("bird", "flyer"),
        ("fish", "swimmer"),
        ("spider", "crawler"),
        ("slime", "hopper"),
        ("rocket", "thing"),
    ],
)
def test_whatever_it_is_it_moves_within_its_cell(words: str, stance: str) -> None:
    assert stance in MOVEMENTS
    order = AssetOrder("sprite", words)
    drawn = concept_picture(order, (256, 256))
    assert drawn.sketch is not None
    assert drawn.sketch.subject.stance == stance
    sprites = sprite_sheet(drawn.picture, order)
    assert sprites.drawn
    for frames in sprites.clips.values():
        assert min(differ(frames[n - 1], frame) for n, frame in enumerate(frames)) > 0.1
        for frame in frames:
            alpha = np.asarray(frame.getchannel("A"))
            assert max(alpha[0].max(), alpha[-1].max(), alpha[:, 0].max(), alpha[:, -1].max()) == 0


def test_a_picture_from_elsewhere_is_bent_instead() -> None:
    picture = Image.new("RGBA", (400, 400), (0, 0, 0, 0))
    ImageDraw.Draw(picture).rounded_rectangle((120, 40, 280, 380), 30, fill=(200, 120, 40, 255))
    sprites = sprite_sheet(picture, AssetOrder("sprite", "a totem"))
    assert not sprites.drawn
    for frames in sprites.clips.values():
        assert min(differ(frames[n - 1], frame) for n, frame in enumerate(frames)) > 0.05
        for frame in frames:
            alpha = np.asarray(frame.getchannel("A"))
            assert max(alpha[0].max(), alpha[-1].max(), alpha[:, 0].max(), alpha[:, -1].max()) == 0


def test_exporting_again_gives_the_same_bytes(tmp_path: Path) -> None:
    order = AssetOrder("sprite", "green slime with a crown")
    concept_picture(order, (256, 256)).picture.save(tmp_path / "refined.png")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        SPRITES.export(tmp_path / "refined.png", order, PROVENANCE, tmp_path / name, Silent())
    for path in sorted((tmp_path / "one").iterdir()):
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_layers_compose_to_the_background(tmp_path: Path) -> None:
    order = AssetOrder("background", "desert canyon at sunset")
    drawn = concept_picture(order, (640, 360)).picture
    assert np.asarray(drawn.getchannel("A")).min() == 255
    drawn.save(tmp_path / "refined.png")
    into = tmp_path / "out"
    into.mkdir()
    made = BACKGROUNDS.export(tmp_path / "refined.png", order, PROVENANCE, into, Silent())
    told = json.loads((into / "layers.json").read_text())
    assert 3 <= len(told["layers"]) == made.metrics["layers"] <= 5
    assert told["tiles"] is True
    speeds = [layer["speed"] for layer in told["layers"]]
    assert speeds == sorted(speeds)
    stack: Image.Image | None = None
    for layer in told["layers"]:
        with Image.open(into / layer["image"]) as opened:
            assert json.loads(opened.info["penstock:provenance"]) == PROVENANCE
            picture = opened.convert("RGBA")
        if stack is None:
            stack = picture
            assert np.asarray(picture.getchannel("A")).min() == 255
        else:
            assert 0 < (np.asarray(picture.getchannel("A")) > 128).mean() < 0.9
            stack.alpha_composite(picture)
    with Image.open(into / "background.png") as whole:
        assert whole.size == (2048, 1152)
        assert stack is not None
        assert stack.tobytes() == whole.convert("RGBA").tobytes()
    film = probe(into / "turntable.mp4").picture
    assert film is not None
    assert (film.width, film.height) == (640, 360)


def test_a_background_from_elsewhere_is_cut_into_layers_that_compose_to_it() -> None:
    rows, columns = np.linspace(0, 200, 576)[:, None], np.linspace(0, 50, 1024)[None, :]
    picture = Image.fromarray((rows + columns).astype(np.uint8)).convert("RGBA")
    layered = parallax(picture, AssetOrder("background", "forest"))
    assert not layered.tiles
    assert len(layered.layers) == 3
    large = picture.resize((2048, 1152), Image.Resampling.LANCZOS)
    assert differ(layered.composed(), large) < 1.5
    first, *_, last = layered.drift(4, (160, 90))
    assert first.tobytes() != last.tobytes()


def test_every_place_has_its_layers_which_go_on_where_they_end_and_looks_like_no_other() -> None:
    seen = []
    for name in sorted(PLACES):
        layers = scenery(AssetOrder("background", name), (160, 90))
        assert 3 <= len(layers) <= 5
        for layer in layers[1:]:
            alpha = np.asarray(layer.picture.getchannel("A")).astype(int)
            assert alpha.max() > 0, (name, layer.name)
            assert np.abs(alpha[:, 0] - alpha[:, -1]).mean() < 26, (name, layer.name)
        seen.append(composed(layers))
    assert min(differ(a, b) for n, a in enumerate(seen) for b in seen[n + 1 :]) > 8


def test_what_is_no_picture_is_refused_for_good(tmp_path: Path) -> None:
    (tmp_path / "refined.png").write_bytes(b"no picture")
    into = tmp_path / "out"
    into.mkdir()
    for exporter, kind in ((SPRITES, "sprite"), (BACKGROUNDS, "background")):
        with pytest.raises(Terminal):
            exporter.export(tmp_path / "refined.png", AssetOrder(kind, "fox"), {}, into, Silent())
    assert list(into.iterdir()) == []
