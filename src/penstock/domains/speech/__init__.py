"""Temporary speech: a sentence goes in, and a link to a WAV comes out that lives for 24 hours."""

from __future__ import annotations

from typing import Any

from penstock.domains.speech.cleanup import schedules
from penstock.domains.speech.lifecycle import advice
from penstock.domains.speech.model import DOMAIN
from penstock.domains.speech.options import SETTINGS
from penstock.domains.speech.tasks import TASKS
from penstock.plugin import DomainPlugin
from penstock.work.domain_context import DomainContext

__all__ = ["DOMAIN", "INSTALLED"]


def _routes(context: DomainContext) -> Any:
    # Only a web service needs FastAPI.
    from penstock.domains.speech.routes import routes

    return routes(context)


INSTALLED = DomainPlugin(DOMAIN, tasks=TASKS, schedules=schedules, routes=_routes, advice=advice, settings=SETTINGS)
