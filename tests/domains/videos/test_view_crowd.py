"""Eight processes see one video at the same time, and answers are lost: each view is counted once, on every engine."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from penstock import Store
from penstock.domains.videos.model import DOMAIN, Video, ViewMark
from penstock.testing.faults.losing_proxy import LosingProxy
from tests.conftest import _drop_tables
from tests.domains.videos.records import a_video
from tests.domains.videos.view_crowd import Viewers, gather
from tests.engines.crowd import Crowd, open_at

pytestmark = pytest.mark.every_engine

LOST = 60
"Of so many answers one is lost."
VIEWS = {"dynoxide": 400, "dynamodb-local": 80}
"Where each view takes a while, there are fewer of them, but in long runs."
_counter = itertools.count()


@pytest.fixture
def place(engine_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Crowd]:
    """Where the videos are."""
    if engine_name == "sqlite":
        yield Crowd("sqlite", str(tmp_path / "views.db"))
    elif engine_name == "postgres":
        server = request.getfixturevalue("postgres_server")
        yield Crowd("postgres", server.create_database(f"views_{os.getpid()}_{next(_counter)}"))
    else:
        url = request.getfixturevalue(engine_name.replace("-", "_") + "_server").url
        prefix = f"views{os.getpid()}_{next(_counter)}_"
        yield Crowd("dynamodb", url, prefix)
        _drop_tables(url, prefix)


def _lose_every(answer: int, proxy: LosingProxy) -> None:
    def again() -> None:
        proxy.meanwhile = again
        proxy.lose_answer(after=answer)

    again()


def _check(place: Crowd, views: int) -> None:
    store = Store(open_at(place))
    store.ensure(DOMAIN)
    video = a_video()
    store.create(video)
    url = urlsplit(place.address)
    with LosingProxy(url.port) if url.port else nullcontext() as proxy:
        address = place.address
        if proxy is not None:
            address = address.replace(f":{url.port}", f":{proxy.port}")
            _lose_every(LOST, proxy)
        met = gather(Viewers(place.kind, address, str(video.video_id), place.prefix, views=views))
    assert [error for seen in met for error in seen.errors] == []
    answers = [answer for seen in met for answer in seen.answers]
    assert (len(met), len(answers)) == (8, views)
    assert proxy is None or proxy.lost > 0, "no answer was lost, so nothing was tried"
    assert store.get(Video.at(video_id=video.video_id)).view_count == views
    assert max(answers) == views
    assert sum(1 for _ in store.find(ViewMark.of_video(video_id=video.video_id))) == views
    store.close()


def test_two_thousand_views_from_eight_processes_are_two_thousand(place: Crowd, engine_name: str) -> None:
    """VM-16, VM-17, F-VM-4: also when answers are lost on either way, which SQLite has none of."""
    _check(place, VIEWS.get(engine_name, 2000))


@pytest.mark.long
def test_so_many_are_counted_on_the_slowest_engines_too(place: Crowd) -> None:
    """VM-16, F-VM-4."""
    _check(place, 2000)
