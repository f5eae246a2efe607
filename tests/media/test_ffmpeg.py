"""ffmpeg is run safely: bounded, silent, ended when nobody waits, and never led to another file."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.media import ffmpeg
from penstock.media.errors import FfmpegFailed, FfmpegTooSlow, UnusableFile
from penstock.media.probe import probe
from penstock.media.soundness import sound_video
from tests.media.films import film
from tests.media.processes import children

NOWHERE = ["-f", "null", "-"]
ENDLESS = ["-re", "-f", "lavfi", "-i", "anullsrc", *NOWHERE]
"Silence in real time, without an end."


class Enough(Exception):
    """Nobody waits any more."""


def test_what_it_says_and_how_long_it_took_is_told() -> None:
    before = ffmpeg.spent()
    ran = ffmpeg.run(["-f", "lavfi", "-i", "testsrc=size=32x32:rate=10:duration=1", *NOWHERE])
    assert (ran.frames, ran.complaints, ran.log) == (10, 0, "")
    assert 0 < ran.seconds == pytest.approx(ffmpeg.spent() - before)


def test_a_failure_has_its_last_words_and_no_folder_of_this_machine(tmp_path: Path) -> None:
    missing = tmp_path / "missing.mp4"
    with pytest.raises(FfmpegFailed, match=r"missing\.mp4") as failed:
        ffmpeg.run([*ffmpeg.reading(missing), *NOWHERE])
    assert str(tmp_path) not in str(failed.value)
    assert "0x" not in str(failed.value)


def test_it_is_ended_when_its_time_is_over() -> None:
    before, spent = children(), ffmpeg.spent()
    with pytest.raises(FfmpegTooSlow):
        ffmpeg.run(ENDLESS, limit=timedelta(seconds=0.3))
    assert children() == before
    assert 0.3 <= ffmpeg.spent() - spent < 10


def test_what_progress_raises_ends_it_and_goes_through() -> None:
    before, told = children(), []

    def stop(seconds: float) -> None:
        told.append(seconds)
        if len(told) == 3:
            raise Enough

    with pytest.raises(Enough):
        ffmpeg.run(ENDLESS, progress=stop)
    assert children() == before
    assert told == sorted(told)


def test_relative_names_are_within_a_folder(tmp_path: Path) -> None:
    ffmpeg.run(["-f", "lavfi", "-i", "anullsrc", "-t", "0.1", "-f", "wav", "silence.wav"], folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["silence.wav"]


def test_whoever_wants_to_know_more_often_is_told_more_often() -> None:
    told = list[float]()

    def stop(seconds: float) -> None:
        told.append(seconds)
        if len(told) == 40:
            raise Enough

    before = ffmpeg.spent()
    with pytest.raises(Enough):
        ffmpeg.run(ENDLESS, progress=stop, tick=0.01)
    assert ffmpeg.spent() - before < 40 * ffmpeg.TICK


def test_one_that_does_not_listen_is_ended_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deaf = tmp_path / "deaf"
    deaf.write_text("#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 0.1; done\n")
    deaf.chmod(0o755)
    monkeypatch.setattr(ffmpeg, "binary", lambda: str(deaf))
    monkeypatch.setattr(ffmpeg, "_GRACE", 0.2)
    before = children()
    with pytest.raises(FfmpegTooSlow):
        ffmpeg.run([], limit=timedelta(seconds=0.2))
    assert children() == before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent is gone")
def test_one_that_may_take_long_ends_with_the_process_that_waits_for_it(tmp_path: Path) -> None:
    """A worker that was killed leaves none behind that goes on for hours."""
    waiting = f"from penstock.media.ffmpeg import *; run({ENDLESS!r}, limit=timedelta(hours=2), progress=print)"
    worker = subprocess.Popen([sys.executable, "-c", waiting], stdout=subprocess.PIPE, cwd=tmp_path)
    assert worker.stdout is not None
    worker.stdout.readline()  # it runs
    (child,) = Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()
    ended = os.pidfd_open(int(child))
    worker.kill()
    worker.wait()
    try:
        assert select.select([ended], [], [], 10)[0], "it goes on"
    finally:
        os.close(ended)
        worker.stdout.close()


def test_it_ends_itself_when_nobody_is_left_to_end_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = tmp_path / "asked"
    asked.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\n')
    asked.chmod(0o755)
    monkeypatch.setattr(ffmpeg, "binary", lambda: str(asked))
    ffmpeg.run(["last"], limit=timedelta(seconds=9))
    arguments = (tmp_path / "arguments").read_text().split()
    assert arguments[-1] == "last"
    assert "-nostdin" in arguments
    assert arguments[arguments.index("-timelimit") + 1] == str(10 * (os.cpu_count() or 1))


def test_what_the_feeder_raises_ends_it() -> None:
    def fed() -> object:
        yield bytes(32 * 32 * 3)
        raise Enough

    before = children()
    raw = ["-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", "32x32", "-i", "pipe:0"]
    with pytest.raises(Enough):
        ffmpeg.run([*raw, *NOWHERE], feed=fed())  # type: ignore[arg-type]
    assert children() == before


def test_a_feeder_may_have_more_than_is_wanted() -> None:
    raw = ["-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", "64x64", "-i", "pipe:0"]
    ran = ffmpeg.run([*raw, "-frames:v", "2", *NOWHERE], feed=(bytes(64 * 64 * 3) for _ in range(200)))
    assert ran.frames == 2


def test_a_name_cannot_be_taken_for_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("-version.mp4", "pipe:0.mp4", "concat:a.mp4", "%03d.mp4"):
        film(Path(name), 0.5)
        assert probe(Path(name)).picture is not None
        assert ffmpeg.run([*ffmpeg.reading(Path(name)), *NOWHERE]).frames == 6


def playlist(target: Path) -> str:
    return f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{target}\n#EXT-X-ENDLIST\n"


def session_description(target: Path) -> str:
    return (
        "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 9 RTP/AVP 96\na=rtpmap:96 H264/90000\n"
    )


def manifest(target: Path) -> str:
    return (
        '<?xml version="1.0"?>'
        '<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1S">'
        f'<Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1"><BaseURL>{target}</BaseURL>'
        "</Representation></AdaptationSet></Period></MPD>"
    )


@pytest.mark.parametrize(
    "disguised",
    [
        playlist,
        session_description,
        manifest,
        lambda target: f"ffconcat version 1.0\nfile '{target}'\n",
        lambda target: f"ffconcat version 1.0\nfile {target.name}\n",
    ],
    ids=["playlist", "session description", "manifest", "script", "script in the same folder"],
)
def test_a_disguised_playlist_opens_no_other_file(tmp_path: Path, disguised: object) -> None:
    """An uploaded file must never make ffmpeg open another file or the network."""
    film(tmp_path / "secret.mp4", 0.5)
    sent = tmp_path / "sent.mp4"
    sent.write_text(disguised(tmp_path / "secret.mp4"))  # type: ignore[operator]
    # It would be led there, if it were let.
    with pytest.raises(FfmpegFailed):
        ffmpeg.run([*ffmpeg.reading(sent), *NOWHERE])
    for look in (probe, sound_video):
        with pytest.raises(UnusableFile, match="text"):
            look(sent)


def test_the_guards_are_what_keeps_a_script_from_being_followed(tmp_path: Path) -> None:
    """So that the test above would notice if they were gone."""
    film(tmp_path / "secret.mp4", 0.5)
    sent = tmp_path / "sent.mp4"
    sent.write_text("ffconcat version 1.0\nfile secret.mp4\n")
    assert ffmpeg.run(["-i", ffmpeg.writing(sent), *NOWHERE]).frames == 6
