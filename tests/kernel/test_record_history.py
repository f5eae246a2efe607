"""The history of one record: every change that says who made it is found from each record that it is about."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest

from penstock import Domain, FrozenClock, Ref, Store, Table, after, before, between, key, the, until
from penstock.declare import UtcMicros
from penstock.declare.entity import Entity
from penstock.errors import Conflict, InvalidCursor, InvalidValue, OutOfScope
from penstock.events.relay import Relay
from penstock.kernel.audit import AuditLine, SystemAudit
from penstock.kernel.history import HistoryEntry, HistoryKind
from penstock.kernel.history_trace import HistoryTrace, UntracedChange, forget_traces, write_traces
from penstock.kernel.record_name import name_of
from penstock.kernel.seals import verify
from penstock.operations.reads import ANYTHING
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from tests.kernel.diary import SHAPES, Diary, Hermit, Ledger, LedgerLine, LedgerMessage, Namesake, Pair

SECRET = b"of the tests"
SECOND = timedelta(seconds=1)
_projects = count(1)


@pytest.fixture
def project() -> str:
    """One that no other test has: they share a store."""
    return f"p{next(_projects)}"


@pytest.fixture(scope="module")
def engine(shared_engine: Callable[[], Engine]) -> Engine:
    engine = shared_engine()
    engine.ensure([*SYSTEM_RECORDS.shapes, *SHAPES])
    return engine


@pytest.fixture
def store(engine: Engine, clock: FrozenClock) -> Store:
    return Store(engine, clock=clock, secret=SECRET, own=SYSTEM_RECORDS)


def diary(project: str, number: int = 1, owner: str = "ann", **more: Any) -> Diary:
    return Diary(project_id=project, owner=owner, number=number, **more)


def create(store: Store, *records: Entity, by: str = "ann", why: str | None = None) -> None:
    with store.change(by=by, why=why) as change:
        for record in records:
            change.create(record)


def told(store: Store, ref: Ref[Any], **asked: Any) -> list[tuple[str | None, str | None]]:
    """Who did what to a record, in the order in which its history has it."""
    return [(e.by, e.does) for e in store.history(ref, **asked).entries]


def paged(store: Store, ref: Ref[Any], limit: int, **asked: Any) -> list[HistoryEntry]:
    """A whole history, read in pages."""
    found: list[HistoryEntry] = []
    cursor = None
    while True:
        page = store.history(ref, limit=limit, cursor=cursor, **asked)
        assert 0 < len(page.entries) <= limit or not found
        found += page.entries
        cursor = page.cursor
        if cursor is None:
            return found


class TestOneRecord:
    def test_every_change_is_told_newest_first_with_who_made_it_and_why(
        self, store: Store, clock: FrozenClock, project: str
    ) -> None:
        record = diary(project)
        create(store, record, why="a wish")
        clock.advance(SECOND)
        with store.change(by="bob") as change:
            change.save(change.get(record.ref).anger())
            change.emit("diary.angered", record)
        with store.change(by="cid") as change:
            change.patch(record.ref, the(Diary.note).set("x"))
        with store.change(by="dan") as change:
            change.delete(record.ref)
        entries = store.history(record.ref).entries
        assert [(e.by, e.does, e.action) for e in entries] == [
            ("dan", "delete", "delete Diary"),
            ("cid", "patch", "patch Diary"),
            ("bob", "save", "diary.angered"),
            ("ann", "create", "create Diary"),
        ]
        assert [e.moved for e in entries] == [{}, {}, {"mood": ("calm", "cross")}, {"mood": (None, "calm")}]
        assert entries[1].fields == ("note",)
        assert [e.why for e in entries] == [None, None, None, "a wish"]
        assert {e.kind for e in entries} == {HistoryKind.CHANGE}
        assert [p.action for p in entries[2].parts] == ["diary.angered"]
        for entry in entries:
            assert entry.source is not None
            assert store.get(entry.source).ts == entry.ts
        assert told(store, record.ref, oldest_first=True) == told(store, record.ref)[::-1]

    def test_one_that_is_made_again_at_its_place_goes_on_with_the_history(self, store: Store, project: str) -> None:
        record = diary(project)
        for _ in range(2):
            create(store, record)
            with store.change(by="bob") as change:
                change.delete(record.ref)
        assert [does for _, does in told(store, record.ref)] == ["delete", "create"] * 2

    def test_what_nobody_is_named_for_or_was_never_there_has_none(self, store: Store, project: str) -> None:
        store.create(diary(project))
        with store.change() as change:
            change.save(change.get(diary(project).ref).anger())
        assert told(store, diary(project).ref) == []
        assert told(store, diary(project, 2).ref) == []

    def test_to_be_counted_is_no_event(self, store: Store, project: str) -> None:
        record, other = diary(project), diary(project, 2)
        create(store, record)
        with store.change(by="bob") as change:
            change.patch(record.ref, the(Diary.visits).add(1))
            change.create(other)
        with store.change(by="cid") as change:
            change.patch(record.ref, the(Diary.visits).add(1), the(Diary.note).set("x"))
        assert told(store, record.ref) == [("cid", "patch"), ("ann", "create")]
        line = store.get(store.history(other.ref).entries[0].source)  # type: ignore[arg-type]
        assert [c["record"] for c in line.details["changes"]] == [repr(record.ref), repr(other.ref)]

    def test_a_change_of_one_record_writes_nothing_more_than_before(self, store: Store, project: str) -> None:
        create(store, diary(project))
        change = store.change(by="bob")
        record = change.get(diary(project).ref)
        change.save(record.anger())
        change.emit("diary.angered", record)
        assert [w.shape.name for w in change.writes()] == ["Diary", "SystemMessage", "SystemAudit"]

    def test_what_is_about_a_line_is_no_part_of_its_hash(self, store: Store, project: str) -> None:
        create(store, diary(project))
        (entry,) = store.history(diary(project).ref).entries
        line = store.get(entry.source)  # type: ignore[arg-type]
        assert line.about == name_of(diary(project).ref)
        assert line.hash == line.sealed() == line.model_copy(update={"about": None}).sealed()
        assert verify(store, project).findings == []


class TestSeveralRecords:
    @pytest.mark.parametrize("number", [2, 4, 5, 30, 98, 99])
    def test_a_change_is_found_from_each_record_it_is_about(self, store: Store, project: str, number: int) -> None:
        records = [diary(project, n) for n in range(number)]
        create(store, *records)
        expected = store.history(records[0].ref).entries
        assert [(e.by, e.does) for e in expected] == [("ann", "create")]
        for record in records:
            assert store.history(record.ref).entries == expected

    def test_a_change_of_many_records_writes_one_thing_more(self, store: Store, project: str) -> None:
        change = store.change(by="ann")
        for number in range(50):
            change.create(diary(project, number))
        assert len(change.writes()) == 50 + 2
        change.commit()
        assert len(list(store.find(UntracedChange.waiting()))) == 1
        assert write_traces(store) == 1
        assert list(store.find(UntracedChange.waiting())) == []
        assert len(list(store.find(HistoryTrace.of_project(project_id=project)))) == 49
        assert write_traces(store) == 0

    def test_traces_may_be_written_by_several_at_once(self, store: Store, project: str) -> None:
        create(store, *(diary(project, n) for n in range(9)))
        (note,) = store.find(UntracedChange.waiting())
        write_traces(store)
        store.create(note)  # as if another had read it before
        write_traces(store)
        assert [told(store, diary(project, n).ref) for n in range(9)] == [[("ann", "create")]] * 9
        assert len(list(store.find(HistoryTrace.of_project(project_id=project)))) == 8

    @pytest.mark.parametrize("number", [3, 20])
    def test_two_who_meet_in_one_microsecond_are_both_found(
        self, engine: Engine, clock: FrozenClock, project: str, number: int
    ) -> None:
        stores = [Store(engine, clock=clock, secret=SECRET) for _ in range(3)]
        for turn, store in enumerate(stores):
            with store.change(by="ann", why=str(turn)) as change:
                for place in range(number):
                    change.put(diary(project, place))
        for place in range(number):
            entries = stores[0].history(diary(project, place).ref, oldest_first=True).entries
            assert sorted(e.why or "" for e in entries) == ["0", "1", "2"]

    def test_what_was_tried_and_taken_back_is_not_told(self, store: Store, project: str) -> None:
        one, other = diary(project, 1), diary(project, 2)
        with store.change(by="ann") as change:
            change.create(one)
            with pytest.raises(ZeroDivisionError), change.attempt():
                change.create(other)
                change.emit("diary.begun", other)
                raise ZeroDivisionError
        assert told(store, one.ref) == [("ann", "create")]
        assert told(store, other.ref) == []
        assert list(store.find(HistoryTrace.of_project(project_id=project))) == []

    def test_the_changes_of_a_batch_are_found_each_by_its_own_records(self, store: Store, project: str) -> None:
        with store.batch() as batch:
            for number in range(0, 40, 2):
                with batch.change(by=f"by {number}") as change:
                    change.create(diary(project, number))
                    change.create(diary(project, number + 1))
        for number in range(40):
            assert told(store, diary(project, number).ref) == [(f"by {number - number % 2}", "create")]

    @pytest.mark.parametrize("number", [2, 30, 99])
    def test_a_change_that_was_refused_is_in_no_history(
        self, store: Store, clock: FrozenClock, project: str, number: int
    ) -> None:
        store.create(diary(project, 0))
        records = [diary(project, n) for n in range(number)]
        with pytest.raises(Conflict):
            create(store, *records)
        assert all(told(store, r.ref) == [] for r in records[:3])
        clock.advance(timedelta(days=2))
        write_traces(store)
        assert list(store.find(UntracedChange.waiting())) == [], "one that was written beforehand is removed in time"

    def test_a_note_is_kept_while_its_line_may_be_on_its_way(self, store: Store, clock: FrozenClock) -> None:
        early: dict[str, Any] = {"actor": "ann", "trail": "penstock.SystemAudit", "mark": "m", "names": ["x"]}
        store.create(UntracedChange(project_id="early", ts=clock.now(), **early))
        assert write_traces(store) == 0
        assert len(list(store.find(UntracedChange.waiting()))) == 1
        clock.advance(timedelta(days=2))
        write_traces(store)
        assert list(store.find(UntracedChange.waiting())) == []


class TestMessages:
    def test_a_message_about_a_record_is_in_its_history_though_nothing_else_is_done_to_it(
        self, store: Store, project: str
    ) -> None:
        record, other = diary(project), diary(project, 2)
        store.create(record)
        with store.change(by="bob") as change:
            change.emit("diary.due", record)
        with store.change(by="cid") as change:
            change.create(other)
            change.emit("diary.other", record)
            change.emit("diary.begun", other)
        entries = store.history(record.ref).entries
        assert [(e.by, e.does, e.action) for e in entries] == [
            ("cid", "tell", "diary.other"),
            ("bob", "tell", "diary.due"),
        ]
        assert [p.action for p in entries[0].parts] == ["diary.other", "diary.begun"]
        assert told(store, other.ref) == [("cid", "create")]

    @pytest.mark.parametrize("kind", [Diary, Ledger])
    def test_details_tell_how_messages_stand_as_long_as_they_are_remembered(
        self, store: Store, clock: FrozenClock, project: str, kind: type[Entity]
    ) -> None:
        record = diary(project) if kind is Diary else Ledger(project_id=project, name="l")
        with store.change(by="ann") as change:
            change.create(record)
            event = change.emit("begun", record)
            change.emit("seen", record)

        def states() -> list[Any]:
            (entry,) = store.history(record.ref, detailed=True).entries
            return [(p.kind, p.action, p.state) for p in entry.parts]

        (plain,) = store.history(record.ref).entries
        assert (plain.parts[0].id, plain.parts[0].state) == (event, None)
        message = HistoryKind.MESSAGE
        assert states() == [(message, "begun", "pending"), (message, "seen", "pending")]
        outbox: Any = LedgerMessage if kind is Ledger else None
        relay = Relay(store, _Ear(), owner="r", **({"outbox": outbox} if outbox else {}))
        relay.drain()
        assert states() == [(message, "begun", "published"), (message, "seen", "published")]
        clock.advance(timedelta(days=60))
        assert states() == [(message, "begun", None), (message, "seen", None)]


class _Ear:
    def deliver(self, messages: Any) -> list[Exception | None]:
        return [None] * len(messages)


class TestOwnLines:
    @pytest.mark.parametrize("number", [1, 3, 10])
    def test_lines_of_a_domains_own_kind_are_found_too(self, store: Store, project: str, number: int) -> None:
        records = [Ledger(project_id=project, name=f"l{n}") for n in range(number)]
        create(store, *records)
        with store.change(by="bob") as change:
            change.save(change.get(records[0].ref).anger())
        for record in records[1:]:
            assert told(store, record.ref) == [("ann", "create")]
        moved, _ = store.history(records[0].ref).entries
        assert (moved.by, moved.moved) == ("bob", {"mood": ("calm", "cross")})
        assert moved.source is not None
        assert moved.source.shape is LedgerLine.__shape__
        assert "about" not in LedgerLine.__shape__.fields

    def test_a_record_of_another_domain_finds_the_line_it_shares(self, store: Store, project: str) -> None:
        record = diary(project)
        create(store, record, Ledger(project_id=project, name="l"))
        (entry,) = store.history(record.ref).entries
        assert entry.source is not None
        assert entry.source.shape is LedgerLine.__shape__


class TestPages:
    @pytest.fixture
    def crowd(self, engine: Engine, clock: FrozenClock, project: str) -> Ref[Any]:
        """A record with changes of many actors, by itself and beside others, several in each microsecond."""
        record = diary(project)
        for moment in range(4):
            for number in range(5):
                store = Store(engine, clock=clock, secret=SECRET)  # its first moment is the clock's own
                with store.change(by=f"actor {number}", why=f"{moment}.{number}") as change:
                    change.put(record) if number % 2 else change.put(diary(project, 2))
                    change.put(diary(project, 2)) if number % 2 else change.put(record)
            clock.advance(SECOND)
        return record.ref

    @pytest.mark.parametrize("oldest_first", [False, True])
    def test_the_pages_of_every_size_hold_the_same(self, store: Store, crowd: Ref[Any], oldest_first: bool) -> None:
        whole = store.history(crowd, oldest_first=oldest_first, limit=1000).entries
        assert len(whole) == 20
        assert [e.ts for e in whole] == sorted((e.ts for e in whole), reverse=not oldest_first)
        assert len({e.why for e in whole}) == 20
        for size in (1, 2, 3, 4, 5, 6, 7, 19, 20, 21):
            assert paged(store, crowd, size, oldest_first=oldest_first) == whole

    def test_either_direction_is_the_other_one_backwards(self, store: Store, crowd: Ref[Any]) -> None:
        assert paged(store, crowd, 3, oldest_first=True) == paged(store, crowd, 3)[::-1]

    def test_a_time_can_be_chosen(self, store: Store, clock: FrozenClock, crowd: Ref[Any]) -> None:
        start = clock.now() - 4 * SECOND
        moments = [start + n * SECOND for n in range(4)]
        for chosen, expected in (
            (between(moments[1], moments[2]), [1, 2]),
            (after(moments[1]), [2, 3]),
            (before(moments[1]), [0]),
            (until(moments[1]), [0, 1]),
        ):
            for size in (2, 1000):
                found = paged(store, crowd, size, ts=chosen, oldest_first=True)
                assert [e.ts for e in found] == [moments[n] for n in expected for _ in range(5)]

    def test_a_cursor_goes_on_with_its_own_question_only(
        self, store: Store, clock: FrozenClock, crowd: Ref[Any]
    ) -> None:
        cursor = store.history(crowd, limit=2).cursor
        assert cursor is not None
        other = diary(str(crowd.key["project_id"]), 2).ref
        for ref, asked in (
            (other, {}),
            (crowd, {"oldest_first": True}),
            (crowd, {"ts": until(clock.now())}),
        ):
            with pytest.raises(InvalidCursor, match="not one of this history"):
                store.history(ref, cursor=cursor, **asked)
        for forged in ("", "x", "!", cursor[:-2], cursor[::-1], "ä"):
            with pytest.raises(InvalidCursor):
                store.history(crowd, cursor=forged)
        assert store.history(crowd, limit=5, cursor=cursor).entries == store.history(crowd).entries[2:7]

    @pytest.mark.parametrize(("asked", "match"), [({"limit": 0}, "1 to 1000"), ({"limit": 1001}, "1 to 1000")])
    def test_what_makes_no_sense_is_refused(self, store: Store, project: str, asked: Any, match: str) -> None:
        with pytest.raises(InvalidValue, match=match):
            store.history(diary(project).ref, **asked)
        with pytest.raises(InvalidValue, match="no time zone"):
            store.history(diary(project).ref, ts=until(store.clock.now().replace(tzinfo=None)))
        with pytest.raises(InvalidValue, match="has no history of its own"):
            store.history(SystemAudit.at(project_id=project, ts=store.clock.now(), actor="ann"))


class TestNames:
    def test_records_whose_keys_read_alike_have_each_their_own(self, store: Store, project: str) -> None:
        pairs = [Pair(first=f"{project}, second=x", second="y"), Pair(first=project, second="x, second=y")]
        assert repr(pairs[0].ref) == repr(pairs[1].ref), "or the test shows nothing"
        for number, pair in enumerate(pairs):
            create(store, pair, by=f"by {number}")
        assert [told(store, p.ref) for p in pairs] == [[("by 0", "create")], [("by 1", "create")]]

    def test_a_record_of_the_same_name_in_another_domain_has_its_own(self, store: Store, project: str) -> None:
        other = Namesake(project_id=project, owner="ann", number=1)
        assert repr(other.ref) == repr(diary(project).ref), "or the test shows nothing"
        create(store, diary(project), by="one")
        create(store, other, by="other")
        assert told(store, diary(project).ref) == [("one", "create")]
        assert told(store, other.ref) == [("other", "create")]

    def test_one_that_was_renamed_keeps_its_history(self, store: Store, project: str) -> None:
        create(store, Hermit(name=project))
        assert name_of(Hermit.at(name=project)) == f"diaries.Recluse(name={project})"
        assert told(store, Hermit.at(name=project)) == [("ann", "create")]

    @pytest.mark.parametrize("owner", ["x" * 250, "x" * 600, "日本" * 150, "a, number=2", "a#%/b) =,", " ", "é\u0301"])
    def test_a_key_may_be_long_and_of_any_text(self, store: Store, project: str, owner: str) -> None:
        records = [diary(project, n, owner) for n in range(6)]
        create(store, *records)
        create(store, diary(project, 1, owner + "y"), by="bob")
        assert [told(store, r.ref) for r in records] == [[("ann", "create")]] * 6
        assert told(store, diary(project, 1, owner + "y").ref) == [("bob", "create")]
        assert all(len(name_of(r.ref)) <= 300 for r in records)


class TestScope:
    def test_a_scope_sees_what_is_its_own(self, store: Store, project: str) -> None:
        mine, other = store.scoped(project, enforce=False), store.scoped(f"{project}x", enforce=False)
        record = diary(project)
        create(mine, record, *(diary(project, n) for n in range(2, 9)))
        with store.change(by="operator", project=f"{project}x") as change:
            change.save(change.get(record.ref).anger())
        assert told(mine, record.ref) == [("ann", "create")]
        assert told(mine, diary(project, 5).ref) == [("ann", "create")]
        assert told(other, record.ref) == [("operator", "save")]
        assert told(store, record.ref) == [("operator", "save"), ("ann", "create")]

    def test_a_cursor_of_one_scope_does_not_open_in_another(self, store: Store, project: str) -> None:
        mine = store.scoped(project, enforce=False)
        for _ in range(3):
            with mine.change(by="ann") as change:
                change.put(diary(project))
        cursor = mine.history(diary(project).ref, limit=1).cursor
        with pytest.raises(InvalidCursor):
            store.history(diary(project).ref, limit=1, cursor=cursor)
        assert len(mine.history(diary(project).ref, cursor=cursor).entries) == 2

    def test_what_belongs_to_no_project_has_none_for_a_scope(self, store: Store, project: str) -> None:
        with pytest.raises(OutOfScope, match="belong to no project"):
            store.scoped(project, enforce=False).history(Hermit.at(name="h"))


class TestForgeries:
    def test_a_line_counts_by_what_it_says_not_by_how_it_was_found(self, store: Store, project: str) -> None:
        record, victim = diary(project), diary(project, 2)
        create(store, record)
        (entry,) = store.history(record.ref).entries
        line = store.get(entry.source)  # type: ignore[arg-type]
        store.put(line.model_copy(update={"about": name_of(victim.ref)}))
        trace: dict[str, Any] = {"trail": "penstock.SystemAudit", "about": name_of(victim.ref), "number": 0}
        store.create(HistoryTrace(project_id=project, ts=line.ts, actor="ann", mark="a", **trace))
        store.create(HistoryTrace(project_id=project, ts=line.ts, actor="nobody", mark="b", **trace))
        store.create(HistoryTrace(project_id=project, ts=line.ts, actor="ann", mark="c", **{**trace, "trail": "x.Y"}))
        assert told(store, victim.ref) == []

    @pytest.mark.parametrize(
        "details",
        [
            {},
            {"changes": "x"},
            {"changes": [1, None, {"record": 2}]},
            {"changes": [{}], "messages": {"a": 1}, "message_ids": 3},
        ],
    )
    def test_lines_of_whatever_form_do_no_harm(self, store: Store, project: str, details: dict[str, Any]) -> None:
        ref = diary(project).ref
        if "messages" in details:
            details = {**details, "changes": [{"record": repr(ref), "states": [1], "fields": "x"}]}
        line: AuditLine = SystemAudit(
            project_id=project, ts=store.clock.now(), actor="x", action="y", details=details, about=name_of(ref)
        )
        store.create(line)
        found = store.history(ref, detailed=True).entries
        assert [(e.does, e.moved, e.fields, e.parts) for e in found] == [("None", {}, (), ())] * ("messages" in details)

    def test_lines_of_former_versions_tell_the_types_of_their_messages(self, store: Store, project: str) -> None:
        ref = diary(project).ref
        details = {"changes": [{"does": "save", "record": repr(ref)}], "messages": ["a", "b"]}
        now = store.clock.now()
        store.create(
            SystemAudit(project_id=project, ts=now, actor="x", action="y", details=details, about=name_of(ref))
        )
        (entry,) = store.history(ref, detailed=True).entries
        assert [(p.action, p.id, p.state) for p in entry.parts] == [("a", None, None), ("b", None, None)]


def test_traces_go_with_the_lines_they_lead_to(store: Store, clock: FrozenClock, project: str) -> None:
    for _ in range(3):
        with store.change(by="ann") as change:
            for number in range(3):
                change.put(diary(project, number))
        clock.advance(SECOND)
    middle = clock.now() - 2 * SECOND
    create(store, Ledger(project_id=project, name="l"))
    assert forget_traces(store, project, trail=SystemAudit.__shape__, span=until(middle)) == 4
    assert len(store.history(diary(project, 2).ref).entries) == 1
    assert forget_traces(store, project, trail=SystemAudit.__shape__, span=ANYTHING) == 2
    assert told(store, Ledger.at(project_id=project, name="l")) == [("ann", "create")]


def test_a_store_of_an_earlier_version_gains_the_index(open_engine: Callable[[], Engine], clock: FrozenClock) -> None:
    table = Table("penstock_system", partition="PK", sort="SK", expiry="ttl")
    table.index("GSI1", partition="GSI1PK", sort="GSI1SK")

    class FormerAudit(Entity, table=table, relation="audit"):
        project_id: str
        ts: UtcMicros
        actor: str
        action: str
        details: dict[str, Any]
        hash: str | None = None

        @key("PROJECT#{project_id}", "AUDIT#{ts}#{actor}")
        def at(self, *, project_id: str, ts: datetime, actor: str) -> None: ...

    Domain("penstock", FormerAudit)
    engine = open_engine()
    engine.ensure([FormerAudit.__shape__])
    details = {"changes": [{"does": "save", "record": repr(diary("p").ref)}]}
    said: dict[str, Any] = {"project_id": "p", "ts": clock.now(), "actor": "old", "action": "b", "details": details}
    Store(engine, clock=clock).create(FormerAudit(**said, hash=SystemAudit(**said).sealed()))
    store = Store(engine, clock=clock, own=SYSTEM_RECORDS)
    engine.ensure(SHAPES)
    store.ensure()
    clock.advance(SECOND)
    create(store, diary("p"), diary("p", 2))
    assert told(store, diary("p").ref) == [("ann", "create")], "earlier lines have no name to be found by"
    assert told(store, diary("p", 2).ref) == [("ann", "create")]
    assert [line.actor for line in store.find(SystemAudit.of_project(project_id="p"))] == ["old", "ann"]
    assert verify(store, "p").findings == []
