from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from penstock import Domain, FrozenClock, Store
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.role import Role
from penstock.work.working import WORKING
from tests.conftest import chosen_engines, furnished
from tests.web.films import DOMAIN
from tests.web.service import Service

ENGINES = [name for name in ("sqlite", "postgres", "dynoxide") if name in chosen_engines()]


@pytest.fixture
def service(tmp_path: Path) -> Service:
    """With authentication, as on a public address."""
    return Service(tmp_path)


@pytest.fixture
def editor(service: Service) -> TestClient:
    return service.client(Role.EDITOR)


@pytest.fixture
def admin(service: Service) -> TestClient:
    return service.client(Role.ADMIN)


@pytest.fixture
def furniture() -> tuple[Domain, ...]:
    """Whose tables are there `anywhere`; a service of other domains adds its own."""
    return (DOMAIN, WORKING)


@pytest.fixture(params=ENGINES)
def anywhere(
    request: pytest.FixtureRequest, furniture: tuple[Domain, ...], clock: FrozenClock, tmp_path: Path
) -> Iterator[Store]:
    """A store on each kind of engine; the kernel's tests compare them all in depth."""
    opener, cleanup = furnished(request.param, request, tmp_path, furniture)
    engine = opener()
    yield Store(engine, clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    engine.close()
    cleanup()
