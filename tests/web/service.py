"""A service on an embedded store and local files, with keys for everybody."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi import FastAPI

from penstock import Domain, FrozenClock, Store, open_store
from penstock.auth.api_keys import create_key
from penstock.objects import LocalObjects, RouteSigner
from penstock.plugin import DomainPlugin, own_settings
from penstock.schema.role import Role
from penstock.web.api import build_api
from penstock.web.options import WebOptions
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING
from tests.web.client import Client
from tests.web.films import INSTALLED as FILMS

SECRET = b"the secret of these tests"
STRANGER = ("203.0.113.9", 50000)
HERE = ("127.0.0.1", 50000)
URL = "http://127.0.0.1"


class Service:
    """One application, and clients of it."""

    def __init__(
        self,
        folder: Path,
        *,
        installed: Sequence[DomainPlugin] = (FILMS,),
        store: Store | None = None,
        clock: FrozenClock | None = None,
        port: int | None = None,
        settings: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        """Signed URLs lead to ``port``, where the service is to be listening."""
        self.clock = clock or FrozenClock()
        domains = tuple(i.domain for i in installed)
        if store is None:
            (folder / "web.db").write_bytes(_empty_store(domains))
        self.store = store or open_store(f"sqlite:///{folder}/web.db", clock=self.clock)
        if store is not None:
            self.store.ensure(*domains, WORKING)
        here = URL if port is None else f"{URL}:{port}"
        signer = RouteSigner(SECRET, url=f"{here}/objects", clock=self.clock)
        self.objects = LocalObjects(folder / "objects", signer=signer)
        self.context = DomainContext(self.store, self.objects, own_settings(installed, settings or {}))
        self.app: FastAPI = build_api(
            installed, self.context, options=WebOptions(**{"secret": SECRET, "strict_claims": True, **options})
        )

    def key(self, role: Role, project: str | None = None) -> str:
        return create_key(self.store, name=f"a {role.value}", role=role, project=project, by="tests").token

    def client(
        self,
        role: Role | None = None,
        *,
        project: str | None = None,
        key: str | None = None,
        address: tuple[str, int] = STRANGER,
    ) -> Client:
        """A client with a key of this role, or with none."""
        token = key or (None if role is None else self.key(role, project))
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return Client(self.app, base_url=URL, headers=headers, client=address, raise_server_exceptions=False)


@cache
def _empty_store(domains: tuple[Domain, ...]) -> bytes:
    """A file with all tables: copying it is quicker than creating them for every test."""
    with TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/empty.db")
        store.ensure(*domains, WORKING)
        store.close()
        with closing(sqlite3.connect(f"{folder}/empty.db")) as connection:
            connection.execute("pragma wal_checkpoint(truncate)")
        return Path(folder, "empty.db").read_bytes()


def film(title: str = "Robot", project: str = "p1", **more: Any) -> dict[str, Any]:
    return {"project_id": project, "title": title, "created_at": "2037-01-01T00:00:00Z", **more}
