"""From a name to validated spectra, light curves and a bundle, with a person at the desk: the same on every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock import FrozenClock, Store
from penstock.domains.novae import DOMAIN
from penstock.domains.novae.workflow import TASKS
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING
from penstock.workers.manual import ManualWorkers
from tests.conftest import chosen_engines, furnished
from tests.domains.novae.conftest import BEGUN
from tests.domains.novae.whole_story import WholeStory, sky_of

ENGINES = [name for name in ("sqlite", "postgres", "dynoxide") if name in chosen_engines()]


@pytest.fixture(params=ENGINES)
def story(request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock) -> Iterator[WholeStory]:
    """On each engine, with the object store that belongs to it."""
    clock.set(BEGUN)
    opener, cleanup = furnished(request.param, request, tmp_path, (DOMAIN, WORKING))
    store = Store(opener(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    objects = request.getfixturevalue("local" if request.param == "sqlite" else "s3")
    context = DomainContext(store, objects, sky_of(tmp_path / "sky").get)
    workers = ManualWorkers(store, [TASKS], context=context)
    yield WholeStory(context, lambda until: _drain(workers, until))
    store.close()
    cleanup()


def _drain(workers: ManualWorkers, until: Callable[[], bool]) -> None:
    workers.drain()
    assert until()
    assert not workers.waiting(), "nothing has failed, so nothing waits for another attempt"


def test_a_name_becomes_spectra_a_light_curve_and_a_bundle(story: WholeStory) -> None:
    """NC-6, NC-8, NC-9, NC-11, NC-12, NC-14, NC-16, NC-17, NC-19, NC-20, NC-21, NC-25, NC-26, NC-27, NC-28, NC-31,
    NC-32, NC-33, NC-35, NC-36, NC-37: the whole story, with a person who clears one with a hint."""
    story.run()
