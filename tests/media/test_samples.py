"""Every real sample, one by one: good ones are taken with the right metadata, broken ones refused with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.media.errors import UnusableFile
from penstock.media.probe import probe
from penstock.media.probed import Probed
from penstock.media.soundness import sound_audio, sound_image, sound_video
from penstock.media.thumbnail import thumbnail

SAMPLES = Path(__file__).parents[3] / "shared" / "data" / "media"
JUDGES = {"video": sound_video, "audio": sound_audio, "image": sound_image}

pytestmark = pytest.mark.realdata

BROKEN = {
    "audio/smallest.wav": "a header in the file and nothing after it",
    "image/corrupt.png": "header cannot be read",
    "image/truncated.png": "the image is damaged",
    "video/corrupt.mkv": "damaged",
    "video/fixture2.mkv": r"it says 1132\.0 s and ends after 1\.7 s",
    "video/made_bitflips.mp4": "the file is damaged: decoding it went wrong",
    "video/made_empty.mp4": "the file is empty",
    "video/made_no_video.mp4": "sound without pictures",
    "video/made_text_as.mp4": "the file is text",
    "video/smallest_with_audio.mp4": "sound without pictures",
}
"What is wrong with those that are. Of fixture2.mkv the manifest does not say that it is cut, but it is."

VIDEOS: dict[str, tuple[str, str, int, int, int, float, bool]] = {
    # container, codec, width, height, frames, duration, sound
    "-video-with-dash-.mp4": ("mp4", "h264", 1, 1, 5, 5.0, False),
    "av1_video.mkv": ("matroska", "av1", 640, 360, 125, 5.0, False),
    "bbb_432_433.webm": ("webm", "vp8", 1280, 720, 24, 1.0, True),
    "bikes.mp4": ("mp4", "h264", 640, 272, 250, 10.0, False),
    "bitmap_tiny.mp4": ("mp4", "h264", 1, 1, 5, 5.0, False),
    "bt709_full_range.mp4": ("mp4", "h264", 1280, 720, 30, 1.0, False),
    "carphone_distorted.mp4": ("mp4", "h264", 176, 144, 120, 4.004, False),
    "chaplin_h264.mp4": ("mp4", "h264", 640, 360, 241, 9.64, True),
    "failing_audio.mp4": ("mp4", "h264", 640, 360, 280, 11.2, True),
    "fixture.flv": ("flv", "flv1", 268, 156, 25, 0.717, False),
    "fixture.m4v": ("mp4", "h264", 640, 356, 1, 0.042, True),
    "fixture.mkv": ("matroska", "h264", 640, 356, 1, 0.042, True),
    "fixture.mov": ("mov", "h264", 268, 156, 5, 0.0833, False),
    "fixture.webm": ("webm", "vp8", 640, 356, 1, 0.042, True),
    "h265_10bits.mp4": ("mp4", "hevc", 200, 200, 30, 1.0, False),
    "h265_video.mp4": ("mp4", "hevc", 128, 128, 10, 1.0, False),
    "imovie.mp4": ("mp4", "h264", 640, 356, 1, 0.0667, True),
    "in1.mp4": ("mp4", "h264", 320, 240, 209, 6.974, True),
    "made_hevc_mov.mov": ("mov", "hevc", 320, 180, 50, 2.0, True),
    "made_odd_dims.mkv": ("matroska", "ffv1", 321, 241, 50, 2.0, False),
    "made_rotated90.mp4": ("mp4", "h264", 720, 1280, 132, 5.28, True),
    "mjpeg.mov": ("mov", "mjpeg", 640, 480, 15, 1.5, True),
    "nasa_13013.mp4": ("mp4", "h264", 480, 270, 390, 13.013, True),
    "no_duration.webm": ("webm", "vp9", 1280, 720, 74, 4.938, True),
    "scene_cuts.mp4": ("mp4", "h264", 1280, 272, 250, 10.0, False),
    "smallest.webm": ("webm", "vp8", 8, 8, 1, 1.0, False),
    "transparent_alpha.webm": ("webm", "vp9", 200, 200, 150, 5.0, True),
}
SOUNDS: dict[str, tuple[str, str, int, int, float]] = {
    # container, codec, sample rate, channels, duration
    "adts.aac": ("aac", "aac", 16_000, 1, 16.128),
    "bad_offset.mp3": ("mp3", "mp3", 44_100, 2, 0.522),
    "fixture.flac": ("flac", "flac", 44_100, 2, 1.225),
    "fixture.mp3": ("mp3", "mp3", 44_100, 2, 0.767),
    "fixture.ogg": ("ogg", "vorbis", 44_100, 2, 0.767),
    "fixture.opus": ("ogg", "opus", 48_000, 1, 2.9135),
    "sine_mono_s32_8000.wav": ("wav", "pcm_s32le", 8_000, 1, 4.0),
}
IMAGES: dict[str, tuple[str, int, int, bool]] = {
    # container, width, height, alpha
    "fixture.gif": ("gif", 200, 133, False),
    "fixture.jpg": ("jpeg", 200, 133, False),
    "fixture.png": ("png", 200, 133, False),
    "fixture.webp": ("webp", 200, 133, False),
    "logo_alpha.png": ("png", 260, 77, True),
}


def sample(name: str) -> Path:
    if not SAMPLES.is_dir():
        pytest.skip(f"there is no folder of real samples beside the repository: shared/data/{SAMPLES.name}")
    return SAMPLES / name


def judged(name: str) -> Probed:
    path = sample(name)
    return JUDGES[path.parent.name](path)


@pytest.mark.parametrize("name", VIDEOS)
def test_a_good_video_is_taken(name: str) -> None:
    found = judged(f"video/{name}")
    container, codec, width, height, frames, duration, heard = VIDEOS[name]
    picture = found.picture
    assert picture is not None
    assert (found.kind, found.container, picture.codec) == ("video", container, codec)
    assert (picture.width, picture.height, picture.frames) == (width, height, frames)
    assert found.duration == pytest.approx(duration, abs=0.02)
    assert picture.fps == pytest.approx(frames / duration, rel=0.03)
    assert (found.sound is not None) is heard


@pytest.mark.parametrize("name", SOUNDS)
def test_a_good_sound_is_taken(name: str) -> None:
    found = judged(f"audio/{name}")
    assert found.sound is not None
    told: tuple[Any, ...] = (found.container, found.sound.codec, found.sound.sample_rate, found.sound.channels)
    assert (found.kind, *told) == ("audio", *SOUNDS[name][:4])
    assert found.duration == pytest.approx(SOUNDS[name][4], abs=0.01)


@pytest.mark.parametrize("name", IMAGES)
def test_a_good_image_is_taken(name: str) -> None:
    found = judged(f"image/{name}")
    assert found.picture is not None
    told = (found.container, found.picture.width, found.picture.height, found.picture.has_alpha)
    assert (found.kind, *told) == ("image", *IMAGES[name])


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_with_a_reason(name: str) -> None:
    with pytest.raises(UnusableFile, match=BROKEN[name]) as refused:
        judged(name)
    assert "; " in str(refused.value), "it says what to do"
    assert str(SAMPLES) not in str(refused.value)


def test_no_sample_is_forgotten() -> None:
    expected = {
        *BROKEN,
        *(f"video/{n}" for n in VIDEOS),
        *(f"audio/{n}" for n in SOUNDS),
        *(f"image/{n}" for n in IMAGES),
    }
    sample("")
    found = {str(path.relative_to(SAMPLES)) for folder in JUDGES for path in (SAMPLES / folder).iterdir()}
    assert found == expected


def test_models_are_no_media() -> None:
    sample("")
    for path in (SAMPLES / "glb").iterdir():
        for judge in JUDGES.values():
            with pytest.raises(UnusableFile, match=r"^the file is model/gltf-binary; send an? (video|sound|image)"):
                judge(path)


@pytest.mark.parametrize(
    ("name", "traits"),
    [
        ("made_rotated90.mp4", {"rotation": 90}),
        ("transparent_alpha.webm", {"has_alpha": True}),
        ("bikes.mp4", {"has_alpha": False, "variable_rate": False, "rotation": 0, "pixel_format": "yuv420p"}),
        ("fixture.flv", {"variable_rate": True}),
        ("h265_10bits.mp4", {"pixel_format": "yuv420p10le"}),
    ],
)
def test_traits_of_pictures(name: str, traits: dict[str, object]) -> None:
    picture = probe(sample(f"video/{name}")).picture
    assert {trait: getattr(picture, trait) for trait in traits} == traits


def test_what_is_measured_counts_and_not_what_is_claimed() -> None:
    found = probe(sample("video/fixture2.mkv"))
    assert found.picture is not None
    assert found.picture.frames == 37
    assert found.claimed == pytest.approx(1132.048)
    assert found.duration == pytest.approx(1.584)
    assert probe(sample("video/no_duration.webm")).claimed is None
    assert probe(sample("video/nasa_13013.mp4")).streams == 6


@pytest.mark.parametrize("name", ["-video-with-dash-.mp4", "made_rotated90.mp4", "imovie.mp4", "made_odd_dims.mkv"])
def test_odd_ones_have_thumbnails(tmp_path: Path, name: str) -> None:
    thumbnail(sample(f"video/{name}"), tmp_path / "small.jpg", longest=64)
    found = sound_image(tmp_path / "small.jpg").picture
    assert found is not None
    assert max(found.width, found.height) <= 64
