"""Speech for guests: audio that is made at once and forgotten after a day."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

from pydantic import UUID4, Field, model_validator

from penstock.declare import (
    ANYTHING,
    SYSTEM,
    Action,
    Count,
    Domain,
    Entity,
    EpochSeconds,
    Expires,
    Personal,
    Range,
    Seconds,
    Table,
    UtcMicros,
    UtcMillis,
    key,
    move,
    pattern,
)
from penstock.errors import NotFound
from penstock.schema.file_pattern import FilePattern
from penstock.schema.object_key import ObjectKey
from penstock.schema.role import Role

TTS_TEMP_AUDIO = Table(
    "tts_temp_audio", partition="date", sort="audio_id", expiry="ttl", setting="DYNAMODB_TEMP_AUDIO_TABLE"
)
# The plan has no jobs and no record of its cleanup; they live beside its table, which stays as it is.
TTS_JOBS = Table("tts_jobs", partition="PK", sort="SK", expiry="ttl", setting="DYNAMODB_TTS_JOBS_TABLE")

LIFETIME = dt.timedelta(days=1)
RUNS_KEPT = dt.timedelta(days=90)
"So long it is known what the cleanup did."
PREFIX = "temp-audio"
_FILE = "{date}/{audio_id}.wav"


def audio_file(folder: str) -> FilePattern:
    """Where files lie that are kept in a folder."""
    return FilePattern(f"{folder}/{_FILE}")


# A deployment may choose another folder than temp-audio.
USUAL_FILE, AUDIO_FILE = audio_file(PREFIX), audio_file("**")
# Both take their part of what a guest may use up.
SPEAK = Action("speak", "POST /public/tts/sync", "POST /public/tts/jobs")
SPEAK_LATER = Action("speak later", "POST /public/tts/jobs")
RETRY = Action("retry", "POST /api/ops/tasks/retry")


def audio_s3_key(date: dt.date, audio_id: UUID, *, prefix: str = PREFIX) -> ObjectKey:
    """Where an audio's file lies: in the folder of its day."""
    return AUDIO_FILE.key(prefix, date=date, audio_id=audio_id)


class AudioStatus(StrEnum):
    """What became of a text that was to be spoken."""

    COMPLETED = "completed"
    FAILED = "failed"
    "Nothing came of it; there never was a file."
    EXPIRED = "expired"
    "Its file went before its record: it is being erased, or was lost."


class TempAudio(
    Entity,
    table=TTS_TEMP_AUDIO,
    relation="temp_audio",
    collection="audios",
    lifetimes=(Expires("ttl"),),
    seen_by=Role.ADMIN,
    created_by=SPEAK,
):
    """One text that was spoken, or could not be. Its URL is signed when asked for and never stored."""

    date: dt.date
    audio_id: UUID4
    s3_key: ObjectKey | None = None
    "Where its file lies; absent where none was made."
    text: Personal[str]
    voice_id: str
    duration: Seconds
    file_size_bytes: Count
    ip_address: Personal[str]
    created_at: UtcMillis = Field(frozen=True)
    created_at_unix: EpochSeconds = Field(frozen=True)
    ttl: EpochSeconds
    status: AudioStatus | None = None
    error_message: str | None = None
    left_out: str | None = None
    "Characters of the text that the voice cannot say."

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
        made = fields.get("status") is not AudioStatus.FAILED
        return cls(
            date=moment.date(),
            audio_id=audio_id,
            s3_key=audio_s3_key(moment.date(), audio_id, prefix=prefix) if made else None,
            created_at=moment,
            created_at_unix=second,
            ttl=second + int(LIFETIME.total_seconds()),
            **fields,
        )

    @property
    def file(self) -> ObjectKey:
        """Where its file lies; NotFound where there never was one."""
        if self.s3_key is None:
            raise NotFound(f"audio {self.audio_id} has no file: {self.error_message}")
        return self.s3_key

    @property
    def audible(self) -> bool:
        """Is there something to be heard?"""
        return self.status in (None, AudioStatus.COMPLETED)

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        """A record whose times disagree would be cleaned too early, too late, or never."""
        second = int(self.created_at.timestamp())
        facts: dict[str, tuple[object, object]] = {
            "date": (self.date, self.created_at.date()),
            "created_at_unix": (self.created_at_unix, second),
            "ttl": (self.ttl, second + int(LIFETIME.total_seconds())),
        }
        if self.s3_key is not None or self.status is not AudioStatus.FAILED:
            name = _FILE.format(date=self.date, audio_id=self.audio_id)
            facts["s3_key"] = ("/".join((self.s3_key or "").split("/")[-2:]), name)
        for name, (found, expected) in facts.items():
            if found != expected:
                raise ValueError(f"{name} {found} does not agree with the rest of the record; it should be {expected}")
        return self


class SpeechJobStatus(StrEnum):
    QUEUED = "queued"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


class SpeechJob(
    Entity,
    table=TTS_JOBS,
    relation="jobs",
    lifetimes=(Expires("ttl"),),
    seen_by=Role.ADMIN,
    created_by=SPEAK_LATER,
):
    """A text too long to be spoken while somebody waits. The text stays only until it is spoken, a day at most."""

    date: dt.date
    job_id: UUID4
    text: Personal[str | None]
    voice_id: str
    ip_address: Personal[str]
    status: SpeechJobStatus = SpeechJobStatus.QUEUED
    task_id: str | None = None
    "The task that speaks it; its progress is kept there."
    audio_date: dt.date | None = None
    audio_id: UUID4 | None = None
    error_message: str | None = None
    created_at: UtcMillis = Field(frozen=True)
    ttl: EpochSeconds

    @key("JOB#{date}", "{job_id}")
    def at(self, *, date: dt.date, job_id: UUID4) -> None: ...

    @pattern(at)
    def of_date(self, *, date: dt.date) -> None:
        """The jobs that were begun on a day (UTC)."""

    @classmethod
    def begun(cls, job_id: UUID, *, at: dt.datetime, **fields: Any) -> Self:
        """A job begun at a moment."""
        ttl = int((at + LIFETIME).timestamp())
        return cls(date=at.astimezone(dt.UTC).date(), job_id=job_id, created_at=at, ttl=ttl, **fields)

    @move(SpeechJobStatus.QUEUED, SpeechJobStatus.PROCESSING, to=SpeechJobStatus.PROCESSING, by=SYSTEM)
    def start(self) -> None:
        """A worker speaks it, perhaps not the first one."""

    @move(SpeechJobStatus.PROCESSING, to=SpeechJobStatus.COMPLETED, by=SYSTEM)
    def complete(self, *, audio: TempAudio) -> None:
        """It can be heard, as long as the audio lives."""
        self.audio_date, self.audio_id, self.ttl, self.text = audio.date, audio.audio_id, audio.ttl, None

    @move(SpeechJobStatus.QUEUED, SpeechJobStatus.PROCESSING, to=SpeechJobStatus.FAILED, by=SYSTEM)
    def fail(self, *, error: str) -> None:
        """It will not be spoken."""
        self.error_message = error

    @move(SpeechJobStatus.FAILED, to=SpeechJobStatus.QUEUED, by=RETRY)
    def retry(self) -> None:
        """Somebody has it tried again, as long as its text is kept."""
        self.error_message = None


class CleanupRun(Entity, table=TTS_JOBS, relation="cleanup_runs", lifetimes=(Expires("ttl"),), created_by=SYSTEM):
    """What one run of the daily cleanup did."""

    date: dt.date
    "The day before the run: the last one whose files it looks at."
    ran_at: UtcMicros
    deleted: Count = 0
    failed: Count = 0
    "Files that could not be deleted, and will be tried again."
    kept: Count = 0
    "Files of past days that still have some of their 24 hours."
    expired: Count = 0
    "Records whose files were gone before them."
    folders: dict[str, dict[str, int]] = Field(default_factory=dict)
    "The same counts for each day that had files."
    missed: Count = 0
    "Runs that should have been before this one and were not."
    ttl: EpochSeconds

    @key("CLEANUP#{date}", "{ran_at}")
    def at(self, *, date: dt.date, ran_at: dt.datetime) -> None: ...

    @pattern(at)
    def of_date(self, *, date: dt.date, ran_at: Range[dt.datetime] = ANYTHING) -> None:
        """The runs after a day, in order."""


DOMAIN = Domain("speech", TempAudio, SpeechJob, CleanupRun, files=(USUAL_FILE, AUDIO_FILE))
