"""What a video and its scenes are about is changed afterwards: under an ETag, and what that makes outdated is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from penstock.domains.musicvideo import projects, scenes
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.lip_standing import LipsStatus
from penstock.domains.musicvideo.model import Project, ProjectStatus, SceneStatus
from penstock.domains.musicvideo.projects import project_of
from penstock.kernel.audit import SystemAudit
from tests.domains.musicvideo.quick_providers import QuickProviders, history_of
from tests.domains.musicvideo.story import ANN, assert_counted, begun, generated, workers
from tests.domains.musicvideo.story import scenes as scenes_of
from tests.domains.musicvideo.test_routes import api, editor, filmed

__all__ = ["api", "editor"]


def outdated(studio: FilmStudio, project: Project) -> list[tuple[str, ...]]:
    return [place.outdated for place in project_of(studio, project.project_id).places]


def test_a_fresh_video_is_not_outdated(studio: FilmStudio, tmp_path: Path) -> None:
    assert outdated(studio, generated(studio, tmp_path)) == [()] * 3


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"concept_prompt": "A cat"}, ["the concept changed after the scene was written"]),
        ({"director_config": "neon-night"}, ["the director changed", "the director changed"]),
        ({"character_description": "A cat"}, ["the character changed", "the character changed"]),
    ],
)
def test_what_a_change_of_the_project_makes_outdated_is_told(
    studio: FilmStudio, tmp_path: Path, changes: dict[str, str], told: list[str]
) -> None:
    """MV-15, MV-16: the scenes stay as they are, and the video that was cut stays where it is."""
    project = generated(studio, tmp_path)
    projects.compose(studio, project.project_id, by=ANN)
    workers(studio).drain()
    if "director_config" in changes:
        changes = {"director_config": _other_director()}
    edited = projects.edit_project(studio, project.project_id, changes, by=ANN)
    assert {name: getattr(edited, name) for name in changes} == changes
    assert edited.status is ProjectStatus.COMPLETED
    for found in outdated(studio, project):
        assert [line.startswith(said) for line, said in zip(found, told, strict=True)] == [True] * len(told)


def _other_director() -> str:
    from penstock.generation.directors import directors

    return directors()[1].name


def test_what_a_change_of_a_scene_makes_outdated_is_over_when_it_is_filmed_again(
    studio: FilmStudio, quick: QuickProviders, tmp_path: Path
) -> None:
    """MV-26, MV-28: words and seconds."""
    project = generated(studio, tmp_path)
    changes: dict[str, Any] = {"prompt": "At night", "duration": 1.25}
    scenes.edit_scene(studio, project.project_id, 2, changes, by=ANN)
    first, second, _ = outdated(studio, project)
    assert first == ()
    assert second == ("its words and its duration changed after the scene was filmed; film it again",)
    scenes.regenerate(studio, project.project_id, 2, by=ANN)
    workers(studio).drain()
    assert outdated(studio, project)[1] == ()
    assert (quick.filmed[-1].prompt, quick.filmed[-1].seconds) == ("At night", 1.25)


def test_words_of_somebody_who_knows_the_new_concept_are_not_outdated(studio: FilmStudio, tmp_path: Path) -> None:
    project = generated(studio, tmp_path)
    projects.edit_project(studio, project.project_id, {"concept_prompt": "A cat on the moon"}, by=ANN)
    scenes.edit_scene(studio, project.project_id, 2, {"prompt": "The cat lands"}, by=ANN)
    scenes.regenerate(studio, project.project_id, 2, by=ANN)
    workers(studio).drain()
    assert [bool(found) for found in outdated(studio, project)] == [True, False, True]


def test_somebody_who_is_to_sing_and_does_not_yet_is_told(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-32."""
    project = generated(studio, tmp_path)
    scenes.edit_scene(studio, project.project_id, 2, {"needs_lip_sync": True}, by=ANN)
    assert project_of(studio, project.project_id).places[1].lips.status is LipsStatus.MISSING
    scenes.regenerate(studio, project.project_id, 2, by=ANN)
    workers(studio).drain()
    assert project_of(studio, project.project_id).places[1].lips.status is LipsStatus.IN_STEP


@pytest.mark.parametrize("trimmed", [False, True])
def test_somebody_who_is_not_to_sing_any_more_does_not(studio: FilmStudio, tmp_path: Path, trimmed: bool) -> None:
    """MV-32, MV-33: the clip as it was filmed is shown again, or the same part of it."""
    project = generated(studio, tmp_path)
    if trimmed:
        scenes.trim(studio, project.project_id, 1, start=0.1, stop=0.4, by=ANN)
        workers(studio).drain()
    scenes.edit_scene(studio, project.project_id, 1, {"needs_lip_sync": False}, by=ANN)
    workers(studio).drain()
    first = scenes_of(studio, project.project_id)[0]
    assert (first.status, first.lip_synced_video_clip_s3_key) == (SceneStatus.COMPLETED, None)
    assert first.trim_points == ({"in": 0.1, "out": 0.4} if trimmed else None)
    assert project_of(studio, project.project_id).places[0].lips.status is LipsStatus.NONE
    shown = history_of(studio.objects.get(first.shown_s3_key or "").read())
    assert "sings" not in (shown["clip"] if trimmed else shown)
    assert_counted(studio, project.project_id)
    projects.compose(studio, project.project_id, by=ANN)
    workers(studio).drain()
    assert studio.store.get(project.ref).status is ProjectStatus.COMPLETED


# Through the API


def test_a_project_is_edited_under_its_etag(editor: TestClient, studio: FilmStudio) -> None:
    """MV-15: of two who have read the same edition, one wins, and the other is told."""
    path = f"/api/mv/projects/{filmed(editor, studio)}"
    read = editor.get(path)
    seen = {"If-Match": read.headers["ETag"]}
    assert read.json()["etag"] == read.headers["ETag"]
    first = editor.patch(path, json={"conceptPrompt": "A cat on the moon"}, headers=seen)
    assert (first.status_code, first.json()["conceptPrompt"]) == (200, "A cat on the moon")
    assert all(scene["outdated"] for scene in first.json()["scenes"])
    second = editor.patch(path, json={"conceptPrompt": "A dog"}, headers=seen)
    assert (second.status_code, second.json()["type"].rpartition("/")[2]) == (412, "edited-meanwhile")
    assert editor.get(path).json()["conceptPrompt"] == "A cat on the moon"
    again = editor.patch(path, json={"directorConfig": "nobody"}, headers={"If-Match": first.headers["ETag"]})
    assert again.json()["type"].rpartition("/")[2] == "director-not-found"
    assert editor.patch(path, json={"conceptPrompt": "   "}).status_code == 400
    assert editor.patch(path, json={"conceptPrompt": None}).status_code == 400
    both = editor.patch(path, json={"status": "processing", "conceptPrompt": "A dog"})
    assert (both.status_code, both.json()["type"].rpartition("/")[2]) == (400, "incomplete-order")


def test_a_scene_is_edited_under_its_etag(editor: TestClient, studio: FilmStudio) -> None:
    """MV-28, MV-32: what workers write meanwhile is in nobody's way."""
    path = f"/api/mv/projects/{filmed(editor, studio)}"
    read = editor.get(f"{path}/scenes/2")
    seen = {"If-Match": read.headers["ETag"]}
    assert editor.get(path).json()["scenes"][1]["etag"] == read.headers["ETag"]
    assert editor.post(f"{path}/scenes/2/regenerate").status_code == 202
    workers(studio).drain()
    first = editor.patch(f"{path}/scenes/2", json={"duration": 2.5, "needsLipSync": True}, headers=seen)
    assert (first.status_code, first.json()["duration"], first.json()["lips"]) == (200, 2.5, "missing")
    assert "its duration changed" in first.json()["outdated"][0]
    assert editor.patch(f"{path}/scenes/2", json={"duration": 3}, headers=seen).status_code == 412
    assert editor.patch(f"{path}/scenes/2", json={"duration": 61}).status_code == 422
    assert editor.patch(f"{path}/scenes/2", json={"duration": None}).status_code == 400


def test_stale_lips_are_told_moved_again_and_cut_only_if_asked_for(editor: TestClient, studio: FilmStudio) -> None:
    """MV-33, MV-69: GET project and GET scene tell; compose refuses."""
    path = f"/api/mv/projects/{filmed(editor, studio)}"
    told = editor.get(path).json()
    assert ([s["lips"] for s in told["scenes"]], told["staleLips"]) == (["in_step", "none", "none"], [])
    told = editor.patch(f"{path}/scenes/reorder", json={"sceneOrder": [2, 1, 3]}).json()
    assert ([s["lips"] for s in told["scenes"]], told["staleLips"]) == (["none", "stale", "none"], [1])
    scene = editor.get(f"{path}/scenes/1").json()
    assert (scene["lips"], scene["startsAt"], scene["displaySequence"]) == ("stale", 0.5, 2)
    assert scene["lipsStaleBecause"].startswith("the scene is heard from 0.50 s of the track on")
    refused = editor.post(f"{path}/compose")
    assert (refused.status_code, refused.json()["type"].rpartition("/")[2]) == (409, "lips-out-of-step")
    assert editor.post(f"{path}/lipsync").status_code == 202
    workers(studio).drain()
    assert editor.get(path).json()["staleLips"] == []
    assert editor.post(f"{path}/compose").status_code == 202
    workers(studio).drain()
    editor.patch(f"{path}/scenes/reorder", json={"sceneOrder": [1, 2, 3]})
    assert editor.post(f"{path}/compose", json={"staleLips": True}).status_code == 202


def test_whoever_asks_for_something_stands_in_the_audit_trail(studio: FilmStudio, tmp_path: Path) -> None:
    """In that of the project, by name; what workers make of it stands there as theirs."""
    here = begun(studio, tmp_path).project_id
    actions: dict[str, Callable[..., object]] = {
        "bob": lambda **who: projects.generate(studio, here, **who),
        "cleo": lambda **who: scenes.reorder(studio, here, [2, 1, 3], **who),
        "dan": lambda **who: scenes.regenerate(studio, here, 2, **who),
        "eve": lambda **who: scenes.trim(studio, here, 2, start=0.1, stop=0.3, **who),
        "fay": lambda **who: scenes.add_scene(studio, here, "A dance on the roof", **who),
        "gil": lambda **who: scenes.delete_scene(studio, here, 4, **who),
        "hal": lambda **who: projects.edit_project(studio, here, {"concept_prompt": "A cat"}, **who),
        "ida": lambda **who: projects.compose(studio, here, stale_lips=True, **who),
        "jon": lambda **who: scenes.edit_scene(studio, here, 1, {"prompt": "A cat"}, **who),
        "kim": lambda **who: projects.delete_project(studio, here, **who),
    }
    for person, act in actions.items():
        act(by=person)
        workers(studio).drain()
    actors = [line.actor for line in studio.store.find(SystemAudit.of_project(project_id=str(here)))]
    people = dict.fromkeys(actor for actor in actors if not actor.startswith("task:"))
    assert list(people) == [ANN, *actions]
