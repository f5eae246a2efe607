"""What happens in these tests, in a few words: begin a project, let workers work, and look at what is there."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from penstock import FrozenClock
from penstock.domains.musicvideo import uploading
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Project, Scene, SceneStatus
from penstock.domains.musicvideo.projects import NewProject, create_project, generate
from penstock.domains.musicvideo.tasks import TASKS
from penstock.domains.musicvideo.uploading import Sent
from penstock.files.object_reads import every
from penstock.files.upload import Upload
from penstock.work.domain_context import DomainContext
from penstock.workers.manual import ManualWorkers
from tests.domains.musicvideo.quick_providers import film

ANN = "ann"


def audio(folder: Path) -> Path:
    """A backing track."""
    path = folder / "track.mp3"
    path.write_bytes(film(1.5, audio=True))
    return path


def begun(studio: FilmStudio, folder: Path, **wanted: Any) -> Project:
    """A new music video."""
    given = {"mode": "music-video", "prompt": "Robot exploring Austin, Texas", "character_description": "Silver robot"}
    return create_project(studio, NewProject(**{**given, "audio": audio(folder), **wanted}), by=ANN)


def workers(studio: FilmStudio) -> ManualWorkers:
    settings = {"MV_SCENE_SECONDS": "0.5", "MV_SCENES": "3"}
    context = DomainContext(studio.store, studio.objects, settings.get)
    return ManualWorkers(studio.store, [TASKS], context=context)


def generated(studio: FilmStudio, folder: Path, **wanted: Any) -> Project:
    """A project whose scenes are all filmed."""
    project = begun(studio, folder, **wanted)
    generate(studio, project.project_id, by=ANN)
    workers(studio).drain()
    return studio.store.get(Project.at(project_id=project.project_id))


def arrived(
    studio: FilmStudio, project: Project, kind: Sent, content: bytes, *, content_type: str, sequence: int | None = None
) -> Upload:
    """A file that was announced and sent, and is said to be there."""
    told: dict[str, Any] = {"size": len(content), "content_type": content_type, "sequence": sequence}
    reserved = uploading.reserve(studio, project.project_id, kind, **told)
    studio.objects.put(reserved.upload.staging, content)  # which is what the request does
    upload_id, digest = reserved.upload.upload_id, sha256(content).hexdigest()
    upload = uploading.finalize(studio, project.project_id, upload_id, sha256=digest, by=ANN)
    assert upload.status == "arrived"
    return upload


def sent(
    studio: FilmStudio, project: Project, kind: Sent, content: bytes, *, content_type: str, sequence: int | None = None
) -> Upload:
    """A file that has arrived, and was looked at."""
    upload = arrived(studio, project, kind, content, content_type=content_type, sequence=sequence)
    workers(studio).drain()
    return studio.store.get(Upload.at(upload_id=upload.upload_id))


def later(studio: FilmStudio, **time: float) -> None:
    clock = studio.store.clock
    assert isinstance(clock, FrozenClock)
    clock.advance(timedelta(**time))


def scenes(studio: FilmStudio, project_id: UUID) -> list[Scene]:
    project = studio.store.get(Project.at(project_id=project_id))
    return project.in_order(studio.store.find(Scene.of_project(project_id=project_id)))


def assert_counted(studio: FilmStudio, project_id: UUID) -> None:
    """The counters say what the scenes say."""
    project, there = studio.store.get(Project.at(project_id=project_id)), scenes(studio, project_id)
    states = [scene.status for scene in there]
    counted = (project.scene_count, project.completed_scenes, project.failed_scenes)
    assert counted == (len(there), states.count(SceneStatus.COMPLETED), states.count(SceneStatus.FAILED))


def files(studio: FilmStudio) -> set[str]:
    return {found.key for found in every(studio.objects)}
