"""Real files, uploaded one by one: good ones become clips and tracks, broken ones are refused with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.domains.musicvideo import scenes
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import BACKING_TRACK, Project, SceneStatus
from penstock.domains.musicvideo.uploading import Sent
from penstock.files.upload import UploadStatus
from penstock.media.errors import UnusableFile
from tests.domains.musicvideo.story import ANN, generated, sent, workers
from tests.domains.musicvideo.story import scenes as scenes_of

MEDIA = Path(__file__).parents[4] / "shared" / "data" / "media"
pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not MEDIA.is_dir(), reason="the folder of real sample files is not here"),
]

BROKEN_VIDEOS = {
    "corrupt.mkv",
    "fixture2.mkv",  # cut off after two seconds of nineteen minutes
    "made_bitflips.mp4",
    "made_empty.mp4",
    "made_no_video.mp4",
    "made_text_as.mp4",
    "smallest_with_audio.mp4",  # without pictures
}
BROKEN_SOUNDS = {"smallest.wav"}  # a header, and no sound


def test_every_video_is_taken_or_refused_with_a_reason(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-28, MV-31, MV-50: as the clip of a scene; nothing crashes, and what is refused changes nothing."""
    project = generated(studio, tmp_path)
    hands, taken, refused = workers(studio), set(), {}
    for video in sorted((MEDIA / "video").iterdir()):
        before = scenes_of(studio, project.project_id)[0]
        try:
            scenes.upload_video(studio, project.project_id, 1, video, by=ANN)
        except UnusableFile as error:
            refused[video.name] = str(error)
            assert scenes_of(studio, project.project_id)[0] == before
            continue
        hands.drain()
        clip = scenes_of(studio, project.project_id)[0]
        assert (clip.status, clip.error_message) == (SceneStatus.COMPLETED, None), video.name
        assert clip.shown_duration, video.name
        taken.add(video.name)
    there = {video.name for video in (MEDIA / "video").iterdir()}
    assert set(refused) == BROKEN_VIDEOS & there
    assert taken == there - BROKEN_VIDEOS
    assert all(len(reason) > 20 for reason in refused.values())


def test_every_sound_is_taken_or_refused_with_a_reason(studio: FilmStudio, tmp_path: Path) -> None:
    """MV-53, F-MV-9: as the backing track; the key stays, and the type is the true one."""
    project = generated(studio, tmp_path)
    refused = set()
    for sound in sorted((MEDIA / "audio").iterdir()):
        content = sound.read_bytes()
        kind = studio.objects.put("mv/outputs/character_reference/sniffed.png", content).content_type
        upload = sent(studio, project, Sent.AUDIO, content, content_type=kind)
        if upload.status is UploadStatus.REFUSED:
            refused.add(sound.name)
            continue
        now = studio.store.get(Project.at(project_id=project.project_id))
        assert now.audio_duration, sound.name
        assert studio.objects.head(BACKING_TRACK.key(project_id=project.project_id)).content_type == kind
    assert refused == BROKEN_SOUNDS & {sound.name for sound in (MEDIA / "audio").iterdir()}
