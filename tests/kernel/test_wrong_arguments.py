"""The wrong kind of thing, given to any method of a store or a change: one clear answer, the same on every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock import Store, starting_with, the
from penstock.errors import InvalidKey, InvalidValue, PenstockError, TooLarge
from penstock.kernel.own_records import KERNEL
from penstock.operations.conditions import Present
from penstock.operations.reads import Range
from penstock.testing.entities import SUITE, Specimen, Task, Ticket, specimen
from tests.kernel.everywhere import Everywhere, open_everywhere

RECORD = specimen(title="t")
WRONG: dict[str, Any] = {
    "None": None,
    "a number": 5,
    "a text": "x",
    "an empty text": "",
    "a long text": "x" * 5000,
    "bytes": b"x",
    "a ref": RECORD.ref,
    "a query": Specimen.by_shelf(shelf="top"),
    "a record": RECORD,
    "a class": Specimen,
    "a field": Specimen.count,
    "a condition": the(Specimen.count).equals(1),
    "an update": the(Specimen.count).set(1),
    "another's condition": the(Ticket.owner).equals("x"),
    "another's update": the(Ticket.owner).set("x"),
    "another's ref": Ticket.at(queue="q", ticket_id="1"),
    "a list": [RECORD.ref],
    "a map": {},
    "a function": len,
}
TOLD = {
    "None": "None",
    "a number": "a int",
    "a record": "a record of Specimen",
    "a class": "the class Specimen",
    "a query": "a query by Specimen.by_shelf",
    "a condition": "the condition Compare",
    "an update": "the update Set",
    "a list": "a list",
}
"How some of them are told."
_SET = the(Specimen.count).set(1)


def changed(action: Callable[[Any, Any], Any]) -> Callable[[Store, Any], Any]:
    def run(store: Store, given: Any) -> Any:
        with store.change() as change:
            action(change, given)

    return run


def begun(name: str) -> Callable[[Store, Any], Any]:
    def run(store: Store, given: Any) -> Any:
        with store.change(**{name: given}):
            pass

    return run


METHODS: dict[str, Callable[[Store, Any], Any]] = {
    "get": lambda s, x: s.get(x),
    "lookup": lambda s, x: s.lookup(x),
    "get_many": lambda s, x: s.get_many(x),
    "get_many of one": lambda s, x: s.get_many([x]),
    "get_many, behind a right one": lambda s, x: s.get_many([RECORD.ref, x]),
    "find": lambda s, x: list(s.find(x)),
    "first": lambda s, x: s.first(x),
    "page": lambda s, x: s.page(x).records,
    "page, limit": lambda s, x: s.page(Specimen.by_shelf(shelf="top"), limit=x).records,
    "page, cursor": lambda s, x: s.page(Specimen.by_shelf(shelf="top"), cursor=x).records,
    "cursor": lambda s, x: s.cursor(x, RECORD),
    "cursor, record": lambda s, x: s.cursor(Specimen.by_shelf(shelf="top"), x),
    "put": lambda s, x: s.put(x),
    "put, when": lambda s, x: s.put(RECORD, when=x),
    "create": lambda s, x: s.create(x),
    "patch": lambda s, x: s.patch(x, _SET),
    "patch, update": lambda s, x: s.patch(RECORD.ref, x),
    "patch, when": lambda s, x: s.patch(RECORD.ref, _SET, when=x),
    "patch, given": lambda s, x: s.patch(RECORD.ref, _SET, given=x),
    "delete": lambda s, x: s.delete(x),
    "delete, when": lambda s, x: s.delete(RECORD.ref, when=x),
    "commit": lambda s, x: s.commit(x),
    "commit of one": lambda s, x: s.commit([x]),
    "put_many": lambda s, x: s.put_many(x),
    "put_many of one": lambda s, x: s.put_many([x]),
    "delete_many": lambda s, x: s.delete_many(x),
    "delete_many of one": lambda s, x: s.delete_many([x]),
    "ensure": lambda s, x: s.ensure(x),
    "change.get": changed(lambda c, x: c.get(x)),
    "change.track": changed(lambda c, x: c.track(x)),
    "change.create": changed(lambda c, x: c.create(x)),
    "change.claim": changed(lambda c, x: c.claim(x, owner="title")),
    "change.claim, owner": changed(lambda c, x: c.claim(RECORD, owner=x)),
    "change.put": changed(lambda c, x: c.put(x)),
    "change.put, when": changed(lambda c, x: c.put(RECORD, when=x)),
    "change.save": changed(lambda c, x: c.save(x)),
    "change.save, when": changed(lambda c, x: c.save(c.get(RECORD.ref), when=x)),
    "change.patch": changed(lambda c, x: c.patch(x, _SET)),
    "change.patch, update": changed(lambda c, x: c.patch(RECORD.ref, x)),
    "change.patch, when": changed(lambda c, x: c.patch(RECORD.ref, _SET, when=x)),
    "change.delete": changed(lambda c, x: c.delete(x)),
    "change.check": changed(lambda c, x: c.check(x, Present())),
    "change.check, when": changed(lambda c, x: c.check(RECORD.ref, x)),
    "change.emit, record": changed(lambda c, x: c.emit("x", x) and None),
    "by": begun("by"),
    "why": begun("why"),
    "project": begun("project"),
    "under": begun("under"),
    "once": begun("once"),
    "a key": lambda s, x: s.lookup(Specimen.at(shelf=x, label="x")),
    "a parameter": lambda s, x: list(s.find(Specimen.by_shelf(shelf=x))),
    "a bound": lambda s, x: list(s.find(Specimen.by_shelf(shelf="top", label=Range(low=x)))),
    "a prefix": lambda s, x: list(s.find(Specimen.by_shelf(shelf="top", label=Range(prefix=x)))),
}


@pytest.fixture(scope="module")
def everywhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everywhere]:
    with open_everywhere(request, Path(tmp_path_factory.mktemp("wrong")), [*SUITE.shapes, *KERNEL.shapes]) as opened:
        yield opened


@pytest.mark.parametrize("method", list(METHODS))
def test_the_wrong_kind_of_argument_has_one_answer_everywhere(everywhere: Everywhere, method: str) -> None:
    if method == "ensure":
        return _same_but_for_creating(everywhere, method)
    for store in everywhere.stores.values():
        store.put(RECORD)
    for given in WRONG.values():
        kind, *said = everywhere.same(lambda s, given=given: METHODS[method](s, given))  # type: ignore[misc]
        assert kind == "value" or len(str(said[0])) < 500


def _same_but_for_creating(everywhere: Everywhere, method: str) -> None:
    for given in WRONG.values():
        with pytest.raises(InvalidValue, match="ensure takes domains"):
            METHODS[method](everywhere.model, given)


REFUSED: dict[str, tuple[type[PenstockError], str, Callable[[Store], Any]]] = {
    "find of a ref": (
        InvalidValue,
        "find takes a query, such as Entity.pattern(…), not the ref of a record of Specimen; get reads the one record "
        "of a ref",
        lambda s: s.find(RECORD.ref),  # type: ignore[call-overload]
    ),
    "a claim of a misspelt owner": (
        InvalidValue,
        "claim(owner='titel'): Specimen has no such field; did you mean title?",
        lambda s: s.change().claim(RECORD, owner="titel"),
    ),
    "a claim without an owner": (
        InvalidValue,
        "claim(owner='text'): Specimen.text has no value, so it would be nobody's claim",
        lambda s: s.change().claim(RECORD, owner="text"),
    ),
    "a claim of an empty owner": (
        InvalidValue,
        "claim(owner='text'): Specimen.text has no value, so it would be nobody's claim",
        lambda s: s.change().claim(specimen(text=""), owner="text"),
    ),
    "a claim by a list": (
        InvalidValue,
        "claim(owner='notes'): Specimen.notes is a document, which names no owner",
        lambda s: s.change().claim(specimen(notes=["x"]), owner="notes"),
    ),
    "nothing, if absent": (
        InvalidValue,
        "Specimen.text: give the value that it is to have if it has none; None is none",
        lambda s: the(Specimen.text).set_if_absent(None),
    ),
    "a bound of 1,025 bytes": (
        TooLarge,
        "Specimen: the key made by 'SPECIMEN#{label}' has 1025 bytes; at most 1024 are allowed. Shorten label",
        lambda s: Specimen.by_shelf(shelf="top", label=Range(low="x" * 1016)),
    ),
    "a prefix of 1,025 bytes": (
        TooLarge,
        "Specimen: the key made by 'SPECIMEN#{label}' has 1025 bytes; at most 1024 are allowed. Shorten label",
        lambda s: Specimen.by_shelf(shelf="top", label=starting_with("x" * 1016)),
    ),
    "a bound in the middle that escapes to 1,025 bytes": (
        TooLarge,
        "Task: the key made by 'TASK#{name}#{at}#{attempt:03d}' has 1026 bytes; at most 1024 are allowed. Shorten "
        "name, at, attempt",
        lambda s: Task.by_name(job="j", name=Range(high=" " * 340)),
    ),
    "a part of 1,025 bytes": (
        TooLarge,
        "Task: the key made by 'TASK#{name}#{at}#{attempt:03d}' has 1030 bytes; at most 1024 are allowed. Shorten "
        "name, at, attempt",
        lambda s: Task.by_time(job="j", name="x" * 1024),
    ),
    "a prefix that is no text": (
        InvalidKey,
        "Specimen.by_shelf: a prefix is a text, not a int",
        lambda s: Specimen.by_shelf(shelf="top", label=Range(prefix=5)),  # type: ignore[arg-type]
    ),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_the_answer_says_what_was_wrong_and_what_to_do(everywhere: Everywhere, case: str) -> None:
    kind, message, action = REFUSED[case]
    with pytest.raises(PenstockError) as refused:
        action(everywhere.model)
    assert type(refused.value) is kind
    assert str(refused.value) == message.replace("Specimen.by_shelf", Specimen.by_shelf.shape.label)


def test_what_was_given_instead_is_named(everywhere: Everywhere) -> None:
    for given, told in TOLD.items():
        with pytest.raises(InvalidValue) as refused:
            everywhere.model.get(WRONG[given])
        assert str(refused.value).endswith(f", not {told.replace('Specimen.by_shelf', Specimen.by_shelf.shape.label)}")


def test_bounds_of_just_1024_bytes_are_asked_everywhere(everywhere: Everywhere) -> None:
    longest = "x" * (1024 - len("SPECIMEN#"))
    for bounds in (Range(low=longest), Range(high=longest), starting_with(longest), Range(longest, longest, True)):
        everywhere.same(lambda s, bounds=bounds: list(s.find(Specimen.by_shelf(shelf="none", label=bounds))))  # type: ignore[misc]
    middle = "x" * (1024 - len("TASK##"))
    for bounds in (Range(low=middle, open_low=True), Range(high=middle), starting_with(middle)):
        everywhere.same(lambda s, bounds=bounds: list(s.find(Task.by_name(job="none", name=bounds))))  # type: ignore[misc]
