"""Conditions as SQL: on the row that a write meets, and on the rows that a read looks at."""

from __future__ import annotations

from typing import Any

from penstock.engines.sql.dialect import Dialect
from penstock.engines.sql.row_texts import RowTexts
from penstock.operations.conditions import All, Any_, Between, Compare, Condition, Missing, Not, OneOf, Present, holds
from penstock.operations.spelling import AsStored
from penstock.schema.shape import EntityShape


class WhereTexts(RowTexts):
    """The conditions on one entity's records."""

    def __init__(self, shape: EntityShape, dialect: Dialect) -> None:
        super().__init__(shape, dialect)
        self._comparisons: dict[tuple[str, str], str] = {}

    def _where(self, condition: Condition, now: int) -> tuple[str, tuple[Any, ...]]:
        """A condition on the row that stands, where an expired one counts as absent."""
        parameters: list[Any] = []
        text = self._condition(condition, parameters)
        if not self.shape.expiry:
            return text, tuple(parameters)
        end, mark = self.column(self.shape.expiry), self.dialect.mark
        if holds(condition, None):
            return f"(coalesce({end} <= {mark}, false) or {text})", (now, *parameters)
        return f"({self._live} and {text})", (now, *parameters)

    def filter(self, condition: Condition) -> tuple[str, list[Any]]:
        """A condition on rows that are read, and its parameters."""
        parameters: list[Any] = []
        return self._condition(condition, parameters), parameters

    def _condition(self, condition: Condition, out: list[Any]) -> str:
        """A condition's text; its parameters are added to those in `out`."""
        # What every change asks for comes first: a match would try each of its cases in turn.
        if type(condition) is Compare:
            out.append(self.codec.one[condition.field](condition.value))
            return self._comparison(condition.field, condition.operator)
        if type(condition) is All:
            return self._all(condition, out)
        if isinstance(condition, Any_):
            return "(" + " or ".join([self._condition(p, out) for p in condition.conditions]) + ")"
        if isinstance(condition, Missing):
            name = condition.field
            return f"{self._columns[name]} is null" if name is not None and name in self._may_be_null else "false"
        match condition:
            case AsStored(name, _, stored):
                out.append(stored)
                return self.dialect.stored_as.format(c=self.column(name), m=self.dialect.mark)
            case Between(name, low, high):
                out += [self.codec.one[name](low), self.codec.one[name](high)]
                return f"coalesce({self._compare(name, '>=')} and {self._compare(name, '<=')}, false)"
            case OneOf(name, values):
                out += [self.codec.one[name](v) for v in values]
                return "coalesce(" + " or ".join([self._compare(name, "=")] * len(values)) + ", false)"
            case Present(name):
                return (
                    f"{self._columns[name]} is not null" if name is not None and name in self._may_be_null else "true"
                )
            case Not(inner):
                return f"not {self._condition(inner, out)}"
        raise TypeError(f"not a condition: {condition!r}")

    def _all(self, condition: All, out: list[Any]) -> str:
        """Several conditions at once; most often comparisons, as what was read is compared with what stands."""
        texts, bind, known = [], self.codec.one, self._comparisons
        for part in condition.conditions:
            if type(part) is Compare:
                name, operator, value = part.field, part.operator, part.value
                out.append(bind[name](value))
                texts.append(known.get((name, operator)) or self._comparison(name, operator))
            else:
                texts.append(self._condition(part, out))
        return f"({' and '.join(texts)})"

    def _comparison(self, name: str, operator: str) -> str:
        text = self._comparisons.get((name, operator))
        if text is None:
            compared = self._compare(name, operator)
            if operator == "<>" and name in self._may_be_null:
                text = f"({self.column(name)} is null or {compared})"
            else:
                text = f"coalesce({compared}, false)"
            self._comparisons[name, operator] = text
        return text

    def _compare(self, name: str, operator: str) -> str:
        kind = self.shape.fields[name].kind
        compared = self.dialect.compare(kind, "{c}", operator).replace("{m}", self.dialect.mark)
        return compared.replace("{c}", self._value_in_row(name))  # last, as a default may be any text
