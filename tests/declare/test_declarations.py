"""Everything that can be wrong with a declaration is refused while the class is being defined, with the fix."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Any
from uuid import UUID

import pytest

from penstock import (
    ANYTHING,
    Domain,
    Entity,
    EpochSeconds,
    Expires,
    IndexKey,
    KeepLatest,
    Move,
    Range,
    RetainFor,
    Table,
    UtcSeconds,
    attribute,
    camel_case,
    key,
    move,
    number,
    pattern,
)
from penstock.errors import DeclarationError
from penstock.schema.kinds import Kind


class Status(StrEnum):
    NEW = "new"
    DONE = "done"


class Other(StrEnum):
    NEW = "new"


class Level(IntEnum):
    LOW = 1


class Odd(Enum):
    NOTHING = ""


T: Table
"The table of the declaration at hand."
INDEX: Any
"Its index."
PART: Any = str
"The type of a field at hand."


def _fresh(**options: Any) -> Table:
    global T, INDEX
    T = Table("penstock-wrong", partition="PK", sort="SK", **options)
    INDEX = T.index("by-something", partition="GSI1PK", sort="GSI1SK")
    return T


@pytest.fixture(autouse=True)
def _table() -> None:
    _fresh()


def refused(define: Callable[[], Any], *fragments: str) -> None:
    """The declaration is refused, in words that name the place and the fix."""
    with pytest.raises(DeclarationError) as refusal:
        define()
    for fragment in fragments:
        assert fragment in str(refusal.value)


# Keys


def test_a_template_names_fields_only() -> None:
    def define() -> None:
        class Wrong(Entity, table=T):
            name: str

            @key("X#{nmae}", "Y")
            def at(self, *, nmae: str) -> None: ...

    refused(define, "Wrong", "'nmae'", "the fields are name")


def test_an_integer_in_a_sort_key_is_padded() -> None:
    def define() -> None:
        class Wrong(Entity, table=T):
            name: str
            version: int

            @key("X#{name}", "V#{version}")
            def at(self, *, name: str, version: int) -> None: ...

    refused(define, "Wrong", "'version'", "10 before 9", "{version:010d}")


@pytest.mark.parametrize("kind", [float, Decimal, bool, bytes, list[str], frozenset[str]])
def test_only_what_sorts_as_text_is_part_of_a_key(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "PART", kind)

    def define() -> None:
        class Wrong(Entity, table=T):
            name: str
            part: PART

            @key("X#{name}", "P#{part}")
            def at(self, *, name: str, part: Any) -> None: ...

    refused(define, "Wrong", "'part'", "a key part may be")


def test_a_part_of_the_key_has_a_value() -> None:
    def define() -> None:
        class Wrong(Entity, table=T):
            name: str | None = None

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

    refused(define, "Wrong.name", "cannot be optional")


def test_a_state_is_not_part_of_the_key() -> None:
    def define() -> None:
        class Wrong(Entity, table=T):
            status: Status = Status.NEW

            @key("X#{status}", "Y")
            def at(self, *, status: Status) -> None: ...

            finish = Move(Status.NEW, to=Status.DONE)

    refused(define, "Wrong.status", "a key never changes")


def test_an_entity_has_one_key() -> None:
    def define_two() -> None:
        class Wrong(Entity, table=T):
            name: str

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

            @key("X#{name}", "Z")
            def also_at(self, *, name: str) -> None: ...

    def define_none() -> None:
        class Wrong(Entity, table=T):
            name: str

    refused(define_two, "Wrong declares 2 keys", "declare one")
    refused(define_none, "Wrong declares 0 keys", "@key")


def test_a_key_function_takes_the_fields_of_the_key() -> None:
    def define() -> None:
        class Wrong(Entity, table=T):
            name: str
            other: str

            @key("X#{name}", "Y#{other}")
            def at(self, *, name: str) -> None: ...

    refused(define, "Wrong", "(name)", "(name, other)", "make them the same")


def test_a_key_function_takes_its_parts_by_name() -> None:
    def define() -> None:
        class Wrong(Entity, table=T):
            name: str

            @key("X#{name}", "Y")
            def at(self, name: str) -> None: ...

    refused(define, "Wrong.at", "name", "by name", "*")


def test_a_table_with_a_sort_key_needs_its_template() -> None:
    def without() -> None:
        class Wrong(Entity, table=T):
            name: str

            @key("X#{name}")
            def at(self, *, name: str) -> None: ...

    def too_many() -> None:
        class Wrong(Entity, table=Table("penstock-wrong", partition="PK")):
            name: str

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

    refused(without, "Wrong", "needs a sort key template")
    refused(too_many, "Wrong", "has no sort key", "remove the second template")


def test_a_number_attribute_holds_one_integer_alone() -> None:
    numbers = Table("penstock-wrong", partition="PK", sort=number("SK"))

    def text() -> None:
        class Wrong(Entity, table=numbers):
            name: str
            version: int

            @key("X#{name}", "V#{version:03d}")
            def at(self, *, name: str, version: int) -> None: ...

    def integer() -> None:
        class Wrong(Entity, table=T):
            name: str
            version: int

            @key("X#{name}", "{version}")
            def at(self, *, name: str, version: int) -> None: ...

    refused(text, "Wrong", "SK is a number", "one integer field alone")
    refused(integer, "Wrong", "SK is a string", "zero-pad")


def test_two_entities_never_share_a_key() -> None:
    class First(Entity, table=T):
        name: str

        @key("X#{name}", "PART#{name}")
        def at(self, *, name: str) -> None: ...

    def define() -> None:
        class Second(Entity, table=T):
            name: str
            number: int

            @key("X#{name}", "PART#{number:03d}")
            def at(self, *, name: str, number: int) -> None: ...

    refused(define, "Second and First could share a key", "Give one of them a prefix of its own")


def test_two_entities_that_differ_in_one_of_two_templates_do_not_share_a_key() -> None:
    class First(Entity, table=T):
        name: str

        @key("X#{name}", "METADATA")
        def at(self, *, name: str) -> None: ...

    class Second(Entity, table=T):
        name: str
        number: int

        @key("X#{name}", "PART#{number:03d}")
        def at(self, *, name: str, number: int) -> None: ...

    assert T.entities == [First.__shape__, Second.__shape__]


def test_a_field_in_the_key_alone_is_in_the_key() -> None:
    def define() -> None:
        class Wrong(Entity, table=T):
            name: str
            lost: str = attribute(in_key_only=True)

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

    refused(define, "Wrong.lost", "no key template has it")


def test_a_choice_in_a_key_has_text() -> None:
    def define() -> None:
        class Wrong(Entity, table=T):
            part: Odd

            @key("X#{part}", "Y")
            def at(self, *, part: Odd) -> None: ...

    refused(define, "Wrong", "'part'", "Odd.NOTHING", "empty")


# Fields


def test_a_moment_has_a_precision() -> None:
    def define() -> None:
        class Wrong(Entity, table=T):
            name: str
            at_: datetime

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

    refused(define, "Wrong.at_", "UtcSeconds, UtcMillis or UtcMicros")


@pytest.mark.parametrize("kind", [set[str], set, frozenset, frozenset[int]])
def test_a_set_is_frozen_and_of_texts(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "PART", kind)

    def define() -> None:
        class Wrong(Entity, table=T):
            name: str
            members: PART

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

    refused(define, "Wrong.members", "frozenset[str]")


def test_the_values_of_an_enum_are_texts() -> None:
    def define() -> None:
        class Wrong(Entity, table=T):
            name: str
            level: Level

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

    refused(define, "Wrong.level", "Level must be strings")


def test_a_field_that_may_be_missing_has_no_other_default() -> None:
    """A missing value would come back as the default, not as it was put."""

    def define() -> None:
        class Wrong(Entity, table=T):
            name: str
            size: int | None = 5

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

    refused(define, "Wrong.size", "None", "default")


def test_a_field_that_is_called_otherwise_has_one_default_or_one_that_is_made() -> None:
    class Made(Entity, table=_fresh()):
        name: str
        words: list[str] = attribute("texts", default_factory=list)
        size: int = attribute("bytes", default=3)

        @key("X#{name}", "Y")
        def at(self, *, name: str) -> None: ...

    Made(name="a").words.append("x")
    assert (Made(name="b").words, Made(name="b").size) == ([], 3)
    with pytest.raises(TypeError, match="both default and default_factory"):
        attribute("texts", default=["x"], default_factory=list)


def test_two_fields_have_two_attributes_and_two_columns() -> None:
    def same_attribute() -> None:
        class Wrong(Entity, table=T):
            name: str
            other: str = attribute("name")

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

    def same_column() -> None:
        class Wrong(Entity, table=T):
            name: str
            other: str = attribute(column="name")

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

    def same_but_for_capitals() -> None:
        class Wrong(Entity, table=T):
            name: str
            Name: str

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

    def same_after_naming() -> None:
        class Wrong(Entity, table=_fresh(naming=camel_case)):
            long_name: str
            longName: str = attribute(column="other")  # noqa: N815

            @key("X#{long_name}", "Y")
            def at(self, *, long_name: str) -> None: ...

    refused(same_attribute, "Wrong", "name and other share the attribute 'name'", "rename one")
    refused(same_column, "Wrong", "name and other share the column 'name'", "rename one")
    refused(same_but_for_capitals, "Wrong", "name and Name share the column", "rename one")
    refused(same_after_naming, "Wrong", "share the attribute 'longName'")


@pytest.mark.parametrize("taken", ["PK", "SK", "GSI1PK", "GSI1SK", "entityType"])
def test_a_field_is_not_stored_where_the_table_keeps_its_own(taken: str) -> None:
    _fresh(tag="entityType")

    def define() -> None:
        class Wrong(Entity, table=T):
            name: str
            clash: str = attribute(taken)

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

    refused(define, "Wrong", "clash", taken, "rename")


def test_an_annotation_that_cannot_be_resolved_is_refused() -> None:
    def define() -> None:
        class Wrong(Entity, table=T):
            name: str
            mystery: Nowhere  # type: ignore[name-defined] # noqa: F821

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

    refused(define, "Wrong", "cannot be resolved")


def test_an_unknown_option_is_refused() -> None:
    def define() -> None:
        class Wrong(Entity, table=T, tabel="x"):
            name: str

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

    refused(define, "Wrong", "tabel")


# Entities and tables


def test_a_tag_needs_a_tag_attribute() -> None:
    def define() -> None:
        class Wrong(Entity, table=T, tag="wrong"):
            name: str

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

    refused(define, "Wrong has a tag", "add Table(tag=...)")


def test_two_entities_of_a_table_have_two_tags() -> None:
    _fresh(tag="entityType")

    class First(Entity, table=T, tag="same"):
        name: str

        @key("X#{name}", "A")
        def at(self, *, name: str) -> None: ...

    def define() -> None:
        class Second(Entity, table=T, tag="same"):
            name: str

            @key("X#{name}", "B")
            def at(self, *, name: str) -> None: ...

    refused(define, "Second", "First", "'same'", "tag")
    assert First.__shape__.tag == "same"


def test_two_entities_of_a_domain_have_two_relations() -> None:
    class First(Entity, table=T, relation="same"):
        name: str

        @key("X#{name}", "A")
        def at(self, *, name: str) -> None: ...

    class Second(Entity, table=T, relation="same"):
        name: str

        @key("X#{name}", "B")
        def at(self, *, name: str) -> None: ...

    refused(lambda: Domain("wrong", First, Second), "First and Second", "'same'", "relation=")


def test_an_entity_belongs_to_one_domain() -> None:
    class Only(Entity, table=T):
        name: str

        @key("X#{name}", "A")
        def at(self, *, name: str) -> None: ...

    Domain("first", Only)
    refused(lambda: Domain("second", Only), "Only", "'first'", "'second'")


def test_an_entity_is_not_extended_without_a_table() -> None:
    """Its records would be stored as their parent's, without what was added."""

    class Parent(Entity, table=T):
        name: str

        @key("X#{name}", "A")
        def at(self, *, name: str) -> None: ...

    def define() -> None:
        class Child(Parent):
            more: str = ""

    refused(define, "Child", "Parent", "table=")


def test_a_pattern_belongs_to_one_entity() -> None:
    class Shared(Entity):
        name: str
        group: str

        by_group_key = IndexKey(INDEX, "G#{group}", "{name}")

        @pattern(by_group_key)
        def by_group(self, *, group: str) -> None: ...

    class First(Shared, table=T):
        @key("X#{name}", "A")
        def at(self, *, name: str) -> None: ...

    def define() -> None:
        class Second(Shared, table=T):
            @key("X#{name}", "B")
            def at(self, *, name: str) -> None: ...

    refused(define, "Second.by_group", "First", "declare")
    assert First.by_group.shape.entity is First.__shape__


@pytest.mark.parametrize("name", ["", "ab", "a b", "a/b", "x" * 256, "tâble"])
def test_a_table_has_a_name_every_engine_takes(name: str) -> None:
    refused(lambda: Table(name), repr(name)[:20], "3 to 255")


def test_the_attributes_of_a_table_are_distinct() -> None:
    refused(lambda: Table("penstock-wrong", partition="PK", sort="PK"), "penstock-wrong", "'PK'", "twice")
    refused(lambda: Table("penstock-wrong", partition="PK", tag="PK"), "penstock-wrong", "'PK'", "twice")
    refused(lambda: Table("penstock-wrong", partition="PK", tag="x", expiry="x"), "penstock-wrong", "'x'", "twice")
    refused(lambda: T.index("other", partition="A", sort="A"), "penstock-wrong", "'A'", "twice")


def test_an_index_is_declared_once_and_its_attributes_have_one_type() -> None:
    refused(lambda: T.index("by-something", partition="A"), "penstock-wrong", "'by-something'", "twice")
    refused(lambda: T.index("numbers", partition=number("GSI1PK")), "penstock-wrong", "GSI1PK", "number", "string")


# Indexes


def test_an_index_key_is_of_the_entitys_own_table() -> None:
    index = Table("penstock-other", partition="PK", sort="SK").index("by-x", partition="A", sort="B")

    def define() -> None:
        class Wrong(Entity, table=T):
            name: str

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

            by_x = IndexKey(index, "{name}", "{name}")

    refused(define, "Wrong", "by-x", "belongs to another table")


def test_an_entity_has_one_key_in_an_index() -> None:
    def define() -> None:
        class Wrong(Entity, table=T):
            name: str

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

            one = IndexKey(INDEX, "A#{name}", "{name}")
            two = IndexKey(INDEX, "B#{name}", "{name}")

    refused(define, "Wrong has two keys in the index by-something", "one is allowed")


def test_an_index_key_has_the_parts_its_index_has() -> None:
    def define() -> None:
        class Wrong(Entity, table=T):
            name: str

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

            one = IndexKey(INDEX, "A#{name}")

    refused(define, "Wrong", "needs a sort key template")


@pytest.mark.parametrize(
    ("when", "fragments"),
    [
        ({"nmae": "x"}, ("'nmae'", "not a field")),
        ({"status": "pending"}, ("status", "'pending'")),
        ({"status": Other.NEW}, ("status", "Other.NEW")),
        ({"status": ()}, ("status", "no value")),
        ({"flag": "yes"}, ("flag", "'yes'")),
        ({"notes": "x"}, ("notes", "document")),
        ({"count": True}, ("count", "True", "no int")),
        ({"name": Status.NEW}, ("name", "Status.NEW", "no str")),
        ({"flag": 1}, ("flag", "being 1", "no bool")),
    ],
)
def test_an_index_depends_on_values_its_fields_can_have(when: dict[str, Any], fragments: tuple[str, ...]) -> None:
    def define() -> None:
        class Wrong(Entity, table=T):
            name: str
            status: Status = Status.NEW
            flag: bool = False
            count: int = 0
            notes: list[str] | None = None

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

            one = IndexKey(INDEX, "A#{name}", "{name}", when=when)

    refused(define, "Wrong", "by-something", *fragments)


# Patterns


def _pattern_entity(declare: Callable[[Any, Any], Any]) -> Callable[[], None]:
    """An entity with the key JOB#{job} / STEP#{name}#{at_}#{attempt:03d} and the pattern at hand."""

    def define() -> None:
        class Wrong(Entity, table=T):
            job: str
            name: str
            at_: UtcSeconds
            attempt: int
            free: str = ""

            @key("JOB#{job}", "STEP#{name}#{at_}#{attempt:03d}")
            def at(self, *, job: str, name: str, at_: datetime, attempt: int) -> None: ...

            by_free = IndexKey(INDEX, "F#{free}", "{name}")
            wrong = declare(at, by_free)

    return define


def test_a_pattern_takes_parts_of_its_key_only() -> None:
    def declare(at: Any, by_free: Any) -> Any:
        @pattern(at)
        def wrong(self: Any, *, job: str, free: str) -> None: ...

        return wrong

    refused(_pattern_entity(declare), "Wrong.wrong", "'free' is not part of the key", "job, name, at_, attempt")


def test_a_pattern_takes_the_whole_partition() -> None:
    def missing(at: Any, by_free: Any) -> Any:
        @pattern(at)
        def wrong(self: Any, *, name: str) -> None: ...

        return wrong

    def optional(at: Any, by_free: Any) -> Any:
        @pattern(at)
        def wrong(self: Any, *, job: str | None = None) -> None: ...

        return wrong

    def ranged(at: Any, by_free: Any) -> Any:
        @pattern(at)
        def wrong(self: Any, *, job: Range[str] = ANYTHING) -> None: ...

        return wrong

    refused(_pattern_entity(missing), "Wrong.wrong", "the partition needs job", "add it")
    refused(_pattern_entity(optional), "Wrong.wrong", "a part of the partition key must be given")
    refused(_pattern_entity(ranged), "Wrong.wrong", "")


def test_the_parameters_of_a_pattern_lead_its_sort_key() -> None:
    def gap(at: Any, by_free: Any) -> Any:
        @pattern(at)
        def wrong(self: Any, *, job: str, at_: datetime) -> None: ...

        return wrong

    def range_before_others(at: Any, by_free: Any) -> Any:
        @pattern(at)
        def wrong(self: Any, *, job: str, name: Range[str] = ANYTHING, at_: datetime | None = None) -> None: ...

        return wrong

    def two_ranges(at: Any, by_free: Any) -> Any:
        @pattern(at)
        def wrong(self: Any, *, job: str, name: Range[str] = ANYTHING, at_: Range[datetime] = ANYTHING) -> None: ...

        return wrong

    for declare in (gap, range_before_others, two_ranges):
        refused(_pattern_entity(declare), "Wrong.wrong", "must lead the sort key (name, at_, attempt)", "only the last")


def test_a_parameter_that_must_be_given_does_not_follow_one_that_need_not() -> None:
    def declare(at: Any, by_free: Any) -> Any:
        @pattern(at)
        def wrong(self: Any, *, job: str, name: str | None = None, at_: datetime) -> None: ...

        return wrong

    refused(_pattern_entity(declare), "Wrong.wrong", "at_", "name", "default")


def test_a_pattern_takes_its_parameters_by_name() -> None:
    def positional(at: Any, by_free: Any) -> Any:
        @pattern(at)
        def wrong(self: Any, job: str) -> None: ...

        return wrong

    def any_name(at: Any, by_free: Any) -> Any:
        @pattern(at)
        def wrong(self: Any, /, *, job: str, **more: str) -> None: ...

        return wrong

    refused(_pattern_entity(positional), "Wrong.wrong", "job", "by name")
    refused(_pattern_entity(any_name), "Wrong.wrong", "more")


def test_a_parameter_has_no_default_but_none_and_anything() -> None:
    def declare(at: Any, by_free: Any) -> Any:
        @pattern(at)
        def wrong(self: Any, *, job: str, name: str = "text-to-image") -> None: ...

        return wrong

    refused(_pattern_entity(declare), "Wrong.wrong", "name", "default")


def test_a_pattern_walks_a_key_of_its_own_entity() -> None:
    class Neighbour(Entity, table=T):
        name: str

        @key("N#{name}", "Y")
        def at(self, *, name: str) -> None: ...

        by_name_key = IndexKey(INDEX, "A#{name}", "{name}")

    def another_index() -> None:
        class Wrong(Entity, table=T):
            name: str

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

            @pattern(Neighbour.by_name_key)
            def by_name(self, *, name: str) -> None: ...

    def another_key() -> None:
        class Wrong(Entity, table=T):
            name: str

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

            @pattern(Neighbour.at)
            def by_name(self, *, name: str) -> None: ...

    refused(another_index, "Wrong.by_name", "another entity")
    refused(another_key, "Wrong.by_name", "another entity")


# Moves


def test_a_move_starts_and_ends_in_states_of_one_enum() -> None:
    refused(lambda: Move(Other.NEW, to=Status.DONE), "Status.DONE", "Other", "one Enum")
    refused(lambda: Move(to=Status.DONE), "Status.DONE", "at least one")


def test_a_move_changes_exactly_one_field() -> None:
    def none() -> None:
        class Wrong(Entity, table=T):
            name: str

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

            finish = Move(Status.NEW, to=Status.DONE)

    def two() -> None:
        class Wrong(Entity, table=T):
            name: str
            status: Status = Status.NEW
            also: Status = Status.NEW

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

            @move(Status.NEW, to=Status.DONE)
            def finish(self) -> None: ...

    refused(none, "Wrong.finish", "0 fields have that type", "exactly one must")
    refused(two, "Wrong.finish", "2 fields have that type", "exactly one must")


# Lifetimes


def _lived(*lifetimes: Any, expiry: str | None = "ends") -> Callable[[], None]:
    def define() -> None:
        class Wrong(Entity, table=_fresh(expiry=expiry), lifetimes=lifetimes):
            name: str
            ends: EpochSeconds | None = None
            made: UtcSeconds | None = None
            also: EpochSeconds | None = None

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

    return define


def test_an_end_is_a_second_the_table_knows_of() -> None:
    refused(_lived(Expires(at="nothing")), "Wrong", "'nothing'", "EpochSeconds")
    refused(_lived(Expires(at="made")), "Wrong", "'made'", "EpochSeconds")
    refused(_lived(Expires(at="also")), "Wrong", "'also'", "'ends'", "make them the same")
    refused(_lived(Expires(at="ends"), expiry=None), "Wrong", "'ends'", "None")
    refused(_lived(Expires(at="ends"), Expires(at="ends")), "Wrong", "Expires", "one")


def test_a_record_that_the_database_would_remove_says_so() -> None:
    """A field stored as the table's expiry attribute ends records on DynamoDB, whatever the entity declares."""
    refused(_lived(), "Wrong.ends", "'ends'", "Expires(at='ends')")


def test_retention_is_measured_by_fields_there_are() -> None:
    ends = Expires(at="ends")
    refused(_lived(ends, RetainFor(timedelta(days=1), since="nothing")), "Wrong", "RetainFor", "'nothing'")
    refused(_lived(ends, RetainFor(timedelta(days=1), since="name")), "Wrong", "RetainFor", "'name'")
    strange = RetainFor(timedelta(days=1), since="made", when=(Status.NEW,))
    refused(_lived(ends, strange), "Wrong", "RetainFor", "no field has")
    refused(_lived(ends, KeepLatest(3, per=("nothing",))), "Wrong", "KeepLatest", "'nothing'")
    refused(_lived(ends, KeepLatest(3, per=("name", "nothing"))), "Wrong", "KeepLatest", "'nothing'")
    refused(_lived(ends, KeepLatest(0, per=("name",))), "Wrong", "KeepLatest", "0")
    refused(_lived(ends, KeepLatest(3, per=("name",), said_in="kept")), "Wrong", "KeepLatest", "said_by")
    for wrong in ("name", "nothing"):
        refused(_lived(ends, KeepLatest(3, per=("name",), spared_until=wrong)), "Wrong", "KeepLatest", "spared_until")


def test_retention_by_fields_there_are_is_taken() -> None:
    by_time = RetainFor(timedelta(days=1), since="made")
    _lived(Expires(at="ends"), by_time, KeepLatest(1, per=("name",)))()
    _lived(Expires(at="ends"), KeepLatest(1, per=("name",), spared_until="made"))()


def test_a_last_change_is_told_by_a_moment() -> None:
    def declared(last_modified: str) -> Callable[[], None]:
        def define() -> None:
            class Wrong(Entity, table=_fresh(), last_modified=last_modified):
                name: str
                made: UtcSeconds | None = None

                @key("X#{name}", "Y")
                def at(self, *, name: str) -> None: ...

        return define

    for wrong in ("name", "nothing"):
        refused(declared(wrong), "Wrong", f"last_modified={wrong!r}", "a moment")
    declared("made")()


def test_further_indexes_in_sql_are_on_fields_there_are() -> None:
    def define() -> None:
        class Wrong(Entity, table=T, sql_indexes=(("name", "-nothing"),)):
            name: str

            @key("X#{name}", "Y")
            def at(self, *, name: str) -> None: ...

    refused(define, "Wrong", "sql_indexes", "'nothing'")


# What is right is taken


def test_a_declaration_that_is_right_is_taken() -> None:
    class Right(Entity, table=_fresh(tag="entityType", expiry="ttl"), lifetimes=(Expires(at="ttl"),)):
        job: UUID
        name: str
        number: int = attribute(in_key_only=True)
        status: Status = Status.NEW
        ttl: EpochSeconds | None = None

        @key("JOB#{job}", "PART#{name}#{number:03d}")
        def at(self, *, job: UUID, name: str, number: int) -> None:
            "One part."

        waiting = IndexKey(INDEX, "{status}", "{name}", when={"status": Status.NEW})

        @pattern(at)
        def by_job(self, *, job: UUID, name: str | None = None, number: Range[int] = ANYTHING) -> None:
            "Parts of a job."

        @pattern(waiting, backwards=True)
        def by_status(self, *, status: Status) -> None:
            "Parts in a state."

        finish = Move(Status.NEW, to=Status.DONE)

    shape = Right.__shape__
    assert shape.tag == "right"
    assert shape.expiry == "ttl"
    assert shape.fields["status"].state
    assert list(shape.patterns) == ["by_job", "by_status"]
    assert shape.patterns["by_job"].summary == "Parts of a job."
    assert shape.indexed == {"status", "name"}


def test_asking_for_what_is_not_declared_names_what_is_close() -> None:
    with pytest.raises(AttributeError, match=r"no field, key, pattern or move 'by_taek'; did you mean by_take\?$"):
        _ = _film().by_taek
    with pytest.raises(AttributeError, match=r"^Film declares no field, key, pattern or move 'zzz'$"):
        _ = _film().zzz


def _film() -> Any:
    class Film(Entity, table=Table("Films", sort="SK")):
        title: str
        take: int

        @key("FILM#{title}", "{take:03d}")
        def at(self, *, title: str, take: int) -> None: ...

        @pattern(at)
        def by_take(self, *, title: str, take: Range[int] = ANYTHING) -> None: ...

    return Film


def test_refusals_say_an_before_a_vowel() -> None:
    assert [kind.noun for kind in (Kind.TEXT, Kind.INTEGER, Kind.INSTANT, Kind.IDENTIFIER, Kind.BYTES)] == [
        *("a text", "an integer", "an instant", "an identifier", "bytes")
    ]


@pytest.mark.parametrize("name", ["9 x", "", "Films", "films/9", "fïlms"])
def test_a_domain_has_a_name_that_stands_in_a_path(name: str) -> None:
    with pytest.raises(DeclarationError, match="cannot name a domain: it stands in paths and in SQL"):
        Domain(name)


def test_an_entity_without_a_table_is_told_so() -> None:
    class Draft(Entity):
        title: str

    with pytest.raises(DeclarationError, match=r"Draft of the domain films has no table; write class Draft\(Entity, "):
        Domain("films", Draft)
