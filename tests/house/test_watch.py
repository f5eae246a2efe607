"""The watch over what tests store would notice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock import Domain, Entity, ObjectKey, Table, key, open_store
from penstock.operations.updates import Append, Set
from penstock.operations.writes import Patch, Put
from tests import watch

TABLE = Table("Watched", partition="PK", sort="SK")


class Note(Entity, table=TABLE):
    name: str
    text: str = ""
    more: dict[str, Any] | None = None
    file: ObjectKey | None = None
    files: list[ObjectKey] | None = None

    @key("NOTE#{name}", "NOTE")
    def at(self, *, name: str) -> None: ...


WATCHED = Domain("watched", Note)
SIGNED = "https://bucket.s3.amazonaws.com/a.png?X-Amz-Signature=abc"


@pytest.mark.parametrize(
    "values",
    [
        {"text": SIGNED},
        {"text": f"see {SIGNED} and more"},
        {"more": {"deep": [{"url": SIGNED}]}},
        {"more": {SIGNED: 1}},
        {"text": "http://127.0.0.1:8000/objects/a?expires=1&signature=abc"},
        {"text": "https://account.blob/a?sv=2024&sig=abc"},
        {"file": "https://bucket/a.png"},
        {"files": ["a.png", "s3://bucket/a.png"]},
    ],
)
def test_what_should_not_be_stored_is_noticed(values: dict[str, Any]) -> None:
    shape = Note.__shape__
    watch.look(Put(shape, {"name": "a", **values}))
    ((field, value),) = values.items()
    watch.look(Patch(shape, {"name": "a"}, (Set(field, value),)))
    if isinstance(value, list):
        watch.look(Patch(shape, {"name": "a"}, (Append(field, tuple(value)),)))
    assert len(watch.seen) == (3 if isinstance(value, list) else 2)
    watch.seen.clear()


def test_a_mention_of_a_url_is_no_matter() -> None:
    watch.look(Put(Note.__shape__, {"name": "a", "text": "see https://example.org/paper?id=1", "file": "a.png"}))
    assert watch.seen == []


def test_every_write_of_an_engine_is_looked_at(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/watched.db")
    store.ensure(WATCHED)
    store.put(Note(name="a", text=SIGNED))
    store.put_many([Note(name="b", text=SIGNED)])
    store.patch(Note.at(name="a"), Set("text", SIGNED))
    with store.change() as change:
        change.create(Note(name="c", text=SIGNED))
    store.close()
    assert watch.seen == ["watched.Note.text: a signature"] * 4
    watch.seen.clear()
