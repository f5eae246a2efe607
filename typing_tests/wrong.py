"""The mistakes that a type checker must find before anything runs: each line says with which code."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from penstock import Ref, Store, after, between, select, the
from typing_tests.model import Scene, Status


def a_wrong_constructor_type(project: UUID, moment: datetime) -> None:
    Scene(project_id=project, sequence="1", prompt="rain", created_at=moment)  # E: arg-type
    Scene(project_id=str(project), sequence=1, prompt="rain", created_at=moment)  # E: arg-type
    Scene(project_id=project, sequence=1, prompt="rain", created_at=moment, status="done")  # E: arg-type
    Scene(project_id=project, sequence=1, created_at=moment)  # E: call-arg
    Scene(project_id=project, sequence=1, prompt="rain", created_at=moment, author=5)  # E: arg-type
    Scene(project_id=project, sequence=1, prompt="rain", created_at=moment, remark=None)  # E: arg-type


def an_unknown_field(project: UUID, moment: datetime, scene: Scene) -> None:
    Scene(project_id=project, sequence=1, prompt="rain", created_at=moment, promt="x")  # E: call-arg
    scene.promt  # E: attr-defined
    scene.promt = "x"  # E: attr-defined
    the(Scene.promt)  # E: attr-defined


def a_wrong_key_part(store: Store, project: UUID) -> None:
    Scene.at(project_id="p", sequence=1)  # E: arg-type
    Scene.at(project_id=project, sequence="001")  # E: arg-type
    Scene.at(project_id=project)  # E: call-arg
    Scene.at(project_id=project, sequence=1, status=Status.DONE)  # E: call-arg
    store.get(Scene.by_project(project_id=project))  # E: arg-type


def a_wrong_update_value() -> None:
    the(Scene.prompt).set(5)  # E: arg-type
    the(Scene.prompt).set(None)  # E: arg-type
    the(Scene.remark).set(None)  # E: arg-type
    the(Scene.clip).set(5)  # E: arg-type
    the(Scene.retries).set("5")  # E: arg-type
    the(Scene.retries).add("5")  # E: call-overload arg-type
    the(Scene.prompt).add(1)  # E: misc
    the(Scene.prompt).append("x")  # E: misc call-overload
    the(Scene.prompt).include("x")  # E: misc
    the(Scene.labels).include(5)  # E: arg-type
    the(Scene.notes).append(5)  # E: call-overload arg-type


def an_unknown_name_in_a_pattern(project: UUID) -> None:
    Scene.by_project(project=project)  # E: call-arg
    Scene.by_projekt(project_id=project)  # E: attr-defined
    Scene.by_status(status=Status.DONE, created=after(datetime.now()))  # E: call-arg
    Scene.by_status(status="done")  # E: arg-type
    Scene.by_project(project_id=project, sequence=between("1", "2"))  # E: arg-type
    Scene.by_project(project_id=project, sequence=1)  # E: arg-type


def a_wrong_choice_of_fields(store: Store, project: UUID) -> None:
    query = Scene.by_project(project_id=project)
    _prompt, _retries, _clip = next(store.find(select(query, Scene.prompt, Scene.retries)))  # E: misc
    next(store.find(select(query, Scene.prompt)))[0] + 1  # E: operator
    select(query, Scene.promt)  # E: attr-defined
    store.count(Scene.at(project_id=project, sequence=1))  # E: arg-type


def a_wrong_type_in_a_condition() -> None:
    the(Scene.sequence).equals("1")  # E: arg-type
    the(Scene.status).equals("done")  # E: arg-type
    the(Scene.clip).differs(5)  # E: arg-type
    the(Scene.retries).between(1, "3")  # E: arg-type
    the(Scene.status).one_of(Status.DONE, "pending")  # E: arg-type
    the(Scene.created_at).before("2026")  # E: arg-type
    Scene.by_status(status=Status.DONE).where("retries > 1")  # E: arg-type
    Scene.by_status(status=Status.DONE).where(the(Scene.retries).after("1"))  # E: arg-type


def a_wrong_move(scene: Scene, ref: Ref[Scene], store: Store) -> None:
    scene.finish(clip=5)  # E: arg-type
    scene.finish()  # E: call-arg
    scene.finnish(clip="x")  # E: attr-defined
    scene.reopen(clip="x")  # E: call-arg
    with store.change() as change:
        change.get(ref).promt  # E: attr-defined
