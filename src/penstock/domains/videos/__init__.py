"""Videos: sent in, encoded, found, watched, counted, and forgotten when their time is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.domains.videos.article_costs import PRINTED
from penstock.domains.videos.encryption import advice
from penstock.domains.videos.following import handlers
from penstock.domains.videos.model import DOMAIN
from penstock.domains.videos.options import SETTINGS
from penstock.domains.videos.submissions import TASKS
from penstock.domains.videos.video_review import REVIEWS
from penstock.plugin import CommandContext, ConsoleHints, ConsolePage, DomainPlugin, delivery_function
from penstock.work.domain_context import DomainContext

__all__ = ["DOMAIN", "PLUGIN", "lambda_handler"]


def _routes(context: DomainContext) -> Any:
    # Only a web service needs FastAPI.
    from penstock.domains.videos.routes import routes

    return routes(context)


def _commands(terminal: CommandContext) -> Mapping[str, Callable[..., Any]]:
    # Only the command line needs Typer.
    from penstock.domains.videos.video_commands import commands

    return commands(terminal)


PLUGIN = DomainPlugin(
    DOMAIN,
    tasks=TASKS,
    routes=_routes,
    feed=handlers,
    settings=SETTINGS,
    commands=_commands,
    advice=advice,
    console=ConsoleHints(
        "Videos",
        first="Video.newest_of_category",
        summary="Sent in, encoded, found, watched, counted, and forgotten when their time is over.",
        package=__name__,
        pages=[ConsolePage("watch.js", "Upload and watch")],
    ),
    reviews=REVIEWS,
    printed_costs=PRINTED,
)

lambda_handler = delivery_function(PLUGIN)
"What AWS Lambda calls with the stream of the videos' table."
