"""What more a list takes than its pattern: a filter on other fields, a choice of fields, a bounded count.

GET /api/films/films?pattern=by_status&status=done&where=views>=100&where=title&fields=title,views&count=1000
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from annotated_types import Ge, Le, MaxLen
from pydantic import BaseModel, Field, create_model

from penstock.declare.condition_text import filterable, read_condition, read_field_names
from penstock.declare.entity import Entity
from penstock.errors import InvalidValue
from penstock.operations.conditions import Condition, fields_of
from penstock.operations.reads import Query
from penstock.schema.kinds import Kind
from penstock.schema.shape import EntityShape
from penstock.web.errors import Forbidden, InvalidRequest
from penstock.web.forms import without_default
from penstock.web.signature import query

WHERE, FIELDS, COUNT, BEHIND_OK = "where", "fields", "count", "behind_ok"
BEHIND = "Penstock-Behind"
"The header of a list that comes from a read replica."
_MOST_CONDITIONS, _MOST_COUNTED = 10, 10_000
_OPERATORS = "(=|!=|<|<=|>|>=)"
_VALUES = {
    Kind.TEXT: ".{1,200}",
    Kind.INTEGER: "-?[0-9]{1,18}",
    Kind.FLOAT: "-?[0-9]{1,9}([.][0-9]{1,6})?",
    Kind.DECIMAL: "-?[0-9]{1,9}([.][0-9]{1,6})?",
    Kind.FLAG: "(true|false)",
    Kind.IDENTIFIER: "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}",
    Kind.INSTANT: "20[0-9][0-9]-0[1-9]-[0-2][1-8]T[0-1][0-9]:[0-5][0-9]:[0-5][0-9]Z",
    Kind.DAY: "20[0-9][0-9]-0[1-9]-[0-2][1-8]",
}
"How values of each kind are usually written. What is written otherwise may be understood all the same."


@dataclass(frozen=True, slots=True)
class Wider:
    """What a caller asks for beyond a pattern."""

    conditions: tuple[Condition, ...]
    fields: tuple[str, ...] | None
    count: int | None
    behind_ok: bool

    def of(self, asked: Query[Any]) -> Query[Any]:
        for condition in self.conditions:
            asked = asked.where(condition)
        return asked


def wider_words(shape: EntityShape) -> tuple[str, ...]:
    """The words of every list of an entity; one by which a pattern is asked is the pattern's."""
    taken = {name for pattern in shape.patterns.values() for name in pattern.parameters}
    return tuple(word for word in (WHERE, FIELDS, COUNT, BEHIND_OK) if word not in taken)


def wider_parameters(entity: type[Entity]) -> list[inspect.Parameter]:
    shape = entity.__shape__
    condition = Annotated[str, MaxLen(500), Field(json_schema_extra={"pattern": _conditions(shape)})]
    choice = Field(json_schema_extra={"pattern": f"^{_any(shape.fields)}(,{_any(shape.fields)})*$"})
    about: dict[str, tuple[Any, str]] = {
        WHERE: (
            Annotated[list[condition], MaxLen(_MOST_CONDITIONS)],
            "Only those of which this holds: `field=value`, `!=`, `<`, `<=`, `>`, `>=`, `field` (it has a value) or "
            f"`!field`; may be repeated. What does not fit is examined all the same. Fields: "
            f"{', '.join(filterable(shape))}.",
        ),
        FIELDS: (Annotated[str, MaxLen(2000), choice], "Only these fields and the key, such as `a,b`."),
        COUNT: (Annotated[int, Ge(1), Le(_MOST_COUNTED)], "Also how many there are in all, counted up to this."),
        BEHIND_OK: (
            bool,
            "It may come from a read replica, where there is one, and lack what was written a moment ago; then it has "
            f"`behind`, and the header `{BEHIND}`.",
        ),
    }
    return [query(word, about[word][0], needed=False, about=about[word][1]) for word in wider_words(shape)]


def _conditions(shape: EntityShape) -> str:
    """The forms that conditions on an entity's fields have."""
    forms = [f"!?{_any(filterable(shape))}"]
    for kind in dict.fromkeys(f.kind for f in shape.fields.values()):
        if kind in _VALUES:
            fields = [f.name for f in shape.fields.values() if f.kind is kind]
            forms.append(f"{_any(fields)}{_OPERATORS}{_VALUES[kind]}")
    for field in shape.fields.values():
        if field.kind is Kind.CHOICE:
            forms.append(f"{field.name}{_OPERATORS}{_any(re.escape(member.value) for member in field.python)}")
    return f"^({'|'.join(forms)})$"


def _any(words: Iterable[str]) -> str:
    return f"({'|'.join(words)})"


def read_wider(entity: type[Entity], given: Mapping[str, Any], hidden: frozenset[str]) -> Wider:
    """What the parameters ask for; nobody learns by a filter what they are not shown."""
    conditions = tuple(_read(WHERE, read_condition, entity, text) for text in given.get(WHERE) or ())
    text = given.get(FIELDS)
    fields = None if text is None else _read(FIELDS, read_field_names, entity, text)
    asked = frozenset(fields or ()).union(*(fields_of(c) for c in conditions))
    if kept := sorted(asked & hidden):
        raise Forbidden(f"{', '.join(kept)} is personal: this key is not shown it, and cannot ask by it")
    return Wider(conditions, fields, given.get(COUNT), bool(given.get(BEHIND_OK)))


def _read(word: str, read: Any, entity: type[Entity], text: str) -> Any:
    try:
        return read(entity, text)
    except InvalidValue as error:
        raise InvalidRequest(f"{word}: {error}", [{"where": f"query.{word}", "message": str(error)}]) from None


class UnreadableView(BaseModel):
    """A record that stands among the others and cannot be read."""

    record: str
    why: str


class CountView(BaseModel):
    """How many records there are, or at least how many."""

    number: int
    more: bool


@cache
def page_model(name: str, whole: type[BaseModel], some: type[BaseModel]) -> type[BaseModel]:
    """The schema of a list's answer."""
    optional: dict[str, Any] = {
        "unreadable": (list[UnreadableView], _left_out("Records that cannot be read; left out when there are none.")),
        "examined": (int, _left_out("How many were looked at, where `where` is given.")),
        "count": (CountView, _left_out("How many there are, where `count` is given.")),
        "behind": (bool, _left_out("It comes from a read replica; left out where it does not.")),
    }
    page: type[BaseModel] = create_model(name, items=(list[whole | some], ...), next=(str | None, ...), **optional)  # type: ignore[valid-type]
    page.__doc__ = "Some records in order; pass `next` back as `cursor` for those behind them, until it is null."
    return page


def _left_out(about: str) -> Any:
    return Field(None, description=about, json_schema_extra=without_default)
