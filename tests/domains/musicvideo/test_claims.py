"""A POST with an Idempotency-Key happens once, wherever between two of its writes the process dies."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from starlette.testclient import TestClient

from penstock import FrozenClock
from penstock.domains.musicvideo import DOMAIN, PLUGIN
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.tasks import TASKS
from penstock.files.sweep import Sweep
from penstock.generation.steps import Shot
from penstock.work import Terminal
from penstock.work.domain_context import DomainContext
from penstock.workers.manual import ManualWorkers
from tests.domains.musicvideo.quick_providers import PICTURE, QuickProviders, film
from tests.faults.posts import Post, Posts

API = "/api/mv"
PROJECT = f"{API}/projects/{{project_id}}"
SCENE = f"{PROJECT}/scenes/{{sequence}}"
FORM = {"mode": "music-video", "prompt": "Robot exploring Austin", "characterDescription": "Silver robot"}
SETTINGS = {"MV_SCENE_SECONDS": "0.5", "MV_SCENES": "2"}
LARGE = 100 * 1024 * 1024
"Bytes of a file that is sent in parts."


def track() -> dict[str, Any]:
    return {"audio": ("track.mp3", film(1.0, audio=True), "audio/mpeg")}


POSTS = [
    Post(f"{API}/projects", {"data": FORM, "files": track()}),
    Post(f"{API}/projects", {"data": FORM, "files": track()}, bound=True),
    Post(f"{PROJECT}/generate", facts={"project_id": "pending"}),
    Post(f"{PROJECT}/compose"),
    Post(f"{PROJECT}/compose", facts={"project_id": "composing"}),
    Post(f"{PROJECT}/lipsync", facts={"project_id": "stale"}),
    Post(f"{PROJECT}/retry", facts={"project_id": "failed"}),
    Post(f"{PROJECT}/scenes", {"json": {"sceneConcept": "A dance on the roof at night"}}),
    Post(f"{SCENE}/regenerate"),
    Post(f"{SCENE}/lipsync", {"json": {"lyrics": "La la"}}),
    Post(f"{SCENE}/trim", {"json": {"trimPoints": {"in": 0.1, "out": 0.3}}}),
    Post(f"{SCENE}/upload_video", {"files": {"file": ("mine.mp4", film(1.0), "video/mp4")}}),
    Post(f"{PROJECT}/uploads", {"json": {"kind": "audio", "size": 9, "contentType": "audio/mpeg"}}),
    Post(f"{PROJECT}/uploads", {"json": {"kind": "audio", "size": LARGE, "contentType": "audio/mpeg"}}),
    Post(f"{PROJECT}/uploads/{{upload_id}}/finalize", facts={"upload_id": "sent_scene"}),
    Post(f"{PROJECT}/uploads/{{upload_id}}/finalize", facts={"upload_id": "sent_audio"}),
    Post(f"{API}/generate_character_reference", {"json": {"characterDescription": "A robot", "numImages": 3}}),
    Post(f"{API}/upload_character_reference", {"files": {"file": ("c.png", PICTURE, "image/png")}}),
]


def refuse(shot: Shot) -> None:
    raise Terminal("the prompt is refused")


def prepared(client: TestClient, context: DomainContext) -> dict[str, Any]:
    """A project that is filmed, one that is being cut, one that is begun, and files that wait to be looked at.

    And one with two scenes whose lips were in step before they changed places, and one whose scenes failed.
    """
    made = [client.post(f"{API}/projects", data=FORM, files=track()).json()["projectId"] for _ in range(5)]
    filmed, composing, stale, failed, pending = made
    hands = ManualWorkers(context.store, [TASKS], context=context)
    assert client.post(f"{API}/projects/{failed}/generate").status_code == 202
    hands.run_one()
    quick: Any = FilmStudio.within(context).providers.generator
    quick.meanwhile = refuse
    hands.drain()
    quick.meanwhile = lambda shot: None
    for project in (filmed, composing, stale):
        assert client.post(f"{API}/projects/{project}/generate").status_code == 202
    hands.drain()
    assert client.post(f"{API}/projects/{stale}/scenes/2/lipsync").status_code == 202
    hands.drain()
    assert client.post(f"{API}/projects/{composing}/compose").status_code == 202
    assert client.patch(f"{API}/projects/{stale}/scenes/reorder", json={"sceneOrder": [2, 1]}).status_code == 200
    facts = {"project_id": filmed, "composing": composing, "stale": stale, "failed": failed, "pending": pending}
    facts["sequence"] = 1
    for name, about, content, kind in (
        ("sent_scene", {"kind": "scene", "sequence": 2}, film(1.5), "video/mp4"),
        ("sent_audio", {"kind": "audio"}, film(1.2, audio=True), "audio/mpeg"),
    ):
        body = {**about, "size": len(content), "contentType": kind, "sha256": sha256(content).hexdigest()}
        facts[name] = client.post(f"{API}/projects/{filmed}/uploads", json=body).json()["uploadId"]
        context.objects.put(f"uploads/{facts[name]}", content)
    return facts


def sweep(context: DomainContext, clock: FrozenClock) -> None:
    """Files that nobody points at go to the trash, and from there for good."""
    for _ in range(2):
        clock.advance(timedelta(days=9))
        Sweep(context.store, context.objects, [DOMAIN], owner="tests").run()


MADE: list[Posts] = []


@pytest.fixture
def posts(quick: QuickProviders, tmp_path_factory: pytest.TempPathFactory) -> Posts:
    if not MADE:
        MADE.append(Posts(PLUGIN, tmp_path_factory.mktemp("posts"), prepared, sweep, SETTINGS))
    return MADE[0]


def test_every_post_of_the_domain_is_killed_here(posts: Posts) -> None:
    """Write a request that succeeds for each that is missing."""
    assert posts.paths() == {post.path for post in POSTS}


@pytest.mark.parametrize("post", POSTS, ids=str)
def test_killed_between_any_two_writes_it_is_done_once_and_answered_the_same(posts: Posts, post: Post) -> None:
    posts.check(post)
