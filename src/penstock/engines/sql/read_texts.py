"""How one entity's records are read in SQL: by key, many by their keys, and by pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from penstock.engines.sql.dialect import Dialect, quote
from penstock.engines.sql.row_texts import RowTexts
from penstock.engines.sql.statement import Statement
from penstock.operations.reads import ANYTHING, Place, Query, Range, RawPlace
from penstock.schema.kinds import FieldShape
from penstock.schema.shape import EntityShape, IndexShape, PatternShape


class ReadTexts(RowTexts):
    """The statements that read one entity's records."""

    def __init__(self, shape: EntityShape, dialect: Dialect) -> None:
        super().__init__(shape, dialect)
        self._finds: dict[tuple[Any, ...], str] = {}

    def standing(self, key: Mapping[str, Any], names: Sequence[str], now: int) -> Statement:
        """One record by its key, and after its values some of its fields in the form in which they are stored."""
        stored = "".join(", " + self.dialect.stored.format(c=self.column(name)) for name in names)
        text = f"select {self.columns}{stored} from {self.relation} as r where {self.at_key}{self._live_suffix}"
        return Statement(text, self.codec.bind_key(key) + self.now(now))

    def get_many(self, keys: list[Mapping[str, Any]], now: int) -> Statement:
        """Many records by their keys."""
        before, after = self._many
        text = before + ", ".join([self._values_of_key] * len(keys)) + after
        parameters = tuple(p for key in keys for p in self.codec.bind_key(key))
        return Statement(text, parameters + self.now(now))

    @cached_property
    def _values_of_key(self) -> str:
        return "(" + ", ".join([self.dialect.mark] * len(self.shape.key.fields)) + ")"

    @cached_property
    def _many(self) -> tuple[str, str]:
        """The text of many gets, before and after the keys."""
        names = [quote(self.shape.fields[n].column) for n in self.shape.key.fields]
        before, after = self.dialect.many.split("{v}")
        parts = {
            "c": self.columns,
            "t": self.relation,
            "n": ", ".join(names),
            "j": " and ".join(f"r.{name} = k.{name}" for name in names),
            "l": self._live_suffix,
        }
        return before.format(**parts), after.format(**parts)

    def scan(self, *, resumed: bool, columns: str | None = None) -> str:
        """All rows in the order of the key: parameters are the key behind which to go on, and how many."""
        key = ", ".join(self.column(n) for n in self.shape.key.fields)
        behind = f" where ({key}) > {self._values_of_key}" if resumed else ""
        taken = columns or self.columns
        return f"select {taken} from {self.relation} as r{behind} order by {key} limit {self.dialect.mark}"

    def find(self, query: Query[Any], limit: int, after: Place | None, now: int) -> Statement:
        """A pattern's records behind a place."""
        bounds = query.range
        form = (
            query.pattern,
            frozenset(query.values),
            query.backwards,
            after is not None,
            (bounds.low is None, bounds.high is None, bounds.open_low, bounds.open_high, bounds.prefix is None),
        )
        text = self._finds.get(form)
        if text is None:
            text = self._finds[form] = self._find_text(query, after is not None)
        return Statement(text, (*self.asked_parameters(query, after, now), limit))

    def asked_parameters(self, query: Query[Any], after: Place | None, now: int) -> list[Any]:
        """What a question and its place are made of, in the order of `asked`."""
        one = self.codec.one
        parameters = [one[n](v) for n, v in self._bound(query)]
        parameters += self._range_parameters(query.pattern, query.range)
        parameters += self.now(now)
        if isinstance(after, RawPlace):
            parameters += after.values
        elif after is not None:
            parameters += [one[n](after[n]) for n in self.order(query)]
        return parameters

    def order(self, query: Query[Any]) -> list[str]:
        """The fields that order a pattern's records: the open sort fields, then what makes the order total."""
        key = query.pattern.key
        open_fields = [n for n in key.sort_fields if n not in query.values]
        ties = [n for n in self.shape.key.fields if n not in query.values and n not in open_fields]
        return open_fields + (ties if query.pattern.index else [])

    def _bound(self, query: Query[Any]) -> list[tuple[str, Any]]:
        return [(n, query.values[n]) for n in query.pattern.key.fields if n in query.values]

    def _find_text(self, query: Query[Any], resumed: bool) -> str:
        asked, ordering = self.asked(query, resumed)
        return f"select {self.columns} from {self.relation} as r where {asked}{ordering} limit {self.dialect.mark}"

    def asked(self, query: Query[Any], resumed: bool) -> tuple[str, str]:
        """Which rows a pattern speaks of, behind a place if it is resumed, and in which order."""
        mark = self.dialect.mark
        where = [f"{self.column(n)} = {mark}" for n, _ in self._bound(query)]
        where += self._range_texts(query.pattern, query.range)
        if query.pattern.index is not None:
            where += self.partial(query.pattern.index, skip=frozenset(query.values))
        if self.shape.expiry:
            where.append(self._live)
        order = [self.column(n) for n in self.order(query)]
        if resumed:
            marks = ", ".join([mark] * len(order))
            # Behind the one record of a whole key there is none.
            behind = f"({', '.join(order)}) {'<' if query.backwards else '>'} ({marks})" if order else "false"
            where.append(behind)
        direction = " desc" if query.backwards else ""
        ordering = f" order by {', '.join(c + direction for c in order)}" if order else ""
        # An index whose partition is a constant, and which every record is in, asks for nothing.
        return " and ".join(where) or "true", ordering

    def partial(self, index: IndexShape, skip: frozenset[str] = frozenset()) -> list[str]:
        """The conditions under which a record takes part in an index, written out so that planners recognise them."""
        fields = self.shape.fields
        out = [f"{self.column(n)} is not null" for n in index.key.fields if n not in skip and self._may_lack(fields[n])]
        for name, allowed in index.when.items():
            texts = sorted(self._constant(name, v) for v in allowed)
            if len(texts) == 1:
                out.append(f"{self.column(name)} = {texts[0]}")
            else:
                out.append(f"{self.column(name)} in ({', '.join(texts)})")
        return out

    @staticmethod
    def _may_lack(field: FieldShape) -> bool:
        """May a row be without the value: of an optional field, or of one computed since, which it was not yet?"""
        return field.optional or field.computation is not None

    def _range_texts(self, pattern: PatternShape, bounds: Range[Any]) -> list[str]:
        if bounds == ANYTHING or pattern.ranged is None:
            return []
        column, mark = self.column(pattern.ranged), self.dialect.mark
        out = []
        if bounds.low is not None:
            out.append(f"{column} {'>' if bounds.open_low else '>='} {mark}")
        if bounds.high is not None:
            out.append(f"{column} {'<' if bounds.open_high else '<='} {mark}")
        if bounds.prefix is not None:
            out.append(f"{column} >= {mark} and {column} < {mark}")
        return out

    def _range_parameters(self, pattern: PatternShape, bounds: Range[Any]) -> list[Any]:
        if bounds == ANYTHING or pattern.ranged is None:
            return []
        one = self.codec.one[pattern.ranged]
        out = [one(v) for v in (bounds.low, bounds.high) if v is not None]
        if bounds.prefix is not None:
            out += [bounds.prefix, _beyond(bounds.prefix)]
        return out


def _beyond(prefix: str) -> str:
    """The first text, by UTF-8 bytes, after all that begin so; no key is as long as the last resort."""
    head = prefix.rstrip("\U0010ffff")
    if not head:
        return "\U0010ffff" * 257
    following = ord(head[-1]) + 1
    return head[:-1] + chr(0xE000 if following == 0xD800 else following)
