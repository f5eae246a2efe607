"""A front door: a whole system behind the console, with the workers, feeds and relays that `penstock up` has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.auth.api_keys import create_key
from penstock.plugin import DomainPlugin
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings
from penstock.schema.role import Role
from penstock.web.serve import ready_api
from tests.servers import free_port
from tests.web.serving import serving

from .console import build_once

if TYPE_CHECKING:
    from playwright.sync_api import Page


@dataclass(frozen=True)
class FrontDoor:
    """A running system, and the way in."""

    system: Service

    @property
    def url(self) -> str:
        return self.system.settings.url

    def key(self, role: Role) -> str:
        return create_key(self.system.context.store, name=f"a {role.value}", role=role, by="tests").token

    def open(self, page: Page, *, role: Role = Role.EDITOR) -> None:
        """Sign in as people do, and go to the first page of the first domain."""
        page.goto(self.url)
        page.get_by_label("API key").fill(self.key(role))
        page.keyboard.press("Enter")
        shown = self.system.installed[0].console
        assert shown is not None
        page.get_by_role("navigation", name="Console").get_by_role("link", name=shown.pages[0].title).click()


@contextmanager
def opened(
    folder: Path, *installed: DomainPlugin, variables: Mapping[str, str] | None = None, **settings: Any
) -> Iterator[FrontDoor]:
    """A system with nothing in it but domains; its records and files lie in a folder unless the settings say where."""
    build_once()
    kept = {"store": f"sqlite:///{folder}/door.db", "objects": f"files:///{folder}/objects", "port": free_port()}
    chosen = Settings(
        **{**kept, **settings},
        secret="of the tests, and long enough",
        archive=str(folder / "archive"),
        worker_threads=2,
        variables=dict(variables or {}),
    )
    system = Service(chosen, installed)
    api = ready_api(system, chosen)
    system.start()
    try:
        with serving(api, port=chosen.port):
            yield FrontDoor(system)
    finally:
        system.stop(grace=timedelta(seconds=1))
