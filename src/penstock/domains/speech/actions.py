"""What a guest does: have a text spoken, at once or later, and get the link again while the audio lives.

A file is written before the record that points at it, so that no record is ever without its file. A file whose record
did not come about is removed at once; if that fails too, or the process dies, the daily cleanup finds it by its folder.
A text that could be kept and not be spoken leaves a record that says why, and no file.
"""

from __future__ import annotations

import datetime as dt
import logging
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID, uuid4

from penstock.domains.speech.errors import NoText, TextTooLong
from penstock.domains.speech.model import AudioStatus, TempAudio
from penstock.domains.speech.quotas import check_length, check_room, count_failure, take_room
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.errors import NotFound, PenstockError
from penstock.kernel.idempotency import Claim
from penstock.media.speech.errors import SpeechTooLong, SynthesisFailed, Unspeakable, VoiceNotFound
from penstock.media.speech.script import script_of
from penstock.media.speech.sound import Wav, merged, stopped
from penstock.media.speech.speaking import left_out, sounds
from penstock.media.speech.voices import Voice, Voices
from penstock.ports.stored_object import SignedUrl

log = logging.getLogger("penstock.speech")

GUEST = "public"
"Whoever has no key, in the audit trail: an address is personal, and ends with what was made for it."
AT_ONCE = 1_000
"Characters that are spoken while somebody waits: about a minute of speech."
AS_JOB = 20_000
"Characters that are spoken at all; as a record they stay far below what every engine takes."
_LONGEST_NAME = 100
"Characters that are kept of the name of a voice that is not there."
_FAILURES = (VoiceNotFound, Unspeakable, SpeechTooLong, SynthesisFailed)
"What a text that could not be spoken is on record with. Their words are for guests to read."


@dataclass(frozen=True, slots=True)
class Spoken:
    """An audio, and a URL that leads to it."""

    audio: TempAudio
    link: SignedUrl


def synthesise(
    studio: SpeechStudio,
    text: str | None,
    voice_id: str | None = None,
    *,
    ip_address: str,
    by: str = GUEST,
    once: Claim | None = None,
) -> Spoken:
    """Speak a text now; its file and its record are there when this returns, and for the next 24 hours.

    The audio has an id of its own at each try, also under a claim: one that was too slow removes the file that it has
    put, and never that of the one that took over.
    """
    wanted = checked_text(text, most=AT_ONCE)
    most = studio.options.seconds_at_once
    check_length(wanted, most=most, further=f"; as a job, /public/tts/jobs, {studio.options.seconds_a_job:,} are")
    check_room(studio, wanted, ip_address=ip_address)
    try:
        chosen = chosen_voice(studio.voices, wanted, voice_id)
        voice = studio.voices.get(chosen)
        with merged(stopped(sounds(voice, wanted), most=most)) as wav:
            audio = new_audio(studio, wav, voice, text=wanted, voice_id=chosen, ip_address=ip_address)
            with stored_file(studio, audio, wav):
                # Now that the file is there, and before the record: a URL that cannot be signed leaves nothing behind.
                link = sign(studio, audio)
                with studio.store.change(by=by, once=once) as change:
                    change.create(audio)
                    take_room(change, audio, studio.options)
                    change.result = {"date": audio.date.isoformat(), "audio_id": str(audio.audio_id)}
    except _FAILURES as error:
        _note_failure(studio, wanted, voice_id, error, ip_address=ip_address, by=by)
        raise
    return Spoken(audio, link)


def audio_of(studio: SpeechStudio, date: dt.date, audio_id: UUID) -> Spoken:
    """An audio with a new URL; NotFound once its 24 hours are over, and where there is nothing to be heard."""
    audio = studio.store.get(TempAudio.at(date=date, audio_id=audio_id))
    if not audio.audible:
        raise NotFound(f"audio {audio_id} cannot be heard: {audio.error_message or 'its file is gone'}")
    return Spoken(audio, sign(studio, audio))


def sign(studio: SpeechStudio, audio: TempAudio) -> SignedUrl:
    """A URL for as long as was chosen, but not beyond the end of the audio."""
    left = dt.timedelta(seconds=audio.ttl - int(studio.store.clock.now().timestamp()))
    lasts = min(studio.options.url_life, left)
    return studio.objects.download_url(audio.file, expires=lasts, filename="speech.wav", show_as="audio/wav")


# Parts that jobs use as well


def checked_text(text: str | None, *, most: int) -> str:
    """A text that can be kept and perhaps spoken, without the space around it; its markup is whole."""
    wanted = (text or "").strip()
    if not wanted:
        raise NoText
    if len(wanted) > most:
        further = f"; send it to /public/tts/jobs, which takes {AS_JOB}" if len(wanted) <= AS_JOB else ""
        raise TextTooLong(f"the text has {len(wanted)} characters, and at most {most} are spoken{further}")
    if any(unicodedata.category(c) in ("Cc", "Cs") and not c.isspace() for c in wanted):
        raise Unspeakable("there is a control character, or half a character, in the text")
    script_of(wanted)
    return wanted


def chosen_voice(voices: Voices, text: str, voice_id: str | None) -> str:
    """The voice for a text; VoiceNotFound, or Unspeakable where the text is marked as of another language."""
    offer = voices.offer(voice_id)
    script_of(text).check_language(offer.language)
    return offer.voice_id


def new_audio(studio: SpeechStudio, wav: Wav, voice: Voice, *, text: str, voice_id: str, ip_address: str) -> TempAudio:
    """The record of a file; its day, its folder and its end follow from one reading of the clock."""
    return TempAudio.made(
        uuid4(),
        at=studio.store.clock.now(),
        prefix=studio.options.prefix,
        text=text,
        voice_id=voice_id,
        duration=wav.duration,
        file_size_bytes=wav.size,
        ip_address=ip_address,
        status=AudioStatus.COMPLETED,
        left_out=left_out(voice, text),
    )


@contextmanager
def stored_file(studio: SpeechStudio, audio: TempAudio, wav: Wav) -> Iterator[None]:
    """The file of an audio, there while its record is made, and afterwards only if it was."""
    try:
        studio.objects.put(audio.file, wav.file)
        yield
    except Exception:
        _discard(studio, audio)
        raise


def _note_failure(
    studio: SpeechStudio, text: str, voice_id: str | None, error: PenstockError, *, ip_address: str, by: str
) -> None:
    """Leave a record of a text that could not be spoken; whoever waits is told of that, whatever becomes of it."""
    try:
        failed = TempAudio.made(
            uuid4(),
            at=studio.store.clock.now(),
            text=text,
            voice_id=(voice_id or studio.voices.usual)[:_LONGEST_NAME],
            duration=0,
            file_size_bytes=0,
            ip_address=ip_address,
            status=AudioStatus.FAILED,
            error_message=str(error),
        )
        spent = studio.options.seconds_at_once if isinstance(error, SpeechTooLong) else 0
        with studio.store.change(by=by) as change:
            change.create(failed)
            count_failure(change, failed, seconds=spent)
    except PenstockError:
        log.exception("that a text could not be spoken is not on record")


def _discard(studio: SpeechStudio, audio: TempAudio) -> None:
    """Remove the file of an audio that did not come about."""
    try:
        # The record may have been written although the answer was lost; then it needs its file.
        if studio.store.lookup(audio.ref) is None:
            studio.objects.delete([audio.file])
    except Exception:
        log.exception("%s may be left without a record; the cleanup will find it", audio.s3_key)
