"""How people look at scenes and at the final video, and have a scene filmed again."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.domains.musicvideo import scenes
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Project, Scene, SceneStatus
from penstock.review.reviewable import (
    ChoiceKind,
    MadeChoice,
    ReasonNeed,
    Reviewable,
    ReviewChoice,
    ReviewFile,
    in_query,
)
from penstock.work.domain_context import DomainContext

_OVER = (SceneStatus.COMPLETED, SceneStatus.FAILED)


def _scene_files(context: DomainContext, scene: Scene) -> Iterable[ReviewFile]:
    """The clip as it is shown first; then what it was made of."""
    found = {
        "clip": scene.shown_s3_key,
        "filmed": scene.video_clip_s3_key,
        "lips": scene.lip_synced_video_clip_s3_key,
        "sound": scene.audio_clip_s3_key,
    }
    seen: set[str] = set()
    for name, key in found.items():
        if key is not None and key not in seen:
            seen.add(key)
            yield ReviewFile(name, key, title=name, poster=scene.thumbnail_s3_key if name == "clip" else None)


def _project_files(context: DomainContext, project: Project) -> Iterable[ReviewFile]:
    found = {
        "final video": (project.final_output_s3_key, project.final_thumbnail_s3_key),
        "track": (project.audio_backing_track_s3_key, None),
        "character": (project.character_image_s3_key, None),
        "product": (project.product_image_s3_key, None),
    }
    for name, (key, poster) in found.items():
        if key is not None:
            yield ReviewFile(name.replace(" ", "_"), key, title=name, poster=poster)


def _film_again(made: MadeChoice) -> None:
    scene: Scene = made.record
    studio = FilmStudio.within(made.context).used_by(made.caller)
    scenes.regenerate(studio, scene.project_id, scene.sequence, by=made.caller.name)


_AGAIN = ReviewChoice(
    ChoiceKind.REQUEST_CHANGES,
    "Film again",
    _film_again,
    when=lambda scene: scene.status in _OVER,
    route=lambda scene: f"POST /api/mv/projects/{scene.project_id}/scenes/{scene.sequence}/regenerate",
    reason=ReasonNeed.NONE,
)

REVIEWS = (
    Reviewable(
        Scene,
        files=_scene_files,
        queue=in_query(lambda scene: Scene.of_project(project_id=scene.project_id)),
        choices=[_AGAIN],
        title=lambda scene: f"Scene {scene.sequence}: {scene.prompt}",
    ),
    Reviewable(Project, files=_project_files, title=lambda project: project.concept_prompt),
)
