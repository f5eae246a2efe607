"""The embedded camera: films that are exact, that move, that repeat themselves, and that show what the words say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from penstock.generation.steps import Shot, VideoGenerator
from penstock.media.compose import FfmpegComposer
from penstock.media.probe import probe
from penstock.studio.artist import PortraitArtist
from penstock.studio.drawing.air import COUNTS, air
from penstock.studio.drawing.camera import MOVES
from penstock.studio.drawing.character import character
from penstock.studio.drawing.land import BACKDROPS
from penstock.studio.drawing.scene import DrawnScene
from penstock.studio.drawing.scene_plan import plan
from penstock.studio.faces import noted_faces
from penstock.studio.filmer import ProceduralFilmer
from penstock.work import Terminal
from tests.generation.listening_reporter import Gone, ListeningReporter
from tests.media.processes import children

WIDTH, HEIGHT, FPS = 160, 90, 12
FILMER: VideoGenerator = ProceduralFilmer(WIDTH, HEIGHT, FPS)

Pixels = NDArray[Any]


def shot(prompt: str, seconds: float = 1.0, *, seed: int = 1, **more: Any) -> Shot:
    return Shot(prompt=prompt, seconds=seconds, seed=seed, **more)


def film(of: Shot, into: Path) -> list[Pixels]:
    """The frames of a shot, as anybody sees them."""
    FILMER.film(of, into, ListeningReporter())
    with av.open(str(into)) as container:
        return [frame.to_ndarray(format="rgb24").astype(int) for frame in container.decode(video=0)]


def frame(of: Shot, n: int = 0, *, palette: Sequence[str] = (), size: tuple[int, int] = (WIDTH, HEIGHT)) -> Pixels:
    """A frame before it is encoded."""
    picture, _ = DrawnScene(of, palette, *size, FPS).frame(n)
    assert picture.size == size
    return np.asarray(picture).astype(int)


def apart(one: Pixels, other: Pixels) -> float:
    return float(np.abs(one - other).mean())


@pytest.mark.parametrize(("seconds", "frames"), [(1.0, 12), (1.04, 12), (1.05, 13), (0.01, 1), (0.5, 6)])
def test_a_film_is_as_long_as_its_shot_to_the_frame(tmp_path: Path, seconds: float, frames: int) -> None:
    into = tmp_path / "clip.mp4"
    made = FILMER.film(shot("a robot in the city", seconds), into, ListeningReporter())
    found = probe(into)
    assert made.metrics["frames"] == frames
    assert found.picture is not None
    assert (found.picture.frames, found.picture.codec) == (frames, "h264")
    assert (found.picture.width, found.picture.height, found.picture.fps) == (WIDTH, HEIGHT, FPS)
    assert found.sound is None


def test_the_same_shot_gives_the_same_bytes_and_another_seed_does_not(tmp_path: Path) -> None:
    once, again, other = tmp_path / "1.mp4", tmp_path / "2.mp4", tmp_path / "3.mp4"
    film(shot("Rain over the city at night"), once)
    film(shot("Rain over the city at night"), again)
    film(shot("Rain over the city at night", seed=2), other)
    assert once.read_bytes() == again.read_bytes()
    assert once.read_bytes() != other.read_bytes()


def test_another_seed_gives_another_sky_over_the_same_place() -> None:
    of = [shot("the city at noon, drift, medium shot", seed=seed) for seed in (1, 2)]
    assert apart(frame(of[0])[:30], frame(of[1])[:30]) > 1


@pytest.mark.parametrize("kind", COUNTS)
def test_whatever_is_in_the_air_moves(kind: str) -> None:
    scene = DrawnScene(shot("the city at noon"), (), WIDTH, HEIGHT, FPS)
    things, seen = air(kind, scene.site), []
    for seconds in (0.0, 0.2):
        picture = Image.new("RGB", (WIDTH, HEIGHT), (128, 128, 128))
        things.draw(picture, seconds, 0.0)
        seen.append(np.asarray(picture).astype(int))
    assert apart(seen[0], np.full_like(seen[0], 128)) > 0.02
    assert apart(*seen) > 0.02


def test_pictures_move(tmp_path: Path) -> None:
    for n, prompt in enumerate(
        ["Robot exploring Austin, Texas", "close-up of a woman singing", "a cat looks at the sea"]
    ):
        frames = film(shot(prompt), tmp_path / f"{n}.mp4")
        assert all(apart(frames[n], frames[n + 3]) > 0.5 for n in range(0, 9, 3)), prompt


def test_other_words_give_another_film() -> None:
    prompts = ["Robot exploring Austin, Texas", "snow in the mountains", "a concert stage", "underwater at the reef"]
    seen = [frame(shot(prompt)) for prompt in prompts]
    for n, one in enumerate(seen):
        for other in seen[n + 1 :]:
            assert apart(one, other) > 15


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("Robot exploring Austin, Texas", {"place": "city", "ground": "street", "action": "walk", "camera": "track"}),
        (
            "A slow push in on the desert at dawn",
            {"place": "desert", "ground": "sand", "hour": "dawn", "camera": "push in"},
        ),
        (
            "Close-up, singing in a snowy forest",
            {"place": "forest", "ground": "snow", "size": "close", "action": "sing"},
        ),
        ("Neon lights in the rain", {"hour": "night", "weather": "rain", "neon": True}),
        ("She dances at a party with confetti", {"action": "dance", "particles": "confetti"}),
        ("Foggy hills, pan left", {"place": "hills", "weather": "fog", "camera": "pan left"}),
        ("The product, a sneaker, on the beach", {"product": "shoe", "place": "sea"}),
        ("Under a violet sky, he waves to the camera", {"colours": ("violet",), "action": "wave"}),
        ("A man in a red coat stands in the city", {"colours": (), "action": "look"}),
        ("Training for a brainstorm at a snowboard", {"weather": None, "product": None}),
    ],
)
def test_a_plan_holds_what_the_words_tell(prompt: str, told: dict[str, Any]) -> None:
    planned = plan(prompt)
    assert {name: getattr(planned, name) for name in told} == told


def test_what_is_not_wanted_is_left_out() -> None:
    assert plan("City in the rain with birds").weather == "rain"
    unwanted = plan("City in the rain with birds", negative="rain, bird")
    assert unwanted.weather is None
    assert unwanted.particles is None
    assert all(plan(f"a hill {n}", negative="daylight").hour != "day" for n in range(20))


def test_nights_are_dark_and_a_directors_colours_are_seen() -> None:
    night, day = (frame(shot(f"the hills, {hour}")) for hour in ("at night", "at noon"))
    assert day.mean() > 1.6 * night.mean()
    red, blue = (frame(shot("the hills at noon"), palette=[name]) for name in ("crimson", "blue"))
    warmth = [float((seen[:45, :, 0] - seen[:45, :, 2]).mean()) for seen in (blue, red)]
    assert warmth[1] > warmth[0] + 40


@pytest.mark.parametrize("place", BACKDROPS)
def test_every_place_can_be_filmed_at_any_hour_and_size(place: str) -> None:
    word = {"hills": "meadow", "moon": "on the moon", "station": "space station", "snow": "arctic", "sky": "clouds"}
    for n, hour in enumerate(("dawn", "noon", "sunset", "midnight")):
        size = [(WIDTH, HEIGHT), (64, 36), (90, 160), (122, 50)][n]
        of = shot(
            f"{word.get(place, place)} at {hour}, rain, fireflies, {('wide shot', 'medium shot', 'close-up')[n % 3]}"
        )
        scene = DrawnScene(of, (), *size, FPS)
        assert scene.plan.place == place
        for at in (0, scene.count - 1):
            picture, _ = scene.frame(at)
            assert picture.size == size
            assert np.asarray(picture).std() > 5


@pytest.mark.parametrize("move", MOVES)
def test_no_move_of_the_camera_shows_where_the_world_ends(move: str) -> None:
    for size in ("wide shot", "close-up"):
        scene = DrawnScene(shot(f"{move}, {size}, city at noon", 30.0), (), WIDTH, HEIGHT, FPS)
        assert scene.plan.camera == move
        for n in range(0, scene.count, 40):
            # What nothing was drawn on is black.
            seen = np.asarray(scene.frame(n)[0]).astype(int).sum(axis=2)
            edge = np.concatenate([seen[0], seen[-1], seen[:, 0], seen[:, -1]])
            assert (edge < 12).mean() < 0.02


def test_somebody_goes_on_below_the_frame_however_the_camera_moves() -> None:
    of = shot("crane rises, close-up, the hills at noon", character="a man in a crimson coat")
    scene = DrawnScene(of, (), WIDTH, HEIGHT, FPS)
    for n in range(scene.count):
        seen, face = scene.frame(n)
        assert face is not None
        red, green, _ = np.asarray(seen).astype(int)[-1, round(face.x) + 8]
        assert red > 1.6 * green


def test_the_character_is_the_same_in_every_scene() -> None:
    who = "a ginger cat with a scarf"
    scenes = [
        DrawnScene(shot(prompt, character=who, seed=n), (), WIDTH, HEIGHT, FPS)
        for n, prompt in enumerate(["sea", "city"])
    ]
    assert scenes[0].who == scenes[1].who == character(who)
    assert scenes[0].who.kind == "cat"
    assert DrawnScene(shot("Robot exploring Austin"), (), WIDTH, HEIGHT, FPS).who.kind == "robot"


def test_a_portrait_drawn_here_is_filmed_from_head_to_foot(tmp_path: Path) -> None:
    portrait = tmp_path / "character.png"
    PortraitArtist().draw("a robot with a crown", portrait, seed=3)
    scene = DrawnScene(shot("a beach", character="somebody", references=[portrait]), (), WIDTH, HEIGHT, FPS)
    assert scene.who == character("a robot with a crown")
    assert scene.frame(0)[1] is not None


def _picture(path: Path, *, ground: Any) -> Path:
    """A magenta figure on some ground."""
    picture = Image.new("RGBA", (200, 300), (0, 0, 0, 0))
    if ground is not None:
        picture.paste(ground, (0, 0, 200, 300))
    ImageDraw.Draw(picture).ellipse((40, 30, 160, 290), fill=(250, 0, 250, 255))
    picture.save(path)
    return path


def _magenta(seen: Pixels) -> Pixels:
    found: Pixels = (seen[:, :, 0] > 180) & (seen[:, :, 1] < 90) & (seen[:, :, 2] > 180)
    return found


@pytest.mark.parametrize("size", ["wide shot", "medium shot", "close-up"])
def test_a_picture_that_was_given_is_the_character(tmp_path: Path, size: str) -> None:
    cut = _picture(tmp_path / "character.png", ground=None)
    plain = _picture(tmp_path / "plain.png", ground=(240, 240, 240, 255))
    busy = Image.fromarray(np.random.default_rng(1).integers(0, 255, (300, 200, 3), dtype=np.uint8)).convert("RGBA")
    framed = _picture(tmp_path / "framed.png", ground=busy)
    of = [shot(f"a meadow at noon, {size}", references=[path]) for path in (cut, plain, framed)]
    assert not _magenta(frame(shot(f"a meadow at noon, {size}"))).any()
    seen = [frame(each) for each in of]
    for each in seen:
        assert _magenta(each).mean() > 0.02
    # The ground of a cut-out is not seen: both stand in the meadow as if cut by hand.
    assert apart(seen[0], seen[1]) < 2
    assert apart(seen[0], seen[2]) > 2


def test_a_product_is_seen_beside_the_character(tmp_path: Path) -> None:
    product = _picture(tmp_path / "mv_projects_1_product.jpg.png", ground=None)
    of = shot("a meadow at noon, medium shot", references=[product])
    scene = DrawnScene(of, (), WIDTH, HEIGHT, FPS)
    seen, face = scene.frame(0)
    there = np.argwhere(_magenta(np.asarray(seen).astype(int)))
    assert len(there) > 100
    assert face is not None
    assert abs(there[:, 1].mean() - face.x) > 0.15 * WIDTH
    assert apart(frame(shot("a meadow at noon, the product")), frame(shot("a meadow at noon, the produce"))) > 1


def test_the_mouth_is_noted_in_the_film_and_the_note_is_lost_when_it_is_cut(tmp_path: Path) -> None:
    into, cut = tmp_path / "clip.mp4", tmp_path / "cut.mp4"
    film(shot("close-up of a robot singing", 1.0), into)
    faces = noted_faces(into)
    assert faces is not None
    assert faces.kind == "robot"
    assert len(faces.frames) == 12
    for face in faces.frames:
        assert 0 < face.x < WIDTH
        assert 0 < face.y < HEIGHT
        assert 20 < face.head < HEIGHT
    FfmpegComposer(WIDTH, HEIGHT, FPS).trim(into, cut, start=0.25, stop=0.75)
    assert noted_faces(cut) is None


def test_the_desk_hears_of_every_half_second(tmp_path: Path) -> None:
    reporter = ListeningReporter()
    FILMER.film(shot("the sea", 1.5), tmp_path / "clip.mp4", reporter)
    assert reporter.told == [0.0, 1 / 3, 2 / 3, 1.0]


@pytest.mark.parametrize("until", [0, 2])
def test_a_desk_that_stops_leaves_nothing_behind(tmp_path: Path, until: int) -> None:
    into = tmp_path / "clip.mp4"
    into.write_bytes(b"the one before")
    before = children()
    with pytest.raises(Gone):
        FILMER.film(shot("the sea", 1.5), into, ListeningReporter(until=until))
    assert children() <= before
    assert [path.name for path in tmp_path.iterdir()] == ["clip.mp4"]
    assert into.read_bytes() == b"the one before"


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, math.inf, 601.0])
def test_a_length_that_cannot_be_filmed_is_refused_for_good(tmp_path: Path, seconds: float) -> None:
    with pytest.raises(Terminal, match="cannot be filmed"):
        FILMER.film(shot("the sea", seconds), tmp_path / "clip.mp4", ListeningReporter())
    assert not list(tmp_path.iterdir())


def test_a_broken_picture_and_an_unknown_director_are_refused_for_good(tmp_path: Path) -> None:
    broken, half = tmp_path / "character.png", tmp_path / "half.png"
    broken.write_bytes(b"no picture")
    _picture(half, ground=(1, 2, 3, 255))
    half.write_bytes(half.read_bytes()[:400])
    for path in (broken, half):
        with pytest.raises(Terminal, match=rf"{path.name} cannot be read"):
            FILMER.film(shot("the sea", references=[path]), tmp_path / "clip.mp4", ListeningReporter())
    with pytest.raises(Terminal, match="did you mean 'storybook'"):
        FILMER.film(shot("the sea", director="story-book"), tmp_path / "clip.mp4", ListeningReporter())


def test_hostile_and_strange_words_are_filmed_all_the_same(tmp_path: Path) -> None:
    for prompt in ("", "(((", "\\d+ [a-z", "海と月 🌊", "a\x00b", "word " * 1000):
        assert frame(shot(prompt, character=prompt)).std() > 5
