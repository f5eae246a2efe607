"""Speech is speech: as long as its record says, and a recogniser understands it."""

from __future__ import annotations

import array
import io
import wave
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import pytest

from penstock.domains.speech.actions import audio_of, synthesise
from penstock.domains.speech.model import AudioStatus, TempAudio
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.media.speech.sound import merged
from penstock.media.speech.voices import Voices
from tests.domains.speech.story import GUEST

RIVER = "The river is deep and the old bridge is very long."
WEATHER = "Tomorrow morning the weather will be cold."


def file_of(studio: SpeechStudio, audio: TempAudio) -> bytes:
    return studio.objects.get(audio.file).read()


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
    assert studio.objects.head(audio.file).content_type == "audio/wav"
    assert (audio.text, audio.voice_id, audio.ip_address) == ("Hello world test", "en_US-heart", GUEST)
    assert audio.status is AudioStatus.COMPLETED
    assert audio_of(studio, audio.date, audio.audio_id).audio == audio


def test_many_at_once(studio: SpeechStudio, voices: Voices) -> None:
    """TA-24: one loaded voice, several threads; each gets its own words, as if it were alone."""
    texts = [f"Boat number {n} is on the {name} river." for n, name in enumerate(["blue", "deep", "cold", "wide"])] * 2
    voice = voices.get("en_US-heart")
    alone = []
    for text in texts:
        with merged([voice.speak(text)]) as wav:
            alone.append(wav.file.read())
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda text: synthesise(studio, text, ip_address=GUEST).audio, texts))
    assert [file_of(studio, audio) for audio in together] == alone
    assert voices.get("en_US-heart") is voice, "it stays loaded"
