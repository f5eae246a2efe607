"""Pictures obey the prompt, or say what they could not draw: who, where, when, doing what, with what in hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from penstock.generation.directors import director, directors
from penstock.generation.steps import Brief, Shot
from penstock.studio.concept.joints import bones
from penstock.studio.drawing.character import character, character_in
from penstock.studio.drawing.colour import NAMED
from penstock.studio.drawing.handheld_things import RIDDEN, Prop
from penstock.studio.drawing.pose import CYCLES
from penstock.studio.drawing.scene import DrawnScene
from penstock.studio.drawing.scene_plan import plan
from penstock.studio.filmer import ProceduralFilmer
from penstock.studio.not_drawn import LONGEST, MOST, not_drawn
from penstock.studio.writer import ConceptWriter
from tests.generation.listening_reporter import ListeningReporter
from tests.studio.picture_sheet import PROMPTS

WIDTH, HEIGHT, FPS = 160, 90, 12


def scene_of(prompt: str, **more: Any) -> DrawnScene:
    return DrawnScene(Shot(prompt, 2.0, seed=1, **more), (), WIDTH, HEIGHT, FPS)


def undrawn(prompt: str, character: str = "") -> list[str]:
    scene = scene_of(prompt, character=character)
    return not_drawn(f"{prompt}\n{character}", scene.plan, [scene.who.figure()])


@pytest.mark.parametrize(("prompt", "kind", "place"), PROMPTS)
def test_who_and_where_are_as_the_prompt_says_and_nothing_is_left_out(prompt: str, kind: str, place: str) -> None:
    scene = scene_of(prompt)
    assert (scene.who.kind, scene.plan.place) == (kind, place)
    assert undrawn(prompt) == []


def test_no_two_pictures_of_the_sheet_are_alike() -> None:
    seen = [np.asarray(scene_of(f"Wide shot. {prompt}").frame(6)[0]).astype(int) for prompt, _, _ in PROMPTS]
    for n, one in enumerate(seen):
        for other in seen[n + 1 :]:
            assert np.abs(one - other).mean() > 12


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("on the moon", "moon"),
        ("in the desert", "desert"),
        ("in a forest", "forest"),
        ("on the sea shore", "sea"),
        ("under water", "underwater"),
        ("in a city street", "street"),
        ("on a rooftop above the city, city lights below", "rooftop"),
        ("on a stage", "stage"),
        ("in a kitchen", "kitchen"),
        ("in the city's library", "library"),
        ("on a snowy mountain", "snow"),
        ("in a space station", "station"),
        ("before a castle in the mountains", "castle"),
        ("at the market", "market"),
        ("in a train", "train"),
        ("in the bedroom", "bedroom"),
        ("on a meadow", "hills"),
        ("in a cave", "cave"),
        ("in a classroom", "classroom"),
    ],
)
def test_a_place_is_the_one_that_is_named(words: str, place: str) -> None:
    assert plan(f"A girl sings {words} at noon. Spotlights and sparks. Crane rises over the hills.").place == place


def test_whoever_is_at_home_somewhere_is_there_unless_the_prompt_says_otherwise() -> None:
    assert plan("A mermaid sings").place == "underwater"
    assert plan("A mermaid sings in the kitchen").place == "kitchen"


@pytest.mark.parametrize(
    ("prompt", "action"),
    [
        ("A robot stands still in the street and sings", "stand"),
        ("A girl sits and sings", "sit"),
        ("A dog jumps and waves to the camera", "jump"),
        ("A woman swims", "swim"),
        ("A superhero flies over the city", "fly"),
        ("A boy plays guitar and dances", "play"),
        ("A boy on a skateboard", "skate"),
        ("A man walks down the street, singing", "walk"),
        ("She runs", "run"),
        ("She dances and sings", "dance"),
        ("He waves", "wave"),
        ("He sings", "sing"),
    ],
)
def test_what_is_done_is_what_the_prompt_says(prompt: str, action: str) -> None:
    assert plan(prompt).action == action


def test_whoever_stands_still_does_and_whoever_walks_gets_on() -> None:
    still, walks = (scene_of(f"Wide shot, static. A robot {does} in the street") for does in ("stands still", "walks"))
    there = [[face.x for n in (0, 8, 16, 23) if (face := scene.frame(n)[1])] for scene in (still, walks)]
    assert max(there[0]) - min(there[0]) < 2
    assert max(there[1]) - min(there[1]) > 15
    puppet = character("a robot").puppet("stand")
    feet = [[s.points for s in puppet.draft(step).shapes if s.part == "leg_r"] for step in range(puppet.steps)]
    assert all(np.array_equal(a, b) for step in feet for a, b in zip(step, feet[0], strict=True))


@pytest.mark.parametrize("who", ["a woman", "a robot", "a cat astronaut"])
def test_every_action_is_a_pose_of_its_own(who: str) -> None:
    seen = {
        action: np.concatenate([shape.points for shape in character(who).puppet(action).draft(1).shapes])
        for action in CYCLES
        if action not in {"look", "play"}
    }
    names = list(seen)
    for n, one in enumerate(names):
        for other in names[n + 1 :]:
            if seen[one].shape == seen[other].shape:
                assert np.abs(seen[one] - seen[other]).mean() > 0.8, (one, other)


@pytest.mark.parametrize("who", ["a woman", "a robot", "a bear in a suit", "an alien", "a mermaid"])
@pytest.mark.parametrize(
    "word", ["microphone", "umbrella", "sword", "lantern", "flower", "balloon", "torch", "ice cream", "book", "guitar"]
)
@pytest.mark.parametrize("action", ["stand", "walk", "sing"])
def test_what_is_held_is_in_a_hand_that_closes_around_it(who: str, word: str, action: str) -> None:
    puppet = character(who).puppet(action, (Prop(word),))
    for step in range(puppet.steps):
        draft = puppet.draft(step)
        held = np.concatenate([shape.points for shape in draft.shapes if shape.part == "held"])
        low, high = held.min(axis=0) - 3, held.max(axis=0) + 3
        hands = [draft.anchors[name] for name in ("hand_r", "hand_l") if name in draft.anchors]
        holding = [at for at in hands if (low <= (at.x, at.y)).all() and ((at.x, at.y) <= high).all()]
        assert len(holding) >= (2 if word in {"guitar", "book"} else 1)
        over = min(shape.depth for shape in draft.shapes if shape.part == holding[0].part)
        assert over > max(shape.depth for shape in draft.shapes if shape.part == "held")


@pytest.mark.parametrize("word", sorted(RIDDEN))
def test_a_board_is_under_the_feet(word: str) -> None:
    puppet = character("a boy").puppet("skate", (Prop(word),))
    draft = puppet.draft(0)
    board = np.concatenate([shape.points for shape in draft.shapes if shape.part == "held"])
    feet = np.concatenate([shape.points for shape in draft.shapes if shape.part.startswith("leg")])
    assert abs(board[:, 1].min() - feet[:, 1].max()) < 8
    assert board[:, 0].min() < feet[:, 0].mean() < board[:, 0].max()


def test_a_mermaid_has_a_tail_and_no_legs() -> None:
    figure = character("a mermaid with a violet tail").figure()
    assert set(bones(figure.draft)) == {"arm_r", "arm_l", "leg_l"}
    assert not any(shape.ink.startswith(("boots", "trousers")) for shape in figure.draft.shapes)


@pytest.mark.parametrize(
    "who",
    [
        *(
            "cat",
            "dog",
            "fox",
            "bear",
            "robot",
            "mermaid",
            "dragon",
            "bird",
            "fish",
            "alien",
            "ghost",
            "lion",
            "rabbit",
        ),
        *("horse", "owl", "penguin", "octopus", "whale", "frog", "knight", "cat astronaut", "skeleton", "bee", "snake"),
    ],
)
@pytest.mark.parametrize("size", ["wide shot", "close-up"])
def test_every_creature_has_a_mouth_where_lips_find_it(who: str, size: str) -> None:
    scene = scene_of(f"a meadow at noon, {size}, static", character=f"a {who}")
    assert scene.who.kind == who.split()[0] or who == "knight"
    for n in (0, 7, 23):
        _, face = scene.frame(n)
        assert face is not None
        assert 0 < face.x < WIDTH
        assert 0 < face.y < HEIGHT
        assert 3 < face.head < 1.2 * HEIGHT


@pytest.mark.parametrize(
    ("prompt", "left"),
    [
        ("A cat plays the bagpipes on the moon", ["bagpipes"]),
        ("A robot juggles a hurdy gurdy in the kitchen", ["juggles", "hurdy gurdy"]),
        ("A woman with a tattoo in the desert and in the library", ["tattoo", "desert"]),
        ("A man dances while he sits in a cafe", ["dances"]),
        ("A mermaid at dawn under water", ["dawn"]),
        ("A girl and her dog walk beside a tree and a bicycle", []),
        ("海と月", ["海と月"]),
        ("", []),
    ],
)
def test_what_is_named_and_not_drawn_is_told(prompt: str, left: list[str]) -> None:
    assert undrawn(prompt) == left


def test_what_is_told_is_short_however_long_the_prompt_is() -> None:
    told = undrawn(" ".join(f"zyx{n}," for n in range(400)) + "q" * 3000)
    assert len(told) == MOST
    assert max(len(word) for word in told) <= LONGEST


def test_the_words_of_a_character_that_are_not_drawn_are_told_by_the_film(tmp_path: Path) -> None:
    shot = Shot("A walk in the forest", 0.2, seed=1, character="a fox with a monocle, wearing stilts")
    made = ProceduralFilmer(WIDTH, HEIGHT, FPS).film(shot, tmp_path / "clip.mp4", ListeningReporter())
    assert made.not_drawn == ["stilts"]


@pytest.mark.parametrize("name", [each.name for each in directors()])
@pytest.mark.parametrize("advertises", [True, False])
def test_the_writer_asks_for_nothing_that_cannot_be_drawn(name: str, advertises: bool) -> None:
    who = "a silver robot"
    brief = Brief("m", "A walk through the city", who, 12, 1.0, "a lemonade can", name, advertises=advertises)
    manner = (*director(name).camera, *director(name).light)
    for idea in ConceptWriter().write(brief, ListeningReporter()):
        planned = plan(idea.prompt, who=who, manner=manner)
        assert planned.place == "city"
        assert planned.things == ()
        assert not_drawn(idea.prompt, planned, [character(who).figure()], manner=manner) == []


@pytest.mark.parametrize(
    ("concept", "action"),
    [("A cat stands still on the moon", "stand"), ("A girl sits in a train", "sit"), ("A boy runs", "run")],
)
def test_what_the_concept_tells_is_done_in_every_scene(concept: str, action: str) -> None:
    brief = Brief("music-video", concept, "somebody", 8, 1.0)
    assert {plan(idea.prompt).action for idea in ConceptWriter().write(brief, ListeningReporter())} == {action}


def test_whom_the_description_leaves_open_the_prompt_tells_and_a_place_colours_nobody() -> None:
    scene = scene_of("An astronaut on a meadow", character="red-haired, freckles, leather jacket")
    figure = scene.who.figure()
    assert (figure.trade, figure.wish.looks["garment"]) == ("astronaut", "jacket")
    girl = character_in("Wide shot. A blonde girl in a yellow dress dances on a stage.").figure()
    assert (girl.kind, girl.draft.inks["hair"]) == ("woman", NAMED["blonde"])
    fox = character_in("A fox in the green forest at night").figure()
    assert not fox.wish.inks


def _photo(path: Path) -> Path:
    """A magenta figure before something that is no plain ground."""
    busy = np.random.default_rng(1).integers(0, 255, (300, 400, 3), dtype=np.uint8)
    picture = Image.fromarray(busy)
    ImageDraw.Draw(picture).ellipse((140, 30, 260, 290), fill=(250, 0, 250))
    picture.save(path)
    return path


@pytest.mark.parametrize("size", ["wide shot", "medium shot", "close-up"])
def test_a_picture_with_a_background_is_on_a_screen_and_the_described_figure_acts(tmp_path: Path, size: str) -> None:
    photo = _photo(tmp_path / "photo.png")
    scene = scene_of(f"a meadow at noon, {size}, static", character="a robot", references=[photo])
    first, face = scene.frame(0)
    last, _ = scene.frame(23)
    assert scene.who.kind == "robot"
    assert face is not None
    places = []
    for frame in (first, last):
        seen = np.asarray(frame).astype(int)
        magenta = (seen[:, :, 0] > 150) & (seen[:, :, 1] < 110) & (seen[:, :, 2] > 150)
        places.append(np.argwhere(magenta).mean(axis=0))
    # The screen stays where it stands, and beside it is somebody with a mouth of their own.
    assert np.abs(places[0] - places[1]).max() < 4
    assert abs(places[0][1] - face.x) > 0.15 * WIDTH


@pytest.mark.parametrize("action", ["walks", "jumps", "dances", "flies"])
def test_a_cut_out_acts_and_has_a_mouth(tmp_path: Path, action: str) -> None:
    picture = Image.new("RGB", (200, 400), (245, 245, 245))
    brush = ImageDraw.Draw(picture)
    brush.ellipse((60, 20, 140, 120), fill=(230, 180, 150))
    brush.rectangle((85, 110, 115, 140), fill=(230, 180, 150))
    brush.rounded_rectangle((40, 135, 160, 390), 20, fill=(40, 90, 160))
    picture.save(tmp_path / "character.png")
    scene = scene_of(f"He {action} on a meadow, wide shot, static", references=[tmp_path / "character.png"])
    faces = [scene.frame(n)[1] for n in range(24)]
    assert all(face is not None for face in faces)
    ways = {(round(face.x), round(face.y)) for face in faces if face is not None}
    assert len(ways) > 3
    # In the head, which goes from a twentieth to a third of the figure.
    frame, face = scene.frame(0)
    assert face is not None
    red, _, blue = np.asarray(frame).astype(int)[round(face.y), round(face.x)]
    assert red > blue
