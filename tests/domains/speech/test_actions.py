"""A file and its record come together or not at all, and the URL ends with them."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from penstock import FrozenClock
from penstock.domains.speech.actions import AS_JOB, AT_ONCE, audio_of, synthesise
from penstock.domains.speech.erasure import erase_audio
from penstock.domains.speech.errors import NoText, TextTooLong
from penstock.domains.speech.model import AudioStatus, TempAudio
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.errors import NotFound, Unavailable
from penstock.media.speech.errors import SpeechTooLong, SynthesisFailed, Unspeakable, VoiceNotFound
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
    ("text", "error", "message"),
    [
        (None, NoText, "^No text provided$"),
        ("", NoText, "^No text provided$"),
        (" \n\t ", NoText, "^No text provided$"),
        ("a" * (AT_ONCE + 1), TextTooLong, "1001 characters.*/public/tts/jobs"),
        ("a" * (AS_JOB + 1), TextTooLong, "at most 1000 are spoken$"),
        ("Hello \x00", Unspeakable, "control"),
        ("Hello \ud800", Unspeakable, "half a character"),
    ],
)
def test_a_refusal_leaves_nothing(studio: SpeechStudio, text: str | None, error: type[Exception], message: str) -> None:
    """TA-24, F-TA-10: before anything is stored, also for a text that no engine could keep."""
    with pytest.raises(error, match=message):
        synthesise(studio, text, ip_address=GUEST)
    assert files(studio.objects) == set()
    assert records(studio) == []


# What fails is on record


def with_broken(studio: SpeechStudio) -> SpeechStudio:
    """The same studio with one more voice, which fails."""
    return replace(studio, voices=Voices([*studio.voices.offers, Offer("broken", "en-US", "broken", Broken)]))


@pytest.mark.parametrize(
    ("text", "voice", "error", "message"),
    [
        ("Hello", "nobody", VoiceNotFound, "Voice 'nobody' not found"),
        ("Hello", "broken", SynthesisFailed, "Synthesis failed: out of breath"),
        ("世界", None, Unspeakable, "Latin script"),
        ("!!!", None, Unspeakable, "nothing in the text"),
    ],
)
def test_a_text_that_cannot_be_spoken_is_on_record(
    anywhere: SpeechStudio, text: str, voice: str | None, error: type[Exception], message: str
) -> None:
    """TA-5, F-TA-10: failed, with the error that the guest was told; without a file, and so without an s3_key."""
    with pytest.raises(error, match=message) as told:
        synthesise(with_broken(anywhere), text, voice, ip_address=GUEST)
    (failed,) = records(anywhere)
    assert (failed.status, failed.error_message) == (AudioStatus.FAILED, str(told.value))
    assert (failed.text, failed.voice_id, failed.ip_address) == (text, voice or "en_US-heart", GUEST)
    assert (failed.s3_key, failed.duration, failed.file_size_bytes) == (None, 0, 0)
    assert failed.ttl == failed.created_at_unix + 86_400
    assert files(anywhere.objects) == set()
    with pytest.raises(NotFound, match=message):
        audio_of(anywhere, failed.date, failed.audio_id)


def test_speech_that_was_stopped_is_on_record(studio: SpeechStudio) -> None:
    """TA-5, F-TA-10: what could not be told beforehand to be too long."""
    short = replace(studio, options=replace(studio.options, seconds_at_once=1))
    with pytest.raises(SpeechTooLong):
        synthesise(short, "Hello, my dear old friend", ip_address=GUEST)
    (failed,) = records(studio)
    assert failed.status is AudioStatus.FAILED
    assert "more than 1 seconds" in str(failed.error_message)


def test_a_failure_that_cannot_be_written_down_is_told_all_the_same(
    studio: SpeechStudio, caplog: pytest.LogCaptureFixture
) -> None:
    """F-TA-10: the guest hears why there is no speech, and the log that there is no record."""
    store: Any = FailingStore(studio.store, commit=always)
    with pytest.raises(VoiceNotFound):
        synthesise(replace(studio, store=store), "Hello", "nobody", ip_address=GUEST)
    assert "not on record" in caplog.text


def test_the_name_of_a_voice_is_kept_only_so_far(studio: SpeechStudio) -> None:
    """F-TA-10: a name fills no record."""
    with pytest.raises(VoiceNotFound):
        synthesise(studio, "Hello", "x" * 500_000, ip_address=GUEST)
    (failed,) = records(studio)
    assert len(failed.voice_id) == 100
    assert len(str(failed.error_message)) < 1_000


# What outlives its file


def test_a_record_that_outlives_its_file_says_so(anywhere: SpeechStudio) -> None:
    """TA-5, F-TA-10: whoever takes the file away, the cleanup writes `expired`; only there, and counts it."""
    lost, kept = spoken(anywhere, "12-08 18:00:00"), spoken(anywhere, "12-08 18:00:00")
    anywhere.objects.delete([lost.file])
    assert cleaned(anywhere, "12-09 12:00:00").expired == 1
    standing = {audio.audio_id: (audio.status, audio.error_message) for audio in records(anywhere)}
    assert standing == {
        lost.audio_id: (AudioStatus.EXPIRED, "its file is gone"),
        kept.audio_id: (AudioStatus.COMPLETED, None),
    }
    with pytest.raises(NotFound, match="its file is gone"):
        audio_of(anywhere, lost.date, lost.audio_id)
    assert cleaned(anywhere, "12-09 12:30:00").expired == 0, "told once"


def test_a_file_elsewhere_is_not_lost(studio: SpeechStudio) -> None:
    """TA-5: the folder of the settings was changed, and the file still lies in the old one."""
    audio = spoken(replace(studio, options=replace(studio.options, prefix="guests/tmp")), "12-08 18:00:00")
    assert cleaned(studio, "12-09 12:00:00").expired == 0
    assert records(studio) == [audio]


def test_an_erasure_that_is_interrupted_leaves_nothing_to_be_heard(studio: SpeechStudio) -> None:
    """TA-5: expired before its file is touched; asked again, it is gone, and the cleanup deletes what was left."""
    audio = spoken(studio, "12-08 18:00:00")
    objects: Any = Failing(studio.objects, delete=always)
    with pytest.raises(Unavailable):
        erase_audio(replace(studio, objects=objects), audio.date, audio.audio_id, by="ann")
    (left,) = records(studio)
    assert (left.status, left.error_message) == (AudioStatus.EXPIRED, "erased")
    with pytest.raises(NotFound, match="erased"):
        audio_of(studio, audio.date, audio.audio_id)
    assert cleaned(studio, "12-09 12:00:00").deleted == 1, "though its record lives for six more hours"
    erase_audio(studio, audio.date, audio.audio_id, by="ann")
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
