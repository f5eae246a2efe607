"""The embedded writer: an arc of scenes, each its own, in a director's manner; and the directors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest

from penstock.generation.directors import director, directors
from penstock.generation.errors import DirectorNotFound
from penstock.generation.steps import Brief, SceneIdea, SceneWriter
from penstock.studio.drawing.colour import NAMED
from penstock.studio.drawing.scene_plan import plan
from penstock.studio.vocabulary import CAMERAS, HOURS, told
from penstock.studio.writer import ConceptWriter
from penstock.work import Terminal
from tests.generation.listening_reporter import Gone, ListeningReporter

WRITER: SceneWriter = ConceptWriter()
NAMES = [each.name for each in directors()]


def brief(
    *,
    mode: str = "music-video",
    scenes: int = 4,
    concept: str = "Robot exploring Austin, Texas",
    character: str = "a friendly silver robot",
    product: str | None = None,
    director: str | None = None,
) -> Brief:
    return Brief(mode, concept, character, scenes, 8.0, product, director, advertises=mode == "ad-creative")


def write(of: Brief) -> Sequence[SceneIdea]:
    return WRITER.write(of, ListeningReporter())


@pytest.mark.parametrize("mode", ["music-video", "ad-creative"])
@pytest.mark.parametrize("name", [*NAMES, None])
def test_as_many_scenes_as_wanted_and_no_two_alike(mode: str, name: str | None) -> None:
    for count in (1, 2, 3, 4, 8, 40):
        ideas = write(brief(mode=mode, scenes=count, director=name, product="a cold lemonade"))
        assert len(ideas) == count
        assert len({idea.prompt for idea in ideas}) == count
        for idea in ideas:
            assert 1 <= len(idea.prompt) <= 5000
            assert idea.seconds == 8.0
            assert idea.negative_prompt == director(name).negative_prompt


def test_the_same_brief_gives_the_same_scenes_and_another_concept_others() -> None:
    assert write(brief()) == write(brief())
    first, other = write(brief()), write(brief(concept="A cat at the sea"))
    assert not {idea.prompt for idea in first} & {idea.prompt for idea in other}


def test_every_scene_shows_the_character_in_the_concept() -> None:
    for idea in write(brief(scenes=8)):
        assert "a friendly silver robot" in idea.prompt
        assert "Robot exploring Austin, Texas" in idea.prompt


def test_the_arc_goes_from_a_wide_opening_through_the_day_to_a_wide_closing() -> None:
    plans = [plan(idea.prompt) for idea in write(brief(scenes=6))]
    assert plans[0].size == plans[-1].size == "wide"
    assert all(before.size != after.size for before, after in pairwise(plans))
    hours = [each.hour for each in plans]
    assert hours[0] == "dawn"
    assert hours[-1] == "night"
    assert hours == sorted(hours, key=["dawn", "day", "sunset", "night"].index)


def test_an_hour_that_the_concept_tells_is_kept() -> None:
    for idea in write(brief(concept="A dance on the roofs at midnight", scenes=6)):
        assert plan(idea.prompt).hour == "night"
        assert not re.search("dawn|daylight|sunset", idea.prompt)


@pytest.mark.parametrize("name", NAMES)
def test_the_embedded_camera_understands_what_is_written(name: str) -> None:
    for idea in write(brief(scenes=8, director=name)):
        planned = plan(idea.prompt)
        size = {"Wide": "wide", "Medium": "medium", "Close-up.": "close"}[idea.prompt.split()[0]]
        assert planned.size == size
        assert planned.place == "city"
        assert planned.hour in director(name).hours
        assert set(director(name).palette) <= set(planned.colours)
        assert (planned.action == "sing") == idea.needs_lip_sync


@pytest.mark.parametrize("count", range(1, 13))
def test_in_a_song_about_every_other_scene_is_sung(count: int) -> None:
    ideas = write(brief(scenes=count))
    sung = [idea.needs_lip_sync for idea in ideas]
    assert sum(sung) >= count // 2
    assert not any(not a and not b for a, b in pairwise(sung))
    for idea in ideas:
        assert bool(re.search(r"\bsing", idea.prompt.lower())) == idea.needs_lip_sync


def test_in_an_ad_nobody_sings_and_every_scene_has_the_product() -> None:
    for idea in write(brief(mode="ad-creative", product="a cold lemonade can", scenes=4)):
        assert not idea.needs_lip_sync
        assert "a cold lemonade can" in idea.prompt
        assert plan(idea.prompt).product == "can"


def test_a_long_brief_is_cut_and_nothing_of_the_manner_is_lost() -> None:
    long = brief(mode="ad-creative", concept="word " * 1000, character="tall " * 1000, product="{new} " * 1000)
    for idea in write(long):
        assert len(idea.prompt) <= 5000
        assert "Palette of orange, teal and cream." in idea.prompt
        assert "{new}" in idea.prompt


def test_a_scene_is_added_from_a_few_words() -> None:
    earlier = [idea.prompt for idea in write(brief())]
    added = WRITER.add(brief(), "The robot dances on a rooftop", earlier, ListeningReporter())
    assert "The robot dances on a rooftop" in added.prompt
    assert "a friendly silver robot" in added.prompt
    assert added.needs_lip_sync
    assert not WRITER.add(brief(mode="ad-creative"), "A toast", earlier, ListeningReporter()).needs_lip_sync


def test_the_same_words_again_give_another_scene() -> None:
    prompts: list[str] = []
    for _ in range(30):
        prompts.append(WRITER.add(brief(), "A rooftop in the rain", prompts, ListeningReporter()).prompt)
    assert len(set(prompts)) == 30
    # The scenes before may have been removed, so that the very same words come up.
    first = WRITER.add(brief(), "A rooftop in the rain", ["another"], ListeningReporter()).prompt
    assert WRITER.add(brief(), "A rooftop in the rain", [first], ListeningReporter()).prompt == f"{first} Take 2."


def test_the_desk_hears_of_every_scene_and_may_stop_it() -> None:
    reporter = ListeningReporter()
    WRITER.write(brief(), reporter)
    assert reporter.told == [0.0, 0.25, 0.5, 0.75, 1.0]
    with pytest.raises(Gone):
        WRITER.write(brief(), ListeningReporter(until=2))


def test_what_cannot_be_written_is_refused_for_good() -> None:
    with pytest.raises(Terminal, match="0 scenes"):
        write(brief(scenes=0))
    with pytest.raises(Terminal, match="nothing is said"):
        WRITER.add(brief(), "  ", [], ListeningReporter())
    with pytest.raises(Terminal, match="no director's configuration 'noir'"):
        write(brief(director="noir"))


def test_a_director_is_found_by_name_and_a_misspelt_one_is_guessed() -> None:
    assert director("Neon-Noir ").name == "neon-noir"
    assert director(None) == directors()[0]
    with pytest.raises(DirectorNotFound) as refused:
        director("cinematik")
    assert "did you mean 'cinematic'?" in str(refused.value)
    for name in NAMES:
        assert name in str(refused.value)


@pytest.mark.parametrize("name", NAMES)
def test_every_word_of_a_director_means_something_to_the_camera(name: str) -> None:
    chosen = director(name)
    assert set(chosen.palette) <= set(NAMED)
    assert set(chosen.hours) <= set(HOURS)
    for move in chosen.camera:
        assert told(move, CAMERAS)
    assert chosen.summary
    assert chosen.light
    assert len(chosen.negative_prompt) <= 1000
