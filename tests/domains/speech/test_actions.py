"""A file and its record come together or not at all, and the URL ends with them."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from penstock import FrozenClock
from penstock.domains.speech.actions import AS_JOB, AT_ONCE, audio_of, synthesise
from penstock.domains.speech.errors import NoText, TextTooLong
from penstock.domains.speech.model import TempAudio
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.errors import NotFound, Unavailable
from penstock.media.speech.errors import SynthesisFailed, Unspeakable, VoiceNotFound
from penstock.media.speech.sound import Sound
from penstock.media.speech.voices import Offer, Voices
from penstock.objects.s3 import S3Objects
from penstock.testing.object_promises.promise import send
from tests.domains.speech.faults import Failing, FailingStore, always
from tests.domains.speech.story import GUEST, at, cleaned, files, spoken


def records(studio: SpeechStudio) -> list[TempAudio]:
    days = [dt.date(2025, 12, 8), dt.date(2025, 12, 9)]
    return [audio for day in days for audio in studio.store.find(TempAudio.of_date(date=day))]


# What is made


def test_file_and_record_are_there(anywhere: SpeechStudio) -> None:
    """TA-1…TA-4, TA-6…TA-8, TA-24, TA-25: on every engine, where the plan has them, with its times."""
    made = synthesise(anywhere, "Hello world test", ip_address=GUEST).audio
    assert files(anywhere.objects) == {f"temp-audio/2025-12-08/{made.audio_id}.wav"}
    assert (made.created_at_unix, made.ttl) == (1765198939, 1765285339)
    assert records(anywhere) == [made]
    assert UUID(str(made.audio_id)).version == 4
    assert made.ip_address == GUEST


def test_no_url_is_stored(studio: SpeechStudio) -> None:
    """TA-4, F-TA-5: a secret in a table stays one for nobody."""
    made = synthesise(studio, "Hello", ip_address=GUEST)
    assert "signature=" in made.link.url
    (record,) = records(studio)
    assert "://" not in record.model_dump_json()


# URLs


def test_the_url_lasts_as_long_as_the_audio(studio: SpeechStudio) -> None:
    """TA-9: 24 hours; signed again later, only for what is left."""
    made = synthesise(studio, "Hello", ip_address=GUEST)
    end = dt.datetime.fromtimestamp(made.audio.ttl, dt.UTC)
    assert made.link.expires_at == end
    at(studio, "12-09 07:00:00")
    again = audio_of(studio, made.audio.date, made.audio.audio_id)
    assert again.link.expires_at == end
    assert again.audio == made.audio


def test_a_shorter_url(studio: SpeechStudio) -> None:
    """TA-9, TA-23: SIGNED_URL_EXPIRY_SECONDS; more than a day is not promised."""
    for seconds, expected in ((600, 600), (172_800, 86_400)):
        chosen = replace(studio, options=replace(studio.options, url_life=dt.timedelta(seconds=seconds)))
        link = synthesise(chosen, "Hello", ip_address=GUEST).link
        made = studio.store.clock.now().replace(microsecond=0)
        assert link.expires_at - made == dt.timedelta(seconds=expected)


class SlowObjects:
    """Files that take half a minute to be stored, and a note of what was there when a URL was signed."""

    def __init__(self, real: Any, clock: FrozenClock) -> None:
        self._real, self._clock = real, clock
        self.signed: list[tuple[str, set[str]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def put(self, key: str, body: Any) -> Any:
        self._clock.advance(dt.timedelta(seconds=30))
        return self._real.put(key, body)

    def download_url(self, key: str, **more: Any) -> Any:
        self.signed.append((key, files(self._real)))
        return self._real.download_url(key, **more)


def test_the_url_is_signed_once_the_file_is_there_and_lasts_from_then(studio: SpeechStudio, clock: FrozenClock) -> None:
    """TA-9: it leads somewhere from its first moment, and whoever waited for the file has not lost that time."""
    objects: Any = SlowObjects(studio.objects, clock)
    options = replace(studio.options, url_life=dt.timedelta(seconds=60))
    made = synthesise(replace(studio, objects=objects, options=options), "Hello", ip_address=GUEST)
    assert objects.signed == [(made.audio.s3_key, {made.audio.s3_key})]
    assert made.link.expires_at - clock.now().replace(microsecond=0) == dt.timedelta(seconds=60)


def test_the_url_opens_the_file(studio: SpeechStudio, s3: S3Objects) -> None:
    """TA-9: of a real server that checks signatures; played in place, not saved."""
    made = synthesise(replace(studio, objects=s3), "Hello", ip_address=GUEST)
    answer = send(made.link)
    assert (answer.status, answer.headers["content-type"]) == (200, "audio/wav")
    assert answer.headers["content-disposition"].startswith("inline")
    assert len(answer.body) == made.audio.file_size_bytes
    assert answer.body.startswith(b"RIFF")


def test_the_end(anywhere: SpeechStudio, clock: FrozenClock) -> None:
    """TA-6, TA-10: to the second, on every engine."""
    made = synthesise(anywhere, "Hello", ip_address=GUEST).audio
    clock.set(dt.datetime.fromtimestamp(made.ttl - 1, dt.UTC))
    assert audio_of(anywhere, made.date, made.audio_id).audio == made
    clock.set(dt.datetime.fromtimestamp(made.ttl, dt.UTC))
    with pytest.raises(NotFound):
        audio_of(anywhere, made.date, made.audio_id)


# What is refused leaves nothing


class Broken:
    """A voice that reads, and makes nothing of it."""

    def speak(self, text: str) -> Sound:
        raise SynthesisFailed("Synthesis failed: out of breath")


@pytest.mark.parametrize(
    ("text", "voice", "error", "message"),
    [
        (None, None, NoText, "^No text provided$"),
        ("", None, NoText, "^No text provided$"),
        (" \n\t ", None, NoText, "^No text provided$"),
        ("Hello", "nobody", VoiceNotFound, "^Voice 'nobody' not found$"),
        ("Hello", "broken", SynthesisFailed, "^Synthesis failed: out of breath$"),
        ("a" * (AT_ONCE + 1), None, TextTooLong, "1001 characters.*/public/tts/jobs"),
        ("a" * (AS_JOB + 1), None, TextTooLong, "at most 1000 are spoken$"),
        ("世界", None, Unspeakable, "Latin"),
        ("!!!", None, Unspeakable, "nothing"),
        ("Hello \x00", None, Unspeakable, "control"),
        ("Hello \ud800", None, Unspeakable, "half a character"),
    ],
)
def test_a_refusal_leaves_nothing(
    studio: SpeechStudio, text: str | None, voice: str | None, error: type[Exception], message: str
) -> None:
    """TA-5, TA-24, F-TA-10: before anything is stored, also for a text that no engine could keep."""
    offers = [*studio.voices.offers, Offer("broken", "en-US", "broken", Broken)]
    with pytest.raises(error, match=message):
        synthesise(replace(studio, voices=Voices(offers)), text, voice, ip_address=GUEST)
    assert files(studio.objects) == set()
    assert records(studio) == []


def test_the_longest_text_fits(anywhere: SpeechStudio) -> None:
    """TA-4, F-TA-10: whatever is accepted can be stored, however many bytes a character takes."""
    text = f"Hello {'😊' * (AT_ONCE - 6)}"
    made = synthesise(anywhere, text, ip_address=GUEST).audio
    assert records(anywhere) == [made]
    assert made.text == text


def test_a_record_that_cannot_be_written(anywhere: SpeechStudio) -> None:
    """TA-24: its file goes again at once."""
    store: Any = FailingStore(anywhere.store, commit=always)
    with pytest.raises(Unavailable, match="commit is refused"):
        synthesise(replace(anywhere, store=store), "Hello", ip_address=GUEST)
    assert files(anywhere.objects) == set()
    assert records(anywhere) == []


def test_a_record_whose_answer_was_lost(studio: SpeechStudio) -> None:
    """TA-24: it stands, so its file stays."""

    class Deaf(FailingStore):
        def commit(self, writes: Any) -> None:
            studio.store.commit(writes)
            raise Unavailable("the answer was lost")

    store: Any = Deaf(studio.store)
    with pytest.raises(Unavailable, match="lost"):
        synthesise(replace(studio, store=store), "Hello", ip_address=GUEST)
    (record,) = records(studio)
    assert files(studio.objects) == {record.s3_key}


def test_a_file_that_cannot_be_written(studio: SpeechStudio) -> None:
    """TA-24: then there is no record either."""
    objects: Any = Failing(studio.objects, put=always)
    with pytest.raises(Unavailable, match="put is refused"):
        synthesise(replace(studio, objects=objects), "Hello", ip_address=GUEST)
    assert records(studio) == []
    assert files(studio.objects) == set()


def test_when_nothing_works_any_more(studio: SpeechStudio, caplog: pytest.LogCaptureFixture) -> None:
    """TA-24: the guest hears the first error; the file is found by the cleanup."""
    store: Any = FailingStore(studio.store, commit=always)
    objects: Any = Failing(studio.objects, delete=always)
    with pytest.raises(Unavailable, match="commit is refused"):
        synthesise(replace(studio, store=store, objects=objects), "Hello", ip_address=GUEST)
    assert len(files(studio.objects)) == 1
    assert "without a record" in caplog.text
    assert cleaned(studio, "12-09 12:00:00").deleted == 1


def test_a_url_that_cannot_be_signed(studio: SpeechStudio) -> None:
    """TA-9: noticed before there is a record, and the file goes again."""
    objects: Any = Failing(studio.objects, download_url=always)
    with pytest.raises(Unavailable):
        synthesise(replace(studio, objects=objects), "Hello", ip_address=GUEST)
    assert files(studio.objects) == set()


def test_an_audio_is_found_by_its_day_and_id(studio: SpeechStudio) -> None:
    """TA-2, TA-3, F-TA-6."""
    made = spoken(studio, "12-08 13:02:19")
    for date, audio_id in ((dt.date(2025, 12, 9), made.audio_id), (made.date, uuid4()), (made.date, UUID(int=7))):
        with pytest.raises(NotFound):
            audio_of(studio, date, audio_id)
