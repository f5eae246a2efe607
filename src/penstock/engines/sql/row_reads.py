"""Reads that are more than a pattern: filtered, of some fields, counted; and pages with rows that cannot be read.

A bound on what is examined is kept by taking so many rows in order, and only then those of them that are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from penstock.engines.sql.connector import Connector
from penstock.engines.sql.rows import Read, Row, Take, projected, unreadable_row
from penstock.engines.sql.statement import FAR, Statement
from penstock.engines.sql.statements import Statements
from penstock.errors import DamagedRecord, InvalidCursor
from penstock.operations.reads import Page, Place, Query, RawPlace, Unreadable, chosen, whole
from penstock.schema.shape import EntityShape

PAGE = 1000
"So many rows are read at once where no limit is given."
_FIRST = 100
"So many rows at least are examined by the first statement of a bounded page; each next one takes twice as many."
_KEPT, _NUMBER = "penstock_kept", "penstock_number"


class RowReads:
    """Carries out such reads through a connector."""

    def __init__(self, connector: Connector, statements_of: Callable[[EntityShape], Statements]) -> None:
        self._connector, self._statements_of = connector, statements_of
        self._forms: dict[tuple[Any, ...], RowForm] = {}

    def find(
        self, query: Query[Any], limit: int | None, after: Place | None, now: int, examine: int | None
    ) -> Page[Any]:
        """A page of a query with a filter, of some fields, or behind a row that was not shown."""
        statements = self._statements_of(query.pattern.entity)
        if isinstance(after, RawPlace) and len(after.values) != len(statements.order(query)):
            raise InvalidCursor(f"the cursor is one of another store; leave it out to start {query.pattern.label}")
        most = limit or PAGE
        if query.fields == ():
            return self._count(statements, query, most, now, examine)
        form = self._form(statements, query)
        try:
            if examine is not None and limit is None:
                return self._window(form, query, after, now, examine)
            if examine is not None:
                return self._bounded(form, query, most, after, now, examine)
            rows = self.rows(form, query, most + 1, after, now)
            return form.page(query, rows[:most], more=len(rows) > most)
        except DamagedRecord:
            # Some fields alone do not tell what is wrong, nor what a record from before the table grew would have.
            return chosen(query, self.find(whole(query), limit, after, now, examine))

    def rows(self, form: RowForm, query: Query[Any], most: int, after: Place | None, now: int) -> Sequence[Row]:
        """The rows of a query behind a place, with the columns of the form."""
        statement = filtered(form.statements, query, after, now, form.columns, most)
        return self._connector.rows(statement.text, statement.parameters)

    def _form(self, statements: Statements, query: Query[Any]) -> RowForm:
        fields = query.fields
        if fields is None:
            return RowForm(statements, tuple(statements.shape.fields))
        names = tuple(dict.fromkeys((*fields, *statements.order(query), *statements.shape.key.fields)))
        form = self._forms.get((statements, fields, names))
        if form is None:
            take, read = projected(statements.shape, statements.dialect, names, fields)
            form = self._forms[statements, fields, names] = RowForm(statements, names, take, read)
        return form

    def _bounded(
        self, form: RowForm, query: Query[Any], most: int, after: Place | None, now: int, examine: int
    ) -> Page[Any]:
        """A page that ends when so many rows were examined, however few of them were wanted."""
        found: list[Row] = []
        left, size = examine, min(examine, max(_FIRST, 4 * most))
        while True:
            statement = examined(form.statements, query, after, now, form.columns, size, most + 1 - len(found))
            rows = self._connector.rows(statement.text, statement.parameters)
            wanted = [row for row in rows if row[-2] and row[-1] <= size]
            last = rows[-1][-1] if rows else 0
            if len(found) + len(wanted) > most:
                looked_at = wanted[most - len(found)][-1]
                found += wanted[: most - len(found)]
                return form.page(query, found, more=True, examined=examine - left + looked_at)
            found += wanted
            if last <= size:
                return form.page(query, found, more=False, examined=examine - left + last)
            after = form.raw_place(query, next(row for row in rows if row[-1] == size))
            left -= size
            if not left:
                return form.page(query, found, more=True, place=after, examined=examine)
            size = min(left, size * 2)

    def _window(self, form: RowForm, query: Query[Any], after: Place | None, now: int, examine: int) -> Page[Any]:
        """What is wanted of the next rows, or of those behind them; nothing when so many rows were examined in vain."""
        left, size = examine, min(examine, PAGE)
        while True:
            statement = examined(form.statements, query, after, now, form.columns, size, size)
            rows = self._connector.rows(statement.text, statement.parameters)
            wanted = [row for row in rows if row[-2] and row[-1] <= size]
            last = rows[-1][-1] if rows else 0
            if last <= size:
                return form.page(query, wanted, more=False, examined=examine - left + last)
            after = form.raw_place(query, next(row for row in rows if row[-1] == size))
            left -= size
            if wanted or not left:
                return form.page(query, wanted, more=True, place=after, examined=examine - left)
            size = min(left, size * 2)

    def _count(self, statements: Statements, query: Query[Any], most: int, now: int, examine: int | None) -> Page[Any]:
        """As many empty tuples as there are records, of which nothing need be read."""
        statement = counted(statements, query, now, most, examine)
        ((number, seen),) = self._connector.rows(statement.text, statement.parameters)
        if examine is None:
            return Page([()] * min(number, most), more=number > most)
        return Page([()] * min(number, most), more=seen > examine or number > most, examined=min(seen, examine))


class RowForm(NamedTuple):
    """What is read of each row, and what is made of it."""

    statements: Statements
    names: tuple[str, ...]
    "The fields that are read."
    take: Take | None = None
    "Makes tuples of the fields that were asked for; None: each row is a whole record."
    read: Read | None = None

    @property
    def columns(self) -> str:
        return ", ".join(self.statements.column(n) for n in self.names)

    def page(
        self,
        query: Query[Any],
        rows: Sequence[Row],
        *,
        more: bool,
        place: Place | None = None,
        examined: int | None = None,
    ) -> Page[Any]:
        """Rows as a page; DamagedRecord where some fields do not fit, while of whole records the page itself tells."""
        if self.take is not None and self.read is not None:
            if more and place is None:
                place = {**query.values, **self.read(rows[-1])}
            return Page(self.take(rows), more, (), place, examined)
        found = [self.made(row) for row in rows]
        if more and place is None and isinstance(found[-1], Unreadable):
            place = self.raw_place(query, rows[-1])
        bad = tuple(f for f in found if isinstance(f, Unreadable))
        return Page([f for f in found if not isinstance(f, Unreadable)] if bad else found, more, bad, place, examined)

    def made(self, row: Row) -> Any:
        """A row of all columns as a record, or as what is told of one that cannot be read."""
        try:
            return self.statements.codec.record(row)
        except DamagedRecord as error:
            return unreadable_row(self.statements.codec, self.statements.shape, row, error)

    def raw_place(self, query: Query[Any], row: Row) -> RawPlace:
        return RawPlace(tuple(row[self.names.index(n)] for n in self.statements.order(query)))


def readable_image(statements: Statements, row: Row) -> Any:
    """A row of all columns as a record, or as what is told of one that cannot be read."""
    return RowForm(statements, tuple(statements.shape.fields)).made(row)


# What is sent


def filtered(
    statements: Statements, query: Query[Any], after: Place | None, now: int, columns: str, most: int
) -> Statement:
    """The rows of a query of which its filter holds."""
    asked, ordering = statements.asked(query, after is not None)
    condition, parameters = _condition(statements, query)
    text = (
        f"select {columns} from {statements.relation} as r where {asked} and {condition}{ordering} "
        f"limit {statements.dialect.mark}"
    )
    return Statement(text, (*statements.asked_parameters(query, after, now), *parameters, min(most, FAR)))


def examined(
    statements: Statements,
    query: Query[Any],
    after: Place | None,
    now: int,
    columns: str,
    size: int,
    wanted: int,
) -> Statement:
    """Of so many rows those that are wanted, the last one in any case, and the one behind it; each with its number."""
    asked, ordering = statements.asked(query, after is not None)
    condition, parameters = _condition(statements, query)
    mark = statements.dialect.mark
    text = (
        f"select {columns}, r.{_KEPT}, r.{_NUMBER} from ("
        f"select r.*, {condition} as {_KEPT}, row_number() over ({ordering.strip()}) as {_NUMBER} from ("
        f"select {statements.columns} from {statements.relation} as r where {asked}{ordering} limit {mark}) as r"
        f") as r where r.{_KEPT} or r.{_NUMBER} >= {mark} order by r.{_NUMBER} limit {mark}"
    )
    asked_by = statements.asked_parameters(query, after, now)
    return Statement(text, (*parameters, *asked_by, min(size + 1, FAR), size, min(wanted + 2, FAR)))


def counted(statements: Statements, query: Query[Any], now: int, most: int, examine: int | None) -> Statement:
    """How many rows of a query its filter holds of, up to a number; and how many were looked at, up to another."""
    asked, ordering = statements.asked(query, False)
    condition, parameters = _condition(statements, query)
    asked_by = statements.asked_parameters(query, None, now)
    mark, source = statements.dialect.mark, f"from {statements.relation} as r where {asked}"
    if examine is None:
        text = f"select count(*), 0 from (select 1 as one {source} and {condition} limit {mark}) as r"
        return Statement(text, (*asked_by, *parameters, min(most + 1, FAR)))
    text = (
        f"select coalesce(sum(case when r.{_KEPT} then 1 else 0 end), 0), count(*) from ("
        f"select {condition} as {_KEPT} {source}{ordering} limit {mark}) as r"
    )
    return Statement(text, (*parameters, *asked_by, min(examine + 1, FAR)))


def _condition(statements: Statements, query: Query[Any]) -> tuple[str, list[Any]]:
    return statements.filter(query.filter) if query.filter is not None else ("true", [])
