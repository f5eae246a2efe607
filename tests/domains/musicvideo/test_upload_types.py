"""Whatever a file is called, its bytes decide: a form and a signed upload have the same verdict, under any type."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from penstock.domains.musicvideo import character_references, scenes, uploading
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Project
from penstock.domains.musicvideo.projects import NewProject, create_project
from penstock.domains.musicvideo.request_bodies import NewUpload
from penstock.domains.musicvideo.uploading import Sent
from penstock.errors import InvalidValue
from penstock.files.upload import UploadStatus
from penstock.media.errors import UnusableFile
from penstock.media.ffmpeg import reading, run, writing
from penstock.media.probed import MediaKind
from penstock.media.soundness import advice
from tests.domains.musicvideo.quick_providers import film
from tests.domains.musicvideo.story import ANN, generated, sent, workers
from tests.domains.musicvideo.story import scenes as scenes_of
from tests.media.films import tone
from tests.media.heics import heic

MEDIA = Path(__file__).parents[4] / "shared" / "data" / "media"
KINDS = {"video": Sent.SCENE, "audio": Sent.AUDIO, "image": Sent.CHARACTER, "glb": Sent.PRODUCT}
WRONG = {Sent.SCENE: "image/png", Sent.AUDIO: "video/mp4", Sent.CHARACTER: "text/plain", Sent.PRODUCT: "image/jpeg"}
BROKEN = {
    *("corrupt.mkv", "fixture2.mkv", "made_bitflips.mp4", "made_empty.mp4", "made_no_video.mp4", "made_text_as.mp4"),
    *("smallest_with_audio.mp4", "smallest.wav", "corrupt.png", "truncated.png"),
}
SMALL = 20_000
"Bytes of those that are tried each time."


def _samples(*, small: bool) -> list[str]:
    found = [path for path in sorted(MEDIA.glob("*/*")) if (path.stat().st_size < SMALL) is small]
    return [f"{path.parent.name}/{path.name}" for path in found]


@pytest.fixture
def project(studio: FilmStudio, tmp_path: Path) -> Project:
    return generated(studio, tmp_path)


def by_form(studio: FilmStudio, project: Project, kind: Sent, path: Path) -> bool:
    """Is a file taken that comes in a form? Of its type a form is not even asked."""
    told: dict[Sent, Callable[[], object]] = {
        Sent.SCENE: lambda: scenes.upload_video(studio, project.project_id, 1, path, by=ANN),
        Sent.AUDIO: lambda: create_project(studio, _new(audio=path), by=ANN),
        Sent.CHARACTER: lambda: character_references.upload_reference(studio, path, by=ANN),
        Sent.PRODUCT: lambda: create_project(studio, _new(mode="ad-creative", images=[path]), by=ANN),
    }
    try:
        told[kind]()
    except UnusableFile:
        return False
    workers(studio).drain()
    return True


def _new(**wanted: object) -> NewProject:
    return NewProject(**{"mode": "music-video", "prompt": "A robot", "character_description": "Silver", **wanted})  # type: ignore[arg-type]


def by_upload(studio: FilmStudio, project: Project, kind: Sent, path: Path, content_type: str) -> bool:
    """Is a file taken that is sent to a signed URL, announced as of this type?"""
    if not path.stat().st_size:
        with pytest.raises(ValueError, match="greater than or equal to 1"):
            NewUpload.model_validate({"kind": kind, "size": 0, "contentType": content_type})
        return False
    sequence = 1 if kind is Sent.SCENE else None
    upload = sent(studio, project, kind, path.read_bytes(), content_type=content_type, sequence=sequence)
    assert (upload.error is None) is (upload.status is UploadStatus.DONE)
    assert "Upload(" not in (upload.error or "")
    return upload.status is UploadStatus.DONE


def _agree(studio: FilmStudio, project: Project, kind: Sent, path: Path, right: str) -> bool:
    taken = by_form(studio, project, kind, path)
    for content_type in (right, WRONG[kind], "application/octet-stream"):
        assert by_upload(studio, project, kind, path, content_type) is taken, content_type
    return taken


@pytest.mark.realdata
@pytest.mark.parametrize("name", _samples(small=True))
def test_a_small_sample_has_one_verdict(studio: FilmStudio, project: Project, name: str) -> None:
    _check_sample(studio, project, MEDIA / name)


@pytest.mark.long
@pytest.mark.realdata
@pytest.mark.parametrize("name", _samples(small=False))
def test_a_sample_has_one_verdict(studio: FilmStudio, project: Project, name: str) -> None:
    _check_sample(studio, project, MEDIA / name)


def _check_sample(studio: FilmStudio, project: Project, path: Path) -> None:
    """MV-50: under its right type, a wrong one, and the one of whoever does not know."""
    kind = KINDS[path.parent.name]
    right = mimetypes.guess_type(path.name)[0] or f"{kind}/x-unknown"
    expected = path.name not in BROKEN and path.parent.name != "glb"
    assert _agree(studio, project, kind, path, right) is expected


MADE = {
    "film.3gp": ("video/3gpp", ("-c:v", "mpeg4", "-an")),
    "film.mpg": ("video/mpeg", ("-c:v", "mpeg2video", "-an")),
    "film.avi": ("video/avi", ("-c:v", "mpeg4", "-an")),
    "film.ts": ("video/mp2t", ("-c:v", "libx264", "-an")),
    "film.mov": ("video/quicktime", ("-c:v", "libx264", "-an")),
    "film.wmv": ("video/x-ms-wmv", ("-c:v", "wmv2", "-an")),
    "tone.m4a": ("audio/m4a", ("-c:a", "aac")),
    "tone.wma": ("audio/x-ms-wma", ("-c:a", "wmav2")),
    "tone.aiff": ("audio/x-aiff", ()),
    "tone.webm": ("audio/webm", ("-c:a", "libopus")),
}


@pytest.mark.parametrize("name", MADE)
def test_a_film_or_sound_of_any_usual_kind_is_taken(
    studio: FilmStudio, project: Project, tmp_path: Path, name: str
) -> None:
    """MV-50: a telephone's, a camera's, a recorder's, under the type that it has there."""
    content_type, coded = MADE[name]
    kind, source, made = Sent.AUDIO, tone(tmp_path / "tone.wav", 0.5), tmp_path / name
    if name.startswith("film"):
        kind, source = Sent.SCENE, tmp_path / "made.mp4"
        source.write_bytes(film(0.5))
    run([*reading(source), *coded, writing(made)])
    assert by_upload(studio, project, kind, made, content_type)
    if kind is Sent.SCENE:
        assert scenes_of(studio, project.project_id)[0].shown_duration == pytest.approx(0.5, abs=0.05)
    media = MediaKind.VIDEO if kind is Sent.SCENE else MediaKind.AUDIO
    assert advice(media, content_type) is None


@pytest.mark.parametrize("name", ["photo.heic", "photo.avif"])
def test_a_photograph_of_a_telephone_is_a_picture_and_no_film(
    studio: FilmStudio, project: Project, tmp_path: Path, name: str
) -> None:
    """MV-50: and a scene is filmed with it."""
    path, still = tmp_path / name, Image.radial_gradient("L").resize((320, 200)).convert("RGB")
    heic(path, still) if name.endswith("heic") else still.save(path)
    content_type = f"image/{path.suffix[1:]}"
    assert _agree(studio, project, Sent.CHARACTER, path, content_type)
    assert not _agree(studio, project, Sent.SCENE, path, content_type)
    assert advice(MediaKind.IMAGE, content_type) is None


def test_who_announces_what_is_never_taken_is_told_so_before_it_is_sent(studio: FilmStudio, project: Project) -> None:
    """MV-50: and yet may send it, for a label is often wrong."""

    def told(kind: Sent, content_type: str) -> str | None:
        sequence = 1 if kind is Sent.SCENE else None
        announced = uploading.reserve(
            studio, project.project_id, kind, size=9, content_type=content_type, sequence=sequence
        )
        return uploading.advice_on(announced.upload)

    assert "model/gltf-binary is usually not an image that is taken here" in (
        told(Sent.CHARACTER, "model/gltf-binary") or ""
    )
    assert "send a sound such as MP3" in (told(Sent.AUDIO, "image/png") or "")
    assert "send a video such as MP4" in (told(Sent.SCENE, "text/html; charset=utf-8") or "")
    assert told(Sent.SCENE, "application/octet-stream") is None
    with pytest.raises(InvalidValue, match="is no media type"):
        told(Sent.SCENE, "a film")
