"""Sound: one file of many parts, which lies on the disk while it is long."""

from __future__ import annotations

import tempfile
import tracemalloc
from pathlib import Path

import pytest

from penstock.media.speech.sound import Sound, merged, stopped


def test_memory_does_not_grow_with_the_length_of_the_speech(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a megabyte it lies on the disk."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    second = bytes(48_000)
    tracemalloc.start()
    try:
        with merged(stopped((Sound(second, 24_000) for _ in range(600)), most=1_000)) as wav:
            assert wav.size > 28_000_000
            assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()
    assert list(tmp_path.iterdir()) == []


def test_a_voice_that_makes_more_bytes_a_second_has_fewer_seconds() -> None:
    """What is set aside is bytes, whoever speaks."""
    assert Sound(bytes(96_000), 24_000).seconds == 2
    assert Sound(bytes(96_000), 48_000).seconds == 2
    assert Sound(bytes(44_100), 22_050).seconds == 1
