"""Reviews are tried through the service, and on a store of each kind of engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock import Domain, FrozenClock, Store
from penstock.work.working import WORKING
from tests.review.shots import DOMAIN, SHOTS, Shot
from tests.web.conftest import *  # noqa: F403
from tests.web.service import Service


@pytest.fixture(name="furniture")
def furniture_of_shots() -> tuple[Domain, ...]:
    return (DOMAIN, WORKING)


@pytest.fixture
def studio(tmp_path: Path) -> Service:
    """A service with shots, one of which is there."""
    return furnished(Service(tmp_path, installed=(SHOTS,)))


@pytest.fixture
def studio_anywhere(tmp_path: Path, anywhere: Store, clock: FrozenClock) -> Service:
    """The same on each kind of engine."""
    return furnished(Service(tmp_path, installed=(SHOTS,), store=anywhere, clock=clock))


def furnished(service: Service) -> Service:
    service.store.create(Shot(project_id="p1", title="Robot", take=1, created_at=service.clock.now()))
    return service
