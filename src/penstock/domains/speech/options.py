"""What a deployment may choose about speech; the names are the documents' where they have one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from penstock.declare.setting import Setting
from penstock.domains.speech.model import LIFETIME, PREFIX
from penstock.errors import Misconfigured
from penstock.schema.file_pattern import ARCHIVE, TRASH, UPLOADS

_PREFIX = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")


@dataclass(frozen=True)
class SpeechOptions:
    """The choices, checked."""

    prefix: str = PREFIX
    "Where the files lie."
    url_life: timedelta = LIFETIME
    "How long a signed URL lasts, though never longer than its audio."
    hour: int = 12
    minute: int = 0
    "When the daily cleanup is due, in UTC."
    voices: str | None = None
    "A folder with models of Piper."
    voice: str | None = None
    "The voice that is used where none is asked for."
    seconds_at_once: int = 120
    seconds_a_job: int = 1_800
    "How long the speech of one text may be."
    jobs_each: int = 3
    jobs: int = 50
    "Unfinished jobs, of one address and of all guests together; here and below 0 is no limit."
    seconds_each: int = 3_600
    seconds: int = 36_000
    "Seconds of speech that are made in an hour."
    bytes_each: int = 250_000_000
    bytes: int = 2_000_000_000
    "Bytes of speech that are kept."

    @property
    def cron(self) -> str:
        """When the daily cleanup is due."""
        return f"{self.minute} {self.hour} * * *"


_LIMITS = {
    "seconds_at_once": (
        "PENSTOCK_SPEECH_SECONDS_AT_ONCE",
        "The most seconds of speech that are made of a text while its guest waits.",
    ),
    "seconds_a_job": ("PENSTOCK_SPEECH_SECONDS_A_JOB", "The most seconds of speech that are made of a text by a job."),
    "jobs_each": ("PENSTOCK_SPEECH_JOBS_PER_ADDRESS", "The most unfinished jobs of one address; 0 is no limit."),
    "jobs": ("PENSTOCK_SPEECH_JOBS", "The most unfinished jobs of all guests together; 0 is no limit."),
    "seconds_each": (
        "PENSTOCK_SPEECH_SECONDS_PER_ADDRESS",
        "The most seconds of speech that are made for one address in an hour; 0 is no limit.",
    ),
    "seconds": (
        "PENSTOCK_SPEECH_SECONDS",
        "The most seconds of speech that are made for all guests together in an hour; 0 is no limit.",
    ),
    "bytes_each": (
        "PENSTOCK_SPEECH_BYTES_PER_ADDRESS",
        "The most bytes of speech and texts that are kept for one address; 0 is no limit.",
    ),
    "bytes": (
        "PENSTOCK_SPEECH_BYTES",
        "The most bytes of speech and texts that are kept for all guests together; 0 is no limit.",
    ),
}
"The limits of what guests may use: what each is called, and what it says."

SETTINGS = (
    Setting(
        "AWS_S3_TEMP_AUDIO_PREFIX", PREFIX, "Where the files lie; after changing it, empty the old folder by hand."
    ),
    Setting(
        "SIGNED_URL_EXPIRY_SECONDS",
        int(LIFETIME.total_seconds()),
        "How long the URL of an audio lasts, though never longer than its audio.",
    ),
    Setting(
        "CELERY_BEAT_SCHEDULE_CLEANUP_HOUR", SpeechOptions.hour, "The hour at which the daily cleanup is due, in UTC."
    ),
    Setting("CELERY_BEAT_SCHEDULE_CLEANUP_MINUTE", SpeechOptions.minute, "The minute at which it is due."),
    Setting("CELERY_TIMEZONE", "UTC", "The time zone of the cleanup's hour. Another one is refused."),
    Setting("PENSTOCK_SPEECH_VOICES", None, "A folder with Piper's models."),
    Setting("PENSTOCK_SPEECH_VOICE", None, "The voice where none is asked for; else the first that is installed."),
    *(Setting(variable, getattr(SpeechOptions, name), told) for name, (variable, told) in _LIMITS.items()),
)


def read_options(setting: Callable[[str], str | None]) -> SpeechOptions:
    """The choices as they are set, each with its default."""
    prefix = (setting("AWS_S3_TEMP_AUDIO_PREFIX") or PREFIX).strip("/")
    if not _PREFIX.fullmatch(prefix) or f"{prefix}/".startswith((UPLOADS, TRASH, ARCHIVE)) or ".." in prefix:
        raise Misconfigured(f"AWS_S3_TEMP_AUDIO_PREFIX={prefix!r} is no folder for files; choose one like temp-audio")
    if (zone := setting("CELERY_TIMEZONE") or "UTC").upper() not in ("UTC", "ETC/UTC"):
        raise Misconfigured(
            f"CELERY_TIMEZONE={zone!r}: the cleanup's hour is in UTC everywhere; leave it out, and give the hour in UTC"
        )
    lasts = _number(setting, "SIGNED_URL_EXPIRY_SECONDS", int(LIFETIME.total_seconds()), 1, 10**9)
    return SpeechOptions(
        prefix=prefix,
        url_life=timedelta(seconds=lasts),
        hour=_number(setting, "CELERY_BEAT_SCHEDULE_CLEANUP_HOUR", SpeechOptions.hour, 0, 23),
        minute=_number(setting, "CELERY_BEAT_SCHEDULE_CLEANUP_MINUTE", SpeechOptions.minute, 0, 59),
        voices=setting("PENSTOCK_SPEECH_VOICES") or None,
        voice=setting("PENSTOCK_SPEECH_VOICE") or None,
        **{name: _limit(setting, name) for name in _LIMITS},
    )


def _limit(setting: Callable[[str], str | None], name: str) -> int:
    # A text is never without a limit, or one would be enough to fill the disk.
    least = 1 if name in ("seconds_at_once", "seconds_a_job") else 0
    return _number(setting, _LIMITS[name][0], getattr(SpeechOptions, name), least, 10**15)


def _number(setting: Callable[[str], str | None], name: str, default: int, least: int, most: int) -> int:
    text = (setting(name) or str(default)).strip()
    if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
        raise Misconfigured(f"{name}={text!r} is not a whole number from {least} to {most}")
    return int(text)
