"""What a file is and holds, measured."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from penstock.media.errors import UnusableFile
from penstock.media.ffmpeg import H264, reading, run, writing
from penstock.media.probe import MediaKind, PictureTrack, probe
from tests.media.films import FPS, film, tone


def picture_of(path: Path) -> PictureTrack:
    picture = probe(path).picture
    assert picture is not None
    return picture


def remade(path: Path, name: str, *arguments: str) -> Path:
    into = path.with_name(name)
    run([*reading(path), *arguments, writing(into)])
    return into


def test_the_content_decides_and_not_the_name(tmp_path: Path) -> None:
    """F-MV-9: fixed extensions, whatever is uploaded."""
    tone(tmp_path / "really_sound.png", 1)
    film(tmp_path / "really_a_film.mp3", 1)
    assert probe(tmp_path / "really_sound.png").kind is MediaKind.AUDIO
    assert probe(tmp_path / "really_a_film.mp3").kind is MediaKind.VIDEO


def test_a_rate_that_varies_is_noticed(tmp_path: Path) -> None:
    steady = film(tmp_path / "steady.mp4", 2)
    varying = remade(steady, "varying.mp4", "-vf", "select='not(mod(n,3))+gt(n,15)'", "-fps_mode", "vfr", *H264)
    assert not picture_of(steady).variable_rate
    found = picture_of(varying)
    assert found.variable_rate
    assert 0 < found.fps < FPS
    assert found.duration == pytest.approx(2, abs=1 / FPS)


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_sizes_are_those_shown(tmp_path: Path, degrees: int) -> None:
    film(tmp_path / "upright.mp4", 0.5)
    turned = tmp_path / "turned.mp4"
    run(["-display_rotation", str(degrees), *reading(tmp_path / "upright.mp4"), "-c", "copy", writing(turned)])
    found = picture_of(turned)
    assert found.rotation == degrees
    assert (found.width, found.height) == ((160, 90) if degrees == 180 else (90, 160))


def test_several_streams_and_a_cover(tmp_path: Path) -> None:
    """The picture on a record's sleeve does not make a film of it."""
    heard = tone(tmp_path / "tone.wav", 1)
    cover = film(tmp_path / "cover.mp4", 1 / FPS)
    sleeve = tmp_path / "song.mp3"
    attached = ("-map", "0:a", "-map", "1:v", "-c:v", "mjpeg", "-disposition:v", "attached_pic")
    run([*reading(heard), *reading(cover), *attached, "-f", "mp3", writing(sleeve)])
    found = probe(sleeve)
    assert (found.kind, found.picture, found.streams) == (MediaKind.AUDIO, None, 2)
    assert found.duration == pytest.approx(1, abs=0.03)


def test_alpha_is_seen(tmp_path: Path) -> None:
    opaque = film(tmp_path / "opaque.mp4", 0.5)
    assert not picture_of(opaque).has_alpha
    assert picture_of(remade(opaque, "clear.mov", "-c:v", "qtrle", "-pix_fmt", "argb")).has_alpha


def test_a_header_without_a_length_is_no_hindrance(tmp_path: Path) -> None:
    live = remade(film(tmp_path / "film.mp4", 2), "live.mkv", "-c", "copy", "-live", "1")
    found = probe(live)
    assert found.claimed is None
    assert found.duration == pytest.approx(2, abs=0.01)


def test_the_time_spent_on_a_file_is_bounded(tmp_path: Path) -> None:
    film(tmp_path / "film.mp4", 0.5)
    with pytest.raises(UnusableFile, match="longer than can be looked at"):
        probe(tmp_path / "film.mp4", limit=timedelta(seconds=-1))
