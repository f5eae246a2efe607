"""What a system has used, as rows of a table: by pattern, by project or by key."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from penstock.cost.meter import Usage
from penstock.errors import InvalidValue
from penstock.kernel.store import Store
from penstock.work.spending import ProjectSpending

_HEAVIEST = 50
"So many keys are shown."


class Dimension(StrEnum):
    PATTERN = "pattern"
    PROJECT = "project"
    KEY = "key"


def read_month(text: str) -> str:
    """A month as it is written."""
    if not re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])", text):
        raise InvalidValue(f"{text!r} is no month; write it as 2026-05")
    return text


def spendings(store: Store, month: str, project: str | None) -> list[ProjectSpending]:
    """What was used in a month, of one project or of all."""
    if project is None:
        return list(store.find(ProjectSpending.of_month(month=month)))
    found = store.lookup(ProjectSpending.at(project_id=project, month=month))
    return [] if found is None else [found]


def _by_pattern(found: Sequence[ProjectSpending]) -> list[dict[str, Any]]:
    together: dict[str, Usage] = {}
    for spending in found:
        for label, usage in spending.usage().items():
            together[label] = together.get(label, Usage()) + usage
    return [{"pattern": label, **_row(usage)} for label, usage in sorted(together.items())]


def _by_project(found: Sequence[ProjectSpending]) -> list[dict[str, Any]]:
    return [{"project": s.project_id, **_row(sum(s.usage().values(), Usage())), "$": f"{s.spent:.6f}"} for s in found]


def _by_key(found: Sequence[ProjectSpending]) -> list[dict[str, Any]]:
    rows = [(units, s.project_id, name) for s in found for name, units in s.keys.items()]
    heaviest = sorted(rows, reverse=True)[:_HEAVIEST]
    return [{"key": name, "project": project, "units": f"{units:,g}"} for units, project, name in heaviest]


def _row(usage: Usage) -> dict[str, Any]:
    return {
        "requests": f"{usage.requests:,}",
        "records": f"{usage.records:,}",
        "read units": f"{usage.read_units:,g}",
        "write units": f"{usage.write_units:,g}",
        "measured reads": f"{usage.measured_read_units:,g}",
        "measured writes": f"{usage.measured_write_units:,g}",
    }


METERED: dict[Dimension, Callable[[Sequence[ProjectSpending]], list[dict[str, Any]]]] = {
    Dimension.PATTERN: _by_pattern,
    Dimension.PROJECT: _by_project,
    Dimension.KEY: _by_key,
}
