"""Beats: found where somebody would tap a foot, and nowhere else."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.media.beats import beats
from penstock.media.errors import UnusableFile
from penstock.studio.musician import play

RATE, SECONDS = 16_000, 16.0
TIME = np.arange(round(SECONDS * RATE)) / RATE


def written(into: Path, sound: Any) -> Path:
    with wave.open(str(into), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((np.asarray(sound).clip(-1, 1) * 32767).astype("<i2").tobytes())
    return into


def drummed(tempo: float, *, first: float, noise: float) -> tuple[Any, list[float]]:
    """A drum at every beat, in some noise; and where its beats are."""
    sound = noise * np.random.default_rng(1).standard_normal(len(TIME))
    moments = list(np.arange(first, SECONDS - 0.1, 60 / tempo))
    for moment in moments:
        since = TIME - moment
        sound += np.where((since >= 0) & (since < 0.1), 0.6 * np.sin(400 * np.pi * since) * np.exp(-40 * since), 0)
    return sound, moments


@pytest.mark.parametrize(("tempo", "first", "noise"), [(60, 0.1, 0), (90, 0.3, 0.05), (120, 0.2, 0.1), (140, 0.05, 0)])
def test_a_drum_is_followed_from_the_first_beat_to_the_last(
    tmp_path: Path, tempo: float, first: float, noise: float
) -> None:
    sound, moments = drummed(tempo, first=first, noise=noise)
    found = beats(written(tmp_path / "drum.wav", sound))
    assert [min(abs(beat - moment) for beat in found) for moment in moments] == pytest.approx(
        [0] * len(moments), abs=0.03
    )
    assert len(found) == pytest.approx(len(moments), abs=1)


@pytest.mark.parametrize("seed", range(3))
def test_a_track_of_our_own_is_followed_on_the_beat_and_not_between(tmp_path: Path, seed: int) -> None:
    play(tmp_path / "track.wav", seconds=SECONDS, seed=seed)
    beat = 60 / float(np.random.default_rng(seed).integers(88, 122))
    found = beats(tmp_path / "track.wav")
    assert len(found) == pytest.approx(SECONDS / beat, abs=1.5)
    assert max(abs(moment - beat * round(moment / beat)) for moment in found) < 0.05


def test_only_so_much_is_listened_to(tmp_path: Path) -> None:
    sound, _ = drummed(120, first=0.0, noise=0.0)
    assert 4 < max(beats(written(tmp_path / "drum.wav", sound), seconds=5.0)) <= 5


@pytest.mark.parametrize(
    "sound",
    [
        pytest.param(np.zeros(len(TIME)), id="silence"),
        pytest.param(0.4 * np.sin(880 * np.pi * TIME), id="a tone"),
        pytest.param(0.3 * np.random.default_rng(2).standard_normal(len(TIME)), id="noise"),
        pytest.param(np.zeros(100), id="almost nothing"),
    ],
)
def test_where_nothing_comes_again_there_is_no_beat(tmp_path: Path, sound: Any) -> None:
    assert beats(written(tmp_path / "track.wav", sound)) == []


def test_what_is_no_sound_is_told(tmp_path: Path) -> None:
    (tmp_path / "text.mp3").write_bytes(b"no music at all " * 50)
    with pytest.raises(UnusableFile, match="cannot be read"):
        beats(tmp_path / "text.mp3")
