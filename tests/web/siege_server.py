"""A service in a process of its own, to be besieged: python -m tests.web.siege_server FOLDER PORT OPTIONS (as JSON)."""

from __future__ import annotations

import json
import logging
import resource
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import APIRouter
from pydantic import BaseModel

from penstock import Domain, Entity, Table, key, open_store
from penstock.auth.access import heavy, public, takes
from penstock.objects import LocalObjects, RouteSigner
from penstock.plugin import DomainPlugin
from penstock.web.api import build_api
from penstock.web.connection import ListeningServer, served_by
from penstock.web.options import WebOptions
from penstock.work.domain_context import DomainContext
from tests.web.films import INSTALLED as FILMS

SECRET = b"the secret of the besieged"
OFTEN = 1_000_000
_SLOW = 0.5


class Wall(Entity, table=Table("SiegeWalls", partition="PK", sort="SK")):
    """Nothing but a reason to be a domain."""

    name: str

    @key("WALL#{name}", "WALL")
    def at(self, *, name: str) -> None: ...


class Cry(BaseModel):
    words: Any = None


def routes(context: DomainContext) -> APIRouter:
    router = APIRouter(prefix="/public")

    @router.post("/speak")
    @public(per_minute=OFTEN)
    @heavy("synthesis")
    def speak() -> dict[str, bool]:
        """Takes its time."""
        time.sleep(_SLOW)
        return {"spoken": True}

    @router.post("/cry")
    @public(per_minute=OFTEN)
    def cry(cry: Cry) -> dict[str, int]:
        """Says how much was said."""
        return {"size": len(str(cry.words))}

    @router.post("/read")
    @takes(megabytes=10)
    def read(cry: Cry) -> dict[str, bool]:
        """For whoever has a key."""
        return {"read": True}

    return router


INSTALLED = (FILMS, DomainPlugin(Domain("siege", Wall), routes=routes))


def main(folder: str, port: str, told: str) -> None:
    options: dict[str, Any] = json.loads(told)
    files, url, loop = options.pop("files", None), options.pop("store"), options.pop("loop")
    if files is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    logging.basicConfig(level=logging.INFO)
    store = open_store(url)
    signer = RouteSigner(SECRET, url=f"http://127.0.0.1:{port}/objects")
    context = DomainContext(store, LocalObjects(Path(folder) / "objects", signer=signer), lambda name: None)
    chosen = WebOptions(secret=SECRET, silence=timedelta(seconds=options.pop("silence")), **options)
    app = build_api(INSTALLED, context, options=chosen)
    more = {"log_config": None, "access_log": False, "proxy_headers": False, **served_by(chosen)}
    ListeningServer(uvicorn.Config(app, host="127.0.0.1", port=int(port), loop=loop, **more)).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
