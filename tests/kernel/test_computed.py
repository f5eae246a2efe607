"""Computed fields: stored, indexed, never given, and never behind what they are made of."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import pytest
from pydantic import Field, ValidationError

from penstock import (
    ANYTHING,
    Domain,
    Entity,
    IndexKey,
    Move,
    Personal,
    Range,
    Store,
    Table,
    Unique,
    computed,
    key,
    pattern,
    starting_with,
    the,
)
from penstock.errors import Conflict, DeclarationError, InvalidValue, NotUnique, StaleComputed
from penstock.kernel.handle import put
from penstock.ports.engine import Engine

EARLY = Table("penstock-test-songs", partition="PK", sort="SK")
TABLE = Table("penstock-test-songs", partition="PK", sort="SK")
BY_TITLE = TABLE.index("by-title", partition="GSI1PK", sort="GSI1SK")


class Play(StrEnum):
    NEW = "new"
    HEARD = "heard"


def heading(artist: str | None, title: str) -> str | None:
    return None if artist is None else f"{artist}: {title}"


class OldSong(Entity, table=EARLY, relation="song"):
    song_id: str
    title: str
    artist: str | None = None

    @key("SONG#{song_id}", "SONG")
    def at(self, *, song_id: str) -> None: ...


class Song(Entity, table=TABLE, relation="song"):
    song_id: str
    title: str
    artist: str | None = None
    tags: list[str] = Field(default_factory=list)
    play: Play = Play.NEW
    note: str = ""
    folded: str = computed(str.casefold, of="title")
    heading: str | None = computed(heading, of=("artist", "title"))
    tag_count: int = computed(len, of="tags")
    heard: bool = computed(lambda play: play is Play.HEARD, of="play", column="was_heard")

    @key("SONG#{song_id}", "SONG")
    def at(self, *, song_id: str) -> None: ...

    titled = IndexKey(BY_TITLE, "SONGS", "{folded}#{song_id}")

    @pattern(titled)
    def by_title(self, *, folded: Range[str] = ANYTHING) -> None: ...

    hear = Move(Play.NEW, to=Play.HEARD)


class Singer(Entity, table=TABLE):
    name: str
    email: Personal[str]
    email_folded: Personal[Unique[str]] = computed(str.casefold, of="email")

    @key("SINGER#{name}", "SINGER")
    def at(self, *, name: str) -> None: ...


OLD = Domain("songs_computed", OldSong)
SONGS = Domain("songs_computed", Song, Singer)
HERE = Song.at(song_id="1")


@pytest.fixture
def furniture() -> tuple[Domain, ...]:
    return (SONGS,)


def song(title: str = "Ode", **values: Any) -> Song:
    return Song(song_id="1", title=title, **values)


def found(store: Store, beginning: str) -> list[str]:
    return [s.title for s in store.find(Song.by_title(folded=starting_with(beginning)))]


def test_a_record_has_its_computed_values_from_the_beginning_and_after_each_change() -> None:
    record = song("ODE", artist="Ann", tags=["x"])
    assert (record.folded, record.heading, record.tag_count, record.heard) == ("ode", "Ann: ODE", 1, False)
    record.title = "Elegy"
    record.artist = None
    assert (record.folded, record.heading) == ("elegy", None)
    assert record.hear().heard


def test_nobody_gives_a_computed_value() -> None:
    with pytest.raises(ValidationError, match="is computed of title, and not given"):
        Song(song_id="1", title="Ode", folded="else")  # type: ignore[call-arg]
    with pytest.raises(InvalidValue, match=r"Song\.folded is computed of title; change those"):
        song().folded = "else"
    with pytest.raises(InvalidValue, match=r"Song\.heading is computed of artist and title; no patch changes it"):
        the(Song.heading).set("else")
    assert Song.model_validate(song("ODE").model_dump()) == song("ODE")


def test_every_path_writes_computed_values_and_their_index_keys(store: Store) -> None:
    paths: list[Callable[[str], Any]] = [
        lambda title: store.create(song(title)),
        lambda title: store.put(song(title)),
        lambda title: store.put_many([song(title)]),
        lambda title: store.commit([put(song(title))]),
        lambda title: store.patch(HERE, the(Song.title).set(title), the(Song.artist).set("Ann")),
        lambda title: store.patch(HERE, the(Song.title).set(title), given=store.get(HERE)),
        lambda title: _saved(store, title=title),
        lambda title: _changed(store, lambda c: c.put(song(title))),
        lambda title: _changed(store, lambda c: c.patch(HERE, the(Song.title).set(title), the(Song.artist).set("Bob"))),
    ]
    for number, path in enumerate(paths):
        title = f"T{number}"
        path(title)
        record = store.get(HERE)
        assert (record.title, record.folded) == (title, f"t{number}")
        assert record.heading == heading(record.artist, title)
        assert found(store, "t") == [title]


def _saved(store: Store, **values: Any) -> None:
    with store.change(by="ann") as change:
        record = change.get(HERE)
        for name, value in values.items():
            setattr(record, name, value)
        change.save(record)


def _changed(store: Store, action: Callable[[Any], Any]) -> None:
    with store.change() as change:
        action(change)


def test_what_is_changed_in_place_and_what_moves_is_computed_as_well(store: Store) -> None:
    store.create(song(tags=["a"]))
    with store.change() as change:
        record = change.get(HERE)
        record.tags.append("b")
        change.save(record)
    assert store.get(HERE).tag_count == 2
    _changed(store, lambda c: c.save(c.get(HERE).hear()))
    assert store.get(HERE).heard
    store.patch(HERE, the(Song.tags).set(["a", "b", "c"]))
    store.patch(HERE, the(Song.note).set("x"), when=the(Song.tag_count).equals(3) & the(Song.heard).equals(True))
    assert store.get(HERE).note == "x"


def test_a_write_that_cannot_tell_a_computed_value_is_refused_before_it_is_sent(store: Store) -> None:
    store.create(song())
    with pytest.raises(StaleComputed, match="changes heading, which is also computed of artist; set it in the same"):
        store.patch(HERE, the(Song.title).set("x"))
    with pytest.raises(StaleComputed, match="tag_count is computed of tags, so its new value must be known"):
        store.patch(HERE, the(Song.tags).append("x"))
    read = store.get(HERE)
    store.patch(HERE, the(Song.artist).set("Bob"), given=read)
    with pytest.raises(Conflict):  # the title was read with another artist
        store.patch(HERE, the(Song.title).set("x"), given=read)
    assert store.get(HERE) == song(artist="Bob")


def test_two_writers_of_two_fields_leave_no_value_of_neither(store: Store) -> None:
    store.create(song())
    with pytest.raises(Conflict), store.change() as change:
        record = change.get(HERE)
        store.patch(HERE, the(Song.artist).set("Bob"), given=store.get(HERE))
        record.title = "Elegy"
        change.save(record)
    assert store.get(HERE).heading == "Bob: Ode"


def test_a_record_from_before_has_its_computed_values_when_it_is_read(open_engine: Callable[[], Engine]) -> None:
    engine = open_engine()
    engine.ensure(OLD.shapes)
    Store(engine).put(OldSong(song_id="1", title="ODE", artist="Ann"))
    engine.ensure(SONGS.shapes)
    store = Store(engine)
    assert store.get(HERE) == song("ODE", artist="Ann")
    assert found(store, "ode") == []
    assert list(store.find(Song.by_title())) == []
    _changed(store, lambda c: c.save(_with(c.get(HERE), title="Ode to joy")))
    assert found(store, "ode") == ["Ode to joy"]
    assert store.get(HERE).heading == "Ann: Ode to joy"


def _with(record: Any, **values: Any) -> Any:
    for name, value in values.items():
        setattr(record, name, value)
    return record


def test_a_computed_value_may_be_unique(store: Store) -> None:
    store.ensure(SONGS)
    store.create(Singer(name="a", email="Ann@x"))
    with pytest.raises(NotUnique, match="email_folded"):
        store.create(Singer(name="b", email="ANN@X"))
    store.create(Singer(name="b", email="bob@x"))
    with pytest.raises(NotUnique):
        store.patch(Singer.at(name="b"), the(Singer.email).set("aNN@x"))
    store.patch(Singer.at(name="a"), the(Singer.email).set("other@x"))
    assert store.patch(Singer.at(name="b"), the(Singer.email).set("aNN@x")).email_folded == "ann@x"


def test_a_function_that_fails_is_a_clear_refusal(store: Store) -> None:
    class Album(Entity, table=Table("penstock-test-albums", partition="PK")):
        name: str
        year: str
        decade: int = computed(lambda year: int(year) // 10 * 10, of="year")

        @key("{name}")
        def at(self, *, name: str) -> None: ...

    with pytest.raises(InvalidValue, match=r"computed of year as they are \(ValueError\)"):
        Album(name="a", year="MCMXC")
    with pytest.raises(InvalidValue, match=r"Album\.decade cannot be computed of year"):
        store.patch(Album.at(name="a"), the(Album.year).set("MCMXC"))


DECLARED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "of nothing": ("is computed of nothing", {"made": str}, {"made": computed(str, of=())}),
    "of what is not there": (
        "computed of 'other', which is no field",
        {"made": str},
        {"made": computed(str, of="other")},
    ),
    "of itself": ("computed of 'made', which is no field", {"made": str}, {"made": computed(str, of="made")}),
    "of what comes later": (
        "which is no field declared before it",
        {"made": str, "later": str},
        {"made": computed(str, of="later")},
    ),
    "of what is computed": (
        "which is no field declared before it that is given",
        {"made": str, "again": str},
        {"made": computed(str, of="name"), "again": computed(str, of="made")},
    ),
    "of what is personal": (
        "is computed of email, which is personal",
        {"email": Personal[str], "made": str},
        {"made": computed(str, of="email")},
    ),
}


@pytest.mark.parametrize("case", list(DECLARED))
def test_declarations_that_cannot_be_kept_are_refused(case: str) -> None:
    from types import new_class

    message, annotations, defaults = DECLARED[case]

    def at(self: Any, *, name: str) -> None: ...

    body = {
        "__annotations__": {"name": str, **annotations},
        "__module__": __name__,
        **defaults,
        "at": key("{name}")(at),
    }
    options = {"table": Table("penstock-test-made", partition="PK")}
    with pytest.raises(DeclarationError, match=message):
        new_class("Made", (Entity,), options, lambda namespace: namespace.update(body))
