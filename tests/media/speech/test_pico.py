"""SVOX Pico: six languages in a process of its own, which no text can hold up."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import pytest

from penstock.media.speech import pico_voice
from penstock.media.speech.errors import SynthesisFailed, Unspeakable
from penstock.media.speech.pico_voice import LANGUAGES, PicoProcess, PicoVoice, pico_offers
from penstock.media.speech.voices import Quality, Voices, installed_voices

HELLO = {
    "en-US": "Good morning, how are you?",
    "en-GB": "Good morning, how are you?",
    "de-DE": "Guten Morgen, schönes Wetter heute.",
    "es-ES": "Buenos días, ¿cómo está usted?",
    "fr-FR": "Bonjour à tous, il fait très beau.",
    "it-IT": "Buongiorno, come stai oggi?",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_speaks(voices: Voices, language: str) -> None:
    offer = voices.offer(f"{language.replace('-', '_')}-pico")
    assert (offer.language, offer.engine, offer.quality) == (language, "pico", Quality.LOW)
    sound = voices.get(offer.voice_id).speak(HELLO[language])
    assert sound.rate == 16_000
    assert 1 < sound.seconds < 5
    highest = numpy.abs(numpy.frombuffer(sound.samples, "<i2").astype(int)).max()
    assert 2_000 < highest < 30_000, "loud, and not cut off"


@pytest.mark.parametrize("text", ["世界", "Hello привет", "!!!", "😊", "→"])
def test_what_cannot_be_said_is_refused(text: str) -> None:
    with pytest.raises(Unspeakable):
        PicoVoice("en-US").speak(text)


@pytest.mark.parametrize(
    ("text", "least"),
    [("x" * 100, 15), ("9" * 80, 20), ("abcdefghij" * 20, 8), ("Łódź", 0.3), ("It's 5€, 50%", 1), ("Straße", 0.4)],
)
def test_nothing_is_left_out_of_long_words(text: str, least: float) -> None:
    """By itself it says a third of the first, and nothing of the second."""
    assert PicoVoice("en-US").speak(text).seconds > least


def test_what_looks_like_its_own_markup_is_text() -> None:
    spoken = PicoVoice("en-US").speak("<speed level='500'>one two three four five six seven</speed>")
    assert spoken.seconds > PicoVoice("en-US").speak("one two three four five six seven").seconds


def test_a_process_that_does_not_come_to_an_end_is_replaced() -> None:
    """The text has failed, and the next one is spoken."""
    process = PicoProcess()
    stuck = process._process.pid
    os.kill(stuck, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(process.speak, "Hello", language="en-US", speed=1.0)
        # As its own clock does when it has used its time.
        os.kill(stuck, signal.SIGKILL)
        with pytest.raises(SynthesisFailed, match="did not come to an end"):
            answer.result(30)
    assert len(process.speak("Hello", language="en-US", speed=1.0)) > 10_000
    assert process._process.pid != stuck


def test_a_text_that_takes_longer_than_it_may_is_ended() -> None:
    process = PicoProcess(limit=0.01)
    with pytest.raises(SynthesisFailed, match="did not come to an end"):
        process.speak("One two three four five six seven. " * 100, language="en-US", speed=1.0)


def test_the_process_ends_with_what_it_speaks_for() -> None:
    process = PicoProcess()
    process.speak("Hello", language="en-US", speed=1.0)
    pid = process._process.pid
    del process
    assert not Path(f"/proc/{pid}").exists()


def test_it_is_not_offered_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pico_voice, "find_spec", lambda name: None)
    assert pico_offers() == []


def test_the_usual_voice_is_the_best_one() -> None:
    qualities = [offer.quality for offer in installed_voices().offers]
    assert qualities == [Quality.HIGH, *[Quality.LOW] * 6]


def test_several_speak_at_once(voices: Voices) -> None:
    texts = [HELLO["en-US"], "No.", "Seven tired sailors."] * 3
    voice = voices.get("en_US-pico")
    alone = [voice.speak(text).seconds for text in texts]
    with ThreadPoolExecutor(6) as pool:
        assert [sound.seconds for sound in pool.map(voice.speak, texts)] == alone
