"""The moment of the last change: it moves with every write, whoever writes and however."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from penstock import FrozenClock, Store, Table, key, the
from penstock.declare.entity import Entity
from penstock.domains.musicvideo.model import DOMAIN, Project
from penstock.errors import DeclarationError


@pytest.fixture
def project(store: Store, clock: FrozenClock) -> Project:
    store.ensure(DOMAIN)
    now = clock.now()
    made = Project(
        project_id=uuid4(), concept_prompt="Robot", character_description="Silver", created_at=now, updated_at=now
    )
    store.create(made)
    clock.advance(timedelta(seconds=90.5))
    return made


def test_a_move_moves_it(store: Store, project: Project, clock: FrozenClock) -> None:
    """MV-21: in the record at hand, and in the one that is stored."""
    with store.change() as change:
        moved = change.get(project.ref)
        change.save(moved.queue())
    assert moved.updated_at == clock.now().replace(microsecond=0)
    assert store.get(project.ref) == moved
    assert moved.created_at == project.created_at


def test_a_patch_moves_it(store: Store, project: Project, clock: FrozenClock) -> None:
    """MV-21: by itself, and within a change."""
    patched = store.patch(project.ref, the(Project.scene_count).add(1))
    assert patched.updated_at == clock.now().replace(microsecond=0)
    clock.advance(timedelta(seconds=5))
    with store.change() as change:
        change.patch(project.ref, the(Project.scene_count).add(1))
    assert store.get(project.ref).updated_at == clock.now().replace(microsecond=0)


def test_it_never_goes_back(store: Store, project: Project, clock: FrozenClock) -> None:
    """MV-21: also where a clock is set back by an hour, by a save and by a patch, read or unread."""
    store.patch(project.ref, the(Project.scene_count).add(1))
    last = clock.now().replace(microsecond=0)
    clock.advance(-timedelta(hours=1))
    assert store.patch(project.ref, the(Project.scene_count).add(1)).updated_at == last
    with store.change() as change:
        change.patch(project.ref, the(Project.scene_count).add(1))
    assert store.get(project.ref).updated_at == last
    with store.change() as change:
        change.save(change.get(project.ref).queue())
    assert store.get(project.ref).updated_at == last
    clock.advance(timedelta(hours=1, seconds=7))
    assert store.patch(project.ref, the(Project.scene_count).add(1)).updated_at == last + timedelta(seconds=7)


def test_what_is_saved_by_one_whose_clock_is_behind_does_not_go_back(
    store: Store, project: Project, clock: FrozenClock
) -> None:
    """MV-21: of another machine nothing is known but the record that was read."""
    stored = store.patch(project.ref, the(Project.scene_count).add(1)).updated_at
    behind = Store(store.engine, clock=FrozenClock(clock.now() - timedelta(minutes=5)), own=store.own)
    with behind.change() as change:
        change.save(change.get(project.ref).queue())
    assert store.get(project.ref).updated_at == stored


def test_what_its_writer_sets_stands(store: Store, project: Project, clock: FrozenClock) -> None:
    then = clock.now() - timedelta(seconds=30)
    patched = store.patch(project.ref, the(Project.scene_count).add(1), the(Project.updated_at).set(then))
    assert patched.updated_at == then.replace(microsecond=0)
    with store.change() as change:
        saved = change.get(project.ref)
        saved.updated_at = then + timedelta(seconds=10)
        change.save(saved)
    assert store.get(project.ref).updated_at == (then + timedelta(seconds=10)).replace(microsecond=0)


def test_what_does_not_change_does_not_move_it(store: Store, project: Project) -> None:
    with store.change() as change:
        change.save(change.get(project.ref))
    assert store.get(project.ref).updated_at == project.updated_at


def test_it_keeps_no_two_from_saving_two_fields(store: Store, project: Project, clock: FrozenClock) -> None:
    """Both write it, and neither of them has read what the other wrote."""
    with store.change() as slow:
        mine = slow.get(project.ref)
        clock.advance(timedelta(seconds=1))
        store.patch(project.ref, the(Project.director_config).set("theirs"))
        mine.concept_prompt = "mine"
        slow.save(mine)
    found = store.get(project.ref)
    assert (found.director_config, found.concept_prompt) == ("theirs", "mine")


def test_it_is_a_moment() -> None:
    with pytest.raises(DeclarationError, match="last_modified='name' needs a field that is a moment"):

        class Thing(Entity, table=Table("Things", partition="PK"), last_modified="name"):
            name: str

            @key("THING#{name}")
            def at(self, *, name: str) -> None: ...
