"""Speech is as loud as the next, and no peak is cut off; measured by ffmpeg, which is another's meter."""

from __future__ import annotations

import io
import re
import subprocess
from collections.abc import Iterable
from typing import Any

import numpy
import pytest

from penstock.media import ffmpeg
from penstock.media.speech.limiter import CEILING, Limiter
from penstock.media.speech.loudness import SILENCE, LoudnessMeter
from penstock.media.speech.sound import Sound, merged
from penstock.media.speech.speaking import sounds
from penstock.media.speech.voices import Voices

RATE = 24_000
LONG = "The quick brown fox jumps over the lazy dog while seven tired sailors row their little boat across the bay."


def heard(wav: bytes) -> tuple[float, float]:
    """The loudness (LUFS) and the highest peak (dBTP) of a file."""
    command = [ffmpeg.binary(), "-nostdin", "-hide_banner", "-i", "-", "-af", "ebur128=peak=true", "-f", "null", "-"]
    told = subprocess.run(command, input=wav, capture_output=True, check=True).stderr.decode()
    summary = told[told.rfind("Summary:") :]
    found = [re.search(rf"{name}:\s+(\S+)", summary) for name in ("I", "Peak")]
    loudness, peak = (float(each.group(1)) for each in found if each is not None)
    return loudness, peak


def file_of(parts: Iterable[Sound]) -> bytes:
    with merged(parts) as wav:
        return wav.file.read()


def sound(samples: Any, rate: int = RATE) -> Sound:
    return Sound(numpy.rint(numpy.asarray(samples) * 32767).astype("<i2").tobytes(), rate)


def tone(seconds: float, *, hertz: float = 440, height: float = 0.1, rate: int = RATE) -> Any:
    return height * numpy.sin(2 * numpy.pi * hertz * numpy.arange(int(seconds * rate)) / rate)


@pytest.mark.parametrize("text", ["Hi.", "5", "No!", "Stop! Do not touch that.", LONG])
def test_every_text_has_the_level_of_speech(voices: Voices, text: str) -> None:
    """A voice by itself speaks at -25 to -29 LUFS, each word at another."""
    loudness, peak = heard(file_of(sounds(voices.get("en_US-heart"), text)))
    assert loudness == pytest.approx(-16, abs=0.5)
    assert peak < -1


@pytest.mark.parametrize("height", [0.01, 0.05, 1.0], ids=["faint", "quiet", "as loud as can be"])
@pytest.mark.parametrize("rate", [16_000, 24_000, 48_000])
def test_whoever_speaks(height: float, rate: int) -> None:
    """Quiet ones are turned up, loud ones down."""
    loudness, peak = heard(file_of([sound(tone(2, height=height, rate=rate), rate)]))
    assert loudness == pytest.approx(-16, abs=0.5)
    assert peak < -1


def test_peaks_are_taken_back_and_not_cut_off() -> None:
    """A quiet voice with a clap in it: it comes to its level, and the clap keeps its shape."""
    clap = 0.5 * numpy.exp(-numpy.arange(RATE) / 300) * numpy.sin(numpy.arange(RATE) * 0.9)
    made = file_of([sound(tone(3, height=0.02)), sound(clap + tone(1, height=0.02)), sound(tone(3, height=0.02))])
    loudness, peak = heard(made)
    assert loudness == pytest.approx(-16, abs=1.5)
    assert peak < -1
    samples = numpy.frombuffer(made[44:], "<i2").astype(int)
    highest = numpy.abs(samples).max()
    assert highest < 32_000
    assert (numpy.abs(samples) == highest).sum() <= 2


def test_peaks_between_samples_count() -> None:
    """Samples of a quarter of the rate, taken between its peaks, seem 3 dB lower than what is heard."""
    between = numpy.sin(numpy.pi / 2 * numpy.arange(RATE) + numpy.pi / 4)
    limiter = Limiter(RATE, 1.0)
    made = numpy.concatenate([limiter.add(between), limiter.end()])
    assert numpy.abs(between).max() < 0.71
    assert numpy.abs(made[100:-100]).max() == pytest.approx(CEILING * 0.7071, abs=0.01)


def test_it_does_not_matter_how_sound_is_parted() -> None:
    chance = numpy.random.default_rng(7)
    noise = (chance.standard_normal(RATE * 5) * numpy.repeat(chance.random(50), RATE // 10) * 0.2).astype("f4")
    seen = []
    for size in (len(noise), 10_007, 333):
        meter, limiter = LoudnessMeter(RATE), Limiter(RATE, 2.0)
        parts = [noise[start : start + size] for start in range(0, len(noise), size)]
        for part in parts:
            meter.add(part)
        made = numpy.concatenate([*(limiter.add(part) for part in parts), limiter.end()])
        assert len(made) == len(noise)
        seen.append((meter.loudness, made))
    assert [loudness for loudness, _ in seen] == pytest.approx([seen[0][0]] * 3, abs=0.01)
    for _, made in seen:
        assert numpy.abs(made - seen[0][1]).max() < 1e-3


@pytest.mark.parametrize("seconds", [0.0, 0.05, 3.0])
def test_silence_stays_silent(seconds: float) -> None:
    """Also where there is hardly any of it."""
    made = file_of([sound(numpy.zeros(int(RATE * seconds)))])
    assert set(made[44:]) <= {0}
    assert LoudnessMeter(RATE).loudness == SILENCE


def test_a_long_text_has_the_same_level_throughout() -> None:
    """One gain for all of it, also where it is written a few seconds at a time."""
    made = file_of(sound(tone(1, height=height)) for height in [0.05, 0.025] * 15)
    samples = numpy.frombuffer(made[44:], "<i2").astype(float)
    first, second, last = (samples[start * RATE : (start + 1) * RATE].std() for start in (2, 3, 28))
    assert first / second == pytest.approx(2, rel=0.01)
    assert last == pytest.approx(first, rel=0.01)
    assert len(io.BytesIO(made).getvalue()) == 44 + 30 * RATE * 2
    assert heard(made)[0] == pytest.approx(-16, abs=0.5)


def test_loudness_is_that_of_another_meter() -> None:
    """BS.1770, also with pauses, which do not count."""
    chance = numpy.random.default_rng(3)
    speech = numpy.concatenate([chance.standard_normal(RATE) * 0.05, numpy.zeros(RATE * 2), tone(1.3, hertz=1500)])
    meter = LoudnessMeter(RATE)
    meter.add(speech.astype("f4"))
    raw = file_of([sound(tone(1))])[:40] + (len(speech) * 2).to_bytes(4, "little") + sound(speech).samples
    assert meter.loudness == pytest.approx(heard(raw)[0], abs=0.1)
