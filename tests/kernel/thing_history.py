"""A random history of things, echoes and ticks: every question has the same answer on every engine."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from penstock import Query, Store, select, together
from penstock.operations.conditions import Condition, is_of_fields
from penstock.testing.promises.kinds import page_by_page
from penstock.testing.promises.paging import by_pages
from penstock.testing.promises.selections import in_pages
from tests.kernel.chances import (
    OWNERS,
    by_index,
    by_key,
    conditions,
    dues,
    groups,
    keys,
    ranges,
    sizes,
    things,
    ticks,
)
from tests.kernel.model import order_of
from tests.kernel.stale_keys import stale_keys
from tests.kernel.thing_writes import ThingWrites
from tests.kernel.worlds import DOMAIN, Echo, State, Thing, Tick


class ThingHistory(ThingWrites, RuleBasedStateMachine):
    """What may happen to the records of one world, on every engine at once."""

    @initialize(many=st.lists(things, min_size=10, max_size=25), more=st.lists(ticks, min_size=3, max_size=10))
    def begin(self, many: list[dict[str, Any]], more: list[dict[str, Any]]) -> None:
        self.everywhere.same(lambda s: s.put_many([self.thing(v) for v in many]))
        self.everywhere.same(lambda s: s.put_many([self._tick(v) for v in more]))

    # Time

    @rule(seconds=st.integers(1, 60))
    def wait(self, seconds: int) -> None:
        self.everywhere.clock.advance(timedelta(seconds=seconds))

    @rule()
    def reap(self) -> None:
        for store in self.everywhere.stores.values():
            store.engine.expire(DOMAIN.shapes, now=store.clock.now())

    # Reading

    @rule(wanted=st.lists(keys, max_size=6))
    def get_many(self, wanted: list[dict[str, Any]]) -> None:
        self.everywhere.same(lambda s: s.get_many([self.ref(k) for k in wanted]))

    @rule(asked=by_key, size=sizes, backwards=st.booleans())
    def find_by_key(self, asked: tuple[str, dict[str, Any]], size: int, backwards: bool) -> None:
        name, given = asked
        self._find(getattr(Thing, name)(world=self.world, **given), size, backwards)

    @rule(asked=by_index, size=sizes, backwards=st.booleans())
    def find_by_index(self, asked: tuple[str, dict[str, Any]], size: int, backwards: bool) -> None:
        name, given = asked
        self._find(getattr(Thing, name)(world=self.world, **given), size, backwards)

    @rule(bounds=ranges(st.integers(0, 12)), due=ranges(dues), size=sizes, backwards=st.booleans())
    def find_others(self, bounds: Any, due: Any, size: int, backwards: bool) -> None:
        self._find(Tick.by_series(series=self.world, tick=bounds), size, backwards)
        self._find(Tick.by_meter(meter=f"{self.world}/m", value=bounds), size, backwards)
        self._find(Echo.by_state(world=self.world, state=State.NEW, due=due), size, backwards)

    @rule(asked=by_key, condition=conditions, size=sizes, examining=st.integers(1, 9), backwards=st.booleans())
    def filter_by_key(self, asked: Any, condition: Condition, size: int, examining: int, backwards: bool) -> None:
        name, given = asked
        self._wider(getattr(Thing, name)(world=self.world, **given), condition, size, examining, backwards)

    @rule(asked=by_index, condition=conditions, size=sizes, examining=st.integers(1, 9), backwards=st.booleans())
    def filter_by_index(self, asked: Any, condition: Condition, size: int, examining: int, backwards: bool) -> None:
        name, given = asked
        self._wider(getattr(Thing, name)(world=self.world, **given), condition, size, examining, backwards)

    def _wider(self, query: Query[Any], condition: Condition, size: int, examining: int, backwards: bool) -> None:
        """Filtered, counted and of some fields: the same everywhere, whatever a page has and has examined."""
        if not is_of_fields(condition):
            return
        asked = (query.reversed() if backwards else query).where(condition)
        expected = tie_groups(asked, self.everywhere.model)
        number = sum(len(group) for _, group in expected)
        some = select(asked, Thing.name, Thing.score, Thing.labels, Thing.ends)
        self.everywhere.asked(4)
        for name, store in self.everywhere.stores.items():
            whole = list(store.find(asked))
            assert tie_groups(asked, store, whole) == expected, f"{name} answers {asked!r} otherwise than the model"
            assert in_pages(store, asked, size, examining=examining) == whole, f"{name}: pages of {asked!r} differ"
            rows = [(t.name, t.score, t.labels, t.ends) for t in whole]
            assert in_pages(store, some, size, examining=examining) == rows, f"{name}: some fields of {asked!r} differ"
            counted = store.count(asked, up_to=size)
            assert (counted.number, counted.more) == (min(number, size), number > size), f"{name} counts otherwise"

    @rule(group=ranges(groups, texts=True), bounds=ranges(st.integers(0, 99999)), size=sizes, backwards=st.booleans())
    def collect(self, group: Any, bounds: Any, size: int, backwards: bool) -> None:
        things, echoes = Thing.by_group(world=self.world, group=group), Echo.by_number(world=self.world, number=bounds)
        asked = together(things, echoes)
        asked = asked.reversed() if backwards else asked
        expected = list(self.everywhere.model.find(asked))
        self.everywhere.asked(2)
        for name, store in self.everywhere.stores.items():
            assert list(store.find(asked)) == expected, f"{name} answers {asked.label} otherwise than the model"
            assert list(page_by_page(store, asked, size)) == expected, f"{name}: pages of {asked.label} differ"

    def _find(self, query: Query[Any], size: int, backwards: bool) -> None:
        """The same answer on every engine, and on each whatever the size of its pages."""
        asked = query.reversed() if backwards else query
        expected = tie_groups(asked, self.everywhere.model)
        self.everywhere.asked(2)
        for name, store in self.everywhere.stores.items():
            whole = list(store.find(asked))
            assert tie_groups(asked, store, whole) == expected, f"{name} answers {asked!r} otherwise than the model"
            assert by_pages(store, asked, size) == whole, f"{name}: pages of {size} differ from the whole of {asked!r}"

    # What always holds

    @invariant()
    def after_every_step(self) -> None:
        """One partition after another is read in pages of every size; every few steps all of them are."""
        self.steps += 1
        partitions = list(self._every_partition())
        self._find(partitions[self.steps % len(partitions)], self.steps % 5 + 1, backwards=self.steps % 2 == 0)
        if self.steps % 12 == 0:
            self.indexes_tell_what_the_fields_say()

    def teardown(self) -> None:
        self.indexes_tell_what_the_fields_say()
        self.everywhere.forget()

    def indexes_tell_what_the_fields_say(self) -> None:
        """Every pattern finds exactly the live records whose fields say so, and no stored index key is stale."""
        for query in self._every_partition():
            self.everywhere.asked()
            expected = tie_groups(query, self.everywhere.model)
            for name, store in self.everywhere.stores.items():
                assert tie_groups(query, store) == expected, f"{name} answers {query!r} otherwise than the model"
        for name, table in self.everywhere.raw_tables.items():
            for item in self._items(table):
                assert not stale_keys(item, DOMAIN.shapes[:2]), f"{name}: {stale_keys(item, DOMAIN.shapes[:2])}"

    def _every_partition(self) -> Iterator[Query[Any]]:
        yield Thing.by_group(world=self.world)
        yield Thing.by_waiting(world=self.world)
        yield Echo.by_number(world=self.world)
        yield Tick.by_series(series=self.world)
        yield Tick.by_meter(meter=f"{self.world}/m")
        for state in State:
            yield Thing.by_state(world=self.world, state=state)
            yield Echo.by_state(world=self.world, state=state)
        for owner in OWNERS:
            yield Thing.by_owner(world=self.world, owner=owner)

    def _items(self, table: Any) -> list[dict[str, Any]]:
        """Everything DynamoDB holds of this world, expired or not."""
        from boto3.dynamodb.conditions import Key

        place = Thing.__shape__.key.partition.encode({"world": self.world})
        answer = table("penstock-worlds").query(KeyConditionExpression=Key("PK").eq(place), ConsistentRead=True)
        return list(answer["Items"])


def tie_groups(query: Query[Any], store: Store, records: list[Any] | None = None) -> list[tuple[Any, list[Any]]]:
    """The answer in the order promised, records with equal sort keys in an order of our own."""
    found = list(store.find(query)) if records is None else records
    grouped = itertools.groupby(found, key=lambda r: order_of(query, r.__dict__))
    own = query.pattern.entity.key.fields
    return [(order, sorted(group, key=lambda r: [str(getattr(r, n)) for n in own])) for order, group in grouped]
