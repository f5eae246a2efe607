"""Music videos: a concept, a character and a track go in; scenes are written, filmed and cut into `final.mp4`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import penstock.domains.musicvideo.final_cut
import penstock.domains.musicvideo.uploading  # noqa: F401 - the last of the tasks
from penstock.domains.musicvideo.film_studio import PROVIDER_SETTINGS
from penstock.domains.musicvideo.model import DOMAIN, Project, ProjectStatus
from penstock.domains.musicvideo.options import SETTINGS
from penstock.domains.musicvideo.scene_review import REVIEWS
from penstock.domains.musicvideo.tasks import TASKS
from penstock.plugin import CommandContext, ConsoleHints, ConsolePage, DomainPlugin, NeedsYou, ProjectList
from penstock.work.domain_context import DomainContext

__all__ = ["DOMAIN", "PLUGIN"]


def _routes(context: DomainContext) -> Any:
    # Only a web service needs FastAPI.
    from penstock.domains.musicvideo.routes import routes

    return routes(context)


def _commands(context: CommandContext) -> Mapping[str, Callable[..., Any]]:
    # Only the command line needs what shows and tells.
    from penstock.domains.musicvideo import demo, status_command

    return {**demo.commands(context), **status_command.commands(context)}


PLUGIN = DomainPlugin(
    DOMAIN,
    tasks=TASKS,
    routes=_routes,
    settings=(*SETTINGS, *PROVIDER_SETTINGS),
    commands=_commands,
    console=ConsoleHints(
        "Music videos",
        first="Project.recent_by_status",
        summary="A concept, a character and a track go in; scenes are written, filmed and cut into a video.",
        projects=ProjectList("Project.recent_by_status", title="concept_prompt"),
        package=__name__,
        pages=[ConsolePage("make.js", "Make a music video")],
        names={"Project": "concept_prompt"},
    ),
    reviews=REVIEWS,
    needs_you=(
        NeedsYou(
            Project.by_status(status=ProjectStatus.FAILED), "Videos that failed", "Take each up again, or let it be."
        ),
    ),
)
