"""How one entity's records are written in SQL: put, patched, deleted, checked, and removed when they expire."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any

from penstock.engines.sql.dialect import Dialect, literal, quote
from penstock.engines.sql.rows import Bind, bind_of
from penstock.engines.sql.statement import UNLESS_THERE, Statement
from penstock.engines.sql.where_texts import WhereTexts
from penstock.operations.conditions import Missing, holds
from penstock.operations.updates import Add, Append, Exclude, Include, Remove, Set, SetIfAbsent, Update
from penstock.operations.writes import Check, Delete, Patch, Put, Write
from penstock.schema.kinds import FieldShape
from penstock.schema.shape import EntityShape

_Witness = tuple[str, Bind, str]
"The text of an insert, what makes its parameters of a record's values, and the piece where many rows can stand."


class WriteTexts(WhereTexts):
    """The statements that write one entity's records."""

    def __init__(self, shape: EntityShape, dialect: Dialect) -> None:
        super().__init__(shape, dialect)
        self._assignments: dict[tuple[type[Update], str], str] = {}
        self._witnesses: dict[tuple[str, ...], _Witness] = {}

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

    # Puts

    def _put(self, put: Put, now: int) -> Statement:
        values, locks = self.codec.bind(put.values), self._locks
        place = (self.relation, self._key_of(values))
        if put.when is None:
            return Statement(self.put_text, values, pivot=self.put_pivot, place=place, locks=locks)
        if self.dialect.guard and not self.shape.rights.change and put.when == Missing():
            # Whoever may not change a row may not even say what to do with one that stands.
            text = self._insert + UNLESS_THERE
            return Statement(text, values, True, pivot=self.put_pivot, place=place, locks=locks)
        text, parameters = self._where(put.when, now)
        if holds(put.when, None):
            pivot = None if parameters else self.put_pivot
            text = f"{self.put_text} where {text}{self._guard}"
            return Statement(text, values + parameters, True, pivot=pivot, place=place, locks=locks)
        return Statement(
            f"{self._replace} and {text}",
            self._rest_of(values) + place[1] + parameters,
            must_touch=True,
            place=place,
            locks=locks,
        )

    @cached_property
    def put_text(self) -> str:
        """The whole record, over whatever stands there."""
        return self._insert + self._on_conflict

    @cached_property
    def _insert(self) -> str:
        return self._insert_of(tuple(self.shape.fields))

    def _insert_of(self, names: tuple[str, ...]) -> str:
        columns = ", ".join(quote(self.shape.fields[n].column) for n in names)
        return f"insert into {self.relation} as r ({columns}) {self._values_of(len(names))}"

    @cached_property
    def put_pivot(self) -> str:
        """Where `put_text` can be made to work on many rows."""
        return self._values_of(len(self.shape.fields))

    def _values_of(self, count: int) -> str:
        return f"values ({', '.join([self.dialect.mark] * count)})"

    @cached_property
    def _on_conflict(self) -> str:
        key = ", ".join(quote(self.shape.fields[n].column) for n in self.shape.key.fields)
        rest = [quote(self.shape.fields[n].column) for n in self._rest]
        sets = ", ".join(f"{c} = excluded.{c}" for c in rest or [key.split(", ")[0]])
        return f" on conflict ({key}) do update set {sets}"

    @cached_property
    def _guard(self) -> str:
        """That a row met at a key which does not tell the project is of the session's project."""
        project = self.shape.project
        if not self.dialect.guard or project is None or self.shape.project_in_key:
            return ""
        return " and " + self.dialect.guard.format(c=self.column(project.name))

    @cached_property
    def _replace(self) -> str:
        """The whole record, over the one that stands at its key."""
        rest = [quote(self.shape.fields[n].column) for n in self._rest]
        first = quote(self.shape.fields[self.shape.key.fields[0]].column)
        sets = ", ".join(f"{column} = {self.dialect.mark}" for column in rest) or f"{first} = {first}"
        return f"update {self.relation} as r set {sets}{self._where_key}"

    def _witness(self, names: tuple[str, ...]) -> _Witness:
        """How a record is written that nobody else can ever have written, with just the fields it has.

        Whatever stands there, also if expired, is in the way.
        """
        made = (
            self._insert_of(names) + UNLESS_THERE,
            bind_of(self.shape, self.dialect, names),
            self._values_of(len(names)),
        )
        self._witnesses[names] = made
        return made

    @cached_property
    def _rest(self) -> list[str]:
        """The fields that are not of the key."""
        return [n for n in self.shape.fields if n not in self.shape.key.fields]

    @cached_property
    def _rest_of(self) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
        """The parameters of all columns but the key's."""
        return self._picks(self._rest)

    @cached_property
    def _key_of(self) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
        """The key's parameters, out of those of all columns."""
        return self._picks(self.shape.key.fields)

    def _picks(self, names: Sequence[str]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
        fields = list(self.shape.fields)
        positions = [fields.index(n) for n in names]
        if len(positions) > 1:
            return itemgetter(*positions)
        first = positions[0] if positions else len(fields)
        return lambda values: values[first : first + 1]

    # Patches

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
        key = self.codec.bind_key(patch.key)
        parameters += key
        text = f"update {self.relation} as r set {', '.join(sets)}{self._where_key}{self._live_suffix}"
        if self.shape.expiry:
            parameters.append(now)
        if patch.when is not None:
            text += " and " + self._condition(patch.when, parameters)
        if returning:
            text += f" returning {self.bare_columns}"
        place = (self.relation, key)
        return Statement(text, tuple(parameters), True, None, None, self._where_key, place, self._locks)

    def _assignment(self, update: Update) -> str:
        """A column and its new value, with a mark for the update's operand."""
        field = self.shape.fields[update.field]
        text = f"{quote(field.column)} = {self._new_value(update, field)}"
        self._assignments[type(update), update.field] = text
        return text

    def _new_value(self, update: Update, field: FieldShape) -> str:
        dialect, column = self.dialect, self.column(update.field)
        if field.counted_as:  # a missing one counts from zero, or from nothing, anyway
            column = self._value_in_row(update.field)
        match update:
            case Set():
                return dialect.mark
            case Remove():
                return "null"
            case Add():
                return dialect.add(field.kind, column)
            case SetIfAbsent():
                return f"coalesce({self._value_in_row(update.field)}, {dialect.mark})"
            case Append():
                return dialect.append.replace("{m}", dialect.mark).replace("{c}", column)
            case Include():
                return dialect.include.replace("{m}", dialect.mark).replace("{c}", column)
            case Exclude():
                return dialect.exclude.replace("{m}", dialect.mark).replace("{c}", column)
        raise TypeError(f"not an update: {update!r}")

    # Deletions and checks

    def _delete(self, delete: Delete, now: int) -> Statement:
        key = self.codec.bind_key(delete.key)
        place = (self.relation, key)
        if delete.when is None:
            return Statement(self._delete_text(self.at_key), key, place=place, locks=self._locks)
        where, parameters = self._where(delete.when, now)
        stands = self._stands(key, now) if holds(delete.when, None) else None
        text = self._delete_text(f"{self.at_key} and {where}")
        return Statement(text, key + parameters, must_touch=True, stands=stands, place=place, locks=self._locks)

    def _delete_text(self, where: str) -> str:
        if self.dialect.remove:
            return self.dialect.remove.format(t=self.relation, n=literal(self.relation), w=where)
        return f"delete from {self.relation} as r where {where}"

    @cached_property
    def expire(self) -> str:
        """Remove records whose end has come: parameters are the moment and the most to remove."""
        end = quote(self.shape.fields[self.shape.expiry or ""].column)
        where = f"{end} <= {self.dialect.mark}"
        return self.dialect.delete_some.format(t=self.relation, w=where, m=self.dialect.mark)

    def _check(self, check: Check, now: int) -> Statement:
        where, parameters = self._where(check.when, now)
        key = self.codec.bind_key(check.key)
        stands = self._stands(key, now) if holds(check.when, None) else None
        text = f"select 1 from {self.relation} as r where {self.at_key} and {where}"
        place = (self.relation, key)
        return Statement(text, key + parameters, must_touch=True, stands=stands, place=place, locks=self._locks)

    def _stands(self, key: tuple[Any, ...], now: int) -> Statement:
        return Statement(self.get, key + self.now(now))

    # Where a record stands

    @cached_property
    def _where_key(self) -> str:
        return f" where {self.at_key}"

    @cached_property
    def _locks(self) -> str | None:
        """What locks one record for whoever writes it; None where nobody here may change one that stands."""
        rights = self.shape.rights
        if self.dialect.guard and not rights.change and not rights.remove:
            return None
        return f"select 1 from {self.relation} as r{self._where_key}"


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
