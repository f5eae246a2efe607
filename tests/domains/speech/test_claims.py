"""A POST with an Idempotency-Key happens once, wherever between two of its writes the process dies."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from starlette.testclient import TestClient

from penstock import FrozenClock
from penstock.domains.speech import PLUGIN
from penstock.domains.speech.cleanup import cleanup_yesterday_temp_audio
from penstock.work.domain_context import DomainContext
from tests.faults.posts import Post, Posts

TEXT = {"text": "Hello world test"}
POSTS = [
    Post("/public/tts/sync", {"json": TEXT}),
    Post("/public/tts/jobs", {"json": TEXT}),
    Post("/public/tts/sync", {"json": TEXT}, bound=True),
    Post("/public/tts/jobs", {"json": TEXT}, bound=True),
]


def prepared(client: TestClient, context: DomainContext) -> dict[str, Any]:
    return {}


def clean_up(context: DomainContext, clock: FrozenClock) -> None:
    """The next night, when what was spoken at noon can still be heard: a file without a record goes."""
    clock.set((clock.now() + timedelta(days=1)).replace(hour=3))
    cleanup_yesterday_temp_audio(context.store, context.objects)


@pytest.fixture(scope="module")
def posts(tmp_path_factory: pytest.TempPathFactory) -> Posts:
    return Posts(PLUGIN, tmp_path_factory.mktemp("posts"), prepared, clean_up)


def test_every_post_of_the_domain_is_killed_here(posts: Posts) -> None:
    """Write a request that succeeds for each that is missing."""
    assert posts.paths() == {post.path for post in POSTS}


@pytest.mark.parametrize("post", POSTS, ids=str)
def test_killed_between_any_two_writes_it_is_done_once_and_answered_the_same(posts: Posts, post: Post) -> None:
    posts.check(post)
