"""Damaged, disguised and oversized files are refused with a reason; good ones pass."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.media.errors import UnusableFile
from penstock.media.ffmpeg import reading, run, writing
from penstock.media.probe import probe
from penstock.media.probed import Probed
from penstock.media.soundness import LIMITS, SoundnessLimits, sound_audio, sound_image, sound_video
from tests.media.films import beheaded, film, tone


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one film and one sound in several containers."""
    folder = tmp_path_factory.mktemp("good")
    heard = tone(folder / "good.wav", 4)
    film(folder / "good.mp4", 4, sound=heard)
    for name in ("good.mkv", "good.ts"):
        run([*reading(folder / "good.mp4"), "-c", "copy", writing(folder / name)])
    run([*reading(folder / "good.mp4"), "-c:v", "mpeg4", "-c:a", "libmp3lame", writing(folder / "good.avi")])
    for name in ("good.mp3", "good.flac", "good.ogg"):
        run([*reading(heard), writing(folder / name)])
    return folder


def judged(path: Path) -> Probed:
    return (sound_video if path.suffix in (".mp4", ".mkv", ".avi", ".ts") else sound_audio)(path)


CONTAINERS = ["mp4", "mkv", "avi", "wav", "mp3", "flac"]


@pytest.mark.parametrize("kind", [*CONTAINERS, "ogg", "ts"])
def test_a_whole_file_is_taken(good: Path, kind: str) -> None:
    assert judged(good / f"good.{kind}").duration == pytest.approx(4, abs=0.1)


@pytest.mark.parametrize("kind", CONTAINERS)
def test_a_file_that_is_cut_is_refused(good: Path, tmp_path: Path, kind: str) -> None:
    whole = (good / f"good.{kind}").read_bytes()
    cut = tmp_path / f"cut.{kind}"
    cut.write_bytes(whole[: len(whole) * 6 // 10])
    with pytest.raises(UnusableFile, match=r"cut|damaged"):
        judged(cut)


@pytest.mark.parametrize("kind", ["mp4", "mkv"])
def test_even_a_little_missing_at_the_end_is_noticed(good: Path, tmp_path: Path, kind: str) -> None:
    """Where the container tells where it should have ended."""
    whole = (good / f"good.{kind}").read_bytes()
    cut = tmp_path / f"cut.{kind}"
    cut.write_bytes(whole[: -len(whole) // 50])
    with pytest.raises(UnusableFile, match="the file is cut"):
        judged(cut)


@pytest.mark.parametrize("kind", ["mp4", "mp3", "flac", "ogg", "ts"])
def test_flipped_bits_are_refused(good: Path, tmp_path: Path, kind: str) -> None:
    """They raise no error: the decoder conceals them, and only its log tells."""
    damaged = bytearray((good / f"good.{kind}").read_bytes())
    chance = random.Random(1)
    for _ in range(len(damaged) // 200):
        damaged[chance.randrange(len(damaged) // 10, len(damaged) * 9 // 10)] ^= 1 << chance.randrange(8)
    (tmp_path / f"flipped.{kind}").write_bytes(damaged)
    with pytest.raises(UnusableFile, match=r"damaged|decoded"):
        judged(tmp_path / f"flipped.{kind}")


@pytest.mark.parametrize("look", [sound_video, sound_audio, sound_image])
@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "empty"),
        (b"Dear Sir or Madam,\n" * 40, "text"),
        ("Ganz ohne Bild: äöü\n".encode() * 40, "text"),
        (bytes(range(256)) * 20, "damaged"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "damaged"),
        (b"\0\0\0\x18ftypmp42" + bytes(200), "damaged"),
        (b"\x1aE\xdf\xa3" + bytes(200), "damaged"),
        (b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0", "damaged|header"),
    ],
    ids=["empty", "letter", "umlauts", "noise", "image", "film", "matroska", "wav"],
)
def test_what_is_no_media_file_is_refused(
    tmp_path: Path, look: Callable[[Path], Probed], content: bytes, complaint: str
) -> None:
    (tmp_path / "sent.mp4").write_bytes(content)
    with pytest.raises(UnusableFile, match=complaint):
        look(tmp_path / "sent.mp4")


def test_the_last_moment_of_a_recording_may_be_cut(tmp_path: Path) -> None:
    """A decoder complains about it once or twice, and nobody would hear it."""
    recording = tmp_path / "recording.aac"
    run([*reading(tone(tmp_path / "tone.wav", 1)), "-c:a", "aac", "-f", "adts", writing(recording)])
    recording.write_bytes(recording.read_bytes()[:-20])
    assert run([*reading(recording), "-f", "null", "-"]).complaints > 0
    assert sound_audio(recording).duration == pytest.approx(1, abs=0.1)


def test_frames_that_are_left_out_without_a_word_are_missed(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match="only 8 of the video's 10 frames can be decoded"):
        sound_video(beheaded(tmp_path))


def test_a_codec_that_nobody_knows_is_refused(good: Path, tmp_path: Path) -> None:
    (tmp_path / "strange.mp4").write_bytes((good / "good.mp4").read_bytes().replace(b"avc1", b"zzzz"))
    with pytest.raises(UnusableFile, match="not a video"):
        sound_video(tmp_path / "strange.mp4")
    silent = film(tmp_path / "silent.mp4", 0.5)
    silent.write_bytes(silent.read_bytes().replace(b"avc1", b"zzzz"))
    with pytest.raises(UnusableFile, match="nothing in the file that can be decoded"):
        sound_video(silent)


@pytest.mark.parametrize("kind", ["mp4", "mkv", "avi", "ogg"])
def test_whatever_is_sent_is_taken_or_refused(good: Path, tmp_path: Path, kind: str) -> None:
    """No other error, whatever is written over a header."""
    whole, chance = (good / f"good.{kind}").read_bytes(), random.Random(2)
    assert probe(good / f"good.{kind}").duration
    taken = 0
    for _ in range(60):
        damaged = bytearray(whole[:20_000])
        for _ in range(chance.choice([1, 4, 16])):
            damaged[chance.randrange(min(len(damaged), 1200))] = chance.randrange(256)
        (tmp_path / "damaged").write_bytes(damaged)
        with suppress(UnusableFile):
            probe(tmp_path / "damaged")
            taken += 1
    assert taken < 60, "not everything is taken"
    assert taken > 0 or kind == "ogg", "nor is everything refused, where no checksum tells of every damage"


def test_one_kind_is_not_taken_for_another(good: Path) -> None:
    with pytest.raises(UnusableFile, match=r"is sound without pictures .*; send a video"):
        sound_video(good / "good.mp3")
    with pytest.raises(UnusableFile, match=r"is a video .*; send a sound"):
        sound_audio(good / "good.mp4")
    with pytest.raises(UnusableFile, match=r"is a video .*; send an image"):
        sound_image(good / "good.mp4")


@pytest.mark.parametrize(
    ("limits", "complaint"),
    [
        (SoundnessLimits(pixels=160 * 90 - 1), "160x90; send one of at most 14399 pixels"),
        (SoundnessLimits(seconds=3.9), "lasts 4 s; send one of at most 4 s"),
        (SoundnessLimits(frames=47), "48 frames; send one of at most 47"),
        (SoundnessLimits(time=timedelta(seconds=0)), "longer than can be looked at"),
    ],
    ids=["pixels", "seconds", "frames", "time"],
)
def test_more_than_can_be_handled_is_refused(good: Path, limits: SoundnessLimits, complaint: str) -> None:
    with pytest.raises(UnusableFile, match=complaint):
        sound_video(good / "good.mp4", limits=limits)


def test_a_bomb_is_not_decoded(tmp_path: Path) -> None:
    """A few kilobytes that would be gigabytes of pixels."""
    bomb = tmp_path / "bomb.mkv"
    run(["-f", "lavfi", "-i", "color=size=320x300:rate=1:duration=1", "-c:v", "ffv1", writing(bomb)])
    small = bomb.read_bytes()
    # The width and the height, in the header and nowhere else.
    large = small.replace(b"\xb0\x82\x01\x40", b"\xb0\x82\x2e\xe0").replace(b"\xba\x82\x01\x2c", b"\xba\x82\x2e\xe0")
    assert large != small
    bomb.write_bytes(large)
    with pytest.raises(UnusableFile, match="12000x12000; send one of at most 67108864 pixels"):
        sound_video(bomb)


def test_decoding_ends_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    film(tmp_path / "film.mp4", 0.5)
    probed = probe(tmp_path / "film.mp4")
    monkeypatch.setattr("penstock.media.soundness.probe", lambda *_, **__: probed)
    with pytest.raises(UnusableFile, match="takes more than 0 s to decode"):
        sound_video(tmp_path / "film.mp4", limits=SoundnessLimits(time=timedelta(0)))
    assert LIMITS.time > timedelta(minutes=1)
