"""The embedded sculptor: whatever a picture shows becomes one closed body that looks like it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from penstock.errors import InvalidValue
from penstock.generation.asset_steps import Made, Modeller
from penstock.studio.artist import PortraitArtist
from penstock.studio.modelling.glb import read_glb
from penstock.studio.modelling.inflation import profile
from penstock.studio.modelling.measure import measure
from penstock.studio.modelling.model import Model
from penstock.studio.modelling.morphology import shrunk
from penstock.studio.modelling.sculptor import Sculptor
from penstock.studio.modelling.topology import edges_of, merged
from penstock.work import Terminal
from tests.studio.modelling.drawn import (
    Quiet,
    blob,
    disc,
    figure,
    hairline,
    order,
    ring,
    saved,
    seen,
    texels,
    thin_cross,
    two_islands,
)

SCULPTOR: Modeller = Sculptor()


def sculpted(picture: Image.Image | Path, folder: Path, concept: str = "a thing", **more: Any) -> tuple[Model, Made]:
    path = picture if isinstance(picture, Path) else saved(picture, folder / "picture.png")
    made = SCULPTOR.model(path, order(concept, **{"platform": "MOBILE", **more}), folder / "mesh.glb", Quiet())
    return read_glb(folder / "mesh.glb"), made


@cache
def body(draw: Callable[[], Image.Image]) -> tuple[Model, Made]:
    """What is drawn, modelled once for all tests that only look at it."""
    with TemporaryDirectory() as folder:
        return sculpted(draw(), Path(folder))


def genus(model: Model) -> int:
    kept, which = merged(model.positions.astype(np.float64))
    faces = which[model.faces.astype(np.int64)]
    return 1 - (len(kept) - len(edges_of(faces, len(kept)).pairs) + len(faces)) // 2


@pytest.mark.parametrize("draw", [disc, ring, thin_cross, two_islands, hairline, figure])
def test_whatever_is_drawn_becomes_one_closed_body_with_its_texture_in_place(draw: Any) -> None:
    model, made = body(draw)
    assert made.metrics["watertight"]
    assert made.metrics["pieces"] == 1
    assert made.metrics["volume"] > 0
    assert model.uv.min() >= 0
    assert model.uv.max() <= 1
    assert np.allclose(np.linalg.norm(model.normals, axis=1), 1, atol=1e-4)
    assert 0.9 < (np.ptp(model.positions[:, :2], axis=0)).max() <= 1.01
    assert abs(model.positions[:, 1].min()) < 1e-5


def test_what_is_told_was_measured_from_the_file_and_nothing_else_is_left_behind(tmp_path: Path) -> None:
    _, made = sculpted(two_islands(), tmp_path)
    assert measure(tmp_path / "mesh.glb").items() <= made.metrics.items()
    assert (made.metrics["islands_joined"], made.metrics["specks_dropped"]) == (1, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mesh.glb", "picture.png"]


def test_a_portrait_becomes_a_body_that_looks_like_it_from_the_front(tmp_path: Path) -> None:
    PortraitArtist().draw("a copper robot with a red scarf", tmp_path / "robot.png", seed=3)
    model, made = sculpted(tmp_path / "robot.png", tmp_path, kind="character")
    assert made.metrics["watertight"]
    assert made.metrics["size"][1] == pytest.approx(1.8, abs=0.01)
    with Image.open(tmp_path / "robot.png") as opened:
        shown = np.asarray(opened.convert("RGBA"))
    assert colours_at_vertices(model, shown, behind=False) < 6
    assert colours_at_vertices(model, shown, behind=True) > 6


def colours_at_vertices(model: Model, picture: Any, *, behind: bool) -> float:
    """How much the texture differs from the picture, well inside: the mean over all vertices on that side."""
    box = Image.fromarray(picture[..., 3]).point([255 if a >= 128 else 0 for a in range(256)]).getbbox()
    assert box is not None
    points = model.positions.astype(np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    x = box[0] + (points[:, 0] - low[0]) / (high - low)[0] * (box[2] - box[0])
    y = box[1] + (high[1] - points[:, 1]) / (high - low)[1] * (box[3] - box[1])
    column, row = (np.clip(n.astype(int), 0, side - 1) for n, side in ((x, picture.shape[1]), (y, picture.shape[0])))
    solid = shrunk(picture[..., 3] == 255, 8)
    inside = solid[row, column] & ((points[:, 2] < 0) if behind else (points[:, 2] > 0))
    texture = texels(model)
    at = (model.uv * [texture.shape[1], texture.shape[0]]).astype(int)
    there = texture[at[:, 1], at[:, 0]].astype(int)[inside]
    return float(
        np.median(np.abs(there - picture[row, column, :3].astype(int)[inside]).max(axis=1)) if inside.any() else 0
    )


def test_a_face_is_in_front_and_not_on_the_back_of_the_head(tmp_path: Path) -> None:
    model, _ = sculpted(figure(), tmp_path, kind="character")
    texture = texels(model).astype(int)
    dark = []
    for behind in (False, True):
        side = (model.positions[:, 2] < 0) if behind else (model.positions[:, 2] > 0)
        at = (model.uv[side & (model.positions[:, 1] > 0.72 * 1.8)] * [texture.shape[1], texture.shape[0]]).astype(int)
        dark.append(int((texture[at[:, 1], at[:, 0]].max(axis=1) < 90).sum()))
    assert dark[0] > 50
    assert dark[1] == 0


def test_no_fringe_of_the_ground_is_seen_along_the_rim(tmp_path: Path) -> None:
    """A picture that was cut out badly has the colour of its ground mixed into its edge."""
    picture = Image.new("RGBA", (512, 512), (0, 255, 0, 0))
    mask = Image.new("L", (1024, 1024))
    ImageDraw.Draw(mask).ellipse((100, 100, 924, 924), fill=255)
    mask = mask.resize((512, 512), Image.Resampling.BOX)
    red = Image.composite(Image.new("RGB", (512, 512), (200, 40, 40)), Image.new("RGB", (512, 512), (0, 255, 0)), mask)
    picture.paste(red)
    picture.putalpha(mask)
    texture = texels(sculpted(picture, tmp_path)[0]).astype(int)
    assert (texture[..., 1] < texture[..., 0]).all()


def test_a_ring_has_its_hole_and_a_disc_has_none() -> None:
    assert genus(body(disc)[0]) == 0
    model, made = body(ring)
    assert genus(model) == made.metrics["holes"] == 1


def test_a_disc_is_round_and_a_coin_is_flat(tmp_path: Path) -> None:
    assert 0.04 < sculpted(disc(), tmp_path, "a gold coin")[1].metrics["size"][2] < 0.2
    assert 0.6 < body(disc)[1].metrics["size"][2] <= 1.05


@pytest.mark.parametrize(
    ("concept", "name"),
    [
        ("a rusty sword", "slab"),
        ("Two golden keys, old", "slab"),
        ("a chest with a sword on it", "box"),
        ("a bottle of paper", "round"),
        ("gold coins", "disc"),
        ("", "round"),
    ],
)
def test_things_are_as_thick_as_their_name_says(concept: str, name: str) -> None:
    assert profile(order(concept)).name == name
    assert profile(order(concept, kind="character")).name == "body"


def test_a_limb_is_as_thick_as_it_is_wide(tmp_path: Path) -> None:
    picture = Image.new("RGBA", (512, 512), (0, 0, 0, 0))
    ImageDraw.Draw(picture).rectangle((230, 10, 281, 501), fill=(90, 90, 90, 255))
    _, made = sculpted(picture, tmp_path)
    assert 0.75 < made.metrics["size"][2] / made.metrics["size"][0] < 1.2


@pytest.mark.parametrize("draw", [thin_cross, hairline, figure])
def test_thin_parts_are_not_lost(draw: Any) -> None:
    model, _ = body(draw)
    shape, wanted = draw().getchannel("A"), model.positions[:, :2]
    box = shape.getbbox()
    rows, columns = np.nonzero(np.asarray(shape) >= 128)
    scale = np.ptp(wanted, axis=0) / [box[2] - box[0], box[3] - box[1]]
    places = np.stack([columns - box[0], box[3] - rows], axis=1)[:: max(1, len(rows) // 300)] * scale + wanted.min(
        axis=0
    )
    away = np.linalg.norm(places[:, None] - wanted[None], axis=2).min(axis=1)
    assert away.max() < 0.03


def test_the_same_picture_gives_the_same_bytes(tmp_path: Path) -> None:
    first = saved(thin_cross(), tmp_path / "picture.png")
    files = []
    for name in ("one.glb", "two.glb"):
        SCULPTOR.model(first, order(), tmp_path / name, Quiet())
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]


def test_a_subject_on_a_plain_ground_is_cut_out(tmp_path: Path) -> None:
    ground = Image.linear_gradient("L").resize((512, 512)).point([140 + a // 4 for a in range(256)]).convert("RGB")
    ground.paste(disc().convert("RGB"), mask=disc().getchannel("A"))
    model, made = sculpted(saved(ground, tmp_path / "photo.jpg"), tmp_path)
    assert made.metrics["cut_out"]
    assert made.metrics["watertight"]
    assert np.ptp(model.positions[:, 0]) == pytest.approx(np.ptp(model.positions[:, 1]), rel=0.02)


def test_a_texture_is_smaller_for_a_phone(tmp_path: Path) -> None:
    assert max(body(disc)[1].metrics["texture_size"]) == 1024
    assert max(sculpted(disc(), tmp_path, platform="PC")[1].metrics["texture_size"]) == 2048


def noise() -> Image.Image:
    return Image.fromarray(np.random.default_rng(1).integers(0, 256, (200, 200, 3), dtype=np.uint8))


@pytest.mark.parametrize(
    ("picture", "told"),
    [
        (Image.new("RGBA", (300, 300), (9, 9, 9, 0)), "empty"),
        (Image.new("RGBA", (300, 300), (9, 99, 9, 255)), "nothing but its ground"),
        (Image.new("RGB", (300, 300), (9, 99, 9)), "nothing but its ground"),
        (noise(), "transparent ground"),
        (Image.new("RGBA", (1, 300), (9, 99, 9, 255)), "1x300"),
    ],
)
def test_a_picture_without_a_subject_is_refused_and_nothing_is_left_behind(
    picture: Image.Image, told: str, tmp_path: Path
) -> None:
    with pytest.raises(Terminal, match=told):
        sculpted(picture, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["picture.png"]


def test_what_is_no_picture_or_too_large_a_one_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.png"
    text.write_bytes(b"not a picture")
    with pytest.raises(Terminal, match="damaged"):
        sculpted(text, tmp_path)
    bomb = saved(Image.new("1", (9000, 9000)), tmp_path / "bomb.png")
    with pytest.raises(Terminal, match="smaller"):
        sculpted(bomb, tmp_path)


def test_it_stops_when_nobody_waits_any_more(tmp_path: Path) -> None:
    class Gone(Quiet):
        def progress(self, fraction: float, note: str | None = None) -> None:
            if fraction > 0.5:
                raise InvalidValue("nobody waits")

    with pytest.raises(InvalidValue, match="nobody waits"):
        SCULPTOR.model(saved(disc(), tmp_path / "p.png"), order(), tmp_path / "mesh.glb", Gone())
    assert [path.name for path in tmp_path.iterdir()] == ["p.png"]


@pytest.mark.parametrize("seed", range(3))
def test_any_blob_becomes_one_closed_body(seed: int, tmp_path: Path) -> None:
    model, made = sculpted(blob(seed), tmp_path)
    assert made.metrics["watertight"]
    assert made.metrics["pieces"] == 1
    assert made.metrics["volume"] > 0
    assert genus(model) >= 0
    assert model.uv.min() >= 0
    assert model.uv.max() <= 1


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_any_of_many_blobs_becomes_one_closed_body(seed: int, tmp_path: Path) -> None:
    test_any_blob_becomes_one_closed_body(seed, tmp_path)


@pytest.mark.parametrize(
    ("kind", "rig", "turned", "alike"),
    [
        ("prop", "HUMANOID", False, True),
        ("character", "HUMANOID", False, False),
        ("character", "QUADRUPED", False, False),
        ("character", "QUADRUPED", True, True),
    ],
)
def test_a_thing_or_whoever_is_seen_from_the_side_looks_alike_from_behind_and_nobody_has_two_faces(
    tmp_path: Path, kind: str, rig: str, turned: bool, alike: bool
) -> None:
    picture = figure()
    if turned:
        # Something sticks out on one side only, as a snout does.
        ImageDraw.Draw(picture).rectangle((400, 60, 511, 420), fill=(200, 40, 40, 255))
    into = tmp_path / "mesh.glb"
    asked = order(kind=kind, rig=rig, platform="MOBILE")
    told = SCULPTOR.model(saved(picture, tmp_path / "p.png"), asked, into, Quiet()).metrics
    model = read_glb(into)
    front, back = seen(model), seen(model, behind=True)
    wide = np.flatnonzero(front[..., 3].any(axis=0))[-1] + 1
    front, back = front[:, :wide], back[:, :wide][:, ::-1]
    eyes = (front[..., 3] > 0) & (front[..., :3].max(axis=2) < 60)
    assert eyes.sum() > 20
    assert told["back"] == ("as in front" if alike else "guessed")
    assert (float((back[eyes][:, :3].max(axis=1) < 90).mean()) > 0.8) is alike
