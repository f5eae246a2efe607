"""What a deployment may choose about speech; the names are the documents' where they have one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from penstock.domains.speech.model import LIFETIME, PREFIX
from penstock.errors import Misconfigured
from penstock.filepattern import ARCHIVE, TRASH, UPLOADS

_PREFIX = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")


@dataclass(frozen=True)
class Options:
    """The choices, checked."""

    prefix: str = PREFIX
    "Where the files lie (AWS_S3_TEMP_AUDIO_PREFIX)."
    url_life: timedelta = LIFETIME
    "How long a signed URL lasts, though never longer than its audio (SIGNED_URL_EXPIRY_SECONDS)."
    hour: int = 12
    minute: int = 0
    "When the daily cleanup is due, in UTC (CELERY_BEAT_SCHEDULE_CLEANUP_HOUR and …_MINUTE)."
    voices: str | None = None
    "A folder with models of Piper (PENSTOCK_SPEECH_VOICES)."
    voice: str | None = None
    "The voice that is used where none is asked for (PENSTOCK_SPEECH_VOICE)."

    @property
    def cron(self) -> str:
        """When the daily cleanup is due."""
        return f"{self.minute} {self.hour} * * *"


def read_options(setting: Callable[[str], str | None]) -> Options:
    """The choices as they are set, each with its default."""
    prefix = (setting("AWS_S3_TEMP_AUDIO_PREFIX") or PREFIX).strip("/")
    if not _PREFIX.fullmatch(prefix) or f"{prefix}/".startswith((UPLOADS, TRASH, ARCHIVE)) or ".." in prefix:
        raise Misconfigured(f"AWS_S3_TEMP_AUDIO_PREFIX={prefix!r} is no folder for files; choose one like temp-audio")
    lasts = _number(setting, "SIGNED_URL_EXPIRY_SECONDS", int(LIFETIME.total_seconds()), 1, 10**9)
    return Options(
        prefix=prefix,
        url_life=timedelta(seconds=lasts),
        hour=_number(setting, "CELERY_BEAT_SCHEDULE_CLEANUP_HOUR", Options.hour, 0, 23),
        minute=_number(setting, "CELERY_BEAT_SCHEDULE_CLEANUP_MINUTE", Options.minute, 0, 59),
        voices=setting("PENSTOCK_SPEECH_VOICES") or None,
        voice=setting("PENSTOCK_SPEECH_VOICE") or None,
    )


def _number(setting: Callable[[str], str | None], name: str, default: int, least: int, most: int) -> int:
    text = (setting(name) or str(default)).strip()
    if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
        raise Misconfigured(f"{name}={text!r} is not a whole number from {least} to {most}")
    return int(text)
