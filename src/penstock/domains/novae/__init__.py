"""Novae: from a name to validated spectra and light curves."""

from __future__ import annotations

from typing import Any

from penstock.domains.novae import (
    bundles,
    discovery,
    dropped_objects,
    initializing,
    merging,
    photometry_ingest,
    reconciling,
    refreshing,
    spectra_validation,
)
from penstock.domains.novae.model import DOMAIN
from penstock.domains.novae.options import SETTINGS
from penstock.domains.novae.providers.provider_options import PROVIDER_SETTINGS
from penstock.domains.novae.workflow import TASKS, WORKFLOWS
from penstock.plugin import ConsoleHints, DomainPlugin
from penstock.work.domain_context import DomainContext

__all__ = ["DOMAIN", "PLUGIN"]

# Each declares its workflow when it is imported.
_DECLARED = (
    *(initializing, merging, reconciling, refreshing),
    *(discovery, spectra_validation, photometry_ingest, dropped_objects, bundles),
)


def _routes(context: DomainContext) -> Any:
    # Only a web service needs FastAPI.
    from penstock.domains.novae.routes import routes

    return routes(context)


PLUGIN = DomainPlugin(
    DOMAIN,
    tasks=TASKS,
    pipelines=[workflow.pipeline for workflow in WORKFLOWS.values()],
    routes=_routes,
    settings=(*SETTINGS, *PROVIDER_SETTINGS),
    console=ConsoleHints("Novae", first="NovaEntry.by_status"),
)
