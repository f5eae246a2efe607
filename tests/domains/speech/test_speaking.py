"""Speech is speech: as long as its record says, and a recogniser understands it."""

from __future__ import annotations

import array
import io
import time
import wave
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import pytest

from penstock.domains.speech.actions import audio_of, synthesise
from penstock.domains.speech.errors import Unspeakable, VoiceNotFound
from penstock.domains.speech.model import AudioStatus, TempAudio
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.domains.speech.voices import Voices, other_script
from penstock.domains.speech.voices_hibari import HibariVoice
from tests.domains.speech.story import GUEST

RIVER = "The river is deep and the old bridge is very long."
WEATHER = "Tomorrow morning the weather will be cold."


def file_of(studio: SpeechStudio, audio: TempAudio) -> bytes:
    return studio.objects.get(audio.s3_key).read()


@lru_cache(maxsize=1)
def decoder() -> Any:
    from pocketsphinx import Decoder

    return Decoder(loglevel="FATAL")


def heard(content: bytes) -> set[str]:
    """The words that a recogniser hears."""
    with wave.open(io.BytesIO(content)) as wav:
        assert wav.getframerate() == 24_000
        samples = array.array("h", wav.readframes(wav.getnframes()))
    # It listens to 16,000 samples a second: every third sample stays, and between the others one is made of two.
    low = array.array("h")
    for n in range(0, len(samples) - 2, 3):
        low.extend((samples[n], (samples[n + 1] + samples[n + 2]) // 2))
    listening = decoder()
    listening.start_utt()
    listening.process_raw(low.tobytes(), full_utt=True)
    listening.end_utt()
    return set(listening.hyp().hypstr.split())


def test_the_words_can_be_heard(studio: SpeechStudio) -> None:
    """TA-4, TA-24: a recogniser finds words of the text; other words give other audio."""
    river = synthesise(studio, RIVER, ip_address=GUEST).audio
    weather = synthesise(studio, WEATHER, ip_address=GUEST).audio
    in_river, in_weather = heard(file_of(studio, river)), heard(file_of(studio, weather))
    assert len(in_river & {"river", "deep", "old", "bridge", "long"}) >= 3, in_river
    assert len(in_weather & {"tomorrow", "morning", "weather", "cold"}) >= 3, in_weather
    assert not in_river & {"tomorrow", "morning", "weather", "cold"}


def test_the_record_tells_what_the_file_is(studio: SpeechStudio) -> None:
    """TA-4, TA-8, F-TA-9: its length and its size, as another program reads them; everything the plan requires."""
    audio = synthesise(studio, "Hello world test", ip_address=GUEST).audio
    content = file_of(studio, audio)
    with wave.open(io.BytesIO(content)) as wav:
        assert (wav.getnchannels(), wav.getsampwidth(), wav.getframerate()) == (1, 2, 24_000)
        assert audio.duration == pytest.approx(wav.getnframes() / wav.getframerate(), abs=0.001)
    assert 0.8 < audio.duration < 3
    assert audio.file_size_bytes == len(content) == 44 + round(audio.duration * 24_000) * 2
    assert studio.objects.head(audio.s3_key).content_type == "audio/wav"
    assert (audio.text, audio.voice_id, audio.ip_address) == ("Hello world test", "en_US-heart", GUEST)
    assert audio.status is AudioStatus.COMPLETED
    assert audio_of(studio, audio.date, audio.audio_id).audio == audio


def test_many_at_once(studio: SpeechStudio, voices: Voices) -> None:
    """TA-24: one loaded voice, several threads; each gets its own words, as if it were alone."""
    texts = [f"Boat number {n} is on the {name} river." for n, name in enumerate(["blue", "deep", "cold", "wide"])] * 2
    voice = voices.get("en_US-heart")
    alone = [voice.speak(text).samples for text in texts[:4]] * 2
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda text: synthesise(studio, text, ip_address=GUEST).audio, texts))
    assert [file_of(studio, audio)[44:] for audio in together] == alone
    assert voices.get("en_US-heart") is voice, "it stays loaded"


@pytest.mark.parametrize(
    "text", ["世界", "Hello 世界 friend", "привет", "Hello привет", "שלום", "!!!", "...", "—", "😊", "***"]
)
def test_what_cannot_be_said_is_refused(voices: Voices, text: str) -> None:
    """TA-5: the voice would leave it out without a word."""
    with pytest.raises(Unspeakable):
        voices.get("en_US-heart").speak(text)


@pytest.mark.parametrize(
    "text", ["a", "5", "€5", "naïve", "Ω", "µ", "½", "ﬁne", "V1500 Cygni, 6562.8 Å", "Hello 😊", "ok!!!"]
)
def test_what_can_be_said_is(voices: Voices, text: str) -> None:
    """TA-4: letters with marks, numbers, units, single Greek letters; a smile is no reason to refuse the rest."""
    sound = voices.get("en_US-heart").speak(text)
    assert len(sound.samples) / 2 / sound.rate > 0.3


def test_a_letter_of_another_script_is_named() -> None:
    """TA-5."""
    assert other_script("Zürich, Łódź, Smørrebrød, İstanbul ªº") is None
    assert other_script("Athens, in Greek Αθήνα") == "Α"
    assert other_script("カタカナ") == "カ"


@pytest.mark.parametrize("text", ["%" * 500, "AbC" * 160, "a%B1-" * 100])
def test_no_text_takes_the_voice_long(text: str, voices: Voices) -> None:
    """TA-24: read as one word, these would take up to a minute, and a gigabyte."""
    voice = voices.get("en_US-heart")
    assert isinstance(voice, HibariVoice)
    began = time.thread_time()
    pieces = voice._read(text)
    assert time.thread_time() - began < 2, "seconds of CPU"
    assert max(map(len, pieces)) <= 400


def test_a_number_nobody_can_say(voices: Voices) -> None:
    """TA-5: the voice itself gives up; the guest is told, and not that the service is broken."""
    with pytest.raises(Unspeakable, match="very long numbers"):
        voices.get("en_US-heart").speak("9" * 80)


def test_an_unknown_voice(voices: Voices) -> None:
    """TA-5: in the words of the plan."""
    with pytest.raises(VoiceNotFound, match=r"^Voice 'nobody' not found$"):
        voices.get("nobody")
