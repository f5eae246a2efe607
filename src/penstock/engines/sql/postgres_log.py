"""The log of changes on PostgreSQL, read in the order in which transactions ended (see `postgres_log_schema`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from penstock.engines.sql.connector import Connector
from penstock.engines.sql.dialect import quote
from penstock.engines.sql.logged_change import STEP, entry_of, no_position, trimmed
from penstock.engines.sql.postgres_log_schema import NUMBERS, UNDER_WAY
from penstock.engines.sql.statements import Statements
from penstock.operations.feed_entry import FeedEntry, FeedSlice, LogSize, changed_project

_LAST = 2**63 - 1
"Behind every change of a transaction."
_MARK = "@"
"Positions of earlier versions, which told a transaction's id and not its place, have none."


class _Place(NamedTuple):
    """A position of the log: which transaction, by the order in which they ended, and which change of it."""

    place: int
    position: int = _LAST

    def __str__(self) -> str:
        return f"{_MARK}{self.place}:{self.position}"


class _Listed(NamedTuple):
    """A change that was found, before it is read."""

    place: int
    position: int
    relation: str
    transaction: str


class PostgresLog:
    """Reads and shortens the log of one database."""

    def __init__(self, connector: Connector) -> None:
        self._connector = connector

    def end(self, after: str | None) -> str:
        end = str(_Place(self._horizon()))
        # Somebody who begins to end just now may hold it back behind what has been told.
        return after if after is not None and after.startswith(_MARK) and _place(after) > _place(end) else end

    def _horizon(self) -> int:
        """The place up to which all that has one, or ever will, can be seen by whoever looks after this.

        The greatest place is one that was visible when the statement began, so before it looked at the locks. Of a
        smaller place that is not visible then, the transaction either holds its lock, which is seen, and whose name is
        a smaller number still; or it ended before the locks were looked at, and released its lock after it had become
        visible; or it has no lock yet, but then it will take its number later, and that is a greater one.
        """
        ((last, under_way),) = self._connector.rows(_HORIZON, ())
        return int(last if under_way is None else min(last, under_way))

    def read(self, watched: Sequence[Statements], *, after: str | None, limit: int) -> FeedSlice:
        horizon = self._horizon()
        by_relation = {statements.relation: statements for statements in watched}
        behind = _Place(-1) if after is None else self._understood(after, list(by_relation), horizon)
        end = _Place(horizon)
        if end <= behind:
            return FeedSlice(position=after)
        asked = (list(by_relation), list(by_relation), behind.place, behind.position, behind.place, horizon, limit)
        rows = self._connector.rows(_LISTED, asked)
        forgotten = _Place(*rows[0][:2]) if rows[0][0] is not None else None
        if after is not None and forgotten is not None and forgotten > behind:
            raise trimmed()
        listed = [_Listed(*row[2:]) for row in rows if row[2] is not None]
        entries = self._entries(by_relation, listed)
        return FeedSlice(entries, position=str(end) if len(entries) < limit else entries[-1].position)

    def _entries(self, by_relation: dict[str, Statements], listed: Sequence[_Listed]) -> list[FeedEntry]:
        found: dict[tuple[str, int], FeedEntry] = {}
        for relation in dict.fromkeys(each.relation for each in listed):
            of_one = [each for each in listed if each.relation == relation]
            found.update(self._of_one_entity(by_relation[relation], of_one))
        if len(found) < len(listed):
            raise trimmed()  # just now
        return [found[each.transaction, each.position] for each in listed]

    def _of_one_entity(
        self, statements: Statements, listed: Sequence[_Listed]
    ) -> Iterator[tuple[tuple[str, int], FeedEntry]]:
        shape = statements.shape
        columns = [quote(f.column) for f in shape.fields.values()]
        images = ", ".join(f"{which}.{c}" for which in ("o", "n") for c in columns)
        rows = self._connector.rows(
            f"select w.place, w.transaction, w.position, c.kind, c.cause, c.project, {images} "
            "from unnest(%s::bigint[], %s::text[], %s::bigint[]) as w(place, transaction, position) "
            "cross join lateral (select * from penstock.changes c where c.transaction = w.transaction::xid8 "
            "and c.position = w.position offset 0) as c "
            f"cross join lateral jsonb_populate_record(null::{statements.relation}, c.old) o "
            f"cross join lateral jsonb_populate_record(null::{statements.relation}, c.new) n",
            ([e.place for e in listed], [e.transaction for e in listed], [e.position for e in listed]),
        )
        width = len(columns)
        for place, transaction, position, kind, cause, project, *both in rows:
            old = statements.codec.record(tuple(both[:width])) if kind != "insert" else None
            new = statements.codec.record(tuple(both[width:])) if kind != "remove" else None
            # The policies go by what the log says; where the images say otherwise, it is nobody's.
            own = project if project == changed_project(shape, old, new) else None
            there, named = str(_Place(place, position)), f"{transaction}:{position}"
            entry = entry_of(shape, kind, (old, new), cause=cause, position=there, id=named, project=own)
            yield (transaction, position), entry

    def trim(self, relations: Sequence[str], *, before: str, limit: int) -> int:
        up_to, gone = self._understood(before, None, self._horizon()), 0
        while gone < limit:
            step = min(STEP, limit - gone)
            asked = (list(relations), up_to.place, up_to.position, up_to.place, step)
            ((removed, places),) = self._connector.run(_TRIM, asked) or [(0, [])]
            if places:
                self._connector.run(_FORGET_PLACES, (places,))
            gone += removed
            if removed < step:
                break
        return gone

    def size(self, relations: Sequence[str]) -> LogSize:
        ((entries, oldest),) = self._connector.rows(_SIZE, (list(relations), list(relations)))
        return LogSize(entries, oldest)

    def _understood(self, position: str, relations: list[str] | None, horizon: int) -> _Place:
        """A position, also one of an earlier version; FeedTrimmed if what that had not seen may be forgotten."""
        if position.startswith(_MARK):
            return _place(position)
        transaction, change = _numbers(position)
        asked = (relations, str(transaction))
        ((newest, first, its, forgotten),) = self._connector.rows(_FORMER, asked)
        if relations is not None and forgotten is not None and transaction < forgotten:
            raise trimmed()
        # Those who had seen a transaction had seen all with smaller ids: where the first greater one stands, all
        # before it was told. What is told twice is no harm.
        found = _Place(newest) if first is None else _Place(first - 1)
        if its is not None and int(its) == transaction:
            found = _Place(first, change)
        return min(found, _Place(horizon))


def _place(position: str) -> _Place:
    return _Place(*_numbers(position.removeprefix(_MARK)))


def _numbers(position: str) -> tuple[int, int]:
    first, _, second = position.partition(":")
    if not (first.isdecimal() and second.isdecimal()):
        raise no_position()
    return int(first), int(second)


_HORIZON = f"""
select
  coalesce(greatest((select max(place) from penstock.feed_order), (select max(place) from penstock.feed_trimmed)), 0),
  (select min((l.classid::bigint << 32 | l.objid::bigint) & {NUMBERS - 1}) from pg_locks l
   where l.locktype = 'advisory' and l.objsubid = 1 and l.classid::bigint >> 16 = {UNDER_WAY}
     and l.database = (select d.oid from pg_database d where d.datname = current_database()))
""".strip()

# With the newest that was forgotten: of the same moment, so that what is missing here is never missed.
_LISTED = """
select t.place as gone_place, t.position as gone_position, l.place, l.position, l.relation, l.transaction
from (select 1) as one
left join (select place, position from penstock.feed_trimmed where relation = any(%s)
           order by place desc, position desc limit 1) as t on true
left join (select o.place, c.position, c.relation, c.transaction::text as transaction
           from penstock.feed_order o cross join lateral (
             select c.position, c.relation, c.transaction from penstock.changes c
             where c.transaction = o.transaction and c.position >= o.first and c.relation = any(%s)
               and (o.place > %s or c.position > %s)
             order by c.position offset 0) as c
           where o.place >= %s and o.place <= %s
           order by o.place, c.position limit %s) as l on true
order by l.place, l.position
""".strip()

_TRIM = """
with due as materialized (
  select o.place, c.transaction, c.position, c.relation, c.ctid from penstock.feed_order o cross join lateral (
    select c.position, c.relation, c.transaction, c.ctid from penstock.changes c
    where c.transaction = o.transaction and c.position >= o.first and c.relation = any(%s)
      and (o.place < %s or c.position <= %s)
    order by c.position offset 0) as c
  where o.place <= %s order by o.place, c.position limit %s),
gone as (delete from penstock.changes c where c.ctid = any(array(select ctid from due)) returning 1),
marked as (
  insert into penstock.feed_trimmed as t (relation, place, position, transaction)
  select distinct on (relation) relation, place, position,
    max(transaction::text::bigint) over (partition by relation)
  from due order by relation, place desc, position desc
  on conflict (relation) do update set
    place = case when (excluded.place, excluded.position) > (t.place, t.position) then excluded.place else t.place end,
    position = case when (excluded.place, excluded.position) > (t.place, t.position)
      then excluded.position else t.position end,
    transaction = greatest(t.transaction, excluded.transaction))
select (select count(*) from gone), array(select distinct place from due)
""".strip()

_FORGET_PLACES = """
delete from penstock.feed_order o where o.place = any(%s) and not exists (
  select from penstock.changes c where c.transaction = o.transaction and c.position >= o.first offset 0)
""".strip()

_SIZE = """
select count(*), (
  select c.at from penstock.feed_order o cross join lateral (
    select c.at, c.position from penstock.changes c
    where c.transaction = o.transaction and c.position >= o.first and c.relation = any(%s)
    order by c.position limit 1) as c
  order by o.place limit 1)
from penstock.changes where relation = any(%s)
""".strip()

_FORMER = """
select coalesce((select max(place) from penstock.feed_order), 0), o.place, o.transaction::text,
  (select max(transaction) from penstock.feed_trimmed where relation = any(%s::text[]))
from (select 1) as one
left join (select place, transaction from penstock.feed_order where transaction >= %s::text::xid8
           order by place limit 1) as o on true
""".strip()
