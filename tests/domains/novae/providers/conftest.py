"""Nothing here leaves the machine, and an archive on loopback is at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.domains.novae.providers.politeness import Politeness
from penstock.generation.provider_http import ProviderService
from tests.domains.novae.providers.archive_server import ArchiveServer
from tests.net.loopback import stay_on_loopback

SAMPLES = Path(__file__).parents[5] / "shared" / "data"
"Real files, beside the repository."


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    stay_on_loopback(monkeypatch)


@pytest.fixture
def archive() -> Iterator[ArchiveServer]:
    with ArchiveServer() as server:
        yield server


@pytest.fixture
def polite() -> Politeness:
    """One that knows no other test's hosts, and is never in the way."""
    return Politeness(per_second=10_000, at_once=32, alone=True)


@pytest.fixture
def service_of(polite: Politeness) -> Iterator[Callable[..., ProviderService]]:
    opened: list[ProviderService] = []

    def open_service(server: ArchiveServer, *, token: str | None = None, seconds: float = 10) -> ProviderService:
        service = ProviderService(server.url(), token, timeout=timedelta(seconds=seconds), turn=polite.turn)
        opened.append(service)
        return service

    yield open_service
    for service in opened:
        service.close()
