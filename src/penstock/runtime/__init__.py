"""A running system: its settings, its parts put together, its service."""

from __future__ import annotations

from typing import Any

from penstock.ports.deployment import opens_deployments


@opens_deployments
def _open(plugin: Any) -> Any:
    # Only a function that is called without a system needs it.
    from penstock.runtime.environment import open_context

    return open_context(plugin)
