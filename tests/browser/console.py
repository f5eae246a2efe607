"""The console in a real browser, before the real service on an embedded store."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hatch_build
from penstock.schema.role import Role
from tests.servers import Unavailable, free_port
from tests.web.service import Service, film
from tests.web.serving import serving

if TYPE_CHECKING:
    from playwright.sync_api import Page


@dataclass(frozen=True)
class Console:
    """A running service, and the doors to its console."""

    service: Service
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open(self, page: Page, path: str = "/", *, role: Role | None = Role.EDITOR, key: str | None = None) -> None:
        """Open a place of the console, signed in by a key of this role; None for a stranger."""
        token = key or (self.service.key(role) if role is not None else None)
        if token is not None:
            page.goto("about:blank")  # a page that is open would go on asking with a session that is another's now
            answer = page.context.request.post(f"{self.url}/api/session", data={"key": token})
            assert answer.ok, answer.text()
        page.goto(f"{self.url}{path}")

    def film(self, title: str) -> None:
        """Somebody else makes a film."""
        answer = self.service.client(Role.EDITOR).post("/api/films/films", json=film(title))
        assert answer.status_code == 201, answer.text


@contextmanager
def served(folder: Path, **options: Any) -> Iterator[Console]:
    """A service with the console in it."""
    build_once()
    port = free_port()
    service = Service(folder, port=port, **options)
    with serving(service.app, port=port):
        yield Console(service, port)


def build_once() -> None:
    """Build the console if its sources have changed; one of all processes does."""
    lock = hatch_build.ROOT / "build" / "console.lock"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not hatch_build.is_built():
            try:
                hatch_build.build()
            except hatch_build.BuildFailed as failed:
                raise Unavailable(str(failed)) from None
