"""Numbers of requests that the processes of one service count together, so that each can tell those of all.

Each counts in files of its own, in a folder that all of them have. The files are named after the part that a process
is, and not after the process: one that is started again counts on where the former ended, so that no number ever falls
and there are never more files than parts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from prometheus_client import values
from prometheus_client.core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector, CollectorRegistry

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"


class SharedNumbers:
    """Where the processes of a service count. It is made before they are forked, and before anything is to be counted.

    From then on all of this process's numbers are counted so: it is one switch of the library for all of them.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self.part = folder, "first"
        os.environ[_FOLDER] = str(folder)  # where the library looks whenever it opens a file
        values.ValueClass = values.MultiProcessValue(lambda: self.part)  # type: ignore[no-untyped-call]

    def count_as(self, part: str) -> None:
        """Be one of the parts, from now on; no other process may be the same one at the same time."""
        self.part = part

    def own_file(self, ending: str) -> Path:
        """Where this part counts what the library has no numbers for."""
        return self._folder / f"{self.part}.{ending}"

    def files(self, ending: str) -> list[Path]:
        """Those of all parts that have begun to."""
        return sorted(self._folder.glob(f"*.{ending}"))

    def register(self, registry: CollectorRegistry) -> None:
        """Have a registry tell what all of them have counted."""
        registry.register(_CountedTogether(self))


class _CountedTogether(Collector):
    """What all parts have counted."""

    def __init__(self, shared: SharedNumbers) -> None:
        self._shared = shared

    def describe(self) -> Iterable[Metric]:
        return []  # or registering would read the files

    def collect(self) -> Iterable[Metric]:
        # A file is empty while its process makes it, which the library's own collector takes for a damaged one.
        begun = [str(file) for file in self._shared.files("db") if file.stat().st_size]
        found: Iterable[Metric] = MultiProcessCollector.merge(begun)  # type: ignore[no-untyped-call]
        return found
