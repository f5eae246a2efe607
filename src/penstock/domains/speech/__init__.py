"""Temporary speech: a sentence goes in, and a link to a WAV comes out that lives for 24 hours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.domains.speech.cleanup import schedules
from penstock.domains.speech.lifecycle import advice, file_expiries
from penstock.domains.speech.model import DOMAIN
from penstock.domains.speech.options import SETTINGS
from penstock.domains.speech.plan_costs import PRINTED
from penstock.domains.speech.speech_review import REVIEWS
from penstock.domains.speech.tasks import TASKS
from penstock.plugin import CommandContext, ConsoleHints, ConsolePage, DomainPlugin
from penstock.work.domain_context import DomainContext

__all__ = ["DOMAIN", "PLUGIN"]


def _routes(context: DomainContext) -> Any:
    # Only a web service needs FastAPI.
    from penstock.domains.speech.routes import routes

    return routes(context)


def _commands(context: CommandContext) -> Mapping[str, Callable[..., Any]]:
    # Only the command line needs what shows and tells.
    from penstock.domains.speech.say import commands

    return commands(context)


PLUGIN = DomainPlugin(
    DOMAIN,
    tasks=TASKS,
    schedules=schedules,
    routes=_routes,
    advice=advice,
    settings=SETTINGS,
    commands=_commands,
    console=ConsoleHints(
        "Speech",
        first="TempAudio.of_date",
        summary="A sentence goes in, and a link to its sound comes out that lives for a day.",
        package=__name__,
        pages=[ConsolePage("say.js", "Say something")],
    ),
    reviews=REVIEWS,
    file_expiries=file_expiries,
    printed_costs=PRINTED,
)
