"""Real films, sent one by one: good ones are ready with what they truly are, broken ones are refused with a reason."""

from __future__ import annotations

import subprocess
from pathlib import Path

import av
import pytest

from penstock.domains.videos.model import STREAM, SubmissionStatus, Video, VideoStatus
from penstock.domains.videos.video_library import VideoLibrary
from penstock.errors import InvalidValue
from penstock.files.object_reads import every, fetch
from penstock.media.ffmpeg import binary
from tests.domains.videos.story import seen, settle, submitted

FILMS = Path(__file__).parents[4] / "shared" / "data" / "media" / "video"
pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not FILMS.is_dir(), reason="the folder of real sample files is not here"),
]
BROKEN = {
    "corrupt.mkv": "damaged",
    "fixture2.mkv": "",  # cut off after two seconds of nineteen minutes
    "made_bitflips.mp4": "damaged",
    "made_no_video.mp4": "",
    "made_text_as.mp4": "text",
    "smallest_with_audio.mp4": "",  # without pictures
}
SMALL = 20_000
"Bytes of those that are tried each time."


def _named(wanted: bool) -> list[str]:
    found = sorted(FILMS.iterdir()) if FILMS.is_dir() else []
    return [each.name for each in found if each.stat().st_size and (each.stat().st_size < SMALL) is wanted]


@pytest.mark.parametrize("name", _named(True))
def test_a_small_film_is_ready_or_refused(library: VideoLibrary, name: str, tmp_path: Path) -> None:
    _try(library, FILMS / name, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", _named(False))
def test_a_film_is_ready_or_refused(library: VideoLibrary, name: str, tmp_path: Path) -> None:
    _try(library, FILMS / name, tmp_path)


def test_an_empty_file_is_not_even_announced(library: VideoLibrary) -> None:
    with pytest.raises(InvalidValue):
        submitted(library, FILMS / "made_empty.mp4")


def _try(library: VideoLibrary, film: Path, folder: Path) -> None:
    video_id = submitted(library, film).video_id
    settle(library)
    submission = seen(library, video_id)
    if film.name in BROKEN:
        assert submission.status is SubmissionStatus.REFUSED
        assert BROKEN[film.name] in (submission.error or "")
        assert len(submission.error or "") > 20
        assert library.store.lookup(Video.at(video_id=video_id)) is None
        return
    assert (submission.status, submission.error) == (SubmissionStatus.ACCEPTED, None)
    video = library.video(video_id)
    assert (video.status, video.error) == (VideoStatus.READY, None)
    assert video.thumbnail_s3_key is not None
    seconds, width, height = _truth(film)
    assert video.duration == pytest.approx(seconds * 1000, abs=40)
    assert video.resolution == f"{width}x{height}"
    _check_stream(library, video, folder, seconds, width, height)


def _truth(film: Path) -> tuple[float, int, int]:
    """How long its pictures are shown, decoded to the last, and how large they are when they stand upright."""
    with av.open(str(film)) as container:
        stream = max(container.streams.video, key=lambda each: each.width * each.height)
        frames = [f for f in container.decode(stream) if f.time is not None]
        claimed = (container.duration or 0) / 1e6
    first, last = frames[0], frames[-1]
    lasts = float(last.duration * last.time_base) if last.duration and last.time_base else 0.0
    if not lasts:
        lasts = (last.time - first.time) / (len(frames) - 1) if len(frames) > 1 else claimed
    turned = abs(first.rotation) % 180 == 90
    width, height = (first.height, first.width) if turned else (first.width, first.height)
    return last.time - first.time + lasts, width, height


def _check_stream(library: VideoLibrary, video: Video, folder: Path, seconds: float, width: int, height: int) -> None:
    """Every rung decodes to its end without a complaint, is as long as the film, and no larger."""
    whole = folder / "stream"
    for found in every(library.objects, f"videos/{video.video_id}/{STREAM}/"):
        place = whole / found.key.partition(f"{STREAM}/")[2]
        place.parent.mkdir(parents=True, exist_ok=True)
        fetch(library.objects, found.key, place.parent).rename(place)
    frame = 1 / float((video.found or {})["picture"]["fps"] or 1)
    assert video.resolutions
    for rung in video.resolutions:
        playlist = whole / rung / "index.m3u8"
        lengths = [float(line[8:].rstrip(",")) for line in playlist.read_text().splitlines() if line[:8] == "#EXTINF:"]
        assert sum(lengths) == pytest.approx(seconds, abs=max(frame, 0.04))
        with av.open(str(playlist)) as made:
            shown = made.streams.video[0]
            assert min(shown.width, shown.height) <= max(2, min(width, height))
        decoding = [binary(), "-v", "error", "-nostdin", "-xerror", "-i", str(playlist), "-f", "null", "-"]
        ran = subprocess.run(decoding, capture_output=True, timeout=300, check=False)
        assert (ran.returncode, ran.stderr) == (0, b"")
