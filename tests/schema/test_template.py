"""Key templates: injective, sorted as their fields, parsed back, and told apart from one another."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import cache
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import DeclarationError, InvalidKey, TooLarge
from penstock.schema.generated import expressed
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.template import Template, compile_template, escape, unescape


class Colour(StrEnum):
    RED = "red"
    BLUE = "deep blue"
    LOUD = "red!"
    HASH = "red#1"


def _field(name: str, kind: Kind, python: Any = str, digits: int = 0) -> FieldShape:
    return FieldShape(name=name, attribute=name, column=name, kind=kind, python=python, digits=digits)


FIELDS = {
    f.name: f
    for f in (
        _field("a", Kind.TEXT),
        _field("b", Kind.TEXT),
        _field("c", Kind.TEXT),
        _field("n", Kind.INTEGER, int),
        _field("m", Kind.INTEGER, int),
        _field("k", Kind.INTEGER, int),
        _field("u", Kind.IDENTIFIER, UUID),
        _field("s", Kind.INSTANT, datetime, 0),
        _field("t", Kind.INSTANT, datetime, 3),
        _field("x", Kind.INSTANT, datetime, 6),
        _field("d", Kind.DAY, date),
        _field("e", Kind.CHOICE, Colour),
        _field("f", Kind.FLOAT, float),
        _field("g", Kind.TEXTS, frozenset),
    )
}

printable = st.text(
    st.characters(exclude_categories=("Cs", "Cc"))
    | st.sampled_from("#%& !\"$'~\ud7ff\ue000\uffff\U00010000\U0010ffff"),
    min_size=1,
    max_size=6,
)
moments = st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 30), timezones=st.just(UTC))
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "a": printable,
    "b": printable,
    "c": printable,
    "n": st.integers(0, 99999),
    "m": st.integers(0, 999),
    "k": st.integers(-999, 999),
    "u": st.uuids(),
    "s": moments.map(lambda v: v.replace(microsecond=0)),
    "t": moments.map(lambda v: v.replace(microsecond=v.microsecond // 1000 * 1000)),
    "x": moments,
    "d": st.dates(date(1000, 1, 1)),
    "e": st.sampled_from(Colour),
}


def _template(text: str, *, ordered: bool = True, limit: int = 10_000) -> Template:
    return compile_template(text, FIELDS, entity="Example", ordered=ordered, limit=limit)


def _coded(template: Template) -> Any:
    """The same as its `encode`, by way of code."""
    names: dict[str, Any] = {}
    return expressed("made", "v", template.expression("v", names), about="", names=names)


TEXTS = [
    "METADATA",
    "{a}",
    "NAME#{a}",
    "{a}#{b}",
    "{a}#{b}#{c}",
    "STEP#{a}#{x}",
    "STEP#{a}#{s}#{b}",
    "{a} {b}",
    "{a}!{b}$tail",
    "SCENE#{m:03d}",
    "SCENE#{m:03d}#VERSION#{n:05d}",
    "{n:05d}{a}",
    "{u}{m:03d}{d}{a}",
    "{k:+04d}",
    "FLOOR#{k:+04d}#{a}",
    "{a}#{k:+05d}{m:03d}",
    "{e}#{x}#{u}",
    "{t}/{e}",
    "{d}T{s}#{a}#END",
    "{u}",
    "{e}",
]


def _values(template: Template) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({name: VALUES[name] for name in template.names})


def _order(template: Template, values: dict[str, Any]) -> list[Any]:
    """The fields as they are meant to sort: texts by their bytes."""
    out = []
    for part in template.parts:
        value = values[part.field.name]
        out.append(str(value).encode() if isinstance(value, str | UUID) else value)
    return out


# Of each template few are tried always, more in the long run.
of_each_template = pytest.mark.parametrize(
    ("text", "examples"),
    [*((text, 15) for text in TEXTS), *(pytest.param(text, 100, marks=pytest.mark.long) for text in TEXTS)],
)


def _pairs(
    check: Callable[[Template, dict[str, Any], dict[str, Any]], None], template: Template, examples: int
) -> None:
    @settings(max_examples=examples, derandomize=True, deadline=None, database=None)
    @given(st.data())
    def run(data: st.DataObject) -> None:
        first = data.draw(_values(template))
        second = data.draw(_values(template))
        # Values that differ in one field only are the interesting ones.
        kept = data.draw(st.sets(st.sampled_from(template.names)) if template.names else st.just(set()))
        check(template, first, {**second, **{n: first[n] for n in kept}})

    run()


@of_each_template
def test_different_fields_make_different_keys(text: str, examples: int) -> None:
    def check(template: Template, first: dict[str, Any], second: dict[str, Any]) -> None:
        assert (template.encode(first) == template.encode(second)) == (first == second)

    _pairs(check, _template(text), examples)


@of_each_template
def test_keys_sort_by_their_bytes_as_their_fields_sort(text: str, examples: int) -> None:
    def check(template: Template, first: dict[str, Any], second: dict[str, Any]) -> None:
        keys = template.encode(first).encode(), template.encode(second).encode()
        assert (keys[0] < keys[1]) == (_order(template, first) < _order(template, second))

    _pairs(check, _template(text), examples)


@of_each_template
def test_keys_parse_back(text: str, examples: int) -> None:
    def check(template: Template, first: dict[str, Any], second: dict[str, Any]) -> None:
        assert template.parse(template.encode(first)) == first
        assert coded(first) == template.encode(first)

    coded = _coded(_template(text))
    _pairs(check, _template(text), examples)


@of_each_template
def test_only_what_a_template_makes_is_parsed(text: str, examples: int) -> None:
    """Whatever is parsed is the only spelling of its fields."""
    template = _template(text)
    alien = st.sampled_from(["٣", "%7A", "%", "#", " ", "x", "0", "-", "\n", "\x00", "Z", ""])

    @settings(max_examples=examples, derandomize=True, deadline=None, database=None)
    @given(_values(template), alien, st.floats(0, 1), st.integers(0, 3))
    def run(values: dict[str, Any], letters: str, place: float, removed: int) -> None:
        key = template.encode(values)
        at = int(place * len(key))
        altered = key[:at] + letters + key[at + removed :]
        parsed = template.parse(altered)
        assert parsed is None or template.encode(parsed) == altered

    run()


@of_each_template
def test_a_part_of_a_key_is_its_beginning(text: str, examples: int) -> None:
    def check(template: Template, first: dict[str, Any], second: dict[str, Any]) -> None:
        for count in range(len(template.parts) + 1):
            assert template.encode(first).startswith(template.head(first, count))

    _pairs(check, _template(text), examples)


@given(st.text())
@settings(derandomize=True, database=None)
def test_escaping_can_be_undone(text: str) -> None:
    assert unescape(escape(text)) == text
    assert all(c >= "%" for c in escape(text))


def test_a_number_with_its_sign_has_one_width_and_sorts_below_zero() -> None:
    floors = _template("FLOOR#{k:+04d}")
    assert [floors.encode({"k": k}) for k in (-999, -42, -1, 0, 1, 999)] == [
        "FLOOR#-000",
        "FLOOR#-957",
        "FLOOR#-998",
        "FLOOR#0000",
        "FLOOR#0001",
        "FLOOR#0999",
    ]
    assert [floors.parse(f"FLOOR#{text}") for text in ("-999", "1000", "+001", "-1", "--01")] == [None] * 5


def test_the_last_part_stays_as_it_is() -> None:
    assert _template("NAME#{a}").encode({"a": "Nova Sco 2012 #2"}) == "NAME#Nova Sco 2012 #2"
    assert _template("STEP#{a}#{b}").encode({"a": "a#b c%", "b": "#"}) == "STEP#a%23b%20c%25##"


def test_integers_are_padded_and_moments_have_one_width() -> None:
    """F-X-6: so that moments sort as texts as they follow each other."""
    assert _template("SCENE#{m:03d}").encode({"m": 7}) == "SCENE#007"
    moment = datetime(2025, 11, 17, 10, 5, tzinfo=UTC)
    texts = [_template(t).encode({n: moment}) for t, n in (("{s}", "s"), ("{t}", "t"), ("{x}", "x"))]
    assert texts == ["2025-11-17T10:05:00Z", "2025-11-17T10:05:00.000Z", "2025-11-17T10:05:00.000000Z"]


@pytest.mark.parametrize(
    ("text", "values", "message"),
    [
        ("SCENE#{m:03d}", {"m": 1000}, "Example.m = 1000 does not fit the 3 digits its key has; the largest is 999"),
        ("SCENE#{m:03d}", {"m": -1}, "Example.m = -1 is part of a key and cannot be negative"),
        *(
            (
                "FLOOR#{k:+04d}",
                {"k": k},
                f"Example.k = {k} does not fit the sign and 3 digits its key has; it is from -999 to 999",
            )
            for k in (1000, -1000)
        ),
        ("NAME#{a}", {"a": ""}, "Example.a is part of a key and is empty; give it a value"),
        ("{a}#{b}", {"a": "", "b": "x"}, "Example.a is part of a key and is empty; give it a value"),
        ("NAME#{a}", {"a": None}, "Example.a is part of a key and has no value; give it one"),
        ("{u}", {"u": None}, "Example.u is part of a key and has no value; give it one"),
    ],
)
def test_a_part_that_does_not_fit_is_refused(text: str, values: dict[str, Any], message: str) -> None:
    template = _template(text)
    for action in (template.encode, _coded(template), *[template.check] * template.can_refuse):
        with pytest.raises(InvalidKey) as refused:
            action(values)
        assert str(refused.value) == message


@pytest.mark.parametrize("letter", ["\x00", "\n", "\x1f", "\x7f", "\ud800"])
@pytest.mark.parametrize("text", ["NAME#{a}", "{a}#{b}"])
def test_what_cannot_be_printed_is_refused(text: str, letter: str) -> None:
    template = _template(text)
    values = {"a": f"x{letter}y", "b": "z"}
    for action in (template.encode, template.check):
        with pytest.raises(InvalidKey, match="control character or a lone surrogate"):
            action(values)


@pytest.mark.parametrize(("limit", "name"), [(1024, "sort"), (2048, "partition")])
@pytest.mark.parametrize("letter", ["x", "é", "🐟"])
def test_a_key_has_at_most_as_many_bytes_as_its_limit(limit: int, name: str, letter: str) -> None:
    template = _template("KEY#{a}", limit=limit)
    room = limit - len("KEY#")
    width = len(letter.encode())
    fits = letter * (room // width) + "x" * (room % width)
    assert len(template.encode({"a": fits}).encode()) == limit
    template.check({"a": fits})
    for action in (template.encode, template.check, _coded(template)):
        with pytest.raises(TooLarge, match=f"{limit + 1} bytes; at most {limit}"):
            action({"a": fits + "x"})


def test_escaping_counts() -> None:
    with pytest.raises(TooLarge, match="1027 bytes"):
        _template("{a}#{b}", limit=1024).encode({"a": "#" * 341, "b": "xyz"})


# Declarations that are refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{unknown}", "'unknown', which is not a field; the fields are a, b"),
        ("{n}#{a}", "would sort as text (10 before 9); zero-pad it, for example {n:010d}"),
        ("X#{n}", "zero-pad it"),
        ("{n:5d}", "has the format '5d'; zero-pad an integer"),
        ("{n:05x}", "has the format '05x'"),
        ("{n:+5d}", "has the format '+5d'; zero-pad an integer, for example :010d, or :+010d if it may be negative"),
        ("{n:+01d}", "with no room for a digit"),
        ("{n:-05d}", "has the format '-05d'"),
        ("{a:>10}", "has the format '>10'; only integers take one"),
        ("{f}", "is a float; a key part may be"),
        ("{g}", "is texts; a key part may be"),
        ("{a!r}", "uses !r"),
        ("{a}{b}", "is followed by 'another field'"),
        ("{a}-{b}", "is followed by '-'; the keys would not sort as their fields. Separate with '#'"),
        ("{a}x", "is followed by 'x'"),
        ("{e}%{a}", "is followed by '%'"),
        ("A\n{a}", "has a control character"),
        ("", "a key template is empty"),
        ("{}", "is not a field"),
        ("{a.b}", "is not a field"),
        ("{n:00d}", "format '00d'"),
        ("{a", "cannot be read"),
        ("a}", "cannot be read"),
    ],
)
def test_a_template_that_cannot_be_right_is_refused(text: str, message: str) -> None:
    with pytest.raises(DeclarationError) as refused:
        _template(text)
    assert message in str(refused.value)
    assert str(refused.value).startswith("Example")


def test_a_bare_integer_need_not_be_padded() -> None:
    assert _template("{n}").encode({"n": 10}) == "10"
    assert _template("N#{n}", ordered=False).encode({"n": 10}) == "N#10"


# Overlap

# Words long enough for the longest template below, when each of its texts is one letter.
WORDS = ["".join(w) for length in range(1, 9) for w in itertools.product("a#0", repeat=length)]

literals = st.sampled_from(["", "a", "#", "0"])
pieces = st.sampled_from(["{a}", "{m:01d}", "{m:02d}", "{m:+02d}"])


def _small(literal: str, first: str, between: str, second: str, tail: str) -> str:
    return literal + first + between + second.replace("{a}", "{b}").replace("{m", "{n") + tail


tails = st.sampled_from(["", "#"])
small_templates = st.one_of(
    st.sampled_from(["a", "a#", "a#0", "#"]),
    st.builds(lambda x, p, t: x + p + t, literals, pieces, tails),
    st.builds(_small, literals, pieces, st.sampled_from(["", "#", "#a", "0"]), pieces, tails),
)


@cache
def _fitting(text: str) -> frozenset[str] | None:
    """Every word that a template could have made; None when the template itself is refused."""
    try:
        template = _template(text)
    except DeclarationError:
        return None
    return frozenset(w for w in WORDS if template.parse(w) is not None)


@settings(max_examples=200, derandomize=True, deadline=None, database=None)
@given(small_templates, small_templates)
def test_two_templates_may_be_equal_exactly_when_a_word_fits_both(one: str, other: str) -> None:
    first, second = _fitting(one), _fitting(other)
    if first is None or second is None:
        return
    assert _template(one).may_equal(_template(other)) == bool(first & second)
    assert _template(other).may_equal(_template(one)) == bool(first & second)


@pytest.mark.parametrize(
    ("one", "other", "may"),
    [
        ("SCENE#{m:03d}", "SCENE#{m:03d}#VERSION#{n:05d}", False),
        ("SCENE#{a}", "SCENE#{m:03d}#VERSION#{n:05d}", True),
        ("SCENE#{a}#{b}", "SCENE#{m:03d}", False),
        ("METADATA", "META{a}", True),
        ("METADATA", "METADATA", True),
        ("METADATA", "{m:03d}", False),
        ("FLOOR{k:+04d}", "FLOOR-{m:03d}", True),
        ("FLOOR{k:+04d}", "FLOOR{m:04d}", True),
        ("FLOOR{k:+04d}", "FLOOR1{m:03d}", False),
        ("FLOOR{k:+04d}", "FLOOR#{m:03d}", False),
        ("JOB#{u}", "JOB#{x}", False),
        ("JOB#{u}", "JOB#{a}", True),
        ("{d}", "{a}", True),
        ("É#{a}", "{b}", True),
        ("É#{a}", "é#{b}", False),
        ("漢#{a}", "{b}#{c}", True),
    ],
)
def test_overlaps_that_matter(one: str, other: str, may: bool) -> None:
    assert _template(one).may_equal(_template(other)) is may
    assert _template(other).may_equal(_template(one)) is may
