"""Game assets: an idea in words becomes a drawn, modelled, rigged, reviewed and versioned asset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from penstock.domains.assetcreator.asset_studio import PROVIDER_SETTINGS, AssetStudio
from penstock.domains.assetcreator.model import DOMAIN
from penstock.domains.assetcreator.options import SETTINGS
from penstock.domains.assetcreator.production import ASSET, TASKS
from penstock.domains.assetcreator.quota_view import standings
from penstock.domains.assetcreator.reviews import remind
from penstock.domains.assetcreator.step_review import REVIEWS
from penstock.events.schedule import Schedule
from penstock.plugin import CommandContext, ConsoleHints, ConsolePage, DomainPlugin, ProjectList
from penstock.work.domain_context import DomainContext

__all__ = ["DOMAIN", "PLUGIN"]


def _routes(context: DomainContext) -> Any:
    # Only a web service needs FastAPI.
    from penstock.domains.assetcreator.routes import routes

    return routes(context)


def _schedules(context: DomainContext) -> Sequence[Schedule]:
    return [Schedule("assetcreator-reviews", "* * * * *", partial(remind, AssetStudio.within(context)))]


def _commands(context: CommandContext) -> Mapping[str, Callable[..., Any]]:
    # Only the command line needs what shows and tells.
    from penstock.domains.assetcreator.showcase import commands

    return commands(context)


PLUGIN = DomainPlugin(
    DOMAIN,
    tasks=TASKS,
    pipelines=[ASSET],
    routes=_routes,
    schedules=_schedules,
    settings=(*SETTINGS, *PROVIDER_SETTINGS),
    commands=_commands,
    retention="17 3 * * *",
    console=ConsoleHints(
        "Game assets",
        first="Project.all",
        summary="An idea in words becomes a drawn, modelled, rigged, reviewed and versioned asset.",
        projects=ProjectList("Project.all", title="name"),
        package=__name__,
        pages=[ConsolePage("ask.js", "Ask for an asset")],
        names={"Job": "request.prompt.core_concept"},
    ),
    reviews=REVIEWS,
    quotas=standings,
)
