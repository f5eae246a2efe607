"""What histories are made of: values from small pools, so that they meet, and odd texts, so that they hurt."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from penstock import after, before, between, since, starting_with, the, until
from penstock.operations.conditions import Condition, Missing, Present
from tests.kernel.worlds import State, Thing

START = 2_114_380_800  # the first second of 2037, where the clock starts


def moment(second: int) -> datetime:
    return datetime.fromtimestamp(second, UTC)


# Texts whose order differs between bytes and UTF-16 units, whose parts need escaping, and which begin one another.
# No capital letters: dynoxide's begins_with takes them for small ones (see the engine suite).
TEXTS = ["a", "a#", "a#b", "a%", "a%23", "a b", "ab", "#", "%", " ", "!", "é", "\ue000", "\uffff", "𐀀", "\U0010ffff"]
texts = st.sampled_from(TEXTS) | st.text("a#% é\ud7ff\ue000\uffff𐀀\U0010ffff", min_size=1, max_size=3)
GROUPS = ["a", "a#", "\uffff", "𐀀"]
OWNERS = ["ann", "ann#", "𐀀"]
groups = st.sampled_from(GROUPS)
ranks = st.sampled_from([0, 7, 999])
names = st.sampled_from(["a", "a#", "%", "\uffff", "𐀀"])
owners = st.sampled_from(OWNERS)
scores = st.sampled_from([0, 9, 10])
dues = st.sampled_from([START, START + 1, START + 60]).map(moment)
counts = st.integers(-5, 5)
prices = st.decimals(-100, 100, places=3)
labels = st.frozensets(st.sampled_from(["a", "b", "é", "𐀀"]), min_size=1)
notes = st.lists(st.sampled_from(["", "x", "y#"]), max_size=3)
ends = st.integers(START + 1, START + 300)
states = st.sampled_from(State)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


def mostly(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), *[values] * 4)


def seldom(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(values, *[st.none()] * 4)


keys = st.fixed_dictionaries({"group": groups, "rank": ranks, "name": names})
things = st.fixed_dictionaries(
    {
        "group": groups,
        "rank": ranks,
        "name": names,
        "state": states,
        "owner": mostly(owners),
        "due": mostly(dues),
        "score": mostly(scores),
        "count": maybe(counts),
        "price": maybe(prices),
        "labels": maybe(labels),
        "notes": maybe(notes),
        "text": maybe(texts),
        "ends": seldom(ends),
    }
)
echoes = st.fixed_dictionaries(
    {"number": st.sampled_from([0, 1, 99999]), "state": states, "due": maybe(dues), "count": maybe(counts)}
)
ticks = st.fixed_dictionaries(
    {"tick": st.integers(0, 12), "meter": maybe(st.sampled_from(["m", "n"])), "value": maybe(scores)}
)


def _comparisons(attr: Any, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Condition]:
    one = st.sampled_from(["equals", "differs", "before", "until", "after", "since"])
    return (
        st.builds(lambda name, value: getattr(attr, name)(value), one, values)
        | st.builds(attr.between, values, values)
        | st.lists(values, min_size=1, max_size=3).map(lambda v: attr.one_of(*v))
        | st.just(attr.exists())
        | st.just(attr.absent())
    )


simple_conditions = (
    st.just(Present())
    | st.just(Missing())
    | st.just(the(Thing.labels).exists())
    | st.just(the(Thing.notes).absent())
    | _comparisons(the(Thing.count), counts)
    | _comparisons(the(Thing.price), prices)
    | _comparisons(the(Thing.text), texts)
    | _comparisons(the(Thing.due), dues)
    | _comparisons(the(Thing.state), states)
)
conditions = st.recursive(
    simple_conditions,
    lambda inner: (
        st.builds(lambda a: ~a, inner)
        | st.builds(lambda a, b: a & b, inner, inner)
        | st.builds(lambda a, b: a | b, inner, inner)
    ),
    max_leaves=4,
)

_free = st.one_of(
    st.builds(the(Thing.count).set, counts),
    st.builds(the(Thing.count).add, counts),
    st.builds(the(Thing.count).set_if_absent, counts),
    st.just(the(Thing.count).remove()),
    st.builds(the(Thing.price).set, prices),
    st.builds(the(Thing.price).add, prices),
    st.just(the(Thing.price).remove()),
    st.builds(the(Thing.text).set, texts),
    st.builds(the(Thing.text).set_if_absent, texts),
    st.just(the(Thing.text).remove()),
    labels.map(lambda x: the(Thing.labels).include(*x)),
    labels.map(lambda x: the(Thing.labels).exclude(*x)),
    st.builds(the(Thing.labels).set, labels),
    notes.filter(bool).map(lambda x: the(Thing.notes).append(*x)),
    st.builds(the(Thing.notes).set, notes),
    st.builds(the(Thing.notes).set_if_absent, notes),
    st.builds(the(Thing.ends).set, maybe(ends)),
)
_indexed = st.one_of(
    st.builds(the(Thing.owner).set, maybe(owners)),
    st.builds(the(Thing.due).set, maybe(dues)),
    st.builds(the(Thing.score).set, maybe(scores)),
    st.builds(the(Thing.score).add, st.integers(0, 3)),
    st.builds(the(Thing.owner).set_if_absent, owners),
)
free_updates = st.lists(_free, min_size=1, max_size=4, unique_by=lambda u: u.field)
any_updates = st.lists(_free | _indexed, min_size=1, max_size=4, unique_by=lambda u: u.field)


def ranges(values: st.SearchStrategy[Any], *, texts: bool = False) -> st.SearchStrategy[Any]:
    out = st.builds(between, values, values)
    for make in (after, since, before, until):
        out |= st.builds(make, values)
    return out | st.builds(starting_with, values) if texts else out


text_ranges = ranges(texts, texts=True)


sizes = st.integers(1, 5)


def _questions(pattern: str, /, **parts: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    return st.fixed_dictionaries(parts).map(lambda given: (pattern, given))


by_key = st.one_of(
    _questions("by_group", group=ranges(groups, texts=True)),
    _questions("by_group", group=text_ranges),
    _questions("by_rank", group=groups, rank=ranges(ranks)),
    _questions("by_name", group=groups, rank=ranks, name=text_ranges),
)
by_index = st.one_of(
    _questions("by_state", state=states, due=ranges(dues)),
    _questions("by_owner", owner=owners, score=ranges(scores)),
    _questions("by_score", owner=owners, score=scores, name=text_ranges),
    _questions("by_waiting", owner=ranges(owners, texts=True)),
    _questions("by_waiting", owner=text_ranges),
)
