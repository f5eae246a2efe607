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

from penstock import Query, Store, after, before, between, since, starting_with, the, until
from penstock.conditions import Condition, Missing, Present
from penstock.ops import Check, Delete, Ref, Write
from penstock.store import patch, put
from penstock.testing.promises.paging import by_pages
from penstock.updates import Update
from tests.kernel.everywhere import Everywhere, open_everywhere
from tests.kernel.model import order_of
from tests.kernel.stale_keys import stale_keys
from tests.kernel.worlds import DOMAIN, Echo, State, Thing, Tick

STEPS = 60
START = 1_767_225_600  # the first second of 2026, where the clock starts
_worlds = itertools.count()

# Texts whose order differs between bytes and UTF-16 units, whose parts need escaping, and which begin one another.
# No capital letters: dynoxide's begins_with takes them for small ones (see the engine suite).
TEXTS = ["a", "a#", "a#b", "a%", "a%23", "a b", "ab", "#", "%", " ", "!", "é", "\ue000", "\uffff", "𐀀", "\U0010ffff"]
texts = st.sampled_from(TEXTS) | st.text("a#% é\ud7ff\ue000\uffff𐀀\U0010ffff", min_size=1, max_size=3)
GROUPS = ["a", "a#", "\uffff", "𐀀"]
OWNERS = ["ann", "ann#", "𐀀"]
groups = st.sampled_from(GROUPS)
ranks = st.sampled_from([0, 7, 999])
names = st.sampled_from(["a", "a#", "%", "\uffff", "𐀀"])
owners = st.sampled_from(OWNERS)
scores = st.sampled_from([0, 9, 10])
dues = st.sampled_from([START, START + 1, START + 60]).map(lambda s: _moment(s))
counts = st.integers(-5, 5)
prices = st.decimals(-100, 100, places=3)
labels = st.frozensets(st.sampled_from(["a", "b", "é", "𐀀"]), min_size=1)
notes = st.lists(st.sampled_from(["", "x", "y#"]), max_size=3)
ends = st.integers(START + 1, START + 300)
states = st.sampled_from(State)


def _moment(second: int) -> Any:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(second, UTC)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


def mostly(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), *[values] * 4)


def seldom(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(values, *[st.none()] * 4)


keys = st.fixed_dictionaries({"group": groups, "rank": ranks, "name": names})
things = st.fixed_dictionaries(
    {
        "group": groups,
        "rank": ranks,
        "name": names,
        "state": states,
        "owner": mostly(owners),
        "due": mostly(dues),
        "score": mostly(scores),
        "count": maybe(counts),
        "price": maybe(prices),
        "labels": maybe(labels),
        "notes": maybe(notes),
        "text": maybe(texts),
        "ends": seldom(ends),
    }
)
echoes = st.fixed_dictionaries(
    {"number": st.sampled_from([0, 1, 99999]), "state": states, "due": maybe(dues), "count": maybe(counts)}
)
ticks = st.fixed_dictionaries(
    {"tick": st.integers(0, 12), "meter": maybe(st.sampled_from(["m", "n"])), "value": maybe(scores)}
)


def _comparisons(attr: Any, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Condition]:
    one = st.sampled_from(["equals", "differs", "before", "until", "after", "since"])
    return (
        st.builds(lambda name, value: getattr(attr, name)(value), one, values)
        | st.builds(attr.between, values, values)
        | st.lists(values, min_size=1, max_size=3).map(lambda v: attr.one_of(*v))
        | st.just(attr.exists())
        | st.just(attr.absent())
    )


simple_conditions = (
    st.just(Present())
    | st.just(Missing())
    | st.just(the(Thing.labels).exists())
    | st.just(the(Thing.notes).absent())
    | _comparisons(the(Thing.count), counts)
    | _comparisons(the(Thing.price), prices)
    | _comparisons(the(Thing.text), texts)
    | _comparisons(the(Thing.due), dues)
    | _comparisons(the(Thing.state), states)
)
conditions = st.recursive(
    simple_conditions,
    lambda inner: (
        st.builds(lambda a: ~a, inner)
        | st.builds(lambda a, b: a & b, inner, inner)
        | st.builds(lambda a, b: a | b, inner, inner)
    ),
    max_leaves=4,
)

_free = st.one_of(
    st.builds(the(Thing.count).set, counts),
    st.builds(the(Thing.count).add, counts),
    st.builds(the(Thing.count).set_if_absent, counts),
    st.just(the(Thing.count).remove()),
    st.builds(the(Thing.price).set, prices),
    st.builds(the(Thing.price).add, prices),
    st.just(the(Thing.price).remove()),
    st.builds(the(Thing.text).set, texts),
    st.builds(the(Thing.text).set_if_absent, texts),
    st.just(the(Thing.text).remove()),
    labels.map(lambda x: the(Thing.labels).include(*x)),
    labels.map(lambda x: the(Thing.labels).exclude(*x)),
    st.builds(the(Thing.labels).set, labels),
    notes.filter(bool).map(lambda x: the(Thing.notes).append(*x)),
    st.builds(the(Thing.notes).set, notes),
    st.builds(the(Thing.notes).set_if_absent, notes),
    st.builds(the(Thing.ends).set, maybe(ends)),
)
_indexed = st.one_of(
    st.builds(the(Thing.owner).set, maybe(owners)),
    st.builds(the(Thing.due).set, maybe(dues)),
    st.builds(the(Thing.score).set, maybe(scores)),
    st.builds(the(Thing.score).add, st.integers(0, 3)),
    st.builds(the(Thing.owner).set_if_absent, owners),
)
free_updates = st.lists(_free, min_size=1, max_size=4, unique_by=lambda u: u.field)
any_updates = st.lists(_free | _indexed, min_size=1, max_size=4, unique_by=lambda u: u.field)


def _ranges(values: st.SearchStrategy[Any], *, texts: bool = False) -> st.SearchStrategy[Any]:
    out = st.builds(between, values, values)
    for make in (after, since, before, until):
        out |= st.builds(make, values)
    return out | st.builds(starting_with, values) if texts else out


text_ranges = _ranges(texts, texts=True)


sizes = st.integers(1, 5)


def _questions(pattern: str, /, **parts: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    return st.fixed_dictionaries(parts).map(lambda given: (pattern, given))


by_key = st.one_of(
    _questions("by_group", group=_ranges(groups, texts=True)),
    _questions("by_group", group=text_ranges),
    _questions("by_rank", group=groups, rank=_ranges(ranks)),
    _questions("by_name", group=groups, rank=ranks, name=text_ranges),
)
by_index = st.one_of(
    _questions("by_state", state=states, due=_ranges(dues)),
    _questions("by_owner", owner=owners, score=_ranges(scores)),
    _questions("by_score", owner=owners, score=scores, name=text_ranges),
    _questions("by_waiting", owner=_ranges(owners, texts=True)),
    _questions("by_waiting", owner=text_ranges),
)


class History(RuleBasedStateMachine):
    """What may happen to the records of one world, on every engine at once."""

    everywhere: Everywhere

    def __init__(self) -> None:
        super().__init__()
        self.world = f"w{next(_worlds)} #%é"
        self.everywhere.clock.set(_moment(START))
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

    @rule(data=st.data(), values=things, interfering=st.booleans())
    def edit(self, data: st.DataObject, values: dict[str, Any], interfering: bool) -> None:
        ref = self._likely(data)

        def act(store: Store) -> None:
            with store.change() as change:
                thing = change.get(ref)
                if interfering:
                    store.put(Thing(**{**thing.__dict__, "state": values["state"], "owner": values["owner"]}))
                for name in ("owner", "due", "score", "text", "labels", "ends"):
                    setattr(thing, name, values[name])
                change.save(thing)
                change.create(Echo(world=self.world, number=7, due=values["due"]))

        self.everywhere.same(act)

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

    @rule(bounds=_ranges(st.integers(0, 12)), due=_ranges(dues), size=sizes, backwards=st.booleans())
    def find_others(self, bounds: Any, due: Any, size: int, backwards: bool) -> None:
        self._find(Tick.by_series(series=self.world, tick=bounds), size, backwards)
        self._find(Tick.by_meter(meter=f"{self.world}/m", value=bounds), size, backwards)
        self._find(Echo.by_state(world=self.world, state=State.NEW, due=due), size, backwards)

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
    _run(everywhere, max_examples=20, derandomize=True, phases=[Phase.generate])


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_many_random_histories_read_the_same_everywhere(everywhere: Everywhere) -> None:
    _run(everywhere, max_examples=300)
