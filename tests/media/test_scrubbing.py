"""A poster, and a sheet of small pictures that belong to the moments its track tells."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from PIL import Image

from penstock.media.errors import UnusableFile
from penstock.media.ffmpeg import reading, run, writing
from penstock.media.frame_encoder import encode
from penstock.media.probe import probe
from penstock.media.probed import PictureTrack
from penstock.media.scrubbing import ScrubSheet, poster, scrub_sheet
from tests.media.films import FPS, HEIGHT, WIDTH, film, grey_frames, tone
from tests.media.test_samples import VIDEOS, sample

CUE = re.compile(r"(\d\d):(\d\d):(\d\d\.\d{3}) --> (\d\d):(\d\d):(\d\d\.\d{3})\n(\S+)#xywh=(\d+),(\d+),(\d+),(\d+)\n")


def cues(track: Path) -> list[tuple[float, float, str, tuple[int, int, int, int]]]:
    """What a player reads: from when to when, which file, and which part of it."""
    text = track.read_text()
    assert text.startswith("WEBVTT\n\n")
    found = []
    for h, m, s, until_h, until_m, until_s, name, *place in CUE.findall(text):
        x, y, width, height = map(int, place)
        begin, end = int(h) * 3600 + int(m) * 60 + float(s), int(until_h) * 3600 + int(until_m) * 60 + float(until_s)
        found.append((begin, end, name, (x, y, x + width, y + height)))
    return found


def test_each_tile_is_the_picture_in_the_middle_of_its_time(tmp_path: Path) -> None:
    levels = [20 + 2 * n for n in range(100)]
    source = tmp_path / "film.mp4"
    encode(grey_frames(levels), source, width=WIDTH, height=HEIGHT, fps=8)
    made = scrub_sheet(source, probe(source), tmp_path / "scrub.jpg", tmp_path / "scrub.vtt")
    assert (made.tiles, made.columns, made.rows) == (13, 10, 2)
    with Image.open(tmp_path / "scrub.jpg") as sheet:
        assert sheet.size == (10 * WIDTH, 2 * HEIGHT)
        for begin, end, name, place in cues(tmp_path / "scrub.vtt"):
            assert name == "scrub.jpg"
            middle = sheet.convert("L").crop(place).resize((1, 1)).getpixel((0, 0))
            assert middle == pytest.approx(levels[int((begin + end) / 2 * 8)], abs=5)


def test_the_track_covers_the_film_without_a_gap(tmp_path: Path) -> None:
    source = film(tmp_path / "film.mp4", 3.5)
    scrub_sheet(source, probe(source), tmp_path / "scrub.jpg", tmp_path / "scrub.vtt")
    told = cues(tmp_path / "scrub.vtt")
    assert [begin for begin, *_ in told] == [0.0, *(end for _, end, *_ in told[:-1])]
    assert told[-1][1] == pytest.approx(3.5, abs=0.001)


def test_a_long_film_has_no_more_tiles_than_fit_on_a_sheet() -> None:
    picture = PictureTrack(0, "h264", "yuv420p", 1920, 1080, duration=7200.0, fps=25.0)
    sheet = ScrubSheet.of(picture)
    assert (sheet.tiles, sheet.width, sheet.height, sheet.step) == (100, 160, 90, Fraction(72))
    last = sheet.track("scrub.jpg").split("\n\n")[-1]
    assert last == "01:58:48.000 --> 02:00:00.000\nscrub.jpg#xywh=1440,810,160,90\n"


def test_frames_that_need_no_others_are_enough_if_there_are_many(tmp_path: Path) -> None:
    levels = [40] * 24 + [200] * 24
    steady, source = tmp_path / "steady.mp4", tmp_path / "film.mp4"
    encode(grey_frames(levels), steady, width=WIDTH, height=HEIGHT, fps=FPS)
    run([*reading(steady), "-c:v", "libx264", "-preset", "ultrafast", "-g", "3", writing(source)])
    probed = probe(source)
    assert probed.picture is not None
    assert probed.picture.key_frames == 16
    scrub_sheet(source, probed, tmp_path / "scrub.jpg", tmp_path / "scrub.vtt")
    with Image.open(tmp_path / "scrub.jpg") as sheet:
        seen = [sheet.convert("L").getpixel((x * WIDTH + 80, 45)) for x in range(4)]
    assert seen == pytest.approx([40, 40, 200, 200], abs=6)


def test_a_codec_that_cannot_leave_frames_out_is_decoded_whole(tmp_path: Path) -> None:
    source = tmp_path / "film.ogv"
    run([*reading(film(tmp_path / "film.mp4", 2)), "-c:v", "libtheora", "-g", "2", writing(source)])
    assert scrub_sheet(source, probe(source), tmp_path / "scrub.jpg", tmp_path / "scrub.vtt").tiles == 2


@pytest.mark.parametrize("frames", [1, 2, 5])
def test_a_few_frames_are_enough(tmp_path: Path, frames: int) -> None:
    source = film(tmp_path / "film.mp4", frames / FPS)
    scrub_sheet(source, probe(source), tmp_path / "scrub.jpg", tmp_path / "scrub.vtt")
    assert len(cues(tmp_path / "scrub.vtt")) == 1
    with Image.open(tmp_path / "scrub.jpg") as sheet:
        assert sheet.size == (WIDTH, HEIGHT)


def test_a_poster_is_upright_and_as_large_as_the_film(tmp_path: Path) -> None:
    run(
        [
            "-display_rotation",
            "90",
            *reading(film(tmp_path / "film.mp4", 1)),
            "-c",
            "copy",
            writing(tmp_path / "up.mp4"),
        ]
    )
    poster(tmp_path / "up.mp4", probe(tmp_path / "up.mp4"), tmp_path / "poster.jpg")
    with Image.open(tmp_path / "poster.jpg") as image:
        assert (image.format, image.size) == ("JPEG", (HEIGHT, WIDTH))


def test_sound_has_neither(tmp_path: Path) -> None:
    heard = tone(tmp_path / "tone.wav", 1)
    with pytest.raises(UnusableFile, match="no film in the file"):
        poster(heard, probe(heard), tmp_path / "poster.jpg")
    with pytest.raises(UnusableFile, match="no film in the file"):
        scrub_sheet(heard, probe(heard), tmp_path / "scrub.jpg", tmp_path / "scrub.vtt")
    assert [path.name for path in tmp_path.iterdir()] == ["tone.wav"]


@pytest.mark.realdata
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "smallest.webm" else pytest.mark.long) for name in VIDEOS]
)
def test_every_good_sample_has_both(tmp_path: Path, name: str) -> None:
    source = sample(f"video/{name}")
    probed = probe(source)
    poster(source, probed, tmp_path / "poster.jpg")
    made = scrub_sheet(source, probed, tmp_path / "scrub.jpg", tmp_path / "scrub.vtt")
    with Image.open(tmp_path / "scrub.jpg") as sheet:
        assert sheet.size == (made.columns * made.width, made.rows * made.height)
    with Image.open(tmp_path / "poster.jpg") as image:
        assert max(image.size) <= 1280
    assert cues(tmp_path / "scrub.vtt")[-1][1] == pytest.approx(probed.duration, abs=0.001)
