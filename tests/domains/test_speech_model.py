"""Temporary speech: the plan's table, its times made right, and one record for one file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import ValidationError

from penstock import FrozenClock, Store
from penstock.domains.speech.model import DOMAIN, TTS_TEMP_AUDIO, AudioStatus, TempAudio, audio_s3_key
from penstock.errors import Conflict, NotFound

from .keys import assert_every_pattern_is_a_query, key_of

pytestmark = pytest.mark.every_engine

AUDIO_ID = UUID("550e8400-e29b-41d4-a716-446655440000")
MADE = datetime(2025, 12, 8, 13, 2, 19, 123000, tzinfo=UTC)
LATER = MADE.replace(year=2037)
"Where a database has a clock of its own, and removes what has ended."

# The plan's example, with the epochs its moments really have (F-TA-1) and without the URL (F-TA-5).
ITEM: dict[str, Any] = {
    "date": "2025-12-08",
    "audio_id": "550e8400-e29b-41d4-a716-446655440000",
    "s3_key": "temp-audio/2025-12-08/550e8400-e29b-41d4-a716-446655440000.wav",
    "text": "Hello world test",
    "voice_id": "en_US-lessac-medium",
    "file_size_bytes": 45000,
    "ip_address": "192.168.1.100",
    "created_at": "2025-12-08T13:02:19.123Z",
    "created_at_unix": 1765198939,
    "ttl": 1765285339,
}


def audio(audio_id: UUID = AUDIO_ID, *, at: datetime = MADE, **fields: Any) -> TempAudio:
    given = {"text": "Hello world test", "voice_id": "en_US-lessac-medium", "duration": 1.32}
    more = {"file_size_bytes": 45000, "ip_address": "192.168.1.100"}
    return TempAudio.made(audio_id, at=at, **{**given, **more, **fields})


# Layout


def test_the_table_is_the_plans() -> None:
    """TA-1, TA-2, TA-3, TA-6: its name and the variable that renames it, its key, its TTL attribute."""
    place = TTS_TEMP_AUDIO.place
    assert (place.name, TTS_TEMP_AUDIO.setting) == ("tts_temp_audio", "DYNAMODB_TEMP_AUDIO_TABLE")
    assert (place.partition.name, place.sort and place.sort.name, place.expiry) == ("date", "audio_id", "ttl")
    assert TempAudio.__shape__.expiry == "ttl"


def test_the_key_is_the_day_and_the_id() -> None:
    """TA-2, TA-3."""
    assert key_of(audio()) == ("2025-12-08", "550e8400-e29b-41d4-a716-446655440000")


def test_the_day_is_utcs() -> None:
    """TA-2, TA-8, F-TA-8: at midnight, and for a host whose clock is elsewhere."""
    india = timezone(timedelta(hours=5, minutes=30))
    late = audio(at=datetime(2025, 12, 9, 5, 29, 59, tzinfo=india))
    assert (late.date, late.created_at_unix) == (date(2025, 12, 8), 1765238399)
    early = audio(at=datetime(2025, 12, 9, 0, 0, tzinfo=UTC))
    assert (early.date, early.file.split("/")[1]) == (date(2025, 12, 9), "2025-12-09")


def test_the_times_are_right() -> None:
    """TA-4, TA-6, TA-7, F-TA-1: the epochs of the plan's own moment, and the end a day later."""
    record = audio()
    assert (record.created_at_unix, record.ttl) == (1765198939, 1765285339)
    assert record.ttl == record.created_at_unix + 86400
    assert audio(at=datetime(2025, 12, 9, 9, 0, tzinfo=UTC)).ttl == 1765357200


def test_the_file_lies_in_the_folder_of_its_day() -> None:
    """TA-8: under a prefix that may be configured."""
    assert audio().s3_key == "temp-audio/2025-12-08/550e8400-e29b-41d4-a716-446655440000.wav"
    other = audio_s3_key(date(2025, 12, 8), AUDIO_ID, prefix="guests/tmp")
    assert other == f"guests/tmp/2025-12-08/{AUDIO_ID}.wav"
    assert audio(prefix="guests/tmp").s3_key == other


def fields() -> dict[str, Any]:
    return audio().model_dump(exclude={"status", "error_message", "left_out"})


@pytest.mark.parametrize("name", sorted(set(fields())))
def test_no_field_of_the_plan_may_be_missing(name: str) -> None:
    """TA-4: all of them, or the record is refused."""
    assert set(fields()) == {*ITEM, "duration"}
    with pytest.raises(ValidationError, match=name):
        TempAudio(**{k: v for k, v in fields().items() if k != name})


def test_the_url_is_no_field() -> None:
    """TA-4, F-TA-5: a secret is signed on reading, never stored."""
    with pytest.raises(ValidationError, match="s3_url"):
        TempAudio(**{**fields(), "s3_url": "https://bucket.s3.amazonaws.com/temp-audio/..."})
    with pytest.raises(ValidationError, match="not a URL"):
        TempAudio(**{**fields(), "s3_key": "https://bucket.s3.amazonaws.com/temp-audio/..."})


@pytest.mark.parametrize(
    "wrong",
    [
        {"date": date(2025, 12, 9)},
        {"created_at_unix": 1733721739},
        {"ttl": 1733808139},
        {"s3_key": "temp-audio/2025-12-09/550e8400-e29b-41d4-a716-446655440000.wav"},
        {"s3_key": "temp-audio/2025-12-08/6fa459ea-ee8a-4ca4-894e-db77e160355e.wav"},
        {"audio_id": UUID("c232ab00-9414-11ec-b3c8-9f6bdeced846")},
        {"duration": -1.0},
        {"file_size_bytes": -1},
        {"status": "pending"},
    ],
)
def test_what_does_not_agree_is_refused(wrong: dict[str, Any]) -> None:
    """TA-3, TA-4, TA-6…TA-8, F-TA-1: the plan's own epochs would be born expired."""
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        TempAudio(**{**fields(), **wrong})


def test_the_optional_fields() -> None:
    """TA-5, F-TA-10: absent, or one of three, with an error; only what failed may be without a file."""
    assert (audio().status, audio().error_message) == (None, None)
    failed = audio(status=AudioStatus.FAILED, error_message="Voice not found")
    assert (failed.status, failed.error_message, failed.s3_key) == ("failed", "Voice not found", None)
    assert [s.value for s in AudioStatus] == ["completed", "failed", "expired"]
    for status in (None, AudioStatus.COMPLETED, AudioStatus.EXPIRED):
        with pytest.raises(ValidationError, match="s3_key"):
            TempAudio(**{**fields(), "status": status, "s3_key": None})
    theirs = TempAudio(**{**fields(), "status": AudioStatus.FAILED, "error_message": "Voice not found"})
    assert theirs.s3_key == audio().s3_key, "what the plan's own writer stored is a record"


# Questions


def test_no_pattern_scans() -> None:
    """TA-2: a day is one partition."""
    assert_every_pattern_is_a_query(DOMAIN)


def test_an_audio_is_found_by_day_and_id(store: Store, clock: FrozenClock) -> None:
    """TA-2, TA-3, F-TA-6."""
    clock.set(LATER)
    store.create(audio(at=LATER, status=AudioStatus.COMPLETED))
    assert store.get(TempAudio.at(date=LATER.date(), audio_id=AUDIO_ID)) == audio(
        at=LATER, status=AudioStatus.COMPLETED
    )
    with pytest.raises(NotFound):
        store.get(TempAudio.at(date=(LATER + timedelta(days=1)).date(), audio_id=AUDIO_ID))
    with pytest.raises(Conflict):
        store.create(audio(at=LATER))


def test_a_days_audios(store: Store, clock: FrozenClock) -> None:
    """TA-2, F-X-8: all of them, over more than a page of any engine, and none of the next day."""
    clock.set(LATER)
    ids = sorted((uuid4() for _ in range(1_001)), key=str)
    store.put_many([audio(i, at=LATER, text="x" * 1_000) for i in ids])
    store.create(audio(at=LATER + timedelta(days=1)))
    assert [a.audio_id for a in store.find(TempAudio.of_date(date=LATER.date()))] == ids


def test_an_audio_is_gone_after_a_day(store: Store, clock: FrozenClock) -> None:
    """TA-6, F-X-2: at its second, by get and by query, whatever the reaper does."""
    clock.set(LATER)
    store.create(audio(at=LATER))
    ref = TempAudio.at(date=LATER.date(), audio_id=AUDIO_ID)
    end = int(LATER.timestamp()) + 24 * 3600
    clock.set(datetime.fromtimestamp(end - 1, UTC))
    assert store.lookup(ref) is not None
    clock.set(datetime.fromtimestamp(end, UTC))
    assert store.lookup(ref) is None
    assert list(store.find(TempAudio.of_date(date=LATER.date()))) == []


# The item itself


def test_the_example_item_is_written_exactly(
    dynamo: Store, raw_table: Callable[[str], Any], clock: FrozenClock
) -> None:
    """TA-4, TA-7, F-TA-5: every attribute of the plan but the URL, and created_at with milliseconds."""
    clock.set(MADE)
    dynamo.create(audio())
    (item,) = raw_table("tts_temp_audio").scan()["Items"]
    assert float(item.pop("duration")) == 1.32
    assert item == ITEM


def test_an_item_with_a_url_is_read_without_it(
    dynamo: Store, raw_table: Callable[[str], Any], clock: FrozenClock
) -> None:
    """TA-4, F-TA-5: what the plan's own writer stored is a record."""
    clock.set(MADE)
    raw_table("tts_temp_audio").put_item(Item={**ITEM, "duration": 2, "s3_url": "https://bucket/x?X-Amz-Signature=a"})
    assert dynamo.get(TempAudio.at(date=date(2025, 12, 8), audio_id=AUDIO_ID)) == audio(duration=2.0)
