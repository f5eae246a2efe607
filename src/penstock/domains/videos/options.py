"""What a deployment may choose about videos."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from penstock.declare.option import duration, option, settings_of, whole


class Counting(StrEnum):
    """How views are counted."""

    EXACT = "exact"
    BURST = "burst"


def _counting(text: str) -> Counting:
    try:
        return Counting(text)
    except ValueError:
        raise ValueError(f"is no way to count views; write {' or '.join(Counting)}") from None


@dataclass(frozen=True)
class VideoOptions:
    """The choices, checked."""

    largest: int = option(
        "VM_LARGEST_BYTES", 10_000_000_000, "The most bytes that a video may have.", read=whole(1, 5 * 1024**4)
    )
    url_life: timedelta = option(
        "VM_URL_SECONDS",
        timedelta(hours=1),
        "Seconds that the URLs of a video's files last, though never beyond its end.",
        read=duration(60, 604_800),
    )
    watch_life: timedelta = option(
        "VM_WATCH_SECONDS",
        timedelta(hours=12),
        "Seconds that a link to watch a video lasts, though never beyond its end; meanwhile it renews its URLs.",
        read=duration(60, 604_800),
    )
    counting: Counting = option(
        "VM_COUNTING",
        Counting.EXACT,
        "How views are counted: exact writes each with its request id; burst counts in memory and writes every 250 ms.",
        read=_counting,
        written="exact",
    )


SETTINGS = settings_of(VideoOptions)
