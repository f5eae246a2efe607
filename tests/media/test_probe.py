"""What a file is and holds, measured."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import av
import pytest

from penstock.media.errors import UnusableFile
from penstock.media.ffmpeg import H264, reading, run, writing
from penstock.media.probe import MediaKind, PictureTrack, probe
from penstock.media.soundness import sound_video
from tests.media.films import FPS, beheaded, film, tone


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


def test_a_frame_left_out_is_noticed_also_where_times_are_whole_frames(tmp_path: Path) -> None:
    chosen = ("-vf", "select='not(eq(n,1))'", "-fps_mode", "vfr", "-c:v", "mjpeg")
    found = picture_of(remade(film(tmp_path / "steady.mp4", 2), "varying.avi", *chosen))
    assert found.variable_rate
    assert found.pace == pytest.approx(FPS), "none other is left out"


def test_a_film_begins_with_the_first_frame_that_can_be_decoded(tmp_path: Path) -> None:
    found = picture_of(beheaded(tmp_path))
    with av.open(str(tmp_path / "cut.mkv")) as container:
        shown = [frame for frame in container.decode(video=0) if frame.time is not None]
    length = 1 / FPS
    assert found.duration == pytest.approx(shown[-1].time - shown[0].time + length, abs=0.01)
    assert found.first == pytest.approx(shown[0].time, abs=0.001)


def test_the_clock_of_a_file_may_begin_at_any_time(tmp_path: Path) -> None:
    """A Matroska file tells when it ends, which is not how long it is."""
    steady = film(tmp_path / "steady.mp4", 2, sound=tone(tmp_path / "tone.wav", 2))
    late = remade(steady, "late.mkv", "-c", "copy", "-output_ts_offset", "5")
    found = sound_video(late)
    assert found.duration == pytest.approx(2, abs=0.01)
    assert found.claimed == pytest.approx(2, abs=0.1)
    assert found.picture is not None
    assert found.picture.first == pytest.approx(5, abs=0.05)
    assert found.picture.start < 0.05
    assert found.sound is not None
    assert found.sound.first == pytest.approx(5, abs=0.05)


@pytest.mark.parametrize(
    ("name", "coded"),
    [
        ("h264.mpg", ("-c:v", "libx264", "-f", "vob")),
        ("mpeg2.mpg", ("-c:v", "mpeg2video", "-bf", "2")),
        ("mpeg4.avi", ("-c:v", "mpeg4", "-bf", "2")),
        ("stream.ts", ("-c:v", "libx264")),
        ("plain.m2v", ("-c:v", "mpeg2video", "-bf", "2")),
    ],
)
def test_a_film_ends_with_its_last_frame_also_where_packets_do_not_say_when_they_are_shown(
    tmp_path: Path, name: str, coded: tuple[str, ...]
) -> None:
    run([*reading(film(tmp_path / "film.mp4", 38 / 30, fps=30)), *coded, writing(tmp_path / name)])
    picture = probe(tmp_path / name).picture
    assert picture is not None
    assert (picture.frames, picture.variable_rate) == (38, False)
    assert picture.duration == pytest.approx(38 / 30, abs=1e-5)


def test_how_colours_are_to_be_shown_is_told(tmp_path: Path) -> None:
    steady = film(tmp_path / "steady.mp4", 0.5)
    assert (picture_of(steady).matrix, picture_of(steady).full_range) == ("bt709", False)
    full = picture_of(remade(steady, "full.mov", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p"))
    assert (full.matrix, full.full_range, full.interlaced) == ("bt601", True, False)
    lines = ("-vf", "scale=160:96,interlace", "-c:v", "mpeg2video", "-flags", "+ilme+ildct", "-r", "25")
    assert picture_of(remade(steady, "lines.mkv", *lines)).interlaced


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
