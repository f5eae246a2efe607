"""The kinds of difference between two declarations, a row each: all that the proof has to know of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any

from penstock import Formerly, Gone, Retyped, UniqueWithin, attribute, begins, computed
from tests.kernel.layouts.films import Declared, film

Values = dict[str, Any]


@dataclass(frozen=True)
class Side:
    """A declaration of films."""

    fields: Values
    defaults: Values = field(default_factory=dict)
    index: tuple[str, str] | None = None
    when: dict[str, frozenset[Any]] | None = None
    more: Values = field(default_factory=dict)
    table: str = "penstock-{domain}"

    def declared(self, domain: str) -> Declared:
        place = {"domain": domain, "table": self.table.format(domain=domain), **self.more}
        return film(self.fields, defaults=self.defaults, index=self.index, when=self.when, **place)

    def shelf(self, values: Values) -> str | None:
        """The partition in which a record is found by the index; None where it is in none."""
        if self.index is None or any(values[name] not in allowed for name, allowed in (self.when or {}).items()):
            return None
        return self.index[0].format(**values)

    def order(self, values: Values) -> str:
        assert self.index is not None
        return self.index[1].format(**values)


@dataclass(frozen=True)
class Kind:
    """What becomes of a declaration.

    Records are remembered as the older one has them, with what the newer has more: its field `good`.
    """

    old: Side
    new: Side
    to_new: Callable[[Values], Values] = dict
    "What the newer reads of values that the older has,"
    to_old: Callable[[Values], Values] = dict
    "and the other way round."
    shuts_out: bool = False
    "Is the older declaration shut out in the end?"
    ends_questions: bool = False
    "Can the older declaration ask by its index no more?"
    kept: tuple[str, ...] = ()
    "What the newer declaration writes for a new record alone, and leaves as it is in others."
    share: float = 1.0
    "So many of the records whoever migrates has to write, about, where each is written by itself."
    left: tuple[str, ...] = ()
    "What a plan still tells in the end."
    is_long: bool = False
    "Is it proved in the long run alone?"


def _renamed(values: Values) -> Values:
    return {("writer" if n == "author" else n): v for n, v in values.items()}


def _named_back(values: Values) -> Values:
    return {("author" if n == "writer" else n): v for n, v in values.items()}


def _without(*names: str) -> Callable[[Values], Values]:
    return lambda values: {n: v for n, v in values.items() if n not in names}


def is_good(stars: int) -> bool:
    """The rule of the field that is new."""
    return stars > 4


FIELDS: Values = {"author": str, "stars": int}
WRITER: Values = {"writer": Annotated[str, Formerly("author")], "stars": int}
SHELF = ("SHELF#{author}", "{stars:06d}#{film_id}")
WRITERS_SHELF = ("SHELF#{writer}", "{stars:06d}#{film_id}")
OTHER_SHELF = ("BY#{author}", "{film_id}#{stars:06d}")
PLAIN = Side(FIELDS)

KINDS: dict[str, Kind] = {
    "a new index": Kind(PLAIN, Side(FIELDS, index=SHELF)),
    "a new index of some": Kind(PLAIN, Side(FIELDS, index=SHELF, when={"stars": frozenset({1, 2, 3})}), share=3 / 7),
    "another index key": Kind(Side(FIELDS, index=SHELF), Side(FIELDS, index=OTHER_SHELF), ends_questions=True),
    "an index of others": Kind(
        Side(FIELDS, index=SHELF, when={"stars": frozenset({1, 2, 3})}),
        Side(FIELDS, index=SHELF, when={"stars": frozenset({3, 4, 5})}),
        ends_questions=True,
        share=4 / 7,
    ),
    "another key": Kind(PLAIN, Side(FIELDS, more={"keys": ("MOVIE#{film_id}", "META")})),
    "another table": Kind(PLAIN, Side(FIELDS, table="penstock-{domain}-moved", more={"relation": "movies"})),
    "another name": Kind(PLAIN, Side(WRITER), _renamed, _named_back),
    "another name in an index": Kind(
        Side(FIELDS, index=SHELF), Side(WRITER, index=WRITERS_SHELF), _renamed, _named_back
    ),
    "another type": Kind(
        Side(FIELDS, index=("SHELF#{author}", "{film_id}")),
        Side(
            {"author": str, "stars": Annotated[Decimal, Retyped(was=int, forward=Decimal, back=int)]},
            {"stars": attribute("exact_stars", column="exact_stars")},
            index=("SHELF#{author}", "{film_id}"),
        ),
        lambda values: {**values, "stars": Decimal(values["stars"])},
        lambda values: {**values, "stars": int(values["stars"])},
        shuts_out=True,
    ),
    "a new field with a rule": Kind(
        PLAIN,
        Side({**FIELDS, "good": bool}, {"good": begins(is_good, of="stars")}),
        to_old=_without("good"),
        shuts_out=True,
    ),
    "a new field that is optional": Kind(
        PLAIN, Side({**FIELDS, "good": bool | None}, {"good": None}), to_old=_without("good")
    ),
    "a field that is gone": Kind(
        PLAIN,
        Side({"stars": int}, more={"gone": (Gone("author", written_as=""),)}),
        _without("author"),
        lambda values: {"author": "", **values},
        kept=("author",),
        left=("leftover",),
    ),
    "a computed field in an index": Kind(
        PLAIN,
        Side({**FIELDS, "loud": str}, {"loud": computed(str.upper, of="author")}, index=("SHELF#{loud}", "{film_id}")),
        lambda values: {**values, "loud": values["author"].upper()},
        _without("loud"),
        shuts_out=True,
        is_long=True,
    ),
    "a unique field": Kind(
        PLAIN,
        Side({"author": Annotated[str, UniqueWithin("film_id")], "stars": int}),
        shuts_out=True,
        is_long=True,
    ),
    "a field no longer required": Kind(
        PLAIN, Side({"author": str | None, "stars": int}, {"author": None}), shuts_out=True, share=0
    ),
}
"What a new kind takes to be proved is one more row."
