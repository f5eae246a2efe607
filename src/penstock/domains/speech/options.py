"""What a deployment may choose about speech; the names are the documents' where they have one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

from penstock.declare.option import duration, option, settings_of, whole
from penstock.domains.speech.model import LIFETIME, PREFIX
from penstock.schema.file_pattern import OWN_PLACES

_PREFIX = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")
_MOST = 10**15


def _folder(text: str) -> str:
    prefix = text.strip("/")
    if not _PREFIX.fullmatch(prefix) or f"{prefix}/".startswith(OWN_PLACES) or ".." in prefix:
        raise ValueError("is no folder for files; choose one like temp-audio")
    return prefix


def _utc(text: str) -> str:
    if text.upper() not in ("UTC", "ETC/UTC"):
        raise ValueError("is not UTC: the cleanup's hour is in UTC everywhere; leave it out, and give the hour in UTC")
    return "UTC"


def _limit(variable: str, default: int, help: str, *, least: int = 0) -> int:
    return option(variable, default, help, read=whole(least, _MOST))


@dataclass(frozen=True)
class SpeechOptions:
    """The choices, checked."""

    prefix: str = option(
        "AWS_S3_TEMP_AUDIO_PREFIX",
        PREFIX,
        "Where the files lie; after changing it, empty the old folder by hand.",
        read=_folder,
    )
    url_life: timedelta = option(
        "SIGNED_URL_EXPIRY_SECONDS",
        LIFETIME,
        "How long the URL of an audio lasts, though never longer than its audio.",
        read=duration(1, 10**9),
    )
    hour: int = option(
        "CELERY_BEAT_SCHEDULE_CLEANUP_HOUR",
        12,
        "The hour at which the daily cleanup is due, in UTC.",
        read=whole(0, 23),
    )
    minute: int = option("CELERY_BEAT_SCHEDULE_CLEANUP_MINUTE", 0, "The minute at which it is due.", read=whole(0, 59))
    timezone: str = option(
        "CELERY_TIMEZONE", "UTC", "The time zone of the cleanup's hour. Another one is refused.", read=_utc
    )
    voices: str | None = option("PENSTOCK_SPEECH_VOICES", None, "A folder with Piper's models.", read=str)
    voice: str | None = option(
        "PENSTOCK_SPEECH_VOICE",
        None,
        "The voice where none is asked for; else the first that is installed.",
        read=str,
    )
    # A text is never without a limit, or one would be enough to fill the disk.
    seconds_at_once: int = _limit(
        "PENSTOCK_SPEECH_SECONDS_AT_ONCE",
        120,
        "The most seconds of speech that are made of a text while its guest waits.",
        least=1,
    )
    seconds_a_job: int = _limit(
        "PENSTOCK_SPEECH_SECONDS_A_JOB",
        1_800,
        "The most seconds of speech that are made of a text by a job.",
        least=1,
    )
    jobs_each: int = _limit(
        "PENSTOCK_SPEECH_JOBS_PER_ADDRESS", 3, "The most unfinished jobs of one address; 0 is no limit."
    )
    jobs: int = _limit("PENSTOCK_SPEECH_JOBS", 50, "The most unfinished jobs of all guests together; 0 is no limit.")
    seconds_each: int = _limit(
        "PENSTOCK_SPEECH_SECONDS_PER_ADDRESS",
        3_600,
        "The most seconds of speech that are made for one address in an hour; 0 is no limit.",
    )
    seconds: int = _limit(
        "PENSTOCK_SPEECH_SECONDS",
        36_000,
        "The most seconds of speech that are made for all guests together in an hour; 0 is no limit.",
    )
    bytes_each: int = _limit(
        "PENSTOCK_SPEECH_BYTES_PER_ADDRESS",
        250_000_000,
        "The most bytes of speech and texts that are kept for one address; 0 is no limit.",
    )
    bytes: int = _limit(
        "PENSTOCK_SPEECH_BYTES",
        2_000_000_000,
        "The most bytes of speech and texts that are kept for all guests together; 0 is no limit.",
    )

    @property
    def cron(self) -> str:
        """When the daily cleanup is due."""
        return f"{self.minute} {self.hour} * * *"


SETTINGS = settings_of(SpeechOptions)
