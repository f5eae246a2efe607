"""The same random history on every engine and on a plain-Python model: the same answers everywhere, at every step."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from penstock import Query, Store, select, the, together
from penstock.kernel.handle import patch, put
from penstock.operations.conditions import Condition, Present, is_of_fields
from penstock.operations.reads import Ref
from penstock.operations.updates import Update
from penstock.operations.writes import Check, Delete, Write
from penstock.testing.promises.kinds import page_by_page
from penstock.testing.promises.paging import by_pages
from penstock.testing.promises.selections import in_pages
from tests.kernel.chances import (
    OWNERS,
    START,
    any_updates,
    by_index,
    by_key,
    conditions,
    counts,
    dues,
    echoes,
    free_updates,
    groups,
    keys,
    maybe,
    moment,
    ranges,
    scores,
    seldom,
    sizes,
    texts,
    things,
    ticks,
)
from tests.kernel.everywhere import Everywhere, open_everywhere
from tests.kernel.model import order_of
from tests.kernel.stale_keys import stale_keys
from tests.kernel.worlds import DOMAIN, Echo, State, Thing, Tick

STEPS = 60
EDITED = ("owner", "due", "score", "text", "labels", "ends")
_worlds = itertools.count()


class History(RuleBasedStateMachine):
    """What may happen to the records of one world, on every engine at once."""

    everywhere: Everywhere

    def __init__(self) -> None:
        super().__init__()
        self.world = f"w{next(_worlds)} #%é"
        self.everywhere.clock.set(moment(START))
        self.steps = 0

    def thing(self, values: dict[str, Any]) -> Thing:
        return Thing(world=self.world, **values)

    def ref(self, key: dict[str, Any]) -> Ref[Thing]:
        return Thing.at(world=self.world, **key)

    @initialize(many=st.lists(things, min_size=10, max_size=25), more=st.lists(ticks, min_size=3, max_size=10))
    def begin(self, many: list[dict[str, Any]], more: list[dict[str, Any]]) -> None:
        self.everywhere.same(lambda s: s.put_many([self.thing(v) for v in many]))
        self.everywhere.same(lambda s: s.put_many([self._tick(v) for v in more]))

    # Single writes

    @rule(values=things)
    def put(self, values: dict[str, Any]) -> None:
        self.everywhere.same(lambda s: s.put(self.thing(values)))

    @rule(values=things)
    def create(self, values: dict[str, Any]) -> None:
        self.everywhere.same(lambda s: s.create(self.thing(values)))

    @rule(data=st.data(), values=things, condition=conditions)
    def put_if(self, data: st.DataObject, values: dict[str, Any], condition: Condition) -> None:
        there = {**values, **self._likely(data).key}
        self.everywhere.same(lambda s: s.put(Thing(**there), when=condition))

    @rule(key=keys)
    def delete(self, key: dict[str, Any]) -> None:
        self.everywhere.same(lambda s: s.delete(self.ref(key)))

    @rule(data=st.data(), condition=conditions)
    def delete_if(self, data: st.DataObject, condition: Condition) -> None:
        ref = self._likely(data)
        self.everywhere.same(lambda s: s.delete(ref, when=condition))

    @rule(data=st.data(), updates=any_updates, condition=seldom(conditions), informed=st.booleans())
    def patch(self, data: st.DataObject, updates: list[Update], condition: Condition | None, informed: bool) -> None:
        ref = self._likely(data)

        def act(store: Store) -> Thing:
            return store.patch(ref, *updates, when=condition, given=store.lookup(ref) if informed else None)

        self.everywhere.same(act)

    @rule(data=st.data(), amount=counts)
    def count(self, data: st.DataObject, amount: int) -> None:
        ref = self._likely(data)
        self.everywhere.same(lambda s: s.patch(ref, the(Thing.count).add(amount)))

    @rule(values=echoes)
    def put_echo(self, values: dict[str, Any]) -> None:
        self.everywhere.same(lambda s: s.put(Echo(world=self.world, **values)))

    @rule(values=ticks)
    def put_tick(self, values: dict[str, Any]) -> None:
        self.everywhere.same(lambda s: s.put(self._tick(values)))

    @rule(tick=st.integers(0, 12), value=maybe(scores), add=st.integers(0, 3))
    def patch_tick(self, tick: int, value: int | None, add: int) -> None:
        ref = Tick.at(series=self.world, tick=tick)
        update = the(Tick.value).set(value) if add == 0 else the(Tick.value).add(add)
        self.everywhere.same(lambda s: s.patch(ref, update))

    def _tick(self, values: dict[str, Any]) -> Tick:
        meter = None if values["meter"] is None else f"{self.world}/{values['meter']}"
        return Tick(series=self.world, **{**values, "meter": meter})

    # Several writes

    @rule(many=st.lists(things, max_size=6), gone=st.lists(keys, max_size=4))
    def load(self, many: list[dict[str, Any]], gone: list[dict[str, Any]]) -> None:
        self.everywhere.same(lambda s: s.put_many([self.thing(v) for v in many]))
        self.everywhere.same(lambda s: s.delete_many([self.ref(k) for k in gone]))

    @rule(
        data=st.data(),
        puts=st.lists(st.tuples(things, seldom(conditions)), max_size=2),
        patches=st.lists(st.tuples(free_updates, seldom(conditions)), max_size=2),
        deletes=st.lists(seldom(conditions), max_size=2),
        checks=st.lists(st.just(Present()) | conditions, max_size=1),
        places=st.permutations(range(7)),
    )
    def commit(self, data: st.DataObject, puts: Any, patches: Any, deletes: Any, checks: Any, places: Any) -> None:
        patched = [self._likely(data) for _ in patches]
        deleted = [self._likely(data) for _ in deletes]
        checked = [self._likely(data) for _ in checks]

        def act(store: Store) -> None:
            writes: list[Write] = [put(self.thing(v), when=c) for v, c in puts]
            writes += [patch(r, *u, when=c) for r, (u, c) in zip(patched, patches, strict=True)]
            writes += [Delete(r.shape, r.key, c) for r, c in zip(deleted, deletes, strict=True)]
            writes += [Check(r.shape, r.key, c) for r, c in zip(checked, checks, strict=True)]
            store.commit([writes[i] for i in places if i < len(writes)])

        self.everywhere.same(act)

    # Changes and moves

    @rule(data=st.data(), name=st.sampled_from(["start", "finish", "reopen"]), text=maybe(texts))
    def move(self, data: st.DataObject, name: str, text: str | None) -> None:
        ref = self._likely(data)

        def act(store: Store) -> Thing:
            with store.change() as change:
                thing = change.get(ref)
                change.save(thing.finish(text=text) if name == "finish" else getattr(thing, name)())
            return thing

        self.everywhere.same(act)

    @rule(
        data=st.data(),
        values=things,
        others=things,
        touched=st.sets(st.sampled_from(EDITED), max_size=2),
        moved=st.booleans(),
        loosely=st.booleans(),
    )
    def edit(
        self,
        data: st.DataObject,
        values: dict[str, Any],
        others: dict[str, Any],
        touched: Any,
        moved: Any,
        loosely: Any,
    ) -> None:
        """One reads and saves some fields, and meanwhile another writes to some of them, or moves the state."""
        ref = self._likely(data)
        theirs = {name: others[name] for name in [*touched, *(["state"] if moved else [])]}

        def act(store: Store) -> None:
            with store.change() as change:
                thing = change.get(ref)
                before = dict(thing.__dict__)
                if theirs:
                    store.put(Thing(**{**before, **theirs}))
                for name in EDITED:
                    setattr(thing, name, values[name])
                (change.overwrite if loosely else change.save)(thing)
                change.create(Echo(world=self.world, number=7, due=values["due"]))
            lost = [n for n in theirs if before[n] not in (theirs[n], thing.__dict__[n])]
            assert loosely or not lost, f"{lost} of another are lost"

        self.everywhere.same(act)

    @rule(data=st.data(), amount=counts, text=texts)
    def modify(self, data: st.DataObject, amount: int, text: str) -> None:
        ref = self._likely(data)

        def change(thing: Thing) -> None:
            thing.count, thing.notes = (thing.count or 0) + amount, [*(thing.notes or ()), text]

        self.everywhere.same(lambda s: s.modify(ref, change))

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
        for name, store in self.everywhere.stores.items():
            assert list(store.find(asked)) == expected, f"{name} answers {asked.label} otherwise than the model"
            assert list(page_by_page(store, asked, size)) == expected, f"{name}: pages of {asked.label} differ"

    def _find(self, query: Query[Any], size: int, backwards: bool) -> None:
        """The same answer on every engine, and on each whatever the size of its pages."""
        asked = query.reversed() if backwards else query
        expected = tie_groups(asked, self.everywhere.model)
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

    def indexes_tell_what_the_fields_say(self) -> None:
        """Every pattern finds exactly the live records whose fields say so, and no stored index key is stale."""
        for query in self._every_partition():
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

    def _likely(self, data: st.DataObject) -> Ref[Thing]:
        """A record that stands, if one does; now and then one that may not."""
        standing = [v for s, v in self.everywhere.model.engine.rows.values() if s is Thing.__shape__]  # type: ignore[attr-defined]
        here = [v for v in standing if v["world"] == self.world]
        if not here or data.draw(st.integers(0, 5), label="elsewhere") == 0:
            return self.ref(data.draw(keys, label="key"))
        values = here[data.draw(st.integers(0, len(here) - 1), label="which")]
        return self.ref({n: values[n] for n in ("group", "rank", "name")})


def tie_groups(query: Query[Any], store: Store, records: list[Any] | None = None) -> list[tuple[Any, list[Any]]]:
    """The answer in the order promised, records with equal sort keys in an order of our own."""
    found = list(store.find(query)) if records is None else records
    grouped = itertools.groupby(found, key=lambda r: order_of(query, r.__dict__))
    own = query.pattern.entity.key.fields
    return [(order, sorted(group, key=lambda r: [str(getattr(r, n)) for n in own])) for order, group in grouped]


@pytest.fixture(scope="module")
def everywhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everywhere]:
    with open_everywhere(request, tmp_path_factory.mktemp("everywhere"), DOMAIN.shapes) as opened:
        yield opened


def _run(everywhere: Everywhere, **options: Any) -> None:
    class Here(History):
        pass

    Here.everywhere = everywhere
    run_state_machine_as_test(
        Here,
        settings=settings(
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            **options,
        ),
    )


def test_a_random_history_reads_the_same_everywhere(everywhere: Everywhere) -> None:
    _run(everywhere, max_examples=10, derandomize=True, phases=[Phase.generate])


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_many_random_histories_read_the_same_everywhere(everywhere: Everywhere) -> None:
    _run(everywhere, max_examples=300)
