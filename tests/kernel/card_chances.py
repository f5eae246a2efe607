"""What histories of cards are made of: so few values that cards want the same ones."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from penstock import between, the
from penstock.operations.conditions import Condition, Missing, Present
from tests.kernel.cards import Card, Stage
from tests.kernel.chances import maybe, mostly, ranges, seldom

# With a comma a name looks in lines as if it were another key.
NAMES = ["a", "b", "c", "a, b", "a#", "𐀀"]
TITLES = ["a", "A", "b", "B", "ß", "SS", "é", "É", "a#", "𐀀", "d", "e", "f"]
TEAMS = ["red", "red#", "𐀀"]
SEATS = [0, 1, 2]
HANDLES = ["h", "H", "h#", "é"]
BADGES = ["x", "y", "z"]
MOVES = {"start": (Stage.NEW,), "finish": (Stage.NEW, Stage.OPEN), "reopen": (Stage.DONE,)}

names = st.sampled_from(NAMES)
titles = st.sampled_from(TITLES)
teams = st.sampled_from(TEAMS)
seats = st.sampled_from(SEATS)
handles = st.sampled_from(HANDLES)
badges = st.sampled_from(BADGES)
notes = st.sampled_from(["x", "y"])
scores = st.sampled_from([0, 7, 10])
lives = st.sampled_from([0, 1, 30, 90, 1000, 1000])
"Seconds from now on; what has none left is gone at once."
writers = maybe(st.sampled_from(["ann", "bob"]))
"Who makes a change; nobody, and no line tells of it."
projects = st.booleans()
"Does a change name its project?"

_fields: dict[str, st.SearchStrategy[Any]] = {
    "title": titles,
    "team": mostly(teams),
    "seat": maybe(seats),
    "handle": maybe(handles),
    "badge": maybe(badges),
    "note": notes,
    "visits": st.integers(0, 3),
    "score": mostly(scores),
    "ends": seldom(lives),
}
cards = st.fixed_dictionaries({**_fields, "stage": st.sampled_from(Stage), "revision": st.sampled_from([1, 40])})
edits = st.fixed_dictionaries({}, optional=_fields)

Verb = tuple[str, str, Any]
"A field, what is done to it, and with what."


def _verbs(field: str, verb: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Verb]:
    return st.tuples(st.just(field), st.just(verb), values)


free_verbs = st.one_of(
    _verbs("seat", "set", maybe(seats)),
    _verbs("seat", "set_if_absent", seats),
    _verbs("seat", "add", st.integers(0, 1)),
    _verbs("handle", "set", maybe(handles)),
    _verbs("handle", "set_if_absent", handles),
    _verbs("badge", "set", maybe(badges)),
    _verbs("note", "set", notes),
    _verbs("visits", "add", st.integers(0, 3)),
    _verbs("visits", "add", st.integers(0, 3)),
    _verbs("ends", "set", maybe(lives)),
)
"Whose effect is known without anything else of the record."
_bound_verbs = st.one_of(
    _verbs("title", "set", titles),
    _verbs("team", "set", maybe(teams)),
    _verbs("team", "set_if_absent", teams),
    _verbs("score", "set", maybe(scores)),
    _verbs("score", "add", st.integers(0, 2)),
)
free_patches = st.lists(free_verbs, min_size=1, max_size=3, unique_by=lambda v: v[0])
_whole_titles = st.tuples(_verbs("title", "set", titles), _verbs("team", "set", maybe(teams))).map(list)
patches = free_patches | st.lists(free_verbs | _bound_verbs, min_size=1, max_size=4, unique_by=lambda v: v[0])
patches |= _whole_titles

conditions: st.SearchStrategy[Condition] = st.one_of(
    st.just(Present()),
    st.just(Missing()),
    st.builds(the(Card.note).equals, notes),
    st.builds(the(Card.revision).until, st.integers(1, 3)),
    st.builds(the(Card.folded).differs, titles.map(str.casefold)),
    st.just(the(Card.heading).exists()),
)

_title_ranges = ranges(titles.map(str.casefold), texts=True)
_heading_ranges = ranges(teams, texts=True)
questions: st.SearchStrategy[tuple[str, dict[str, Any]]] = st.one_of(
    st.tuples(st.just("by_title"), st.fixed_dictionaries({}, optional={"folded": _title_ranges})),
    st.tuples(st.just("by_heading"), st.fixed_dictionaries({}, optional={"heading": _heading_ranges})),
    st.tuples(
        st.just("by_phase"),
        st.fixed_dictionaries(
            {"phase": st.sampled_from(["alive", "over"])}, optional={"score": st.builds(between, scores, scores)}
        ),
    ),
)
