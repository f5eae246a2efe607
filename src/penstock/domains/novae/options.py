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
    bucket: str = option(
        "NC_BUCKET", "novacat", "The bucket that files are said to lie in: as the events of its store name it."
    )
    largest_file: int = option(
        "NC_LARGEST_FILE",
        200_000_000,
        "The most bytes that a file may have which somebody sends.",
        read=whole(1, 2**40),
    )


SETTINGS = settings_of(NovaOptions)
