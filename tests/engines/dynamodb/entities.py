"""Entities whose requests and items the tests of this folder spell out."""

from __future__ import annotations

from datetime import UTC, datetime
from datetime import date as calendar_day
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

from penstock import (
    ANYTHING,
    Entity,
    EpochSeconds,
    Expires,
    IndexKey,
    Range,
    Table,
    UtcMillis,
    UtcSeconds,
    attribute,
    camel_case,
    key,
    number,
    pattern,
)

NOW = 2_114_380_800  # 2037-01-01T00:00:00Z
MOMENT = datetime(2025, 11, 17, 10, 5, tzinfo=UTC)
PROJECT = UUID("550e8400-e29b-41d4-a716-446655440000")


class Status(StrEnum):
    PENDING = "pending"
    DONE = "done"


REELS = Table("Reels", partition="PK", sort="SK", tag="entityType", naming=camel_case, feed=True)
BY_STATUS = REELS.index("status-created-index", partition="GSI1PK", sort="GSI1SK")


class Reel(Entity, table=REELS):
    project_id: UUID
    sequence: int
    status: Status = Status.PENDING
    prompt: str
    seconds: float = 1.0
    images: list[str] = []
    notes: dict[str, Any] | None = None
    tags: frozenset[str] | None = None
    price: Decimal | None = None
    blob: bytes | None = None
    is_final: bool = False
    day: calendar_day | None = None
    seen_at: UtcMillis | None = None
    created_at: UtcSeconds
    owner: str | None = None

    @key("PROJECT#{project_id}", "REEL#{sequence:03d}")
    def at(self, *, project_id: UUID, sequence: int) -> None: ...

    @pattern(at)
    def of_project(self, *, project_id: UUID, sequence: Range[int] = ANYTHING) -> None:
        "Reels in order."

    owned = IndexKey(BY_STATUS, "OWNER#{owner}", "{created_at}", when={"status": Status.PENDING})

    @pattern(owned)
    def by_owner(self, *, owner: str, created_at: Range[datetime] = ANYTHING) -> None:
        "Reels of an owner that wait."


STEPS = Table("Steps", partition="PK", sort="SK")


class Step(Entity, table=STEPS):
    """One whose key is nowhere but in its key."""

    job: str = attribute(in_key_only=True)
    name: str = attribute(in_key_only=True)
    ts: UtcMillis = attribute(in_key_only=True)
    note: str | None = None

    @key("JOB#{job}", "STEP#{name}#{ts}")
    def at(self, *, job: str, name: str, ts: datetime) -> None: ...

    @pattern(at)
    def of_job(self, *, job: str, name: Range[str] = ANYTHING) -> None:
        "Steps by name."

    @pattern(at)
    def of_step(self, *, job: str, name: str, ts: Range[datetime] = ANYTHING) -> None:
        "One step's runs."


AUDIO = Table("Audio", partition="date", sort="audio_id", expiry="ttl")
BY_VOICE = AUDIO.index("by-voice", partition="voice", sort=number("made"))


class Audio(Entity, table=AUDIO, lifetimes=(Expires(at="ttl"),)):
    """One whose key attributes are its fields, and that expires."""

    date: calendar_day
    audio_id: UUID
    voice: str
    made: int
    text: str
    ttl: EpochSeconds | None = None

    @key("{date}", "{audio_id}")
    def at(self, *, date: calendar_day, audio_id: UUID) -> None: ...

    voiced = IndexKey(BY_VOICE, "{voice}", "{made}")

    @pattern(voiced)
    def by_voice(self, *, voice: str, made: Range[int] = ANYTHING) -> None:
        "By voice and time."


def reel(**values: Any) -> Reel:
    given: dict[str, Any] = {"project_id": PROJECT, "sequence": 1, "prompt": "p", "created_at": MOMENT}
    return Reel(**given | values)


def audio(**values: Any) -> Audio:
    given: dict[str, Any] = {
        "date": calendar_day(2025, 12, 8),
        "audio_id": PROJECT,
        "voice": "v",
        "made": 7,
        "text": "t",
    }
    return Audio(**given | values)
