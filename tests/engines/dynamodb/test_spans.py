"""Bounds on sort keys, for any texts: what a span includes is what the fields' order says."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from penstock import Range
from penstock.engines.dynamodb.queries import Span, span_of, successor
from penstock.operations.reads import Query
from penstock.testing.entities import Floor
from tests.engines.dynamodb.entities import MOMENT, PROJECT, Reel, Step

# Characters around the separators and the escape, and some from every length of UTF-8.
TEXTS = st.text(alphabet=" !\"#$%&'09Aaz~é\ud7ff\ue000\U0001f3ac", min_size=1, max_size=4)
OPEN = st.booleans()


def within(span: Span | None, text: str) -> bool:
    """What DynamoDB would say; UTF-8 sorts as code points do, so Python's comparison is the same."""
    if span is None:
        return False
    match span.operator, span.operands:
        case "", _:
            return True
        case "begins_with", (start,):
            return text.startswith(start)
        case "BETWEEN", (low, high):
            return low <= text <= high
        case operator, (bound,):
            tests = {"=": text == bound, "<": text < bound, "<=": text <= bound, ">": text > bound, ">=": text >= bound}
            return tests[operator]
    raise AssertionError(span)


def wanted(bounds: Range[Any], value: Any) -> bool:
    low = bounds.low is None or (value > bounds.low if bounds.open_low else value >= bounds.low)
    high = bounds.high is None or (value < bounds.high if bounds.open_high else value <= bounds.high)
    return low and high


def agrees(query: Query[Any], bounds: Range[Any], value: Any, text: str) -> None:
    span = span_of(query)
    dropped = span is not None and value in span.dropped
    assert (within(span, text) and not dropped) == wanted(bounds, value), (span, text)


def step_query(name: str, bounds: Range[Any]) -> Query[Any]:
    pattern = Step.__shape__.patterns[name]
    return Query(pattern, {"job": "j"} if name == "of_job" else {"job": "j", "name": "n"}, bounds)


@given(st.none() | TEXTS, st.none() | TEXTS, OPEN, OPEN, TEXTS)
def test_a_text_in_the_middle(low: str | None, high: str | None, open_low: bool, open_high: bool, name: str) -> None:
    bounds = Range(low, high, open_low, open_high)
    sort = Step.__shape__.key.sort
    assert sort is not None
    agrees(step_query("of_job", bounds), bounds, name, sort.encode({"name": name, "ts": MOMENT}))


@given(TEXTS, TEXTS)
def test_a_prefix_in_the_middle(prefix: str, name: str) -> None:
    sort = Step.__shape__.key.sort
    assert sort is not None
    span = span_of(step_query("of_job", Range(prefix=prefix)))
    assert within(span, sort.encode({"name": name, "ts": MOMENT})) == name.startswith(prefix)


MOMENTS = st.integers(0, 5).map(lambda n: MOMENT + timedelta(milliseconds=n))


@given(st.none() | MOMENTS, st.none() | MOMENTS, OPEN, OPEN, MOMENTS)
def test_a_moment_at_the_end(low: Any, high: Any, open_low: bool, open_high: bool, ts: Any) -> None:
    bounds = Range(low, high, open_low, open_high)
    sort = Step.__shape__.key.sort
    assert sort is not None
    agrees(step_query("of_step", bounds), bounds, ts, sort.encode({"name": "n", "ts": ts}))


NUMBERS = st.integers(0, 12) | st.integers(990, 999)


@given(st.none() | NUMBERS, st.none() | NUMBERS, OPEN, OPEN, NUMBERS)
def test_a_padded_number(low: Any, high: Any, open_low: bool, open_high: bool, sequence: int) -> None:
    bounds = Range(low, high, open_low, open_high)
    query: Query[Any] = Query(Reel.__shape__.patterns["of_project"], {"project_id": PROJECT}, bounds)
    agrees(query, bounds, sequence, f"REEL#{sequence:03d}")


SIGNED = st.integers(-12, 12) | st.integers(990, 999) | st.integers(-999, -990)


@given(st.none() | SIGNED, st.none() | SIGNED, OPEN, OPEN, SIGNED)
def test_a_number_with_its_sign(low: Any, high: Any, open_low: bool, open_high: bool, height: int) -> None:
    bounds = Range(low, high, open_low, open_high)
    query: Query[Any] = Query(Floor.__shape__.patterns["by_house"], {"house": "h"}, bounds)
    sort = Floor.__shape__.key.sort
    assert sort is not None
    agrees(query, bounds, height, sort.encode({"height": height, "room": "r"}))


@given(TEXTS, TEXTS)
def test_the_successor_is_behind_every_text_that_begins_so(text: str, more: str) -> None:
    assert text < text + more < successor(text)
