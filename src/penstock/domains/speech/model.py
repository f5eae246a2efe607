"""Speech for guests: audio that is made at once and forgotten after a day."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

from pydantic import UUID4, Field, model_validator

from penstock.declare import Count, Domain, Entity, EpochSeconds, Expires, Seconds, Table, UtcMillis, key, pattern
from penstock.objectkey import ObjectKey

TTS_TEMP_AUDIO = Table(
    "tts_temp_audio", partition="date", sort="audio_id", expiry="ttl", setting="DYNAMODB_TEMP_AUDIO_TABLE"
)

LIFETIME = dt.timedelta(days=1)
PREFIX = "temp-audio"


def audio_s3_key(date: dt.date, audio_id: UUID, *, prefix: str = PREFIX) -> ObjectKey:
    """Where an audio's file lies: in the folder of its day."""
    return f"{prefix}/{date.isoformat()}/{audio_id}.wav"


class AudioStatus(StrEnum):
    COMPLETED = "completed"
    FAILED = "failed"
    EXPIRED = "expired"


class TempAudio(Entity, table=TTS_TEMP_AUDIO, relation="temp_audio", lifetimes=(Expires("ttl"),)):
    """One spoken text. Its URL is signed when asked for and never stored."""

    date: dt.date
    audio_id: UUID4
    s3_key: ObjectKey
    text: str
    voice_id: str
    duration: Seconds
    file_size_bytes: Count
    ip_address: str
    created_at: UtcMillis = Field(frozen=True)
    created_at_unix: EpochSeconds = Field(frozen=True)
    ttl: EpochSeconds
    status: AudioStatus | None = None
    error_message: str | None = None

    @key("{date}", "{audio_id}")
    def at(self, *, date: dt.date, audio_id: UUID4) -> None: ...

    @pattern(at)
    def of_date(self, *, date: dt.date) -> None:
        """The audios made on a day (UTC)."""

    @classmethod
    def made(cls, audio_id: UUID, *, at: dt.datetime, prefix: str = PREFIX, **fields: Any) -> Self:
        """An audio made at a moment: its day, its folder, its times and its end all follow from that one reading."""
        moment = at.astimezone(dt.UTC)
        second = int(moment.timestamp())
        return cls(
            date=moment.date(),
            audio_id=audio_id,
            s3_key=audio_s3_key(moment.date(), audio_id, prefix=prefix),
            created_at=moment,
            created_at_unix=second,
            ttl=second + int(LIFETIME.total_seconds()),
            **fields,
        )

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        """A record whose times disagree would be cleaned too early, too late, or never."""
        second = int(self.created_at.timestamp())
        facts = {
            "date": (self.date, self.created_at.date()),
            "created_at_unix": (self.created_at_unix, second),
            "ttl": (self.ttl, second + int(LIFETIME.total_seconds())),
            "s3_key": (self.s3_key.split("/")[-2:], audio_s3_key(self.date, self.audio_id).split("/")[-2:]),
        }
        for name, (found, expected) in facts.items():
            if found != expected:
                raise ValueError(f"{name} {found} does not agree with the rest of the record; it should be {expected}")
        return self


DOMAIN = Domain("speech", TempAudio)
