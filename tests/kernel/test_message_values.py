"""What a message may tell: whatever can be stored everywhere; anything else is refused with its whole change."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from penstock import Store
from penstock.domains.assetcreator.bookkeeping import Outbox
from penstock.domains.assetcreator.model import Project as Studio
from penstock.errors import InvalidValue
from penstock.kernel.outbox import MessageStatus, SystemMessage
from tests.kernel.test_outbox import project


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        ({"note": "a\x00b"}, "NUL"),
        ({"a\x00b": "note"}, "NUL"),
        ({"note": "half \ud800"}, "lone surrogate"),
        ({"half \ud800": "note"}, "lone surrogate"),
        ({"": "note"}, "non-empty"),
        ({"note": uuid4()}, "cannot hold a UUID"),
        ({"note": {"deep": "a\x00b"}}, "NUL"),
    ],
    ids=[
        "a NUL",
        "a NUL in a name",
        "half a character",
        "half a character in a name",
        "no name",
        "a UUID",
        "deep down",
    ],
)
def test_a_message_that_cannot_be_stored_is_refused_with_the_whole_change(
    store: Store, payload: dict[str, Any], why: str
) -> None:
    record = project(store)
    with pytest.raises(InvalidValue, match=why), store.change(by="ann") as change:
        change.create(record)
        change.emit("made", record, **payload)
    assert store.lookup(record.ref) is None
    assert not list(store.find(SystemMessage.by_status(status=MessageStatus.PENDING)))


def test_a_message_tells_any_text_and_number(store: Store) -> None:
    record = project(store)
    store.create(record)
    told: dict[str, Any] = {
        "note": "Ünï ☃",
        "count": 3,
        "share": 0.5,
        "none": None,
        "list": ["a", {"b": True}],
        "quoted": 'a "b" \\ \n',
    }
    with store.change(by="ann") as change:
        change.emit("told", record, **told)
    (message,) = store.find(SystemMessage.by_status(status=MessageStatus.PENDING))
    assert message.payload == {"project_id": str(record.project_id), **told}
    assert (message.retry_at, message.error, message.ttl) == (None, None, None)


@pytest.mark.parametrize("wrong", ["a\x00b", "half \ud800"], ids=["a NUL", "half a character"])
def test_a_message_whose_type_or_project_cannot_be_stored_is_refused_with_the_whole_change(
    store: Store, wrong: str
) -> None:
    record = project(store)
    for name, of in ((wrong, "p1"), ("made", wrong)):
        with pytest.raises(InvalidValue, match=r"NUL|lone surrogate"), store.change(project=of) as change:
            change.create(record)
            change.emit(name, record)
    assert store.lookup(record.ref) is None


def test_a_message_of_any_type_and_project_is_told(store: Store) -> None:
    record = project(store)
    store.create(record)
    for number, (name, of) in enumerate((("Ünï ☃", "p1"), ("made", "Ünï ☃"), ("m" * 400, "p" * 400))):
        with store.change(project=of) as change:
            change.emit(name, record)
        message = list(store.find(SystemMessage.by_status(status=MessageStatus.PENDING)))[number]
        assert (message.type, message.project_id) == (name, of)


def test_a_value_that_does_not_fit_a_domains_own_message_is_refused_with_the_whole_change(store: Store) -> None:
    studio = Studio(project_id="prj_001", name="Games", created_at=store.clock.now())
    with (
        pytest.raises(InvalidValue, match=r"a message of assetcreator\.Outbox cannot be made: .*string"),
        store.change(by="ann") as change,
    ):
        change.create(studio)
        change.emit("project.created", studio, job_id=5)
    assert store.lookup(studio.ref) is None
    assert not list(store.find(Outbox.by_status(status=MessageStatus.PENDING)))
