"""Waveforms: small however long the sound is, and without a click lost at any zoom."""

from __future__ import annotations

import wave
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.media import waveform as module
from penstock.media.errors import UnusableFile
from penstock.media.ffmpeg import reading, run, writing
from penstock.media.waveform import Waveform, _Peaks, waveform
from tests.media.films import film, tone


def test_a_tone_is_as_loud_as_it_is(tmp_path: Path) -> None:
    found = waveform(tone(tmp_path / "tone.wav", 2, level=0.5))
    assert (found.sample_rate, found.samples, found.channels) == (16_000, 32_000, 1)
    assert found.duration == timedelta(seconds=2)
    for level in found.levels:
        lows, highs = zip(*level.pairs(), strict=True)
        assert (min(lows), max(highs)) == (-64, 64)
        assert len(lows) == -(-found.samples // level.samples)


def test_ten_minutes_are_small_and_a_click_is_seen_at_every_zoom(tmp_path: Path) -> None:
    path, rate = tmp_path / "long.wav", 8_000
    heard = np.zeros(600 * rate, "<i2")
    heard[123_456] = 32_767
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(heard.tobytes())
    found = waveform(path)
    assert len(msgspec.json.encode(asdict(found))) < 60_000
    assert len(found.levels) == 3
    for level in found.levels:
        loud = [place for place, pair in enumerate(level.pairs()) if pair == (0, 127)]
        assert loud == [123_456 // level.samples]


def test_what_is_heard_in_a_film_is_drawn_and_of_several_channels_the_loudest(tmp_path: Path) -> None:
    sound = tone(tmp_path / "tone.wav", 1, level=0.8, rate=48_000)
    made = film(tmp_path / "film.mp4", 1, sound=sound)
    assert max(high for _, high in waveform(made).levels[0].pairs()) > 70
    left = tmp_path / "left.wav"
    run([*reading(sound), "-af", "pan=stereo|c0=c0|c1=0*c0", writing(left)])
    found = waveform(left)
    assert found.channels == 2
    assert max(high for _, high in found.levels[0].pairs()) > 95


@pytest.mark.parametrize("form", ["u8", "s16", "s32", "flt"])
def test_every_form_of_samples_is_read(tmp_path: Path, form: str) -> None:
    path = tmp_path / "form.wav"
    codec = {"u8": "pcm_u8", "s16": "pcm_s16le", "s32": "pcm_s32le", "flt": "pcm_f32le"}[form]
    run([*reading(tone(tmp_path / "tone.wav", 0.5, level=0.5)), "-c:a", codec, writing(path)])
    lows, highs = zip(*waveform(path).levels[0].pairs(), strict=True)
    assert -66 <= min(lows) <= -62
    assert 62 <= max(highs) <= 66


def test_a_film_without_sound_and_a_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match="nothing to hear"):
        waveform(film(tmp_path / "silent.mp4", 0.5))
    (tmp_path / "text.wav").write_text("no sound")
    with pytest.raises(UnusableFile):
        waveform(tmp_path / "text.wav")


def test_a_sound_that_takes_too_long_is_refused(tmp_path: Path) -> None:
    path = tone(tmp_path / "tone.wav", 20)
    with pytest.raises(UnusableFile, match="longer than can be drawn"):
        module.waveform_here(path, limit=timedelta(0))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 5_000), min_size=1, max_size=30), st.integers(0, 2**32 - 1))
def test_every_bucket_has_the_lowest_and_highest_of_its_samples(sizes: list[int], seed: int) -> None:
    """However the samples come, and however often buckets were joined."""
    heard = np.random.default_rng(seed).uniform(-1, 1, sum(sizes)).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MOST", 16)
        patch.setattr(module, "_AT_ONCE", 700)
        peaks, at = _Peaks(), 0
        for size in sizes:
            peaks.add(heard[at : at + size])
            at += size
        levels = tuple(peaks.levels())
    assert len(levels[0].pairs()) <= 16
    for level in Waveform(1, heard.size, 1, levels).levels:
        parts = [heard[n : n + level.samples] for n in range(0, heard.size, level.samples)]
        expected = [(max(-127, int(np.floor(p.min() * 127))), min(127, int(np.ceil(p.max() * 127)))) for p in parts]
        assert level.pairs() == expected
