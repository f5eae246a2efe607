"""Who may do what, as declarations say it and as it follows where they do not."""

from __future__ import annotations

from enum import StrEnum
from itertools import count
from typing import Annotated, Any

import pytest

from penstock import SYSTEM, Action, Count, Domain, Entity, EpochSeconds, Move, Role, Table, WrittenBy, key
from penstock.declare.entity_names import plural
from penstock.declare.rights import creation_permission, leave_to_system, move_permission
from penstock.errors import DeclarationError

REVIEW = Action("review")
_numbers = count()


class State(StrEnum):
    NEW = "new"
    DONE = "done"


class Base(Entity):
    name: str
    state: State = State.NEW

    @key("{name}")
    def at(self, *, name: str) -> None: ...


def declared(by: Any = None, other: Any = None, **options: Any) -> type[Entity]:
    """An entity with two moves."""

    class Thing(Entity, table=Table(f"Permission{next(_numbers)}", partition="PK"), **options):
        name: str
        state: State = State.NEW

        @key("{name}")
        def at(self, *, name: str) -> None: ...

        one = Move(State.NEW, to=State.DONE, by=by)
        two = Move(State.DONE, to=State.NEW, by=other)

    return Thing


def permissions(entity: type[Entity]) -> tuple[Any, ...]:
    shape = entity.__shape__
    return (creation_permission(shape), *(move_permission(shape, m) for m in entity.__moves__.values()))


@pytest.mark.parametrize(
    ("entity", "found"),
    [
        (declared(), (Role.EDITOR, Role.EDITOR, Role.EDITOR)),
        (declared(by=Role.ADMIN), (Role.EDITOR, Role.ADMIN, Role.EDITOR)),
        (declared(by=SYSTEM), (SYSTEM, SYSTEM, SYSTEM)),
        (declared(by=REVIEW), (SYSTEM, REVIEW, SYSTEM)),
        (declared(created_by=SYSTEM), (SYSTEM, SYSTEM, SYSTEM)),
        (declared(created_by=REVIEW, other=Role.VIEWER), (REVIEW, SYSTEM, Role.VIEWER)),
        (declared(by=SYSTEM, created_by=Role.EDITOR), (Role.EDITOR, SYSTEM, SYSTEM)),
    ],
)
def test_what_is_not_said_is_people_s_unless_work_moves_the_records(
    entity: type[Entity], found: tuple[Any, ...]
) -> None:
    assert permissions(entity) == found


def test_what_can_be_leased_is_the_systems() -> None:
    class Leased(Entity, table=Table("PermissionLeased", partition="PK")):
        name: str
        state: State = State.NEW
        lease_owner: str | None = None
        lease_expires_at: EpochSeconds | None = None
        lease_epoch: Count | None = None

        @key("{name}")
        def at(self, *, name: str) -> None: ...

        one = Move(State.NEW, to=State.DONE)

    assert permissions(Leased) == (SYSTEM, SYSTEM)


def test_a_domain_or_a_pipeline_may_say_that_work_moves_its_records() -> None:
    kept, given = declared(), declared(by=Role.ADMIN)
    Domain("permission_kept", kept, moved_by_work=True)
    leave_to_system(given.__shape__)
    assert permissions(kept) == (SYSTEM, SYSTEM, SYSTEM)
    assert permissions(given) == (SYSTEM, Role.ADMIN, SYSTEM), "what is said stays"


@pytest.mark.parametrize("wrong", ["editor", 1, Role, "system"])
def test_what_is_no_permission_is_refused_while_it_is_declared(wrong: Any) -> None:
    with pytest.raises(DeclarationError, match="give a Role, an Action or SYSTEM"):
        declared(by=wrong)
    with pytest.raises(DeclarationError, match="give a Role, an Action or SYSTEM"):
        declared(created_by=wrong)


def test_a_field_that_its_creator_must_give_and_may_not_is_refused() -> None:
    with pytest.raises(DeclarationError, match="has no default and is not for the role editor"):

        class Paid(Entity, table=Table("PermissionPaid", partition="PK")):
            name: str
            price: Annotated[int, WrittenBy(Role.ADMIN)]

            @key("{name}")
            def at(self, *, name: str) -> None: ...


def test_a_state_is_moved_and_not_written() -> None:
    with pytest.raises(DeclarationError, match="say by= of its moves"):

        class Written(Entity, table=Table("PermissionWritten", partition="PK")):
            name: str
            state: Annotated[State, WrittenBy(Role.ADMIN)] = State.NEW

            @key("{name}")
            def at(self, *, name: str) -> None: ...

            one = Move(State.NEW, to=State.DONE)


# Collections


@pytest.mark.parametrize(
    ("word", "plurals"),
    [("scene", "scenes"), ("alias", "aliases"), ("box", "boxes"), ("entry", "entries"), ("key", "keys")],
)
def test_records_are_named_by_the_plural(word: str, plurals: str) -> None:
    assert plural(word) == plurals


def test_a_collection_is_named_apart_from_its_table() -> None:
    shape = declared(relation="temp_thing", collection="things").__shape__
    assert (shape.relation, shape.collection) == ("temp_thing", "things")
    assert declared().__shape__.collection == "things"
    for wrong in ("Things", "a/b", "", "ä", "1"):
        if wrong:
            with pytest.raises(DeclarationError, match="collection="):
                declared(collection=wrong)
    with pytest.raises(DeclarationError, match="same path 'things'"):
        Domain(
            "permission_twice", declared(relation="a", collection="things"), declared(relation="b", collection="things")
        )
