"""Two who begin the same project: the one that is refused replaces no file of the other's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from penstock import FrozenClock
from penstock.domains.musicvideo.character_references import draw_references
from penstock.domains.musicvideo.errors import NotNow
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import BACKING_TRACK, PRODUCT_IMAGE, REFERENCE_IMAGE, Project
from penstock.domains.musicvideo.projects import NewProject, create_project, delete_project, generate
from penstock.domains.musicvideo.scenes import add_scene
from penstock.files.trash import Trash
from penstock.generation.steps import Made
from penstock.kernel.idempotency import Claim, ClaimLost, SystemOnce, begin
from tests.domains.musicvideo.quick_providers import PICTURE, QuickProviders, film
from tests.domains.musicvideo.story import workers

FIRST, SECOND = film(2.0, audio=True), film(3.0, audio=True)


class Stalled:
    """Objects of somebody who falls asleep before the first file is put; something happens meanwhile."""

    def __init__(self, objects: Any, meanwhile: Callable[[], object]) -> None:
        self._objects, self._meanwhile = objects, [meanwhile]

    def put(self, *given: Any, **more: Any) -> Any:
        if self._meanwhile:
            self._meanwhile.pop()()
        return self._objects.put(*given, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objects, name)


def stalled(studio: FilmStudio, meanwhile: Callable[[], object]) -> FilmStudio:
    objects: Any = Stalled(studio.objects, meanwhile)
    return replace(studio, objects=objects)


def wanted(folder: Path, audio: bytes, **more: Any) -> NewProject:
    path = folder / f"{uuid4()}.mp3"
    path.write_bytes(audio)
    return NewProject(mode="music-video", prompt="A robot", character_description="Silver", audio=path, **more)


def claimed(studio: FilmStudio) -> Claim:
    now = studio.store.clock.now()
    mark = SystemOnce(idempotency_key="k", fingerprint="f", seed="s", created_at=now, ttl=int(now.timestamp()) + 9999)
    claim = begin(studio.store, mark, owner=uuid4().hex, period=timedelta(minutes=1))
    assert isinstance(claim, Claim)
    return claim


def lost_claim(studio: FilmStudio, clock: FrozenClock) -> Claim:
    lost = claimed(studio)
    clock.advance(timedelta(minutes=2))
    claimed(studio)
    return lost


@pytest.fixture
def project_id() -> UUID:
    return uuid4()


@pytest.fixture
def bound(studio: FilmStudio, project_id: UUID) -> FilmStudio:
    return replace(studio, store=studio.store.scoped(project_id))


def content(studio: FilmStudio, key: str | None) -> bytes:
    assert key is not None
    return bytes(studio.objects.get(key).read())


def test_of_two_with_the_key_of_a_project_the_refused_one_replaces_no_file(
    studio: FilmStudio, bound: FilmStudio, project_id: UUID, tmp_path: Path
) -> None:
    slow = stalled(bound, lambda: create_project(bound, wanted(tmp_path, FIRST), by="ann"))
    with pytest.raises(NotNow, match="is there already"):
        create_project(slow, wanted(tmp_path, SECOND), by="bob")
    project = studio.store.get(Project.at(project_id=project_id))
    assert content(studio, project.audio_backing_track_s3_key) == FIRST
    assert project.audio_duration == pytest.approx(2.0, abs=0.2)


def test_one_that_is_about_to_begin_it_keeps_its_file(
    studio: FilmStudio, bound: FilmStudio, project_id: UUID, clock: FrozenClock, tmp_path: Path
) -> None:
    """Its record does not tell yet that the file is its own."""
    clock.set(datetime.now(UTC))
    studio.objects.put(BACKING_TRACK.key(project_id=project_id), FIRST)
    with pytest.raises(NotNow, match="just now"):
        create_project(bound, wanted(tmp_path, SECOND), by="bob")
    assert content(studio, BACKING_TRACK.key(project_id=project_id)) == FIRST
    create_project(bound, wanted(tmp_path, FIRST), by="ann")


def test_a_try_that_was_taken_over_replaces_nothing_that_came_since(
    studio: FilmStudio, clock: FrozenClock, tmp_path: Path
) -> None:
    made: list[Project] = []

    def take_over() -> None:
        clock.advance(timedelta(minutes=2))
        made.append(create_project(replace(studio, once=claimed(studio)), wanted(tmp_path, FIRST), by="ann"))
        studio.objects.put(BACKING_TRACK.key_of(made[0]), SECOND)  # as an upload does that is finalized

    slow = replace(stalled(studio, take_over), once=claimed(studio))
    with pytest.raises(NotNow, match="is there already"):
        create_project(slow, wanted(tmp_path, FIRST), by="ann")
    assert content(studio, made[0].audio_backing_track_s3_key) == SECOND


def test_a_try_meets_the_file_of_one_that_died(studio: FilmStudio, clock: FrozenClock, tmp_path: Path) -> None:
    claim = claimed(studio)
    key = BACKING_TRACK.key(project_id=claim.id_for("project"))
    studio.objects.put(key, FIRST)
    project = create_project(replace(studio, once=claim), wanted(tmp_path, FIRST), by="ann")
    assert project.audio_backing_track_s3_key == key


def test_a_picture_that_a_dead_try_has_drawn_is_not_paid_again(studio: FilmStudio, quick: QuickProviders) -> None:
    claim, paid = claimed(studio), list[int]()

    def draw(description: str, into: Path, *, seed: int) -> Made:
        paid.append(seed)
        return QuickProviders.draw(quick, description, into, seed=seed)

    quick.draw = draw  # type: ignore[method-assign]
    first = REFERENCE_IMAGE.key(str(claim.id_for("character 0")))
    studio.objects.put(first, PICTURE)
    drawn = draw_references(replace(studio, once=claim), "A silver robot", count=2, by="ann")
    assert (paid, drawn[0].image_s3_key) == ([1], first)
    assert [content(studio, each.image_s3_key) for each in drawn] == [PICTURE] * 2


def test_a_deleted_project_is_begun_again_with_other_files_in_the_same_place(
    studio: FilmStudio, bound: FilmStudio, project_id: UUID, clock: FrozenClock, tmp_path: Path
) -> None:
    """Before the sweep has come by; what was deleted is in the trash as was promised."""
    create_project(bound, wanted(tmp_path, FIRST), by="ann")
    clock.set(datetime.now(UTC) + timedelta(seconds=1))
    delete_project(bound, project_id, by="ann")
    again = create_project(bound, wanted(tmp_path, SECOND), by="ann")
    key = BACKING_TRACK.key(project_id=project_id)
    assert again.audio_backing_track_s3_key == key
    assert content(studio, key) == SECOND
    discarded = Trash(studio.objects, clock).find(key)
    assert discarded is not None
    assert content(studio, discarded.key) == FIRST


def test_what_a_dead_try_has_left_long_ago_makes_room(
    studio: FilmStudio, bound: FilmStudio, project_id: UUID, clock: FrozenClock, tmp_path: Path
) -> None:
    picture = tmp_path / "p.png"
    picture.write_bytes(PICTURE)
    for pattern in (BACKING_TRACK, PRODUCT_IMAGE):
        studio.objects.put(pattern.key(project_id=project_id), b"left")
    clock.set(datetime.now(UTC) + timedelta(hours=2))
    ad = replace(wanted(tmp_path, SECOND), mode="ad-creative", images=[picture])
    project = create_project(bound, ad, by="ann")
    assert content(studio, project.audio_backing_track_s3_key) == SECOND
    assert content(studio, project.product_image_s3_key) == PICTURE


def test_whose_claim_is_lost_is_told_so_at_once(studio: FilmStudio, clock: FrozenClock, tmp_path: Path) -> None:
    project = create_project(studio, wanted(tmp_path, FIRST), by="ann")
    generate(studio, project.project_id, by="ann")
    workers(studio).drain()
    with pytest.raises(ClaimLost):
        add_scene(replace(studio, once=lost_claim(studio, clock)), project.project_id, "A roof", by="ann")
