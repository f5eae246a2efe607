"""What a deployment may choose about videos."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from penstock.declare.option import duration, option, settings_of, whole


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


SETTINGS = settings_of(VideoOptions)
