"""A ladder fits its film: nothing is upscaled, sides are even, and there is a rung for anything."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from penstock.media.errors import UnusableFile
from penstock.media.ladder import new_rate, rungs
from penstock.media.probed import MediaKind, PictureTrack, Probed, SoundTrack

SOUND = SoundTrack(1, "aac", 44_100, 2, 2.0)


def of_size(width: int, height: int, *, sound: SoundTrack | None = None, **traits: Any) -> Probed:
    told = {"fps": 25.0, "frames": 50, "duration": 2.0, **traits}
    picture = PictureTrack(0, "h264", "yuv420p", width, height, **told)
    return Probed(MediaKind.VIDEO, "mp4", 2.0, picture=picture, sound=sound)


def sizes(probed: Probed, **wishes: int) -> list[str]:
    return [f"{rung.name} {rung.width}x{rung.height}" for rung in rungs(probed, **wishes)]


@pytest.mark.parametrize(
    ("width", "height", "expected"),
    [
        (1920, 1080, ["1080p 1920x1080", "720p 1280x720", "480p 854x480", "240p 426x240"]),
        (1280, 720, ["720p 1280x720", "480p 854x480", "240p 426x240"]),
        (854, 480, ["480p 854x480", "240p 428x240"]),
        (640, 360, ["360p 640x360", "240p 426x240"]),
        (426, 240, ["240p 426x240"]),
        (3840, 2160, ["1080p 1920x1080", "720p 1280x720", "480p 854x480", "240p 426x240"]),
        (720, 576, ["576p 720x576", "360p 450x360", "240p 300x240"]),
        (1920, 800, ["800p 1920x800", "480p 1152x480", "240p 576x240"]),
        (1280, 272, ["272p 1280x272"]),
        (200, 200, ["200p 200x200"]),
    ],
)
def test_the_largest_rung_is_the_films_own_size_and_the_others_are_clearly_smaller(
    width: int, height: int, expected: list[str]
) -> None:
    assert sizes(of_size(width, height)) == expected


def test_a_portrait_is_named_by_its_short_side() -> None:
    assert sizes(of_size(1080, 1920)) == ["1080p 1080x1920", "720p 720x1280", "480p 480x854", "240p 240x426"]


def test_larger_rungs_are_made_for_whoever_asks() -> None:
    assert sizes(of_size(3840, 2160), highest=2160)[:2] == ["2160p 3840x2160", "1440p 2560x1440"]
    assert sizes(of_size(1920, 1080), highest=480) == ["480p 854x480", "240p 426x240"]
    assert sizes(of_size(320, 180), highest=2160) == ["180p 320x180"]


@pytest.mark.parametrize(("width", "height"), [(1, 1), (2, 2), (1, 5), (16, 16), (3, 3), (8, 8)])
def test_there_is_a_rung_for_the_smallest(width: int, height: int) -> None:
    (rung,) = rungs(of_size(width, height))
    assert rung.width == max(2, width // 2 * 2)
    assert rung.height == max(2, height // 2 * 2)


@pytest.mark.parametrize(
    ("width", "height"), [(8192, 16), (16, 8192), (8000, 1000), (8192, 8192), (8192, 2), (2, 8192)]
)
def test_no_side_is_longer_than_decoders_take(width: int, height: int) -> None:
    for rung in rungs(of_size(width, height)):
        assert max(rung.width, rung.height) <= 4096
        assert (rung.width > rung.height) is (width > height)


def test_whatever_the_size_nothing_is_upscaled_and_all_sides_are_even() -> None:
    for width in (*range(1, 40), 99, 321, 640, 1079, 1081, 1920, 4097, 8191):
        for height in (*range(1, 40), 240, 241, 243, 719, 721, 1080, 2161, 8191):
            ladder = rungs(of_size(width, height))
            assert len({rung.name for rung in ladder}) == len(ladder) >= 1
            for rung in ladder:
                assert rung.width <= max(2, width)
                assert rung.height <= max(2, height)
                assert rung.width % 2 == rung.height % 2 == 0
                assert rung.name == f"{min(rung.width, rung.height)}p"


def test_the_shape_stays_to_a_pixel_or_two() -> None:
    for width, height in [(1920, 1080), (1998, 1080), (1080, 1350), (4000, 3000), (641, 359), (2048, 858)]:
        for rung in rungs(of_size(width, height)):
            assert rung.width == pytest.approx(rung.height * width / height, abs=2 + 2 * width / height)


def test_pixels_that_are_not_square_become_square() -> None:
    assert sizes(of_size(720, 576, pixel_aspect=64 / 45))[0] == "576p 1024x576"
    assert sizes(of_size(320, 180, pixel_aspect=0.5)) == ["160p 160x180"]
    assert sizes(of_size(320, 180, pixel_aspect=0.0)) == ["180p 320x180"], "that is nonsense"


def test_a_rung_tells_its_bits_its_rate_and_whether_there_is_sound() -> None:
    heard, silent = rungs(of_size(1920, 1080, sound=SOUND)), rungs(of_size(1920, 1080))
    assert all(rung.audio for rung in heard)
    assert not any(rung.audio for rung in silent)
    assert [rung.fps for rung in heard] == [25.0] * 4
    bits = [rung.video_bitrate for rung in heard]
    assert bits[0] == 5_000_000
    assert bits == sorted(bits, reverse=True)
    assert rungs(of_size(1920, 1080, fps=60.0))[0].video_bitrate > bits[0], "more frames need more"
    assert rungs(of_size(2, 2))[0].video_bitrate >= 64_000


@pytest.mark.parametrize(
    ("fps", "rate"),
    [
        (0.99, None),
        *((fps, None) for fps in (1.0, 10.0, 23.976, 24.024, 29.97003, 50.0, 59.94006, 60.0, 60.06)),
        (62.5, Fraction(125, 4)),
        (90.0, 45),
        (100.0, 50),
        (119.88012, Fraction(60_000, 1001)),
        (120.0, 60),
        (144.0, 48),
        (240.0, 60),
    ],
)
def test_what_is_steady_keeps_its_rate_unless_it_is_too_fast(fps: float, rate: Fraction | None) -> None:
    if fps < 1:
        frames, duration = 99, 100.0
        assert new_rate(_film(fps=fps, frames=frames, duration=duration)) == Fraction(2 * frames, 100)
    else:
        assert new_rate(_film(fps=fps)) == rate


@pytest.mark.parametrize(
    ("fps", "pace", "rate"),
    [
        (10.96, 25.0, 25),
        (29.8, 30.30303, 30),
        (29.5, 29.97, Fraction(30_000, 1001)),
        (5.0, 60.0, 60),
        (5.0, 8.333333, 25),
        (14.0, 15.0, 30),
        (14.0, 62.5, 60),
        (21.7, 100.0, 50),
        (500.0, 1000.0, 60),
        (5.0, 0.2, 24),
        (34.0, 30.0, 60),
        (24.0, 0.0, 24),
    ],
)
def test_a_variable_rate_becomes_a_constant_one_that_loses_few_frames(fps: float, pace: float, rate: Fraction) -> None:
    found = new_rate(_film(fps=fps, pace=pace, variable_rate=True))
    assert found is not None
    assert float(found) == pytest.approx(float(rate), rel=0.005)


def test_a_film_that_stands_still_for_hours_costs_no_more_frames_than_it_can_show() -> None:
    still = new_rate(_film(fps=10 / 14_000, pace=60.0, variable_rate=True, frames=10, duration=14_000.0))
    assert still == 1
    screen = new_rate(_film(fps=5.0, pace=60.0, variable_rate=True, frames=18_000, duration=3600.0))
    assert screen is not None
    assert 24 <= screen <= 50
    short = new_rate(_film(fps=0.5, pace=60.0, variable_rate=True, frames=30, duration=60.0))
    assert short == 60


def test_times_that_were_rounded_become_exact() -> None:
    assert new_rate(_film(fps=29.970030, jitter=0.015)) == Fraction(30_000, 1001)
    long = new_rate(_film(fps=29.97, jitter=0.015, duration=7200.0, frames=215_784))
    assert long is not None
    assert long * 7200 == pytest.approx(215_784, abs=0.1), "no frame is missed at its end"
    assert new_rate(_film(fps=47.302291, jitter=0.02)) == pytest.approx(47.302291, abs=1e-5)


def test_a_single_frame_lasts_as_long_as_the_film() -> None:
    assert new_rate(_film(fps=25.0, frames=1, duration=0.04)) == 25
    assert new_rate(_film(fps=0.1, frames=1, duration=10.0)) == 1, "so that it can be cut"


def test_without_a_film_there_is_no_ladder() -> None:
    with pytest.raises(UnusableFile, match=r"no film in the file \(mp3\); send a video"):
        rungs(Probed(MediaKind.AUDIO, "mp3", 2.0, sound=SOUND))
    image = Probed(MediaKind.IMAGE, "png", 0.0, picture=PictureTrack(0, "png", "rgb", 10, 10))
    with pytest.raises(UnusableFile, match="no film in the file"):
        rungs(image)
    for empty in (of_size(0, 10), of_size(10, 10, duration=0.0), of_size(10, 10, fps=0.0)):
        with pytest.raises(UnusableFile, match="not a single frame"):
            rungs(empty)


def _film(**traits: Any) -> PictureTrack:
    picture = of_size(320, 180, **traits).picture
    assert picture is not None
    return picture
