"""What is done to scenes: add, edit, reorder, delete, film again, trim, move lips, take a film from elsewhere.

Whatever makes a clip is a task. To ask for one begins a new take of the scene in the same commit that enqueues it;
what an earlier take still makes is not taken any more, and the clip there was is kept until the new one exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

from penstock.declare.attr import the
from penstock.domains.musicvideo import shown_clip, tasks
from penstock.domains.musicvideo.counting import count_edited
from penstock.domains.musicvideo.edition import check_edition
from penstock.domains.musicvideo.errors import IncompleteOrder, NotNow
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.lip_standing import stale_lips
from penstock.domains.musicvideo.model import OTHER_CLIP, Project, Scene, SceneStatus
from penstock.domains.musicvideo.outdated import written_from
from penstock.domains.musicvideo.projects import check_idle, project_of
from penstock.domains.musicvideo.scene_revisions import SCENE_REVISIONS, OnScene
from penstock.errors import Conflict
from penstock.files.deletion import delete_with_files
from penstock.kernel.change import Change
from penstock.kernel.idempotency import ClaimLost, new_id
from penstock.media.soundness import sound_video

MOST_SCENES = 999
_RACES = 10


def add_scene(studio: FilmStudio, project_id: UUID, concept: str, *, by: str, seconds: float | None = None) -> Scene:
    """One scene more, behind the others; it is written and filmed from a few words. No number is used twice."""
    for _ in range(_RACES):
        try:
            with studio.store.change(by=by, once=studio.once) as change:
                project = change.get(Project.at(project_id=project_id))
                scene = _next_scene(studio, project, concept, seconds)
                unmoved = (
                    the(Project.last_sequence).absent()
                    if project.last_sequence is None
                    else the(Project.last_sequence).equals(project.last_sequence)
                )
                change.create(scene)
                count_edited(change, project, None, scene.status, when=unmoved, last_sequence=scene.sequence)
                tasks.write_scene.enqueue(change, OnScene.of(scene), project=str(project_id), about=scene.ref)
                change.result = {"sequence": scene.sequence}
        except ClaimLost:
            raise
        except Conflict:
            continue  # somebody else has added one just now
        return scene
    raise NotNow(f"project {project_id} changes all the time; try again")


def _next_scene(studio: FilmStudio, project: Project, concept: str, seconds: float | None) -> Scene:
    last = project.last_sequence
    if last is None:  # another writer's project, which does not say
        there = studio.store.find(Scene.of_project(project_id=project.project_id))
        last = max((scene.sequence for scene in there), default=0)
    if last >= MOST_SCENES:
        raise IncompleteOrder(f"a project has at most {MOST_SCENES} scenes, and their numbers are not used twice")
    now = studio.store.clock.now()
    return Scene(
        project_id=project.project_id,
        sequence=last + 1,
        prompt=concept,
        duration=studio.options.scene_seconds if seconds is None else seconds,
        take=1,
        created_at=now,
        updated_at=now,
    )


def edit_scene(
    studio: FilmStudio,
    project_id: UUID,
    sequence: int,
    changes: dict[str, Any],
    *,
    by: str,
    if_match: str | None = None,
) -> Scene:
    """Change what a scene is about. Its clip stays until it is filmed again, and is told as outdated.

    Only lips that are not wanted any more go at once: the clip as it was filmed is still there.
    """
    with studio.store.change(by=by) as change:
        scene = change.get(Scene.at(project_id=project_id, sequence=sequence))
        project = change.get(Project.at(project_id=project_id))
        check_idle(project)
        same = check_edition(scene, if_match)
        if changes.get("prompt", scene.prompt) != scene.prompt:
            scene.written_from = written_from(project)  # by somebody who knows what the project is about now
        for name, value in changes.items():
            setattr(scene, name, value)
        if scene.lip_synced_video_clip_s3_key is not None and not scene.needs_lip_sync:
            _silence(change, project, scene)
        else:
            change.save(scene, when=same)
            change.check(project.ref, the(Project.status).equals(project.status))
    return scene


def _silence(change: Change, project: Project, scene: Scene) -> None:
    """Show a scene's clip as it was filmed; a part of it is cut anew."""
    if scene.trim_points is None and scene.clip_sha256 is not None:
        if scene.status is SceneStatus.PROCESSING:
            raise NotNow(f"scene {scene.sequence} is being processed; wait until that is over")
        scene.forget_lips()
        scene.shown_sha256 = scene.clip_sha256
        change.save(scene)
        count_edited(change, project, None, None)
        return
    shown = scene.trim_points or {"in": 0.0, "out": scene.shown_duration or scene.duration}
    begin_revision(change, scene, lambda change, scene: _enqueue_trim(change, scene, shown["in"], shown["out"]))


def reorder(studio: FilmStudio, project_id: UUID, order: Sequence[int], *, by: str) -> Project:
    """Show the scenes in another order; all of it or nothing."""
    with studio.store.change(by=by) as change:
        project = change.get(Project.at(project_id=project_id))
        _check_order(order, studio.store.find(Scene.of_project(project_id=project_id)))
        unmoved = the(Project.scene_count).equals(project.scene_count)
        count_edited(change, project, None, None, when=unmoved, scene_order=list(order))
    return project


def _check_order(order: Sequence[int], scenes: Iterable[Scene]) -> None:
    """Every scene has its place, once."""
    there = {scene.sequence for scene in scenes}
    if len(set(order)) != len(order):
        raise IncompleteOrder("sceneOrder names a scene twice; name each once")
    if missing := sorted(there - set(order)):
        raise IncompleteOrder(f"sceneOrder leaves out {', '.join(map(str, missing))}; name every scene")
    if unknown := sorted(set(order) - there):
        raise IncompleteOrder(f"sceneOrder names {', '.join(map(str, unknown))}, and there is no such scene")


def delete_scene(studio: FilmStudio, project_id: UUID, sequence: int, *, by: str) -> None:
    """Remove a scene and its files; the last one stays."""
    with studio.store.change(by=by) as change:
        scene = change.get(Scene.at(project_id=project_id, sequence=sequence))
        project = change.get(Project.at(project_id=project_id))
        if project.scene_count <= 1:
            raise IncompleteOrder("Cannot delete the last scene; delete the project instead")
        delete_with_files(studio.store, change, scene)
        count_edited(change, project, scene.status, None, when=the(Project.scene_count).after(1))


# Work on a scene


def regenerate(studio: FilmStudio, project_id: UUID, sequence: int, *, by: str) -> Scene:
    """Film a scene again."""

    def enqueue(change: Change, scene: Scene) -> None:
        scene.incoming_s3_key = None
        tasks.film.enqueue(change, OnScene.of(scene), project=str(project_id), about=scene.ref)

    return _begin(studio, project_id, sequence, enqueue, by=by)


def request_lip_sync(
    studio: FilmStudio, project_id: UUID, sequence: int, *, by: str, lyrics: str | None = None
) -> Scene:
    """Let somebody in the scene sing: to its own sound, or to its part of the backing track."""
    project = studio.store.get(Project.at(project_id=project_id))

    def enqueue(change: Change, scene: Scene) -> None:
        if scene.video_clip_s3_key is None:
            raise NotNow(f"scene {sequence} has no clip yet; film it first")
        if scene.audio_clip_s3_key is None and project.audio_backing_track_s3_key is None:
            raise IncompleteOrder("there is no sound to sing to; upload a backing track first")
        scene.needs_lip_sync = True
        if lyrics is not None:
            scene.lyrics = lyrics
        shown_clip.lip_sync.enqueue(change, OnScene.of(scene), project=str(project_id), about=scene.ref)

    return _begin(studio, project_id, sequence, enqueue, by=by)


def sync_stale(studio: FilmStudio, project_id: UUID, *, by: str) -> list[int]:
    """Have the lips moved again of all scenes where they are out of step; those scenes, by number.

    Each is a commit of its own, and the last ends the claim: what dies on the way is gone on with under the same key.
    """
    seen = project_of(studio, project_id)
    idle = {place.scene.sequence for place in seen.places if place.scene.status is not SceneStatus.PROCESSING}
    stale = [sequence for sequence in stale_lips(seen.places) if sequence in idle]
    for left, sequence in zip(range(len(stale) - 1, -1, -1), stale, strict=True):
        request_lip_sync(replace(studio, once=None) if left else studio, project_id, sequence, by=by)
    return stale


def trim(studio: FilmStudio, project_id: UUID, sequence: int, *, start: float, stop: float, by: str) -> Scene:
    """Show only a part of a scene's clip. The clip itself is kept, so another part can be chosen."""
    if not 0 <= start < stop:
        raise IncompleteOrder(f"from {start} to {stop} is no part of a clip; give in ≥ 0 and out > in")

    def enqueue(change: Change, scene: Scene) -> None:
        if scene.video_clip_s3_key is None:
            raise NotNow(f"scene {sequence} has no clip yet; film it first")
        _enqueue_trim(change, scene, start, stop)

    return _begin(studio, project_id, sequence, enqueue, by=by)


def _enqueue_trim(change: Change, scene: Scene, start: float, stop: float) -> None:
    # The scene tells which part is shown, and that is still the former one.
    part = shown_clip.PartOfClip.of(scene, start=start, stop=stop)
    shown_clip.trim.enqueue(change, part, project=str(scene.project_id), about=scene.ref)


def upload_video(studio: FilmStudio, project_id: UUID, sequence: int, film: Path, *, by: str) -> Scene:
    """Take a film from elsewhere as the clip of a scene; UnusableFile says why not."""
    sound_video(film)
    scene = studio.store.get(Scene.at(project_id=project_id, sequence=sequence))
    key = incoming_key(studio, scene)
    with film.open("rb") as file:
        studio.objects.put(key, file)
    return take_in(studio, project_id, sequence, key, by=by)


def incoming_key(studio: FilmStudio, scene: Scene) -> str:
    """Where a film that is sent waits until it becomes the clip."""
    return OTHER_CLIP.key_of(scene, f"upload_{new_id(studio.once, 'film').hex}")


def take_in(studio: FilmStudio, project_id: UUID, sequence: int, key: str, *, by: str) -> Scene:
    """Have a film that lies among the project's files become the clip of a scene."""
    return _begin(studio, project_id, sequence, lambda change, scene: arrive(change, scene, key), by=by)


def arrive(change: Change, scene: Scene, key: str) -> None:
    """A film has come for a scene; a task makes it the clip."""
    scene.incoming_s3_key = key
    tasks.take_in.enqueue(change, OnScene.of(scene), project=str(scene.project_id), about=scene.ref)


def _begin(
    studio: FilmStudio,
    project_id: UUID,
    sequence: int,
    enqueue: Callable[[Change, Scene], None],
    *,
    by: str,
) -> Scene:
    """A new take of a scene, and the task that makes it."""
    with studio.store.change(by=by, once=studio.once) as change:
        scene = change.get(Scene.at(project_id=project_id, sequence=sequence))
        begin_revision(change, scene, enqueue)
        change.result = {"sequence": sequence}
    return scene


def check_startable(scene: Scene) -> Scene:
    """NotNow for a scene that is worked on."""
    if scene.status is SceneStatus.PROCESSING:
        raise NotNow(f"scene {scene.sequence} is being processed; wait until that is over")
    return scene


def begin_revision(change: Change, scene: Scene, enqueue: Callable[[Change, Scene], None]) -> None:
    """Begin a new take of a scene within a change."""
    before = check_startable(scene).status
    SCENE_REVISIONS.begin(scene)
    if before is SceneStatus.FAILED:
        scene.retry()
    else:
        scene.start()
    enqueue(change, scene)
    change.save(scene)
    count_edited(change, change.get(Project.at(project_id=scene.project_id)), before, scene.status)
