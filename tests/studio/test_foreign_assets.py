"""Files from elsewhere on their way through the makers: made into something right, or refused with a reason."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from PIL import Image

from penstock.domains.assetcreator.asset_studio import asset_makers
from penstock.generation.asset_steps import AssetOrder
from penstock.studio.modelling.glb import read_glb, write_glb
from penstock.work import Terminal
from tests.generation.listening_reporter import ListeningReporter
from tests.media.test_samples import SAMPLES
from tests.studio.hostile_shapes import PICTURES, SHAPES, TEXTURES, with_texture
from tests.studio.modelling.viewers import viewed

MAKERS = asset_makers(lambda name: None)
ORDER = AssetOrder("character", "somebody from elsewhere", poly_budget=300)
RIGS = ("HUMANOID", "QUADRUPED", "STATIC")
BROKEN = ("corrupt.png", "truncated.png")
REAL = (*BROKEN, "fixture.gif", "fixture.jpg", "fixture.png", "fixture.webp", "logo_alpha.png")
_SECONDS = 40
"Of CPU, for one file through all makers: so generous that only what has no end takes longer."
_MEMORY = 1 << 30


def some(names: Iterable[str], *always: str) -> list[Any]:
    """All of them, of which few are tried outside the long run."""
    return [name if name in always else pytest.param(name, marks=pytest.mark.long) for name in names]


@contextmanager
def bounded() -> Iterator[None]:
    """Neither without end nor without limit."""
    began, before = process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert process_time() - began < _SECONDS
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < _MEMORY


def refused(make: Callable[[], Any]) -> str | None:
    """Why something cannot be made, in a few words for whoever asked; None if it was made."""
    try:
        make()
    except Terminal as wrong:
        told = str(wrong)
        assert 10 < len(told) < 400
        assert "Traceback" not in told
        assert " at 0x" not in told
        return told
    return None


def folder_in(path: Path, name: str) -> Path:
    (path / name).mkdir()
    return path / name


def through(mesh: Path, order: AssetOrder, into: Path, *, export: bool) -> list[Path]:
    """A mesh through the makers behind the modeller; the files, as far as it came."""
    reporter = ListeningReporter()
    made: list[Path] = []
    if refused(lambda: MAKERS.retopologist.retopologise(mesh, order, into, reporter)):
        return made
    made.append(into / "retopo.glb")
    assert len(read_glb(made[-1]).faces) <= order.poly_budget
    rig, anim = into / "rig.glb", into / "anim.glb"
    if refused(lambda: MAKERS.rigger.rig(made[-1], order, rig, reporter)):
        return made
    made.append(rig)
    if refused(lambda: MAKERS.animator.animate(rig, order, anim, reporter)):
        return made
    made.append(anim)
    if export:
        out = folder_in(into, "out")
        if not refused(lambda: MAKERS.exporters["character"].export(anim, order, {"seed": 1}, out, reporter)):
            made.append(out / "asset.glb")
    return made


@pytest.mark.parametrize("name", some(SHAPES, "one triangle", "a sheet that lies", "a beam", "leaves on one edge"))
def test_a_mesh_of_any_shape_is_simplified_rigged_and_moved_or_refused(name: str, tmp_path: Path) -> None:
    mesh = tmp_path / "mesh.glb"
    write_glb(SHAPES[name](), mesh)
    with bounded():
        for rig in RIGS:
            order = replace(ORDER, rig=rig, quads=rig == "STATIC")
            made = through(mesh, order, folder_in(tmp_path, rig), export=False)
            for path in made[1:]:
                model = read_glb(path)
                assert model.skeleton is not None
                assert model.weights is not None
                assert abs(model.weights.sum(axis=1) - 1).max() < 1e-3


@pytest.mark.long
@pytest.mark.parametrize("name", SHAPES)
def test_whatever_comes_out_is_valid(name: str, tmp_path: Path) -> None:
    mesh = tmp_path / "mesh.glb"
    write_glb(SHAPES[name](), mesh)
    made = []
    with bounded():
        for rig in RIGS:
            budget = 300 if rig != "STATIC" else 100_000
            order = replace(ORDER, rig=rig, poly_budget=budget)
            # What is within its budget stays as it was given, whatever that is.
            made += [
                path
                for path in through(mesh, order, folder_in(tmp_path, rig), export=True)
                if path.name != "retopo.glb"
            ]
    for path, found in viewed(made).items() if made else ():
        assert (found["issues"]["numErrors"], found["issues"]["numWarnings"]) == (0, 0), (path, found["issues"])


@pytest.mark.parametrize("name", some(TEXTURES, "pixels that are none", "large", "a page"))
def test_a_texture_of_any_kind_is_shown_or_refused(name: str, tmp_path: Path) -> None:
    mesh, out = tmp_path / "mesh.glb", folder_in(tmp_path, "out")
    write_glb(with_texture(TEXTURES[name]()), mesh)
    with bounded():
        told = refused(lambda: MAKERS.exporters["prop"].export(mesh, ORDER, {"seed": 1}, out, ListeningReporter()))
        assert told is not None or (out / "turntable.mp4").exists()
    if told is None:
        (found,) = viewed([out / "asset.glb"]).values()
        assert (found["issues"]["numErrors"], found["issues"]["numWarnings"]) == (0, 0), found["issues"]


@pytest.mark.parametrize(
    "name", some(PICTURES, "says it is large", "is large", "cut off", "nothing", "a row of pixels")
)
def test_a_picture_of_any_kind_is_worked_with_or_refused(name: str, tmp_path: Path) -> None:
    picture = tmp_path / "given.png"
    picture.write_bytes(PICTURES[name]())
    with bounded():
        for kind in ("character", "background"):
            order = replace(ORDER, kind=kind, reference=picture)
            concept = tmp_path / f"{kind}.png"
            if not refused(lambda: MAKERS.artist.draw(order, concept, ListeningReporter())):  # noqa: B023 - called here
                with Image.open(concept) as drawn:
                    assert max(drawn.size) >= 1024
        refined, mesh = tmp_path / "refined.png", tmp_path / "mesh.glb"
        if not refused(lambda: MAKERS.refiner.refine(picture, ORDER, refined, ListeningReporter())):
            with Image.open(refined) as shown:
                assert max(shown.size) == 2048
        for source in (refined, picture):
            if source.exists() and not refused(
                lambda: MAKERS.modeller.model(source, ORDER, mesh, ListeningReporter())  # noqa: B023 - called here
            ):
                assert len(read_glb(mesh).faces) > 20


@pytest.mark.long
@pytest.mark.parametrize("name", PICTURES)
def test_what_stays_flat_is_made_of_a_picture_of_any_kind_or_refused(name: str, tmp_path: Path) -> None:
    picture = tmp_path / "given.png"
    picture.write_bytes(PICTURES[name]())
    with bounded():
        for kind in ("sprite", "background"):
            order, into = replace(ORDER, kind=kind), folder_in(tmp_path, kind)
            exporter = MAKERS.exporters[kind]
            told = refused(lambda: exporter.export(picture, order, {}, into, ListeningReporter()))  # noqa: B023 - called here
            assert told is not None or (into / "turntable.mp4").exists()


@pytest.fixture
def samples() -> Path:
    if not SAMPLES.is_dir():
        pytest.skip(f"there is no folder of real samples beside the repository: shared/data/{SAMPLES.name}")
    return SAMPLES


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "rig"), [("Fox", "QUADRUPED"), pytest.param("RiggedFigure", "HUMANOID", marks=pytest.mark.long)]
)
def test_models_of_others_are_rigged_and_moved_and_valid_to_everybody(
    name: str, rig: str, samples: Path, tmp_path: Path
) -> None:
    given = samples / "glb" / f"{name}.glb"
    with bounded():
        made = through(given, replace(ORDER, rig=rig, poly_budget=250), tmp_path, export=True)
    assert [path.name for path in made] == ["retopo.glb", "rig.glb", "anim.glb", "asset.glb"]
    seen = viewed(made)
    for path, found in seen.items():
        assert (found["issues"]["numErrors"], found["issues"]["numWarnings"]) == (0, 0), (path, found["issues"])
    assert all(seen[made[-1]]["moved"].values()), seen[made[-1]]["moved"]


@pytest.mark.realdata
@pytest.mark.long
@pytest.mark.parametrize("rig", RIGS)
@pytest.mark.parametrize("name", ["Box", "BoxAnimated", "Fox", "MorphPrimitivesTest", "RiggedFigure"])
def test_models_of_others_go_through_with_any_rig_or_are_refused(
    name: str, rig: str, samples: Path, tmp_path: Path
) -> None:
    given = samples / "glb" / f"{name}.glb"
    with bounded():
        for budget in (200, 5000):
            order = replace(ORDER, rig=rig, poly_budget=budget, quads=budget == 200)
            made = through(given, order, folder_in(tmp_path, str(budget)), export=True)
            for path, found in viewed(made[1:]).items() if made[1:] else ():
                assert (found["issues"]["numErrors"], found["issues"]["numWarnings"]) == (0, 0), (path, found)


@pytest.mark.realdata
@pytest.mark.parametrize("name", some(REAL, "corrupt.png", "fixture.jpg"))
def test_a_real_picture_steers_what_is_drawn(name: str, samples: Path, tmp_path: Path) -> None:
    order = AssetOrder("prop", "potion", reference=samples / "image" / name)
    with bounded():
        told = refused(lambda: MAKERS.artist.draw(order, tmp_path / "concept.png", ListeningReporter()))
    assert (told is not None) is (name in BROKEN), told
    if told is None:
        MAKERS.artist.draw(replace(order, reference=None), tmp_path / "without.png", ListeningReporter())
        assert (tmp_path / "concept.png").read_bytes() != (tmp_path / "without.png").read_bytes()


@pytest.mark.realdata
@pytest.mark.parametrize("name", some(REAL, "truncated.png", "logo_alpha.png"))
def test_a_real_picture_as_the_concept_is_modelled_or_refused(name: str, samples: Path, tmp_path: Path) -> None:
    refined, mesh, reporter = tmp_path / "refined.png", tmp_path / "mesh.glb", ListeningReporter()
    order = AssetOrder("prop", "what is seen", poly_budget=800)
    with bounded():
        told = refused(lambda: MAKERS.refiner.refine(samples / "image" / name, order, refined, reporter))
        assert (told is not None) is (name in BROKEN)
        if told or refused(lambda: MAKERS.modeller.model(refined, order, mesh, reporter)):
            return
        made = MAKERS.retopologist.retopologise(mesh, order, tmp_path, reporter)
    assert made.metrics["faces"] <= 800
    assert made.metrics["watertight"]
    (found,) = viewed([tmp_path / "retopo.glb"]).values()
    assert (found["issues"]["numErrors"], found["issues"]["numWarnings"]) == (0, 0)
