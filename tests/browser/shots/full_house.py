"""All five systems behind one console, with people of its own and work that is done when it is told to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from penstock.auth.api_keys import create_key
from penstock.domains import INSTALLED
from penstock.ports.clock import SystemClock
from penstock.runtime.operated_system import OperatedSystem
from penstock.schema.role import Role
from penstock.work.runner import Runner
from tests.browser.console import Console, build_once
from tests.servers import free_port
from tests.web.service import URL, Service
from tests.web.serving import serving

PEOPLE = {
    "Ann Ortiz": Role.EDITOR,
    "Ben Okafor": Role.ADMIN,
    "Museum display": Role.VIEWER,
}
ANN, BEN, MUSEUM = PEOPLE


@dataclass
class FullHouse:
    """A service with everything in it, and what was made there, by the names that places call it by."""

    service: Service
    port: int
    made: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        service = self.service
        self.system = OperatedSystem(INSTALLED, service.context)
        self.runner = Runner(
            service.store, self.system.tasks, owner="studio-1:4127", chance=lambda: 1.0, context=service.context
        )
        self.keys = {
            name: create_key(service.store, name=name, role=role, by="Ben Okafor").token
            for name, role in PEOPLE.items()
        }

    @property
    def console(self) -> Console:
        return Console(self.service, self.port)

    def client(self, who: str = ANN) -> TestClient:
        headers = {"Authorization": f"Bearer {self.keys[who]}"}
        return TestClient(self.service.app, base_url=f"{URL}:{self.port}", headers=headers)

    def get(self, path: str, **params: Any) -> Any:
        return _told(self.client().get(path, params=params))

    def post(self, path: str, body: Any = None, *, who: str = ANN, **more: Any) -> Any:
        return _told(
            self.client(who).post(path, json=body, **more) if body is not None else self.client(who).post(path, **more)
        )

    def present(self) -> None:
        """The worker is heard of."""
        self.runner.presence.tell(1)

    def settle(self) -> None:
        """Have all be done that follows from what was begun."""
        while sum(feed.drain() for feed in self.system.feeds.values()) + self.step(1000):
            pass

    def step(self, most: int) -> int:
        """Have some of it be done; how much was."""
        for done in range(most):
            works = self.runner.take(1)
            if not works:
                return done
            self.runner.run(works[0])
        return most


def _told(answer: Any) -> Any:
    assert answer.status_code < 300, f"{answer.request.method} {answer.request.url}: {answer.text}"
    return answer.json() if answer.content else None


@contextmanager
def full_house(folder: Path, settings: Mapping[str, str]) -> Iterator[FullHouse]:
    """The house behind a real server, with nothing in it."""
    build_once()
    clock: Any = SystemClock()
    port = free_port()
    service = Service(folder, installed=INSTALLED, clock=clock, port=port, settings=settings)
    with serving(service.app, port=port):
        yield FullHouse(service, port)
