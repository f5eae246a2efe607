"""What a deployment may choose about novae."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from penstock.declare.option import option, settings_of, whole


def _days(least: int, most: int) -> object:
    count = whole(least, most)
    return lambda text: timedelta(days=count(text))


@dataclass(frozen=True)
class NovaOptions:
    """The choices, checked."""

    runs_kept: timedelta = option(
        "NC_RUNS_KEPT_DAYS",
        timedelta(days=90),
        "Days that runs and their attempts are kept.",
        read=_days(1, 3650),  # type: ignore[arg-type]
        written=90,
    )


SETTINGS = settings_of(NovaOptions)
