"""What may be done to things, echoes and ticks."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from penstock import Store, the
from penstock.kernel.handle import patch, put
from penstock.operations.conditions import Condition, Present
from penstock.operations.reads import Ref
from penstock.operations.updates import Update
from penstock.operations.writes import Check, Delete, Write
from tests.kernel.chances import (
    START,
    any_updates,
    conditions,
    counts,
    echoes,
    free_updates,
    keys,
    maybe,
    moment,
    scores,
    seldom,
    texts,
    things,
    ticks,
)
from tests.kernel.everywhere import Everywhere
from tests.kernel.worlds import Echo, Thing, Tick

EDITED = ("owner", "due", "score", "text", "labels", "ends")
_worlds = itertools.count()


class ThingWrites:
    """The rules that write to the records of one world, on every engine at once."""

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

    def _likely(self, data: st.DataObject) -> Ref[Thing]:
        """A record that stands, if one does; now and then one that may not."""
        standing = [v for s, v in self.everywhere.model.engine.rows.values() if s is Thing.__shape__]  # type: ignore[attr-defined]
        here = [v for v in standing if v["world"] == self.world]
        if not here or data.draw(st.integers(0, 5), label="elsewhere") == 0:
            return self.ref(data.draw(keys, label="key"))
        values = here[data.draw(st.integers(0, len(here) - 1), label="which")]
        return self.ref({n: values[n] for n in ("group", "rank", "name")})
