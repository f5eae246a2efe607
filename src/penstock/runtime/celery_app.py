"""The application for Celery's own commands, of the deployment that the environment describes.

``celery -A penstock.runtime.celery_app worker`` runs what its broker tells; ``beat`` when schedules are due. It is
made when it is asked for; importing this does nothing.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from penstock.errors import PenstockError
from penstock.runtime.discovery import discover, domains_of
from penstock.runtime.service import Service, kept_secret
from penstock.runtime.settings import read_settings


def __getattr__(name: str) -> Any:
    if name == "app":
        try:
            return _app()
        except PenstockError as error:
            # Celery's command would show where it was raised, and not what to do.
            raise SystemExit(f"Error: {error}") from None
    raise AttributeError(f"module {__name__} has no attribute {name!r}")


@cache
def _app() -> Any:
    plugins = discover(read_settings(()))
    return Service(kept_secret(read_settings(domains_of(plugins))), plugins).celery().app()
