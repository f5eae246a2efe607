"""What is done to a project as a whole: begin it, look at it, have its scenes written, have it cut, give it up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic.alias_generators import to_camel

from penstock.declare.attr import the
from penstock.domains.musicvideo import final_cut, tasks
from penstock.domains.musicvideo.character_references import picture_of
from penstock.domains.musicvideo.counting import count_edited
from penstock.domains.musicvideo.edition import check_edition
from penstock.domains.musicvideo.errors import IncompleteOrder, NoFinalVideo, NotNow
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.lip_standing import PlacedScene, placed
from penstock.domains.musicvideo.model import (
    BACKING_TRACK,
    CHARACTER_IMAGE,
    PRODUCT_IMAGE,
    Mode,
    Project,
    ProjectStatus,
    Scene,
    SceneStatus,
)
from penstock.domains.musicvideo.options import most_scenes
from penstock.domains.musicvideo.scene_lengths import LONGEST, SHORTEST
from penstock.domains.musicvideo.scene_progress import SceneProgress, progress_of
from penstock.domains.musicvideo.scene_tasks import sha256_of
from penstock.errors import IllegalMove, InvalidValue
from penstock.files.deletion import delete_with_files, is_released
from penstock.files.object_reads import lookup
from penstock.files.placement import put_in_free_place
from penstock.files.trash import Trash
from penstock.generation.directors import director
from penstock.kernel.idempotency import new_id
from penstock.media.soundness import sound_audio, sound_image
from penstock.ports.stored_object import SignedUrl, StoredObject

LONGEST_PROMPT = 5000
_RACES = 3
_LEFT_AFTER = timedelta(hours=1)
"A file that has waited so long for its record is left from a try that died; no request takes as long."
BUSY = (ProjectStatus.QUEUED, ProjectStatus.GENERATING_SCENES, ProjectStatus.COMPOSING)
"Somebody works on the project as a whole; its scenes stay as they are until that is over."


_NEEDED = frozenset({"concept_prompt", "character_description"})
_BY_HAND = {
    ProjectStatus.FAILED: (ProjectStatus.PENDING, ProjectStatus.PROCESSING),
    ProjectStatus.COMPLETED: (ProjectStatus.PROCESSING,),
}


@dataclass(frozen=True, slots=True)
class NewProject:
    """What a new project is to be, as it was asked for."""

    mode: str
    prompt: str
    character_description: str
    character_reference: UUID | None = None
    product_description: str | None = None
    product_reference: UUID | None = None
    director_config: str | None = None
    images: Sequence[Path] = ()
    "The product of an ad, the character of a music video."
    audio: Path | None = None


def create_project(studio: FilmStudio, wanted: NewProject, *, by: str) -> Project:
    """A new project with its files. They come first; without the record the sweep finds and removes them."""
    mode = _mode(wanted)
    _check_words({"prompt": wanted.prompt, "character_description": wanted.character_description})
    if wanted.director_config is not None:
        director(wanted.director_config)
    now = studio.store.clock.now()
    project = Project(
        project_id=_new_id(studio),
        mode=mode,
        director_config=wanted.director_config,
        concept_prompt=wanted.prompt.strip(),
        character_description=wanted.character_description.strip(),
        product_description=wanted.product_description,
        created_at=now,
        updated_at=now,
    )
    if wanted.character_reference is not None:
        project.character_image_s3_key = picture_of(studio, wanted.character_reference)
    if wanted.product_reference is not None:
        project.product_image_s3_key = picture_of(studio, wanted.product_reference)
    _keep_files(studio, project, wanted)
    with studio.store.change(by=by, once=studio.once) as change:
        change.create(project)
        change.emit("project.created", project)
        change.result = {"project_id": str(project.project_id), "status": project.status.value}
    return project


def _mode(wanted: NewProject) -> Mode:
    try:
        mode = Mode(wanted.mode)
    except ValueError:
        raise IncompleteOrder("Invalid mode: mode must be 'ad-creative' or 'music-video'") from None
    if mode is Mode.MUSIC_VIDEO and wanted.audio is None:
        raise IncompleteOrder("Audio file required for music-video mode")
    if mode is Mode.AD_CREATIVE and not wanted.images and wanted.product_reference is None:
        raise IncompleteOrder("Product images required for ad-creative mode")
    return mode


def _new_id(studio: FilmStudio) -> UUID:
    """A new one, or the one of somebody's key, if there is no such project yet: its files would be replaced."""
    if studio.store.project is None:
        return new_id(studio.once, "project")
    try:
        project_id = UUID(studio.store.project)
    except ValueError:
        raise InvalidValue(f"a key of the project {studio.store.project!r} begins no music video") from None
    if studio.store.lookup(Project.at(project_id=project_id)) is not None:
        raise NotNow(f"project {project_id} is there already; go on with it, or delete it first")
    return project_id


def _keep_files(studio: FilmStudio, project: Project, wanted: NewProject) -> None:
    """Look at all files before any is kept."""
    kept: list[tuple[str, Path]] = []
    if wanted.images:
        for image in wanted.images:
            sound_image(image)
        if project.mode is Mode.AD_CREATIVE:
            project.product_image_s3_key = PRODUCT_IMAGE.key_of(project)
            kept.append((project.product_image_s3_key, wanted.images[0]))
        else:
            project.character_image_s3_key = CHARACTER_IMAGE.key_of(project)
            kept.append((project.character_image_s3_key, wanted.images[0]))
    if wanted.audio is not None:
        project.audio_duration = sound_audio(wanted.audio).duration
        project.audio_sha256 = sha256_of(wanted.audio)
        project.audio_backing_track_s3_key = BACKING_TRACK.key_of(project)
        kept.append((project.audio_backing_track_s3_key, wanted.audio))
    for key, path in kept:
        _keep_file(studio, project, key, path)


def _keep_file(studio: FilmStudio, project: Project, key: str, path: Path) -> None:
    """Put a file in its place, before the record that makes the place its own.

    Two may begin the same project, by its key or because one was taken for dead: neither replaces what the other has
    put, since its record may come first.
    """
    for _ in range(_RACES):
        if put_in_free_place(studio.objects, key, path):
            return
        found = lookup(studio.objects, key)
        if found is not None:
            _make_room(studio, project, found)
    raise NotNow(f"the files of project {project.project_id} change all the time; try again")


def _make_room(studio: FilmStudio, project: Project, found: StoredObject) -> None:
    """Remove a file that belongs to nobody any more; NotNow if it may be somebody's."""
    if studio.store.lookup(project.ref) is not None:
        raise NotNow(f"project {project.project_id} is there already; go on with it, or delete it first")
    if found.modified_at >= studio.store.clock.now() - _LEFT_AFTER and not is_released(studio.store, found):
        raise NotNow(
            f"somebody begins project {project.project_id} with other files just now; if nothing comes of it, try "
            f"again in {_LEFT_AFTER.total_seconds() / 60:.0f} minutes"
        )
    if not Trash(studio.objects, studio.store.clock).put(found):
        studio.objects.delete_unchanged(found)


# Looking


@dataclass(frozen=True, slots=True)
class ProjectSeen:
    """A project with its scenes as they are shown."""

    project: Project
    places: list[PlacedScene]
    progress: dict[int, SceneProgress]
    "Of each scene, by number."


def project_of(studio: FilmStudio, project_id: UUID) -> ProjectSeen:
    """A project and its scenes; NotFound where there is none."""
    project = studio.store.get(Project.at(project_id=project_id))
    places = placed(project, studio.store.find(Scene.of_project(project_id=project_id)))
    return ProjectSeen(project, places, progress_of(studio.store, project_id, [place.scene for place in places]))


def final_video(studio: FilmStudio, project_id: UUID) -> SignedUrl:
    """Where the final video can be seen for a while."""
    project = studio.store.get(Project.at(project_id=project_id))
    if project.final_output_s3_key is None:
        raise NoFinalVideo
    return studio.sign(project.final_output_s3_key, show_as="video/mp4")


# Working


def generate(
    studio: FilmStudio, project_id: UUID, *, by: str, scenes: int | None = None, seconds: float | None = None
) -> Project:
    """Have the scenes written and filmed. A project that failed before it had any begins again.

    What is not said about their number and length follows from the track.
    """
    with studio.store.change(by=by, once=studio.once) as change:
        project = change.get(Project.at(project_id=project_id))
        if project.scene_count:
            raise NotNow(f"project {project_id} has {project.scene_count} scenes already; add or regenerate some")
        if project.status is ProjectStatus.FAILED:
            project.restart()
        if project.status is not ProjectStatus.PENDING:
            raise NotNow(f"project {project_id} is {project.status.value}; scenes are generated once it is pending")
        _check_wanted(project, scenes, seconds)
        change.save(project.queue())
        wanted = tasks.ToWrite(project_id=project_id, scenes=scenes, seconds=seconds)
        tasks.write_scenes.enqueue(change, wanted, project=str(project_id), about=project.ref)
        change.result = {"status": project.status.value}
    return project


def _check_wanted(project: Project, scenes: int | None, seconds: float | None) -> None:
    most = most_scenes(project.mode)
    if scenes is not None and scenes > most:
        raise IncompleteOrder(f"{scenes} scenes are too many; {project.mode} has at most {most}")
    if seconds is not None and not SHORTEST <= seconds <= LONGEST:
        raise IncompleteOrder(f"a scene of {seconds:g} s cannot be made; say {SHORTEST:g} to {LONGEST:g} s")


def compose(studio: FilmStudio, project_id: UUID, *, by: str, stale_lips: bool = False) -> Project:
    """Have the final video cut of all scenes, read anew. Asked for again while it is under way, nothing happens.

    Lips that are out of step are cut only if somebody wants ``stale_lips``.
    """
    with studio.store.change(by=by, once=studio.once) as change:
        project = change.get(Project.at(project_id=project_id))
        change.result = {"status": project.status.value}
        if project.status in (ProjectStatus.QUEUED, ProjectStatus.COMPOSING) and project.scene_count:
            return project
        if project.status in (ProjectStatus.COMPLETED, ProjectStatus.FAILED) and project.scene_count:
            project.reopen()
        if project.status is not ProjectStatus.PROCESSING:
            raise NotNow(f"Cannot compose video: the project is {project.status.value}; generate its scenes first")
        scenes = list(studio.store.find(Scene.of_project(project_id=project_id)))
        check_complete(scenes)
        if not stale_lips:
            final_cut.check_in_step(project, scenes)
        project.compositions = (project.compositions or 0) + 1
        # On the counters as well, which any change of a scene moves: what was just read is still so.
        same = the(Project.completed_scenes).equals(project.completed_scenes)
        change.save(project.queue(), when=same & the(Project.scene_count).equals(project.scene_count))
        change.result = {"status": project.status.value}
        final_cut.compose.enqueue(
            change,
            final_cut.ToCompose(project_id=project_id, number=project.compositions, stale_lips=stale_lips),
            project=str(project_id),
            about=project.ref,
            # With its birth: one that was deleted and begun again under its id counts its cuts anew.
            key=f"{job_id(project_id)}:{project.created_at:%Y%m%dT%H%M%S}:{project.compositions}",
        )
    return project


def job_id(project_id: UUID) -> str:
    """What the final cut of a project is called; there is one at a time."""
    return f"compose_{project_id}"


def check_complete(scenes: Sequence[Scene]) -> None:
    """Refuse to compose what is not all there."""
    if any(scene.status is SceneStatus.FAILED for scene in scenes):
        failed = ", ".join(str(s.sequence) for s in scenes if s.status is SceneStatus.FAILED)
        raise NotNow(f"Cannot compose video: some scenes failed. Failed: {failed}; retry, regenerate or delete them")
    done = sum(scene.status is SceneStatus.COMPLETED for scene in scenes)
    if not 0 < len(scenes) == done:
        raise NotNow(f"Cannot compose video: not all scenes are completed. Completed: {done}/{len(scenes)}")


def check_idle(project: Project) -> None:
    """Refuse what cannot be while somebody works on the project as a whole."""
    if project.status in BUSY:
        raise NotNow(f"project {project.project_id} is {project.status.value}; wait until that is over")


def edit_project(
    studio: FilmStudio, project_id: UUID, changes: Mapping[str, Any], *, by: str, if_match: str | None = None
) -> Project:
    """Change what a video is about. Scenes stay as they are, and tell what of them is older than that."""
    _check_words({name: changes[name] for name in _NEEDED & changes.keys()})
    if changes.get("director_config") is not None:
        director(changes["director_config"])
    with studio.store.change(by=by) as change:
        project = change.get(Project.at(project_id=project_id))
        check_idle(project)
        same = check_edition(project, if_match)
        for name, value in changes.items():
            setattr(project, name, value.strip() if name in _NEEDED else value)
        change.save(project, when=same & the(Project.status).equals(project.status))
    return project


def _check_words(words: Mapping[str, str | None]) -> None:
    for name, text in words.items():
        if not 0 < len((text or "").strip()) <= LONGEST_PROMPT:
            raise IncompleteOrder(f"{to_camel(name)} has {len(text or '')} characters; write 1 to {LONGEST_PROMPT}")


def set_status(studio: FilmStudio, project_id: UUID, status: ProjectStatus, *, by: str) -> Project:
    """Move a project by hand, where its state machine has a way that needs no work to be done."""
    with studio.store.change(by=by) as change:
        project = change.get(Project.at(project_id=project_id))
        if project.status is status:
            return project
        ways = _BY_HAND.get(project.status, ())
        if status not in ways:
            legal = f"by hand it goes to {' or '.join(ways)}" if ways else "only its own work moves it on"
            raise IllegalMove(f"Project cannot go from {project.status.value} to {status.value}; {legal}")
        if (status is ProjectStatus.PENDING) is bool(project.scene_count):
            raise NotNow(f"project {project_id} has {project.scene_count} scenes; with some it goes on as processing")
        change.save(project.restart() if status is ProjectStatus.PENDING else project.reopen())
    return project


def delete_project(studio: FilmStudio, project_id: UUID, *, by: str) -> None:
    """Remove a project, its scenes and their files, which stay in the trash for a while."""
    project = studio.store.get(Project.at(project_id=project_id))
    check_idle(project)
    for scene in studio.store.find(Scene.of_project(project_id=project_id)):
        with studio.store.change(by=by) as change:
            delete_with_files(studio.store, change, scene)
            count_edited(change, change.get(project.ref), scene.status, None)
    with studio.store.change(by=by) as change:
        delete_with_files(studio.store, change, change.get(project.ref))
        change.emit("project.deleted", project)
