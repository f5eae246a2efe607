"""The meter: what each pattern and each kind of write costs, by DynamoDB's rules, on whichever engine is beneath.

Usage is *estimated* from shapes and values, the same way on every engine; where the engine is told what DynamoDB
really took, that is kept beside it as *measured*. Only a metered store pays for it (`penstock.cost.metered_engine`):

    meter = Meter()
    store = open_store(url, meter=meter)

It is counted by label, by the project it was for, and by partition key, of which the heaviest are remembered.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import add

from msgspec import Struct
from msgspec.structs import astuple

from penstock.cost.heavy_keys import HeavyKeys
from penstock.net.per_process import watch


class Usage(Struct, frozen=True):
    """What was used under one label. Units are estimated unless they are called measured."""

    requests: int = 0
    records: int = 0
    bytes: int = 0
    read_units: float = 0.0
    write_units: float = 0.0
    assumed: int = 0
    "Records whose former state or size had to be assumed."
    refused: int = 0
    "Commits that a condition refused; DynamoDB takes units for them too,"
    refused_units: float = 0.0
    "which are part of the write units, but which no answer tells."
    measured_requests: int = 0
    measured_read_units: float = 0.0
    measured_write_units: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(add, astuple(self), astuple(other)))


_UNLABELLED = "(other)"
NOBODY = "-"
"Whose usage it is that was for no project, or for several at once."


@dataclass(slots=True)
class ProjectUsage:
    """What was used for one project: by label, and by the partition keys that took the most."""

    labels: dict[str, Usage] = field(default_factory=dict)
    keys: HeavyKeys = field(default_factory=HeavyKeys)

    def add(self, label: str, usage: Usage) -> None:
        """Count some usage."""
        self.labels[label] = self.labels.get(label, Usage()) + usage

    def merge(self, other: ProjectUsage) -> None:
        """Count all of another's."""
        for label, usage in other.labels.items():
            self.add(label, usage)
        for key, units in other.keys:
            self.keys.add(key, units)

    @property
    def total(self) -> Usage:
        return sum(self.labels.values(), Usage())


class Meter:
    """Adds up usage by label: a pattern's name, an entity with its verb, ``commit`` or ``load``. Threads may share it.

    Iterating gives each label with its usage, in alphabetical order. Whoever keeps what was counted says so by
    `keep_with`, and is called by whoever counts something once it is time: also in a process that was forked.
    """

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._projects: dict[str, ProjectUsage] = {}
        self._lock = threading.Lock()
        self._current = threading.local()
        self._monotonic = monotonic
        self._keep: Callable[[], object] | None = None
        self._every, self._due = 0.0, 0.0
        watch(self)

    def forked(self) -> None:
        # The parent keeps what it has counted; and one of its threads may have held the lock.
        self._lock = threading.Lock()
        self._projects = {}

    def add(self, label: str, usage: Usage, *, project: str = NOBODY) -> None:
        """Count some usage."""
        if self._is_silent:
            return
        with self._lock:
            self._of(project).add(label, usage)
        self._keep_if_due()

    def heat(self, key: str, units: float, *, project: str = NOBODY) -> None:
        """Count units of a partition key, whose label is counted elsewhere."""
        if not self._is_silent:
            with self._lock:
                self._of(project).keys.add(key, units)

    def _of(self, project: str) -> ProjectUsage:
        found = self._projects.get(project)
        if found is None:
            found = self._projects[project] = ProjectUsage()
        return found

    def measure(self, read_units: float, write_units: float) -> None:
        """Count what one answer of DynamoDB says it took, under the label of the call it belongs to."""
        label, project = self._labelled
        told = Usage(measured_requests=1, measured_read_units=read_units, measured_write_units=write_units)
        self.add(label, told, project=project)

    @contextmanager
    def under(self, label: str, project: str = NOBODY) -> Iterator[None]:
        """What this thread measures within the block belongs to this label."""
        outer = self._labelled  # a load may be fed by a query
        self._current.label = label, project
        try:
            yield
        finally:
            self._current.label = outer

    @property
    def _labelled(self) -> tuple[str, str]:
        return getattr(self._current, "label", (_UNLABELLED, NOBODY))

    # Keeping

    def keep_with(self, keep: Callable[[], object], *, every: float) -> None:
        """Have somebody keep what was counted, every so many seconds."""
        self._keep, self._every, self._due = keep, every, self._monotonic() + every

    def _keep_if_due(self) -> None:
        if self._keep is None or self._monotonic() < self._due:
            return
        with self._lock:
            due, self._due = self._monotonic() >= self._due, self._monotonic() + self._every
        if due:
            self._keep()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """What this thread does within the block is not counted: to keep what was counted is for nobody's sake."""
        outer = self._is_silent
        self._current.silent = True
        try:
            yield
        finally:
            self._current.silent = outer

    @property
    def _is_silent(self) -> bool:
        return getattr(self._current, "silent", False)

    def drain(self) -> dict[str, ProjectUsage]:
        """What was counted since the last time, by project."""
        with self._lock:
            counted, self._projects = self._projects, {}
        return counted

    def put_back(self, project: str, usage: ProjectUsage) -> None:
        """Count what could not be kept."""
        with self._lock:
            self._of(project).merge(usage)

    # Looking

    def snapshot(self) -> dict[str, Usage]:
        """The usage of each label until now."""
        with self._lock:
            return _by_label(self._projects)

    def reset(self) -> dict[str, Usage]:
        """Start again from zero; what was counted until then."""
        return _by_label(self.drain())

    def total(self) -> Usage:
        """The usage of all labels together."""
        return sum(self.snapshot().values(), Usage())

    def __iter__(self) -> Iterator[tuple[str, Usage]]:
        return iter(self.snapshot().items())

    def table(self) -> str:
        """The usage as a table for people, with a last line for all of it."""
        rows = [_HEAD, *(_row(label, usage) for label, usage in self), _row("all", self.total())]
        widths = [max(len(row[n]) for row in rows) for n in range(len(_HEAD))]
        return "\n".join(_line(row, widths) for row in rows)


_HEAD = ("label", "requests", "records", "bytes", "reads", "writes", "assumed", "refused", "measured r", "measured w")


def _row(label: str, usage: Usage) -> tuple[str, ...]:
    measured = (f"{usage.measured_read_units:,g}", f"{usage.measured_write_units:,g}")
    return (
        label,
        f"{usage.requests:,}",
        f"{usage.records:,}",
        f"{usage.bytes:,}",
        f"{usage.read_units:,g}",
        f"{usage.write_units:,g}",
        f"{usage.assumed:,}",
        f"{usage.refused:,}",
        *(measured if usage.measured_requests else ("-", "-")),
    )


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    label, *numbers = (text.rjust(width) for text, width in zip(row, widths, strict=True))
    return "  ".join([row[0].ljust(len(label)), *numbers])


def _by_label(projects: dict[str, ProjectUsage]) -> dict[str, Usage]:
    found = ProjectUsage()
    for each in projects.values():
        for label, usage in each.labels.items():
            found.add(label, usage)
    return dict(sorted(found.labels.items()))
