"""SQL texts for one entity: reads by key and by pattern, and each kind of write.

A text depends only on the form of what is asked, never on its values, so that a driver prepares it once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from penstock.engines.sql.dialect import Dialect, literal, quote
from penstock.engines.sql.rows import Bind, RowCodec, bind_of, compile_codec
from penstock.operations.conditions import All, Any_, Between, Compare, Condition, Missing, Not, OneOf, Present, holds
from penstock.operations.reads import ANYTHING, Query, Range
from penstock.operations.updates import Add, Append, Exclude, Include, Remove, Set, SetIfAbsent, Update
from penstock.operations.writes import Check, Delete, Patch, Put, Write
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.shape import EntityShape, IndexShape, PatternShape

FAR = 2**31 - 1

_Witness = tuple[str, Bind, str]
"The text of an insert, what makes its parameters of a record's values, and the piece where many rows can stand."


class Statement(Struct, frozen=True):
    """A text with its parameters, and whether touching no row means refusal."""

    text: str
    parameters: tuple[Any, ...]
    must_touch: bool = False
    stands: Statement | None = None
    "Touching no row is a refusal only if this finds a live record; None: in any case."
    rows: int | None = None
    "How many rows it must touch, where that is not one."
    pivot: str | None = None
    "The piece of the text where it can be made to work on many rows; None: it cannot."


class Statements:
    """Everything the engine says about one entity."""

    def __init__(self, shape: EntityShape, dialect: Dialect) -> None:
        self.shape, self.dialect = shape, dialect
        self.codec: RowCodec = compile_codec(shape, dialect)
        self.relation = dialect.relation(shape.domain, shape.relation)
        self._finds: dict[tuple[Any, ...], str] = {}
        self._assignments: dict[tuple[type[Update], str], str] = {}
        self._comparisons: dict[tuple[str, str], str] = {}
        self._witnesses: dict[tuple[str, ...], _Witness] = {}

    # Names

    def column(self, name: str) -> str:
        return self._columns[name]

    @cached_property
    def _columns(self) -> dict[str, str]:
        return {name: "r." + quote(field.column) for name, field in self.shape.fields.items()}

    @cached_property
    def columns(self) -> str:
        return ", ".join(self._columns.values())

    @cached_property
    def bare_columns(self) -> str:
        """For RETURNING, where SQLite knows no alias."""
        return self.columns.replace('r."', '"')

    @cached_property
    def at_key(self) -> str:
        return " and ".join(f"{self.column(n)} = {self.dialect.mark}" for n in self.shape.key.fields)

    # Reads

    @cached_property
    def get(self) -> str:
        """One record by its key; the second parameter list is the moment, where records expire."""
        return f"select {self.columns} from {self.relation} as r where {self.at_key}{self._live_suffix}"

    @cached_property
    def _live_suffix(self) -> str:
        return f" and {self._live}" if self.shape.expiry else ""

    @cached_property
    def _live(self) -> str:
        end = self.column(self.shape.expiry or "")
        return f"({end} is null or {end} > {self.dialect.mark})"

    def now(self, now: int) -> tuple[int, ...]:
        """The parameter of `_live`, where there is one."""
        return (now,) if self.shape.expiry else ()

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

    def find(self, query: Query[Any], limit: int, after: Mapping[str, Any] | None, now: int) -> Statement:
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
        one = self.codec.one
        parameters = [one[n](v) for n, v in self._bound(query)]
        parameters += self._range_parameters(query.pattern, bounds)
        parameters += self.now(now)
        if after is not None:
            parameters += [one[n](after[n]) for n in self.order(query)]
        parameters.append(limit)
        return Statement(text, tuple(parameters))

    def order(self, query: Query[Any]) -> list[str]:
        """The fields that order a pattern's records: the open sort fields, then what makes the order total."""
        key = query.pattern.key
        open_fields = [n for n in key.sort_fields if n not in query.values]
        ties = [n for n in self.shape.key.fields if n not in query.values and n not in open_fields]
        return open_fields + (ties if query.pattern.index else [])

    def _bound(self, query: Query[Any]) -> list[tuple[str, Any]]:
        return [(n, query.values[n]) for n in query.pattern.key.fields if n in query.values]

    def _find_text(self, query: Query[Any], resumed: bool) -> str:
        mark = self.dialect.mark
        where = [f"{self.column(n)} = {mark}" for n, _ in self._bound(query)]
        where += self._range_texts(query.pattern, query.range)
        if query.pattern.index is not None:
            where += self.partial(query.pattern.index, skip=frozenset(query.values))
        if self.shape.expiry:
            where.append(self._live)
        order = [self.column(n) for n in self.order(query)]
        if resumed and order:
            marks = ", ".join([mark] * len(order))
            where.append(f"({', '.join(order)}) {'<' if query.backwards else '>'} ({marks})")
        direction = " desc" if query.backwards else ""
        ordering = f" order by {', '.join(c + direction for c in order)}" if order else ""
        # An index whose partition is a constant, and which every record is in, asks for nothing.
        asked = " and ".join(where) or "true"
        return f"select {self.columns} from {self.relation} as r where {asked}{ordering} limit {mark}"

    def partial(self, index: IndexShape, skip: frozenset[str] = frozenset()) -> list[str]:
        """The conditions under which a record takes part in an index, written out so that planners recognise them."""
        fields = self.shape.fields
        out = [f"{self.column(n)} is not null" for n in index.key.fields if fields[n].optional and n not in skip]
        for name, allowed in index.when.items():
            texts = sorted(self._constant(name, v) for v in allowed)
            if len(texts) == 1:
                out.append(f"{self.column(name)} = {texts[0]}")
            else:
                out.append(f"{self.column(name)} in ({', '.join(texts)})")
        return out

    def _constant(self, name: str, value: Any) -> str:
        """A value written into SQL: of a state, a flag, a text or an integer."""
        bound = self.codec.one[name](value)
        return literal(bound) if isinstance(bound, str) else str(bound).lower()

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

    # Writes

    def write(self, write: Write, now: int) -> Statement:
        """The statement of one write, which touches a row exactly when its condition holds."""
        if type(write) is Put and write.witness:
            text, bind, values = self._witnesses.get(form := tuple(write.values)) or self._witness(form)
            return Statement(text, bind(write.values), True, None, None, values)
        match write:
            case Put():
                return self._put(write, now)
            case Patch():
                return self.patch(write, now)
            case Delete():
                return self._delete(write, now)
            case Check():
                return self._check(write, now)

    @cached_property
    def _insert(self) -> str:
        return self._insert_of(tuple(self.shape.fields))

    @cached_property
    def _values(self) -> str:
        return self._values_of(len(self.shape.fields))

    def _insert_of(self, names: tuple[str, ...]) -> str:
        columns = ", ".join(quote(self.shape.fields[n].column) for n in names)
        return f"insert into {self.relation} as r ({columns}) {self._values_of(len(names))}"

    def _values_of(self, count: int) -> str:
        return f"values ({', '.join([self.dialect.mark] * count)})"

    @cached_property
    def _on_conflict(self) -> str:
        key = ", ".join(quote(self.shape.fields[n].column) for n in self.shape.key.fields)
        rest = [quote(f.column) for f in self.shape.fields.values() if f.name not in self.shape.key.fields]
        sets = ", ".join(f"{c} = excluded.{c}" for c in rest or [key.split(", ")[0]])
        return f" on conflict ({key}) do update set {sets}"

    @cached_property
    def put_text(self) -> str:
        """The whole record, over whatever stands there."""
        return self._insert + self._on_conflict

    @cached_property
    def _guard(self) -> str:
        """That a row met at a key which does not tell the project is of the session's project."""
        project = self.shape.project
        if not self.dialect.guard or project is None or self.shape.project_in_key:
            return ""
        return " and " + self.dialect.guard.format(c=self.column(project.name))

    def _witness(self, names: tuple[str, ...]) -> _Witness:
        """How a record is written that nobody else can ever have written, with just the fields it has.

        Whatever stands there, also if expired, is in the way.
        """
        made = (
            f"{self._insert_of(names)} on conflict do nothing",
            bind_of(self.shape, self.dialect, names),
            self._values_of(len(names)),
        )
        self._witnesses[names] = made
        return made

    def _put(self, put: Put, now: int) -> Statement:
        values = self.codec.bind(put.values)
        if put.when is None:
            return Statement(self.put_text, values, pivot=self._values)
        if self.dialect.guard and not self.shape.rights.change and put.when == Missing():
            # Whoever may not change a row may not even say what to do with one that stands.
            return Statement(f"{self._insert} on conflict do nothing", values, True, pivot=self._values)
        text, parameters = self._where(put.when, now)
        if holds(put.when, None):
            pivot = None if parameters else self._values
            return Statement(f"{self.put_text} where {text}{self._guard}", values + parameters, True, pivot=pivot)
        rest = [f for f in self.shape.fields.values() if f.name not in self.shape.key.fields]
        mark = self.dialect.mark
        sets = ", ".join(f"{quote(f.column)} = {mark}" for f in rest)
        if not rest:
            first = quote(self.shape.fields[self.shape.key.fields[0]].column)
            sets = f"{first} = {first}"
        fields = list(self.shape.fields)
        changed = tuple(values[fields.index(f.name)] for f in rest)
        return Statement(
            f"update {self.relation} as r set {sets} where {self.at_key} and {text}",
            changed + self.codec.bind_key(put.values) + parameters,
            must_touch=True,
        )

    def patch(self, patch: Patch, now: int, *, returning: bool = False) -> Statement:
        """Some fields of a record that stands."""
        sets: list[str] = []
        parameters: list[Any] = []
        bind = self.codec.one
        for update in patch.updates:
            kind, name = type(update), update.field
            sets.append(self._assignments.get((kind, name)) or self._assignment(update))
            if kind is Set:
                parameters.append(bind[name](update.value))  # type: ignore[attr-defined] # which every Set has
            elif kind is not Remove:
                parameters.append(bind[name](_operand(update)))
        parameters += self.codec.bind_key(patch.key)
        text = f"update {self.relation} as r set {', '.join(sets)}{self._where_key}{self._live_suffix}"
        if self.shape.expiry:
            parameters.append(now)
        if patch.when is not None:
            text += " and " + self._condition(patch.when, parameters)
        if returning:
            text += f" returning {self.bare_columns}"
        return Statement(text, tuple(parameters), must_touch=True, pivot=self._where_key)

    @cached_property
    def _where_key(self) -> str:
        return f" where {self.at_key}"

    def _assignment(self, update: Update) -> str:
        """A column and its new value, with a mark for the update's operand."""
        field = self.shape.fields[update.field]
        text = f"{quote(field.column)} = {self._new_value(update, field)}"
        self._assignments[type(update), update.field] = text
        return text

    def _new_value(self, update: Update, field: FieldShape) -> str:
        dialect, column = self.dialect, self.column(update.field)
        match update:
            case Set():
                return dialect.mark
            case Remove():
                return "null"
            case Add():
                return dialect.add(field.kind, column)
            case SetIfAbsent():
                return f"coalesce({column}, {dialect.mark})"
            case Append():
                return dialect.append.replace("{c}", column).replace("{m}", dialect.mark)
            case Include():
                return dialect.include.replace("{c}", column).replace("{m}", dialect.mark)
            case Exclude():
                return dialect.exclude.replace("{c}", column).replace("{m}", dialect.mark)
        raise TypeError(f"not an update: {update!r}")

    def _delete(self, delete: Delete, now: int) -> Statement:
        key = self.codec.bind_key(delete.key)
        if delete.when is None:
            return Statement(self._delete_text(self.at_key), key)
        where, parameters = self._where(delete.when, now)
        stands = self._stands(key, now) if holds(delete.when, None) else None
        text = self._delete_text(f"{self.at_key} and {where}")
        return Statement(text, key + parameters, must_touch=True, stands=stands)

    def _delete_text(self, where: str) -> str:
        if self.dialect.remove:
            return self.dialect.remove.format(t=self.relation, n=literal(self.relation), w=where)
        return f"delete from {self.relation} as r where {where}"

    def _check(self, check: Check, now: int) -> Statement:
        where, parameters = self._where(check.when, now)
        key = self.codec.bind_key(check.key)
        stands = self._stands(key, now) if holds(check.when, None) else None
        text = f"select 1 from {self.relation} as r where {self.at_key} and {where}"
        return Statement(text, key + parameters, must_touch=True, stands=stands)

    def _stands(self, key: tuple[Any, ...], now: int) -> Statement:
        return Statement(self.get, key + self.now(now))

    @cached_property
    def expire(self) -> str:
        """Remove records whose end has come: parameters are the moment and the most to remove."""
        end = quote(self.shape.fields[self.shape.expiry or ""].column)
        where = f"{end} <= {self.dialect.mark}"
        return self.dialect.delete_some.format(t=self.relation, w=where, m=self.dialect.mark)

    # Conditions

    def _where(self, condition: Condition, now: int) -> tuple[str, tuple[Any, ...]]:
        """A condition on the row that stands, where an expired one counts as absent."""
        parameters: list[Any] = []
        text = self._condition(condition, parameters)
        if not self.shape.expiry:
            return text, tuple(parameters)
        end, mark = self.column(self.shape.expiry), self.dialect.mark
        if holds(condition, None):
            return f"(coalesce({end} <= {mark}, false) or {text})", (now, *parameters)
        return f"(({end} is null or {end} > {mark}) and {text})", (now, *parameters)

    def _condition(self, condition: Condition, out: list[Any]) -> str:
        # What every change asks for comes first: a match would try each of its cases in turn.
        if isinstance(condition, Compare):
            out.append(self.codec.one[condition.field](condition.value))
            return self._comparison(condition.field, condition.operator)
        if isinstance(condition, Any_):
            return "(" + " or ".join([self._condition(p, out) for p in condition.conditions]) + ")"
        if isinstance(condition, All):
            return "(" + " and ".join([self._condition(p, out) for p in condition.conditions]) + ")"
        if isinstance(condition, Missing):
            return f"{self.column(condition.field)} is null" if condition.field is not None else "false"
        match condition:
            case Between(name, low, high):
                out += [self.codec.one[name](low), self.codec.one[name](high)]
                return f"coalesce({self._compare(name, '>=')} and {self._compare(name, '<=')}, false)"
            case OneOf(name, values):
                out += [self.codec.one[name](v) for v in values]
                return "coalesce(" + " or ".join([self._compare(name, "=")] * len(values)) + ", false)"
            case Present(None):
                return "true"
            case Present(str(name)):
                return f"{self.column(name)} is not null"
            case Not(inner):
                return f"not {self._condition(inner, out)}"
        raise TypeError(f"not a condition: {condition!r}")

    def _comparison(self, name: str, operator: str) -> str:
        text = self._comparisons.get((name, operator))
        if text is None:
            compared = self._compare(name, operator)
            missing = f"({self.column(name)} is null or {compared})"
            text = missing if operator == "<>" else f"coalesce({compared}, false)"
            self._comparisons[name, operator] = text
        return text

    def _compare(self, name: str, operator: str) -> str:
        kind: Kind = self.shape.fields[name].kind
        return self.dialect.compare(kind, self.column(name), operator).replace("{m}", self.dialect.mark)


def _operand(update: Update) -> Any:
    """What an update sets, adds, appends, includes or excludes."""
    match update:
        case Set(_, value) | SetIfAbsent(_, value):
            return value
        case Add(_, amount):
            return amount
        case Append(_, items):
            return list(items)
        case Include(_, members) | Exclude(_, members):
            return members
    raise TypeError(f"not an update with an operand: {update!r}")


def _beyond(prefix: str) -> str:
    """The first text, by UTF-8 bytes, after all that begin so; no key is as long as the last resort."""
    head = prefix.rstrip("\U0010ffff")
    if not head:
        return "\U0010ffff" * 257
    following = ord(head[-1]) + 1
    return head[:-1] + chr(0xE000 if following == 0xD800 else following)
