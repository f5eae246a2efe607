"""A service in a process of its own, to be loaded and killed: python -m tests.web.load_server FOLDER PORT."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import uvicorn

from penstock import open_store
from penstock.objects import LocalObjects
from penstock.ports.clock import SystemClock
from penstock.web.api import build_api
from penstock.web.connection import ListeningServer, served_by
from penstock.web.options import WebOptions
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING
from tests.web.films import DOMAIN, INSTALLED


def main(folder: str, port: str) -> None:
    # One machine, one clock: what a killed process left behind need not wait for a slower one.
    store = open_store(f"sqlite:///{folder}/load.db", clock=SystemClock(skew=timedelta(0)))
    store.ensure(DOMAIN, WORKING)
    context = DomainContext(store, LocalObjects(Path(folder) / "objects"), lambda name: None)
    options = WebOptions(authentication=False, secret=b"of the load test")
    app = build_api((INSTALLED,), context, options=options)
    told = {"log_config": None, "access_log": False, "proxy_headers": False, **served_by(options)}
    ListeningServer(uvicorn.Config(app, host="127.0.0.1", port=int(port), **told)).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
