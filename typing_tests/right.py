"""Everything a domain does, and the types it gets back: no line of this is an error."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import assert_type
from uuid import UUID

from penstock import (
    Counted,
    Entity,
    ItemCollection,
    Listing,
    Query,
    Ref,
    Store,
    Unreadable,
    after,
    between,
    select,
    starting_with,
    the,
    together,
)
from penstock.operations.conditions import Condition
from penstock.operations.updates import Update
from typing_tests.model import Cut, Scene, Status


def records(project: UUID, moment: datetime) -> Scene:
    scene = Scene(project_id=project, sequence=1, prompt="rain", created_at=moment)
    Scene(project_id=project, sequence=1, prompt="rain", created_at=moment, clip=None, status=Status.DONE, retries=2)
    assert_type(scene.sequence, int)
    assert_type(scene.clip, str | None)
    scene.clip = "a/b.mp4"
    Scene(project_id=project, sequence=1, prompt="rain", created_at=moment, author="ann", remark="good")
    assert_type(scene.author, str | None)
    assert_type(scene.remark, str)
    return scene


def reading(store: Store, project: UUID, moment: datetime) -> None:
    assert_type(Scene.at(project_id=project, sequence=1), Ref[Scene])
    assert_type(store.get(Scene.at(project_id=project, sequence=1)), Scene)
    assert_type(store.lookup(Scene.at(project_id=project, sequence=1)), Scene | None)
    assert_type(store.get_many([Scene.at(project_id=project, sequence=1)]), list[Scene | None])
    assert_type(Scene.by_project(project_id=project), Query[Scene])
    assert_type(store.find(Scene.by_project(project_id=project, sequence=between(1, 5))), Iterator[Scene])
    assert_type(store.first(Scene.by_status(status=Status.DONE).reversed()), Scene | None)
    assert_type(store.page(Scene.by_status(status=Status.DONE, created_at=after(moment)), limit=5), Listing[Scene])
    assert_type(store.page(Scene.by_status(status=Status.DONE)).records, list[Scene])
    starting_with("a")


def wider_reading(store: Store, project: UUID) -> None:
    query = Scene.by_project(project_id=project)
    assert_type(query.where(the(Scene.retries).after(1)), Query[Scene])
    some = select(query, Scene.prompt, Scene.retries, Scene.clip)
    assert_type(store.find(some), Iterator[tuple[str, int, str | None]])
    assert_type(store.page(select(query, Scene.prompt)).records, list[tuple[str]])
    assert_type(store.first(select(query.reversed(), Scene.sequence)), tuple[int] | None)
    assert_type(store.count(query, up_to=100), Counted)
    both = together(Cut.at(project_id=project), query)
    assert_type(both, ItemCollection[Cut | Scene])
    assert_type(store.find(both.reversed()), Iterator[Cut | Scene])
    assert_type(store.page(both).of(Scene), list[Scene])
    mixed = store.get_many([Cut.at(project_id=project), Scene.at(project_id=project, sequence=1)])
    assert_type(mixed, list[Entity | None])
    unreadable: list[Unreadable] = []
    assert_type(list(store.find(query, unreadable=unreadable)), list[Scene])


def conditions() -> list[Condition]:
    return [
        the(Scene.sequence).equals(1),
        the(Scene.clip).equals("x") | the(Scene.clip).absent(),
        the(Scene.retries).between(1, 3) & ~the(Scene.status).one_of(Status.DONE, Status.PENDING),
    ]


def updates(store: Store, ref: Ref[Scene]) -> list[Update]:
    assert_type(store.patch(ref, the(Scene.retries).add(1)), Scene)
    return [
        the(Scene.prompt).set("sun"),
        the(Scene.clip).set(None),
        the(Scene.clip).set_if_absent("x"),
        the(Scene.labels).include("a"),
        the(Scene.labels).exclude("a"),
        the(Scene.notes).append("a", "b"),
        the(Scene.retries).add(-1),
        the(Scene.author).set(None),
        the(Scene.remark).set("better"),
    ]


def changing(store: Store, ref: Ref[Scene]) -> None:
    with store.change() as change:
        scene = change.get(ref)
        assert_type(scene, Scene)
        assert_type(scene.finish(clip="x"), Scene)
        assert_type(change.save(scene), Scene)
        change.check(ref, the(Scene.status).equals(Status.DONE))
        assert_type(change.overwrite(scene), Scene)
    assert_type(store.modify(ref, lambda found: found.finish(clip="x"), by="ann"), Scene)
    assert_type(store.retried(lambda: store.get(ref)), Scene)
