"""Novae: from a name to validated spectra and light curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.domains.novae import (
    bundles,
    dropped_objects,
    initializing,
    merging,
    photometry_ingest,
    product_discovery,
    reconciling,
    refreshing,
    spectra_validation,
)
from penstock.domains.novae.catalogue_advice import advice
from penstock.domains.novae.data_records import QuarantineEntry
from penstock.domains.novae.dataset_review import REVIEWS, dataset_of
from penstock.domains.novae.lookup_records import Doubt
from penstock.domains.novae.model import DOMAIN
from penstock.domains.novae.options import SETTINGS
from penstock.domains.novae.providers.provider_options import PROVIDER_SETTINGS
from penstock.domains.novae.workflow import TASKS, WORKFLOWS
from penstock.plugin import CommandContext, ConsoleHints, ConsolePage, DomainPlugin, NeedsYou
from penstock.work.domain_context import DomainContext

__all__ = ["DOMAIN", "PLUGIN"]

# Each declares its workflow when it is imported.
_DECLARED = (
    *(initializing, merging, reconciling, refreshing),
    *(product_discovery, spectra_validation, photometry_ingest, dropped_objects, bundles),
)


def _routes(context: DomainContext) -> Any:
    # Only a web service needs FastAPI.
    from penstock.domains.novae.routes import routes

    return routes(context)


def _commands(terminal: CommandContext) -> Mapping[str, Callable[..., Any]]:
    # Only the command line needs Typer.
    from penstock.domains.novae import nova_commands, novae_commands, novae_demo, quarantine_commands

    parts = (novae_commands, nova_commands, quarantine_commands, novae_demo)
    return {words: each for part in parts for words, each in part.commands(terminal).items()}


PLUGIN = DomainPlugin(
    DOMAIN,
    tasks=TASKS,
    pipelines=[workflow.pipeline for workflow in WORKFLOWS.values()],
    routes=_routes,
    settings=(*SETTINGS, *PROVIDER_SETTINGS),
    commands=_commands,
    advice=advice,
    console=ConsoleHints(
        "Novae",
        first="NovaEntry.by_status",
        summary="From a name to validated spectra and light curves.",
        package=__name__,
        pages=[ConsolePage("look.js", "Look a nova up")],
        names={"Nova": "preferred_name", "Dataset": "file_name", "QuarantineEntry": "file_name"},
    ),
    reviews=REVIEWS,
    needs_you=(
        NeedsYou(
            QuarantineEntry.waiting(),
            "Datasets in quarantine",
            "Look at the evidence, then clear each with a hint or reject it.",
            look_at=dataset_of,
        ),
        NeedsYou(Doubt.waiting(), "Doubts", "A run could not decide between novae: say which is meant."),
    ),
)
