"""A document comes back as it was put, with its types, however it is read, and can be put again: on every engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from penstock import Store, the
from penstock.errors import Conflict
from penstock.kernel.idempotency import SystemOnce
from penstock.schema.documents import has_only_texts, plain
from penstock.schema.object_key import ObjectKey
from penstock.testing.entities import Measure, Specimen, Watched
from tests.kernel.everywhere import Everywhere, open_everywhere

LARGE = [float(2**63), -float(2**63), float(2**64), 1e19, -1e19, 1.5e19, 9.3e18, 1e25, -1e125, 123456789012345678901.0]
FLOATS = [*LARGE, 0.0, -0.0, 1.0, -1.0, 1e16, 1e18, 9.2e18, 0.1, -1 / 3, 1e-130, 5e-7, 2.5]
WHOLE = [0, 1, -1, 2**63 - 1, -(2**63), 10**18, 10**16]

numbers = st.sampled_from(FLOATS) | st.sampled_from(WHOLE) | st.integers(-(2**63), 2**63 - 1)
numbers |= st.floats(allow_nan=False, allow_infinity=False).filter(lambda f: not f or 1e-130 <= abs(f) < 1e126)
# Texts that look like large numbers are not.
leaves = numbers | st.none() | st.booleans() | st.sampled_from(["", "x", "12345678901234567890", "1e19", "é"])
names = st.sampled_from(["a", "b", "12345678901234567890", "1e19"])
documents = st.dictionaries(
    names, st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3))
)


@pytest.fixture(scope="module")
def everywhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everywhere]:
    folder = tmp_path_factory.mktemp("documents")
    shapes = [Specimen.__shape__, Watched.__shape__]
    with open_everywhere(request, folder, shapes, model=False) as opened:
        yield opened


def typed(value: Any) -> Any:
    """A document with the type of each of its parts."""
    if isinstance(value, dict):
        return {k: typed(v) for k, v in value.items()}
    if isinstance(value, list):
        return [typed(v) for v in value]
    return (type(value).__name__, value)


@settings(
    max_examples=3,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(documents, min_size=40, max_size=40))
def test_a_document_comes_back_with_its_types_and_can_be_put_again(everywhere: Everywhere, given: list[Any]) -> None:
    records = [
        Specimen(
            shelf="s",
            label=f"{n}",
            extra=document,
            measure=Measure(width=n, height=LARGE[n % len(LARGE)]),
            measures=[Measure(width=1, height=height) for height in LARGE[:3]],
            ratio=LARGE[n % len(LARGE)],
        )
        for n, document in enumerate(given)
    ]
    expected = [typed(plain(document)) for document in given]
    for name, store in everywhere.stores.items():
        store.put_many(records)
        for _ in range(2):
            read = _read_in_every_way(store, records)
            for way, found in read.items():
                assert [typed(r.extra) for r in found] == expected, (name, way)
                for record, put in zip(found, records, strict=True):
                    assert put.measure is not None
                    assert (record.measure, record.measures, record.ratio) == (put.measure, put.measures, put.ratio)
                    assert type(record.measure.height) is type(record.ratio) is float, (name, way)
            store.put_many(read["many"])  # as it was read


def _read_in_every_way(store: Store, records: list[Specimen]) -> dict[str, list[Any]]:
    found = {r.label: r for r in store.find(Specimen.by_shelf(shelf="s"))}
    return {
        "one": [store.get(r.ref) for r in records],
        "many": store.get_many([r.ref for r in records]),
        "found": [found[r.label] for r in records],
    }


def test_the_feed_tells_large_floats_as_floats(everywhere: Everywhere) -> None:
    first = {"a": LARGE, "b": {"c": [1e19, {"d": -1e25}]}}
    second = {"a": [1, *LARGE[1:]]}
    for name, store in everywhere.stores.items():
        store.put(Watched(shelf="s", label="a", extra=first))
        store.put(Watched(shelf="s", label="a", extra=second))
        told = store.engine.changes([Watched.__shape__])
        assert [typed(e.new.extra) for e in told] == [typed(first), typed(second)], name
        assert typed(told[1].old.extra) == typed(first), name


def test_what_was_read_can_be_changed_and_saved(everywhere: Everywhere) -> None:
    for name, store in everywhere.stores.items():
        store.put(Specimen(shelf="t", label="a", extra={"n": LARGE}))
        with store.change() as change:
            record = change.get(Specimen.at(shelf="t", label="a"))
            assert record.extra is not None
            record.extra["m"] = record.extra["n"][:2]
            change.save(record)
        assert typed(store.get(Specimen.at(shelf="t", label="a")).extra) == typed({"n": LARGE, "m": LARGE[:2]}), name


@pytest.mark.parametrize(
    ("annotation", "texts"),
    [
        (list[str], True),
        (list[ObjectKey] | None, True),
        (dict[str, list[bool | None]], True),
        (tuple[str, ...], True),
        (Annotated[list[str], "any"], True),
        (list, False),
        (dict[str, Any], False),
        (list[float], False),
        (dict[str, str | int], False),
        (Measure, False),
        (list[Measure], False),
    ],
)
def test_only_what_cannot_hold_a_number_is_spared_to_be_looked_through(annotation: Any, texts: bool) -> None:
    assert has_only_texts(annotation) is texts


def test_what_is_changed_in_place_deep_within_is_saved_and_guarded(store: Store) -> None:
    now = store.clock.now()
    done = SystemOnce(
        idempotency_key="k", created_at=now, ttl=int(now.timestamp()) + 9999, result={"a": {"done": [1, 0.5]}}
    )
    store.create(done)
    with store.change() as change:
        found = change.get(done.ref)
        found.result["a"]["done"][0] += 1
        change.save(found)
    assert store.get(done.ref).result == {"a": {"done": [2, 0.5]}}
    with pytest.raises(Conflict), store.change() as change:
        found = change.get(done.ref)
        store.patch(done.ref, the(SystemOnce.result).set({"a": {"done": [9, 0.5]}}))
        found.result["a"]["done"][0] += 1
        change.save(found)
