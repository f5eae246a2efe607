"""Processes that belong together, for whoever starts a system in several."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from penstock.workers.processes import Processes


def run_together(parts: Mapping[str, Callable[[], object]], *, grace: float) -> None:
    """Run each part in a process of its own until told to stop; one that dies is started again."""
    Processes(parts).run(grace=grace)
