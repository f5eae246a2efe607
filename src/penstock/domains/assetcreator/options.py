"""What a deployment may choose about game assets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from penstock.declare.option import duration, option, settings_of, whole


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


@dataclass(frozen=True)
class AssetOptions:
    """The choices, checked."""

    concurrent_jobs: int = option(
        "AC_CONCURRENT_JOBS", 5, "Unfinished jobs that a new project may have.", read=whole(1, 10_000)
    )
    compute_seconds: int = option(
        "AC_COMPUTE_SECONDS",
        36_000,
        "Seconds that a new project may compute in 30 days.",
        read=whole(1, 10**9),
    )
    storage_bytes: int = option(
        "AC_STORAGE_BYTES",
        10 * 2**30,
        "Bytes that the versions of a new project may take.",
        read=whole(1, 2**50),
    )
    forbidden_words: tuple[str, ...] = option(
        "AC_FORBIDDEN_WORDS",
        (),
        "Words that no prompt of any project may have, parted by commas.",
        read=_words,
        written="",
    )
    url_life: timedelta = option(
        "AC_URL_LIFE",
        timedelta(hours=1),
        "Seconds that the URLs of an asset's files last, at most 604800.",
        read=duration(1, 604_800),
    )


SETTINGS = settings_of(AssetOptions)
