"""Versions: opt-in, they count every write and guard what is saved as a whole."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any

import pytest
from pydantic import Field

from penstock import Count, Domain, Entity, IndexKey, Move, Store, Table, Unique, key, the
from penstock.errors import Conflict, DeclarationError, InvalidValue
from penstock.kernel.handle import put
from penstock.kernel.lease import Leased, release, take
from penstock.ports.engine import Engine

TABLE = Table("penstock-test-pages", partition="PK", sort="SK")
EARLY = Table("penstock-test-pages", partition="PK", sort="SK")


class Draft(StrEnum):
    OPEN = "open"
    DONE = "done"


class OldPage(Entity, table=EARLY, relation="page"):
    name: str
    text: str = ""
    note: str = ""

    @key("PAGE#{name}", "PAGE")
    def at(self, *, name: str) -> None: ...


class Page(Leased, table=TABLE, version="revision"):
    name: str
    text: str = ""
    note: str = ""
    lines: list[str] = Field(default_factory=list)
    reads: Count = 0
    draft: Draft = Draft.OPEN
    revision: int = 1

    @key("PAGE#{name}", "PAGE")
    def at(self, *, name: str) -> None: ...

    finish = Move(Draft.OPEN, to=Draft.DONE)


class Chapter(Entity, table=TABLE, version="revision"):
    name: str
    title: Unique[str]
    revision: Annotated[int, Field(ge=1)] = 1

    @key("CHAPTER#{name}", "CHAPTER")
    def at(self, *, name: str) -> None: ...


OLD_BOOK = Domain("book_version", OldPage)
BOOK = Domain("book_version", Page, Chapter)
HERE = Page.at(name="p")


@pytest.fixture
def furniture() -> tuple[Domain, ...]:
    return (BOOK,)


def _saved(store: Store, **values: Any) -> None:
    with store.change(by="ann") as change:
        page = change.get(HERE)
        for name, value in values.items():
            setattr(page, name, value)
        change.save(page)


def test_every_write_by_any_path_counts_one(store: Store) -> None:
    store.create(Page(name="p", revision=9))
    assert store.get(HERE).revision == 1
    writes: list[Callable[[], Any]] = [
        lambda: store.put(Page(name="p")),
        lambda: store.put(Page(name="p", revision=40), when=the(Page.note).equals("")),
        lambda: store.patch(HERE, the(Page.text).set("x")),
        lambda: store.patch(HERE, the(Page.reads).add(1), exact=False),
        lambda: store.commit([put(Page(name="p"))]),
        lambda: store.put_many([Page(name="p")]),
        lambda: _saved(store, text="y"),
        lambda: _change(store, lambda c: c.patch(HERE, the(Page.lines).append("z"))),
        lambda: _change(store, lambda c: c.put(Page(name="p"))),
        lambda: _change(store, lambda c: c.claim(Page(name="p"), owner="name")),
        lambda: _change(store, lambda c: c.save(c.get(HERE).finish())),
    ]
    for number, write in enumerate(writes, 2):
        write()
        assert store.get(HERE).revision == number
    lease = take(store, HERE, owner="me", period=timedelta(seconds=60))
    assert lease is not None
    release(store, lease)
    assert store.get(HERE).revision == len(writes) + 3


def _change(store: Store, action: Callable[[Any], Any]) -> None:
    with store.change() as change:
        action(change)


def test_what_is_saved_must_be_as_a_whole_what_was_read(store: Store) -> None:
    store.create(Page(name="p"))
    with pytest.raises(Conflict), store.change() as change:
        page = change.get(HERE)
        store.patch(HERE, the(Page.note).set("another's"))
        page.text = "mine"  # another field, and yet
        change.save(page)
    with pytest.raises(Conflict), store.change() as change:
        page = change.get(HERE)
        store.patch(HERE, the(Page.note).set("again"))
        change.save(page)  # nothing has changed in it, and it must stand as read all the same
    assert store.get(HERE).text == ""
    assert store.get(HERE).revision == 3


def test_a_record_that_was_saved_can_be_saved_again(store: Store) -> None:
    page = Page(name="p")
    store.create(page)
    for number in range(2, 5):
        with store.change() as change:
            change.track(page).text = str(number)
            change.save(page)
        assert page.revision == store.get(HERE).revision == number


def test_nobody_else_sets_a_version(store: Store) -> None:
    page = Page(name="p")
    with pytest.raises(InvalidValue, match="revision is the version, which counts the writes by itself"):
        page.revision = 7
    with pytest.raises(InvalidValue, match="no patch changes it"):
        the(Page.revision).set(7)
    with pytest.raises(InvalidValue, match="no patch changes it"):
        the(Page.revision).add(7)


def test_read_modify_write_by_many_loses_nothing(store: Store) -> None:
    store.create(Page(name="p"))

    def run(n: int) -> None:
        for _ in range(3):
            while True:
                try:
                    with store.change() as change:
                        page = change.get(HERE)
                        page.lines = [*page.lines, str(n)]
                        change.save(page)
                    break
                except Conflict:
                    continue

    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    page = store.get(HERE)
    assert sorted(page.lines) == sorted(str(n) for n in range(4) for _ in range(3))
    assert page.revision == 13


def test_whole_records_put_by_many_are_all_counted(store: Store) -> None:
    threads = [threading.Thread(target=lambda: store.put_many([Page(name="p")] * 3)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.get(HERE).revision == 12


def test_whoever_is_never_the_quickest_is_told_so(open_engine: Callable[[], Engine]) -> None:
    class Crowded:
        """An engine on which others change the record each time before a commit comes to it."""

        tries = 0

        def __init__(self, engine: Engine) -> None:
            self._engine, self._others = engine, Store(engine)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._engine, name)

        def commit(self, writes: Any, **more: Any) -> None:
            self.tries += 1
            if self.tries <= 60:
                self._others.patch(HERE, the(Page.reads).add(1))
            self._engine.commit(writes, **more)

    engine = open_engine()
    engine.ensure([Page.__shape__])
    Store(engine).create(Page(name="p"))
    crowded: Any = Crowded(engine)
    with pytest.raises(Conflict):
        Store(crowded).put(Page(name="p", text="mine"))
    assert crowded.tries == 20
    assert Store(engine).get(HERE).text == ""


def test_a_record_from_before_begins_at_one(open_engine: Callable[[], Engine]) -> None:
    engine = open_engine()
    engine.ensure([OldPage.__shape__])
    Store(engine).put(OldPage(name="p"))
    engine.ensure([Page.__shape__])
    store = Store(engine)
    with store.change() as change:
        page = change.get(HERE)
        page.text = "new"
        change.save(page)
    assert store.patch(HERE, the(Page.note).set("x")).revision == 3


def test_a_version_and_unique_values_go_together(store: Store) -> None:
    store.create(Chapter(name="a", title="one"))
    there = Chapter.at(name="a")
    assert store.patch(there, the(Chapter.title).set("two")).revision == 2
    with store.change() as change:
        chapter = change.get(there)
        chapter.title = "three"
        change.save(chapter)
    store.put(Chapter(name="a", title="four"))
    assert store.get(there) == Chapter(name="a", title="four", revision=4)
    store.create(Chapter(name="b", title="three"))


def test_declarations_that_cannot_be_kept_are_refused() -> None:
    table = Table("penstock-test-sheets", partition="PK")
    with pytest.raises(DeclarationError, match=r"version='number' needs a field that begins at 1"):

        class Sheet(Entity, table=table, version="number"):
            name: str
            number: int = 0

            @key("{name}")
            def at(self, *, name: str) -> None: ...

    by_number = table.index("by-number", partition="NPK", sort="NSK")
    with pytest.raises(DeclarationError, match="cannot be part of a key"):

        class Leaf(Entity, table=table, version="number"):
            name: str
            number: int = 1

            @key("{name}")
            def at(self, *, name: str) -> None: ...

            numbered = IndexKey(by_number, "ALL", "{number:05d}")


def test_what_is_overwritten_counts_one_more_whatever_it_has_become(store: Store) -> None:
    store.create(Page(name="p"))
    with store.change() as change:
        page = change.get(HERE)
        store.patch(HERE, the(Page.note).set("another's"))
        page.text = "mine"
        change.overwrite(page)
    found = store.get(HERE)
    assert (found.text, found.note, found.revision) == ("mine", "another's", 3)
