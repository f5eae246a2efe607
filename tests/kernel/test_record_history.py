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
from penstock.kernel.audit import SystemAudit
from penstock.kernel.history import HistoryEntry, HistoryKind
from penstock.kernel.history_trace import HistoryTrace, UntracedPeriod, traces_to, write_traces
from penstock.kernel.line_history import _moved
from penstock.kernel.record_name import name_of
from penstock.kernel.seals import verify
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from tests.kernel.diary import SHAPES, Diary, Hermit, Ledger, LedgerLine, LedgerMessage, Namesake, Pair

SECRET = b"of the tests"
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
_projects = count(1)


class SettledStore(Store):
    """Before a history is read from it, somebody has followed all trails, and all lines are traced."""

    def history(self, *asked: Any, **more: Any) -> Any:
        settle(self)
        return super().history(*asked, **more)


def settle(store: Store) -> None:
    """Let time pass in which somebody traces all there is."""
    assert isinstance(store.clock, FrozenClock)
    store.clock.advance(HOUR)
    write_traces(store)
    assert list(store.find(UntracedPeriod.all_of_them())) == []


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
def untraced(engine: Engine, clock: FrozenClock) -> Store:
    """A store whose lines nobody has traced yet."""
    store = Store(engine, clock=clock, secret=SECRET, own=SYSTEM_RECORDS)
    store.delete_many([period.ref for period in store.find(UntracedPeriod.all_of_them())])  # other tests' leavings
    return store


@pytest.fixture(params=[False, True], ids=["new", "traced"])
def store(untraced: Store, request: pytest.FixtureRequest) -> Store:
    """The same; and one whose lines are always traced when a history is read."""
    if not request.param:
        return untraced
    return SettledStore(untraced.engine, clock=untraced.clock, secret=SECRET, own=SYSTEM_RECORDS)


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


def traces(store: Store, ref: Ref[Any]) -> int:
    return len(list(store.find(HistoryTrace.of_record(about=name_of(ref)))))


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

    def test_all_states_of_a_record_are_told(self, store: Store, clock: FrozenClock, project: str) -> None:
        create(store, Hermit(name=project))
        clock.advance(SECOND)
        with store.change(by="bob") as change:
            change.save(change.get(Hermit.at(name=project)).anger().shut())
        assert [e.moved for e in store.history(Hermit.at(name=project)).entries] == [
            {"mood": ("calm", "cross"), "door": ("open", "shut")},
            {"mood": (None, "calm"), "door": (None, "open")},
        ]

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

    def test_a_change_writes_nothing_more_for_it_but_once_in_ten_minutes(
        self, store: Store, clock: FrozenClock, project: str
    ) -> None:
        def written() -> list[str]:
            with store.change(by="bob") as change:
                change.put(diary(project))
                change.emit("diary.put", diary(project))
                return [w.shape.name for w in change.writes()]

        usual = ["Diary", "SystemMessage", "SystemAudit"]
        noted = ["Diary", "SystemMessage", "UntracedPeriod", "SystemAudit"]
        assert [written() for _ in range(3)] == [noted, usual, usual]
        clock.advance(11 * MINUTE)
        assert [written() for _ in range(2)] == [noted, usual]
        assert len(store.history(diary(project).ref).entries) == 5

    def test_what_is_told_for_histories_is_hashed_as_all_of_a_line_is(self, store: Store, project: str) -> None:
        create(store, diary(project))
        (entry,) = store.history(diary(project).ref).entries
        line = store.get(entry.source)  # type: ignore[arg-type]
        assert line.details["domain"] == "diaries"
        assert line.hash == line.sealed()
        assert verify(store, project).findings == []


class TestSeveralRecords:
    @pytest.mark.parametrize("number", [2, 98, 99])
    def test_a_change_is_found_from_each_record_it_is_about(self, store: Store, project: str, number: int) -> None:
        records = [diary(project, n) for n in range(number)]
        create(store, *records)
        for record in (*records[:2], records[-1]):
            (entry,) = store.history(record.ref).entries
            assert (entry.by, entry.does, entry.moved) == ("ann", "create", {"mood": (None, "calm")})

    def test_those_who_meet_in_one_microsecond_are_all_found(self, store: Store, project: str) -> None:
        for turn in range(3):
            with Store(store.engine, clock=store.clock).change(by="ann", why=str(turn)) as change:
                for place in range(3):
                    change.put(diary(project, place))
        for place in range(3):
            entries = store.history(diary(project, place).ref).entries
            assert sorted(e.why or "" for e in entries) == ["0", "1", "2"]

    def test_what_was_tried_and_taken_back_is_not_told(self, store: Store, project: str) -> None:
        one, other = diary(project, 1), diary(project, 2)
        with store.change(by="ann") as change:
            with pytest.raises(ZeroDivisionError), change.attempt():
                change.create(Hermit(name=project))
                change.create(other)
                change.emit("diary.begun", other)
                raise ZeroDivisionError
            change.create(one)
        assert told(store, one.ref) == [("ann", "create")]
        assert told(store, other.ref) == []

    def test_the_changes_of_a_batch_are_found_each_by_its_own_records(self, store: Store, project: str) -> None:
        with store.batch() as batch:
            for number in range(0, 40, 2):
                with batch.change(by=f"by {number}") as change:
                    change.create(diary(project, number))
                    change.create(diary(project, number + 1))
        for number in (0, 1, 17, 38, 39):
            assert told(store, diary(project, number).ref) == [(f"by {number - number % 2}", "create")]

    @pytest.mark.parametrize("number", [2, 99])
    def test_a_change_that_was_refused_is_in_no_history(self, store: Store, project: str, number: int) -> None:
        store.create(diary(project, 0))
        records = [diary(project, n) for n in range(number)]
        with pytest.raises(Conflict):
            create(store, *records)
        assert told(store, records[0].ref) == []
        create(store, diary(project, 100))
        assert told(store, diary(project, 100).ref) == [("ann", "create")], "a note that was refused counts for nothing"

    def test_a_record_of_another_domain_finds_the_line_it_shares(self, store: Store, project: str) -> None:
        record = diary(project)
        create(store, record, Ledger(project_id=project, name="l"))
        (entry,) = store.history(record.ref).entries
        assert entry.source is not None
        assert entry.source.shape is LedgerLine.__shape__

    def test_lines_of_a_domains_own_kind_are_found_too(self, store: Store, project: str) -> None:
        records = [Ledger(project_id=project, name=f"l{n}") for n in range(3)]
        create(store, *records)
        with store.change(by="bob") as change:
            change.save(change.get(records[0].ref).anger())
        for record in records[1:]:
            assert told(store, record.ref) == [("ann", "create")]
        moved, _ = store.history(records[0].ref).entries
        assert (moved.by, moved.moved) == ("bob", {"mood": ("calm", "cross")})
        assert moved.source is not None
        assert moved.source.shape is LedgerLine.__shape__


class TestFollowing:
    """What is not traced yet, or only in part."""

    def test_a_trail_is_followed_while_it_is_written_to(
        self, untraced: Store, clock: FrozenClock, project: str
    ) -> None:
        ref = diary(project).ref
        for turn in range(60):
            with untraced.change(by=f"turn {turn}") as change:
                change.put(diary(project))
            if turn % 7 == 0:
                write_traces(untraced)
            if turn % 20 == 0:
                assert len(untraced.history(ref, limit=100).entries) == turn + 1
            clock.advance(25 * SECOND)
        entries = untraced.history(ref, limit=100).entries
        assert [e.by for e in entries] == [f"turn {n}" for n in reversed(range(60))]
        assert 40 < traces(untraced, ref) < 60
        settle(untraced)
        assert traces(untraced, ref) == 60
        assert untraced.history(ref, limit=100).entries == entries

    def test_a_reader_follows_a_trail_that_nobody_else_does(
        self, untraced: Store, clock: FrozenClock, project: str
    ) -> None:
        create(untraced, diary(project))
        assert told(untraced, diary(project).ref) == [("ann", "create")]
        assert traces(untraced, diary(project).ref) == 0, "what is new is read as it is"
        clock.advance(3 * MINUTE)
        assert told(untraced, diary(project).ref) == [("ann", "create")]
        assert traces(untraced, diary(project).ref) == 1

    def test_several_may_follow_at_once(self, untraced: Store, project: str) -> None:
        create(untraced, diary(project), diary(project, 2))
        noted = list(untraced.find(UntracedPeriod.of_project(project_id=project)))
        settle(untraced)
        for period in noted:
            untraced.create(period)  # as if another had read it before
        settle(untraced)
        for number in (1, 2):
            assert told(untraced, diary(project, number).ref) == [("ann", "create")]
            assert traces(untraced, diary(project, number).ref) == 1

    def test_a_line_that_comes_late_is_found_in_the_end(
        self, untraced: Store, clock: FrozenClock, project: str
    ) -> None:
        slow = Store(untraced.engine, clock=FrozenClock(clock.now() - 4 * MINUTE))  # by as much as clocks may differ
        create(slow, diary(project), by="early")
        create(untraced, diary(project, 2))
        clock.advance(MINUTE)
        write_traces(untraced)
        with slow.change(by="late") as change:
            change.put(diary(project))
        settle(untraced)
        assert [e.by for e in untraced.history(diary(project).ref).entries] == ["late", "early"]

    def test_among_many_trails_that_are_written_to_its_own_are_looked_at(self, untraced: Store, project: str) -> None:
        for number in range(25):
            create(untraced, diary(f"{project}.{number}"))
        create(untraced, diary(project))
        create(untraced, Hermit(name=project))
        assert told(untraced, diary(project).ref) == [("ann", "create")]
        assert told(untraced, Hermit.at(name=project)) == [("ann", "create")]
        with untraced.change(by="bob") as change:
            change.delete(diary(project).ref)
        assert told(untraced, diary(project).ref) == [("bob", "delete"), ("ann", "create")], "its key tells the project"

    def test_among_many_trails_no_other_is_read(
        self, untraced: Store, project: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(25):
            create(untraced, diary(f"{project}.{number}"))
        asked, find = [], untraced.engine.find

        def counted(query: Any, **more: Any) -> Any:
            asked.append(query)
            return find(query, **more)

        monkeypatch.setattr(untraced.engine, "find", counted)
        assert told(untraced, diary(f"{project}.24").ref) == [("ann", "create")]
        assert len(asked) < 10

    def test_behind_many_periods_of_another_trail_its_own_is_looked_at(
        self, untraced: Store, clock: FrozenClock, project: str
    ) -> None:
        other: dict[str, Any] = {
            "project_id": f"{project}.other",
            "trail": SystemAudit.__shape__.label,
            "ts": clock.now(),
        }
        untraced.put_many(UntracedPeriod(**other, mark=str(n)) for n in range(201))
        clock.advance(SECOND)
        create(untraced, diary(project))
        assert told(untraced, diary(project).ref) == [("ann", "create")]

    def test_a_period_of_a_domain_that_is_not_here_waits_for_it(self, untraced: Store, clock: FrozenClock) -> None:
        period = UntracedPeriod(project_id="other", trail="other.Line", ts=clock.now(), mark="m")
        untraced.create(period)
        clock.advance(timedelta(days=30))
        write_traces(untraced)
        assert told(untraced, diary("other").ref) == []
        assert untraced.get(period.ref).traced_until is None
        untraced.delete(period.ref)

    def test_traces_go_with_the_lines_they_lead_to(self, untraced: Store, project: str) -> None:
        for _ in range(3):
            with untraced.change(by="ann") as change:
                change.put(diary(project))
                change.put(diary(project, 2))
        settle(untraced)
        gone = list(untraced.find(SystemAudit.of_project(project_id=project)))[:2]
        untraced.delete_many(ref for line in gone for ref in traces_to(line))
        assert [traces(untraced, diary(project, n).ref) for n in (1, 2)] == [1, 1]
        untraced.delete_many(line.ref for line in gone)
        assert told(untraced, diary(project, 2).ref) == [("ann", "put")]

    def test_a_line_that_is_gone_is_passed_over(self, untraced: Store, project: str) -> None:
        create(untraced, diary(project))
        settle(untraced)
        untraced.delete_many(line.ref for line in untraced.find(SystemAudit.of_project(project_id=project)))
        assert told(untraced, diary(project).ref) == []


class TestMessages:
    def test_a_message_about_a_record_is_in_its_history_though_nothing_else_is_done_to_it(
        self, store: Store, project: str
    ) -> None:
        record, other = diary(project), diary(project, 2)
        store.create(record)
        with store.change(by="bob") as change:
            change.emit("diary.due", record)
        with store.change(by="cid", project=project) as change:
            change.create(other)
            change.emit("diary.other", record)
            change.emit("diary.begun", other)
        entries = store.history(record.ref).entries
        assert [(e.by, e.does) for e in entries] == [("cid", "tell"), ("bob", "tell")]
        assert [e.action for e in entries] == ["diary.other", "diary.due"]
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
        outbox: dict[str, Any] = {"outbox": LedgerMessage} if kind is Ledger else {}
        Relay(store, _Ear(), owner="r", **outbox).drain()
        assert states() == [(message, "begun", "published"), (message, "seen", "published")]
        clock.advance(timedelta(days=60))
        assert states() == [(message, "begun", None), (message, "seen", None)]


class _Ear:
    def deliver(self, messages: Any) -> list[Exception | None]:
        return [None] * len(messages)


class TestPages:
    @pytest.fixture
    def crowd(self, store: Store, clock: FrozenClock, project: str) -> Ref[Any]:
        """A record with changes of many actors, by itself and beside others, several in each microsecond."""
        record, other = diary(project), diary(project, 2)
        for moment in range(4):
            for number in range(5):
                own = Store(store.engine, clock=clock)  # its first moment is the clock's own
                with own.change(by=f"actor {number}", why=f"{moment}.{number}") as change:
                    for each in (record, other) if number % 2 else (other, record):
                        change.put(each)
            clock.advance(SECOND)
        return record.ref

    @pytest.mark.parametrize("oldest_first", [False, True])
    def test_the_pages_of_every_size_hold_the_same(self, store: Store, crowd: Ref[Any], oldest_first: bool) -> None:
        whole = store.history(crowd, oldest_first=oldest_first, limit=1000).entries
        assert len({e.why for e in whole}) == len(whole) == 20
        assert [e.ts for e in whole] == sorted((e.ts for e in whole), reverse=not oldest_first)
        for size in (1, 3, 7, 19, 20):
            assert paged(store, crowd, size, oldest_first=oldest_first) == whole
        assert store.history(crowd, oldest_first=not oldest_first).entries == whole[::-1]

    def test_pages_go_on_though_lines_are_traced_meanwhile(self, untraced: Store, crowd: Ref[Any]) -> None:
        whole = untraced.history(crowd).entries
        first = untraced.history(crowd, limit=7)
        settle(untraced)
        assert first.entries + untraced.history(crowd, cursor=first.cursor).entries == whole

    def test_a_time_can_be_chosen(self, store: Store, clock: FrozenClock, crowd: Ref[Any]) -> None:
        start = clock.now() - 4 * SECOND
        moments = [start + n * SECOND for n in range(4)]
        for chosen, expected in (
            (between(moments[1], moments[2]), [1, 2]),
            (after(moments[1]), [2, 3]),
            (before(moments[1]), [0]),
            (until(moments[1]), [0, 1]),
            (until(moments[0]), [0]),
            (after(moments[0]), [1, 2, 3]),
        ):
            for size in (2, 1000):
                found = paged(store, crowd, size, ts=chosen, oldest_first=True)
                assert [e.ts for e in found] == [moments[n] for n in expected for _ in range(5)]

    def test_a_cursor_answers_its_own_question_only(self, store: Store, clock: FrozenClock, crowd: Ref[Any]) -> None:
        cursor = store.history(crowd, limit=2).cursor
        assert cursor is not None
        other = diary(str(crowd.key["project_id"]), 2).ref
        asked: list[tuple[Ref[Any], dict[str, Any]]] = [
            (other, {}),
            (crowd, {"oldest_first": True}),
            (crowd, {"ts": until(clock.now())}),
        ]
        for ref, more in asked:
            with pytest.raises(InvalidCursor, match="not one of this history"):
                store.history(ref, cursor=cursor, **more)
        for forged in ("", "x", "!", cursor[:-2], cursor[::-1], "ä"):
            with pytest.raises(InvalidCursor):
                store.history(crowd, cursor=forged)
        assert store.history(crowd, limit=5, cursor=cursor).entries == store.history(crowd).entries[2:7]


class TestNames:
    def test_records_whose_keys_read_alike_have_each_their_own(self, store: Store, project: str) -> None:
        pairs = [Pair(first=f"{project}, second=x", second="y"), Pair(first=project, second="x, second=y")]
        assert repr(pairs[0].ref) == repr(pairs[1].ref), "or the test shows nothing"
        for number, pair in enumerate(pairs):
            create(store, pair, by=f"by {number}")
        with store.change(by="both") as change:
            for pair in pairs:
                change.delete(pair.ref)
        assert [told(store, p.ref) for p in pairs] == [[("both", "delete"), (f"by {n}", "create")] for n in range(2)]

    def test_a_record_of_the_same_name_in_another_domain_has_its_own(self, store: Store, project: str) -> None:
        other = Namesake(project_id=project, owner="ann", number=1)
        assert repr(other.ref) == repr(diary(project).ref), "or the test shows nothing"
        create(store, diary(project), by="one")
        create(store, other, by="other")
        with store.change(by="both") as change:
            change.put(other)
            change.patch(diary(project).ref, the(Diary.note).set("x"))
        assert told(store, diary(project).ref) == [("both", "patch"), ("one", "create")]
        assert told(store, other.ref) == [("both", "put"), ("other", "create")]

    def test_one_that_was_renamed_keeps_its_history(self, store: Store, project: str) -> None:
        create(store, Hermit(name=project))
        assert name_of(Hermit.at(name=project)) == f"diaries.Recluse(name={project})"
        assert told(store, Hermit.at(name=project)) == [("ann", "create")]

    @pytest.mark.parametrize("owner", ["x" * 600, "日本" * 150, "a, number=2", "a#%/b) =,", " ", "é\u0301"])
    def test_a_key_may_be_long_and_of_any_text(self, store: Store, project: str, owner: str) -> None:
        records = [diary(project, n, owner) for n in range(2)]
        create(store, *records)
        create(store, diary(project, 1, owner + "y"), by="bob")
        assert [told(store, r.ref) for r in records] == [[("ann", "create")]] * 2
        assert told(store, diary(project, 1, owner + "y").ref) == [("bob", "create")]
        assert all(len(name_of(r.ref)) <= 300 for r in records)


class TestScope:
    def test_a_scope_sees_what_is_its_own(self, store: Store, project: str) -> None:
        mine, other = store.scoped(project, enforce=False), store.scoped(f"{project}x", enforce=False)
        record = diary(project)
        create(mine, record, diary(project, 2))
        with store.change(by="operator", project=f"{project}x") as change:
            change.save(change.get(record.ref).anger())
        for _ in range(2):
            assert told(mine, record.ref) == told(mine, diary(project, 2).ref) == [("ann", "create")]
            assert told(other, record.ref) == [("operator", "save")]
            assert told(store, record.ref) == [("operator", "save"), ("ann", "create")]

    def test_a_scope_follows_its_own_trail(self, untraced: Store, clock: FrozenClock, project: str) -> None:
        mine = untraced.scoped(project)  # where the database can enforce it, it does
        create(mine, diary(project))
        create(untraced, diary(f"{project}x"))
        clock.advance(HOUR)
        assert told(mine, diary(project).ref) == [("ann", "create")]
        assert [p.project_id for p in untraced.find(UntracedPeriod.all_of_them())] == [f"{project}x"]
        assert told(mine, diary(f"{project}x").ref) == []

    def test_a_cursor_of_one_scope_does_not_open_in_another(self, store: Store, project: str) -> None:
        mine = store.scoped(project, enforce=False)
        for _ in range(3):
            with mine.change(by="ann") as change:
                change.put(diary(project))
        cursor = mine.history(diary(project).ref, limit=1).cursor
        with pytest.raises(InvalidCursor):
            store.history(diary(project).ref, limit=1, cursor=cursor)
        assert len(mine.history(diary(project).ref, cursor=cursor).entries) == 2


class TestForgeries:
    def test_a_line_counts_by_what_it_says_not_by_how_it_was_found(self, store: Store, project: str) -> None:
        record, victim = diary(project), diary(project, 2)
        create(store, record)
        (entry,) = store.history(record.ref).entries
        forged: dict[str, Any] = {"about": name_of(victim.ref), "project_id": project, "ts": entry.ts}
        store.create(HistoryTrace(**forged, actor="ann", trail="penstock.SystemAudit", mark="a"))
        store.create(HistoryTrace(**forged, actor="nobody", trail="penstock.SystemAudit", mark="b"))
        store.create(HistoryTrace(**forged, actor="ann", trail="x.Y", mark="c"))
        assert told(store, victim.ref) == []

    @pytest.mark.parametrize(
        "details",
        [
            {},
            {"changes": "x", "domain": 3},
            {"changes": [1, None, {"record": 2}, {"record": ["x"]}, {"record": "x", "key": 1, "domain": ["x"]}]},
            {"changes": [{"record": "a\nb\u0007", "key": {"a": [1]}}], "domain": "\u0007"},
            {"changes": [{"record": "x" * 5000, "domain": "y" * 5000}]},
            {"changes": [{}], "messages": {"a": 1}, "message_ids": 3},
        ],
    )
    def test_lines_of_whatever_form_do_no_harm(self, store: Store, project: str, details: dict[str, Any]) -> None:
        ref = diary(project).ref
        create(store, diary(project, 2))
        if "messages" in details:
            details = {**details, "changes": [{"record": repr(ref), "domain": "diaries", "states": [1], "fields": "x"}]}
        now = store.clock.now()
        store.create(SystemAudit(project_id=project, ts=now, actor="x", action="y", details=details))
        found = store.history(ref, detailed=True).entries
        assert [(e.does, e.moved, e.fields, e.parts) for e in found] == [("None", {}, (), ())] * ("messages" in details)
        assert told(store, diary(project, 2).ref) == [("ann", "create")]

    def test_lines_of_former_versions_tell_the_types_of_their_messages(self, store: Store, project: str) -> None:
        ref = diary(project).ref
        create(store, diary(project, 2))
        changes = [{"does": "save", "record": repr(ref), "domain": "diaries"}]
        said: dict[str, Any] = {"project_id": project, "ts": store.clock.now(), "actor": "x", "action": "y"}
        store.create(SystemAudit(**said, details={"changes": changes, "messages": ["a", "b"]}))
        (entry,) = store.history(ref, detailed=True).entries
        assert [(p.action, p.id, p.state) for p in entry.parts] == [("a", None, None), ("b", None, None)]


def test_what_makes_no_sense_is_refused(untraced: Store, project: str) -> None:
    for limit in (0, 1001, -1):
        with pytest.raises(InvalidValue, match="1 to 1000"):
            untraced.history(diary(project).ref, limit=limit)
    with pytest.raises(InvalidValue, match="no time zone"):
        untraced.history(diary(project).ref, ts=until(untraced.clock.now().replace(tzinfo=None)))
    with pytest.raises(InvalidValue, match="has no history of its own"):
        untraced.history(SystemAudit.at(project_id=project, ts=untraced.clock.now(), actor="ann"))
    with pytest.raises(OutOfScope, match="belong to no project"):
        untraced.scoped(project, enforce=False).history(Hermit.at(name="h"))


def test_a_store_of_an_earlier_version_gains_histories(open_engine: Callable[[], Engine], clock: FrozenClock) -> None:
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
    for _ in range(2):
        assert told(store, diary("p").ref) == [("ann", "create")], "earlier lines do not say of which domain they tell"
        assert told(store, diary("p", 2).ref) == [("ann", "create")]
        settle(store)
    assert [line.actor for line in store.find(SystemAudit.of_project(project_id="p"))] == ["old", "ann"]
    assert verify(store, "p").findings == []


def test_states_that_a_line_does_not_tell_as_two_are_left_out() -> None:
    """A line that was altered is no reason to show nothing."""
    assert _moved({"mood": ["calm", "cross"], "size": 5, "text": "no", "one": ["calm"]}) == {"mood": ("calm", "cross")}
    assert _moved("nothing") == {}
