"""What SQL says of any row of an entity: its columns, its key, whether it is still alive, and values written out."""

from __future__ import annotations

from decimal import Decimal
from functools import cached_property
from typing import Any

from penstock.engines.sql.dialect import Dialect, literal, quote
from penstock.engines.sql.rows import RowCodec, compile_codec
from penstock.schema.kinds import FieldShape
from penstock.schema.shape import EntityShape


class RowTexts:
    """The pieces of which every text about one entity is made; its row is always called ``r``."""

    def __init__(self, shape: EntityShape, dialect: Dialect) -> None:
        self.shape, self.dialect = shape, dialect
        self.codec: RowCodec = compile_codec(shape, dialect)
        self.relation = dialect.relation(shape.domain, shape.relation)

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

    @cached_property
    def get(self) -> str:
        """One record by its key: parameters are the key's and, where records expire, the moment."""
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

    # Values

    @cached_property
    def _may_be_null(self) -> frozenset[str]:
        """The fields of which a record that stands may have no value; others have a default, at least."""
        return frozenset(name for name, field in self.shape.fields.items() if field.counted_as is None)

    def _value_in_row(self, name: str) -> str:
        """A column's value in a row that stands, which a column that was optional once may lack."""
        field = self.shape.fields[name]
        if field.counted_as is None or name in self.shape.key.fields:
            return self.column(name)
        return f"coalesce({self.column(name)}, {self.default(field)})"

    def default(self, field: FieldShape) -> str:
        """A field's default as SQL: what a record that has it would be stored with."""
        value = field.dump(field.default) if field.dump else field.default
        bound = self.codec.one[field.name](value)
        if isinstance(bound, bytes):
            return f"'\\x{bound.hex()}'" if self.dialect.schemas else f"x'{bound.hex()}'"
        if isinstance(bound, int | float | Decimal):
            return str(bound).lower()  # true and false are SQL's words as well
        # PostgreSQL reads the text of a moment, a day and an identifier; for SQLite they are texts already.
        return self._literal(bound if isinstance(bound, str) else str(bound))

    def _literal(self, text: str) -> str:
        """A text written into SQL, with nothing in it that would be taken for a mark."""
        mark = self.dialect.mark
        written = literal(text)
        if len(mark) == 1 or mark not in text:  # SQLite tells a text from a mark itself
            return written
        torn = written.replace(mark, mark[0] + "' || '" + mark[1:])
        return f"({torn})"

    def _constant(self, name: str, value: Any) -> str:
        """A value written into SQL: of a state, a flag, a text or an integer."""
        bound = self.codec.one[name](value)
        return self._literal(bound) if isinstance(bound, str) else str(bound).lower()
