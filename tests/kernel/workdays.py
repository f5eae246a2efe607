"""Random days in the workshop: three processes with clocks that differ, which race, stall, die and wake up as zombies.

What is judged is what stands in the store and what the sink has heard, never only what a process was told. Every
verdict belongs to one property, so that one history serves them all.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, cast
from uuid import uuid4

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from penstock import FrozenClock, Query, Store, the
from penstock.errors import Conflict, IllegalMove
from penstock.events.relay import Relay
from penstock.kernel.audit import SystemAudit
from penstock.kernel.change import Change
from penstock.kernel.idempotency import Claim, InProgress, Replay, SystemOnce, begin
from penstock.kernel.lease import Lease, release, renew, take
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.lifecycle.reaper import Reaper
from penstock.operations.reads import Ref
from penstock.ports.clock import SKEW
from penstock.ports.engine import Engine
from penstock.ports.sink import Envelope
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.testing.promises.paging import by_pages
from tests.kernel.shelf import Crash, Fuse, FusedEngine
from tests.kernel.workshop import MOVES, WORKSHOP, Deed, Hall, Piece, Slip, State

START = datetime(2037, 1, 1, tzinfo=UTC)
PERIOD = timedelta(minutes=1)
PIECES = 3
OFFSETS = (timedelta(0), SKEW / 2, -SKEW / 2)
"Any two clocks are within the skew."
_worlds = itertools.count()

Property = Literal[
    "an index is a function of its base",
    "only declared transitions happen",
    "counters equal a recount",
    "of k racers one wins",
    "a fenced-out owner changes nothing",
    "a change and its event are both there or neither",
    "every event is delivered",
    "what has expired is invisible",
    "no project reads another",
    "a list does not depend on the size of its pages",
]


@dataclass
class Verdicts:
    """How often each property was looked at, and what was found to be wrong."""

    looked: Counter[str] = field(default_factory=Counter)
    wrong: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


@dataclass
class Place:
    """Where a history happens: engines of processes on one store, and the parts that a broken twin replaces."""

    open_engine: Callable[[], Engine]
    twin: Callable[[Any], Any] = lambda engine: engine
    scoped: Callable[[Store, str], Store] = Store.scoped
    verdicts: Verdicts = field(default_factory=Verdicts)
    strict: str | None = None
    "The property whose violation ends the history, so that the shortest one is found."

    def __post_init__(self) -> None:
        self.engines = [self.open_engine() for _ in OFFSETS]
        Store(self.engines[0], own=SYSTEM_RECORDS).ensure(WORKSHOP)


class Ear:
    """The sink of all relays. It remembers, and fails or kills its caller when told to."""

    def __init__(self) -> None:
        self.heard: set[str] = set()
        self.fate = "well"

    def deliver(self, messages: Sequence[Envelope]) -> list[Exception | None]:
        if self.fate == "fails":
            return [ConnectionError("down") for _ in messages]
        if self.fate == "dies before":
            raise Crash("nobody has heard it")
        self.heard |= {m.id for m in messages}
        if self.fate == "dies after":
            raise Crash("nobody will say that it was heard")
        return [None for _ in messages]


class Process:
    """One of several on a store. It can die, which loses what it had in mind, and comes back under the same name."""

    def __init__(self, place: Place, number: int, world: str, ear: Ear) -> None:
        self.name = f"{world}-{number}"
        self.clock = FrozenClock(START + OFFSETS[number], skew=SKEW)
        self._place, self._engine, self._ear = place, place.engines[number], ear
        self.former: list[Lease] = []
        "Every lease it has ever had: a zombie may use any of them."
        self.claims: list[tuple[Claim, str]] = []
        self.start()

    def start(self) -> None:
        self.fuse = Fuse()
        engine = cast(Engine, self._place.twin(FusedEngine(self._engine, self.fuse)))
        self.store = Store(engine, clock=self.clock, own=SYSTEM_RECORDS)
        self.relay = Relay(self.store, self._ear, owner=self.name, period=PERIOD, chance=lambda: 1.0)

    def second(self) -> int:
        return int(self.clock.now().timestamp())


@dataclass
class Work:
    """A change that is prepared and not yet committed."""

    process: Process
    change: Change
    piece: Ref[Piece]
    deed: Deed
    event: str
    lease: Lease | None


class Workdays(RuleBasedStateMachine):
    """What may happen in a workshop of two projects."""

    place: Place

    def __init__(self) -> None:
        super().__init__()
        self.world = f"w{next(_worlds)}-{uuid4().hex[:6]}"
        self.projects = [f"{self.world}-p1", f"{self.world}-p2"]
        self.ear = Ear()
        self.processes = [Process(self.place, n, self.world, self.ear) for n in range(len(OFFSETS))]
        self.open: list[Work] = []
        self.events: list[str] = []
        self.states: dict[tuple[str, int], State] = {}
        self.slips: dict[tuple[str, str], int] = {}
        "The second in which each slip ends that has not been removed."
        self.effects: Counter[str] = Counter()
        self.steps = 0

        # Somebody who sees things as they are, whatever twin the processes have.
        self.operator = Store(self.place.engines[0], clock=self.processes[0].clock, own=SYSTEM_RECORDS)

    @property
    def reader(self) -> Store:
        return self.processes[0].store

    @contextmanager
    def judging(self, about: Property) -> Iterator[None]:
        verdicts = self.place.verdicts
        verdicts.looked[about] += 1
        try:
            yield
        except AssertionError as error:
            if self.place.strict == about:
                raise
            verdicts.wrong[about].append(str(error))

    def pieces(self) -> list[Piece]:
        return [p for name in self.projects for p in self.operator.find(Piece.of_project(project_id=name))]

    @initialize(weights=st.lists(st.integers(0, 2), min_size=2 * PIECES, max_size=2 * PIECES))
    def open_the_halls(self, weights: list[int]) -> None:
        left = iter(weights)
        for project in self.projects:
            self.operator.create(Hall(project_id=project, waiting=PIECES))
            self.operator.put_many(
                Piece(world=self.world, project_id=project, number=n, weight=next(left)) for n in range(PIECES)
            )
        self.states = {(p.project_id, p.number): p.state for p in self.pieces()}

    # Work

    @rule(
        who=st.integers(0, 2),
        which=st.integers(0, 2 * PIECES - 1),
        move=st.sampled_from(sorted(MOVES)),
        held=st.none() | st.integers(0, 20),
        fate=st.sampled_from(["well", "well", "well", "opens", "dies before", "dies after", "dies between"]),
    )
    def work(self, who: int, which: int, move: str, held: int | None, fate: str) -> None:
        """Move a piece, under a lease it has or once had, or under none."""
        process, piece = self.processes[who], self._piece(which)
        leases = [x for x in process.former if _same(x.ref, piece)]
        lease = leases[held % len(leases)] if held is not None and leases else None
        prepared = self._prepare(process, piece, self._likely(piece, move), lease)
        if prepared is None:
            return
        if fate == "opens":
            self.open.append(prepared)
            return
        if fate != "well":
            process.fuse.left, process.fuse.carried_out = int(fate == "dies between"), fate == "dies after"
        self._commit(prepared)
        process.fuse.left = None

    @rule(which=st.integers(0, 20))
    def commit_late(self, which: int) -> None:
        """What was prepared some time ago is committed now."""
        if self.open:
            self._commit(self.open.pop(which % len(self.open)))

    @rule(which=st.integers(0, 2 * PIECES - 1), move=st.sampled_from(sorted(MOVES)), order=st.permutations(range(3)))
    def race(self, which: int, move: str, order: list[int]) -> None:
        """All read the piece, and then all move it."""
        piece = self._piece(which)
        chosen = self._likely(piece, move)
        racers = [self._prepare(self.processes[n], piece, chosen, None) for n in order]
        won = [self._commit(r) for r in racers if r is not None]
        with self.judging("of k racers one wins"):
            assert won.count(True) == 1, f"{won.count(True)} of {len(won)} moved one piece by {chosen}"

    @rule(
        which=st.integers(0, 2 * PIECES - 1),
        order=st.permutations(range(3)),
        moves=st.lists(st.sampled_from(sorted(MOVES)), min_size=2, max_size=4),
    )
    def overtake(self, which: int, order: list[int], moves: list[str]) -> None:
        """One reads a piece, another moves it on, and then the first moves it from where it is no longer."""
        piece, (slow, fast, _) = self._piece(which), [self.processes[n] for n in order]
        late = self._prepare(slow, piece, self._likely(piece, moves[0]), None)
        for move in moves[1:]:
            if (work := self._prepare(fast, piece, self._likely(piece, move), None)) is not None:
                self._commit(work)
        if late is not None:
            self._commit(late)

    @rule(who=st.integers(0, 2), which=st.integers(0, 2 * PIECES - 1), wished=st.sampled_from(State))
    def take_a_short_cut(self, who: int, which: int, wished: State) -> None:
        """Write a state that no move leads to."""
        store, piece = self.processes[who].store, self._piece(which)
        with self.judging("only declared transitions happen"):
            with store.change() as change:
                found = change.get(piece)
                if (found.state, wished) in MOVES.values() or found.state is wished:
                    return
                try:
                    found.state = wished
                    change.save(found)
                except (IllegalMove, ValueError):
                    return
            raise AssertionError(f"{found.state} was written without a move")

    def _piece(self, which: int) -> Ref[Piece]:
        return Piece.at(project_id=self.projects[which // PIECES], number=which % PIECES)

    def _likely(self, piece: Ref[Piece], move: str) -> str:
        """A move that is legal now."""
        state = self.operator.get(piece).state
        legal = sorted(name for name, (before, _) in MOVES.items() if before is state)
        return move if move in legal else legal[0]

    def _prepare(self, process: Process, ref: Ref[Piece], move: str, lease: Lease | None) -> Work | None:
        before, after = MOVES[move]
        change = process.store.change(by=process.name, under=lease)
        piece = change.get(ref)
        try:
            change.save(getattr(piece, move)())
        except IllegalMove:
            return None
        project = piece.project_id
        deed = change.create(Deed(project_id=project, deed_id=uuid4().hex, number=piece.number))
        hall = the(Hall.deeds).add(1), the(getattr(Hall, before)).add(-1), the(getattr(Hall, after)).add(1)
        change.patch(Hall.at(project_id=project), *hall)
        event = change.emit(f"piece.{move}", piece, deed=deed.deed_id)
        self.events.append(event)
        return Work(process, change, ref, deed, event, lease)

    def _commit(self, work: Work) -> bool:
        """Commit, and look at what has become of it: whether it was done."""
        standing = self.operator.get(work.piece)
        lost = work.lease is not None and not _holds(work.lease, standing)
        was_told: bool | None
        try:
            work.change.__exit__(None, None, None)
            was_told = True
        except Conflict:
            was_told = False
        except Crash:
            was_told = None
        if was_told is None or work.process.fuse.blown:
            work.process.start()
        self._transitions()
        done = self.operator.lookup(work.deed.ref) is not None
        with self.judging("a change and its event are both there or neither"):
            told = self.operator.lookup(SystemMessage.at(event_id=work.event)) is not None
            lines = self.operator.find(SystemAudit.of_project(project_id=work.deed.project_id))
            line = any(repr(work.deed.ref) in str(line.details) for line in lines)
            assert done is told is line, f"deed {done}, message {told}, line {line}"
            assert was_told in (None, done), f"told {was_told}, but it is {done}"
        if lost:
            with self.judging("a fenced-out owner changes nothing"):
                assert was_told is not True
                assert not done
                assert self.operator.get(work.piece) == standing
        return done

    # Leases and claims

    @rule(which=st.integers(0, 2 * PIECES - 1), order=st.permutations(range(3)), asking=st.integers(1, 3))
    def ask_for_a_lease(self, which: int, order: list[int], asking: int) -> None:
        piece = self._piece(which)
        got: list[Lease] = []
        for process in (self.processes[n] for n in order[:asking]):
            lease = take(process.store, piece, owner=process.name, period=PERIOD)
            if lease is not None:
                process.former.append(lease)
                got.append(lease)
        with self.judging("of k racers one wins"):
            assert len(got) <= 1, "two hold one lease"
            assert all(_holds(lease, self.operator.get(piece)) for lease in got)
            assert len({(x.ref.key["number"], x.epoch) for x in self._leases(piece)}) == len(self._leases(piece))

    @rule(which=st.integers(0, 2 * PIECES - 1), order=st.permutations(range(3)), move=st.sampled_from(sorted(MOVES)))
    def stall(self, which: int, order: list[int], move: str) -> None:
        """One has a lease and stalls in the midst of its work; another gets the lease; the first wakes up."""
        piece, (zombie, heir, _) = self._piece(which), [self.processes[n] for n in order]
        lease = take(zombie.store, piece, owner=zombie.name, period=PERIOD)
        if lease is None:
            return
        zombie.former.append(lease)
        prepared = self._prepare(zombie, piece, self._likely(piece, move), lease)
        self.wait(700)
        taken = take(heir.store, piece, owner=heir.name, period=PERIOD)
        if taken is not None:
            heir.former.append(taken)
        if prepared is not None:
            self._commit(prepared)

    def _leases(self, piece: Ref[Piece]) -> list[Lease]:
        return [x for p in self.processes for x in p.former if _same(x.ref, piece)]

    @rule(who=st.integers(0, 2), held=st.integers(0, 20), back=st.booleans())
    def renew_or_release(self, who: int, held: int, back: bool) -> None:
        process = self.processes[who]
        if not process.former:
            return
        lease = process.former[held % len(process.former)]
        before = self.operator.get(lease.ref)
        try:
            if back:
                release(process.store, lease)
            else:
                renew(process.store, lease, period=PERIOD)
        except Conflict:
            pass
        if not _holds(lease, before):
            with self.judging("a fenced-out owner changes nothing"):
                assert self.operator.get(lease.ref) == before

    @rule(who=st.integers(0, 2), key=st.sampled_from("ab"))
    def ask_for_a_claim(self, who: int, key: str) -> None:
        process = self.processes[who]
        now = process.clock.now()
        mark = SystemOnce(
            idempotency_key=f"{self.world}-{key}", created_at=now, ttl=int((now + timedelta(days=2)).timestamp())
        )
        try:
            claim = begin(process.store, mark, owner=process.name, period=PERIOD)
        except InProgress:
            return
        if isinstance(claim, Replay):
            with self.judging("of k racers one wins"):
                assert claim.result == {"effects": 1}
        else:
            process.claims.append((claim, key))

    @rule(who=st.integers(0, 2), which=st.integers(0, 20))
    def end_a_claim(self, who: int, which: int) -> None:
        """End a claim it has or once had."""
        process = self.processes[who]
        if not process.claims:
            return
        claim, key = process.claims[which % len(process.claims)]
        try:
            with process.store.change(once=claim) as change:
                change.create(Deed(project_id=self.projects[0], deed_id=f"once-{uuid4().hex}", number=0))
                change.patch(Hall.at(project_id=self.projects[0]), the(Hall.deeds).add(1))
                change.result = {"effects": 1}
        except Conflict:
            return
        self.effects[key] += 1
        with self.judging("of k racers one wins"):
            assert self.effects[key] == 1, "what must happen once has happened twice"

    # Messages

    @rule(order=st.permutations(range(3)), fate=st.sampled_from(["well", "fails", "dies before", "dies after"]))
    def tell(self, order: list[int], fate: str) -> None:
        """All relays go to work, of which one is on duty, unless the last one died there."""
        self.ear.fate = fate
        for process in (self.processes[n] for n in order):
            try:
                process.relay.run_once()
            except Crash:
                process.start()
        self.ear.fate = "well"

    @rule(which=st.integers(0, 2 * PIECES - 1), order=st.permutations(range(3)), move=st.sampled_from(sorted(MOVES)))
    def tell_in_between(self, which: int, order: list[int], move: str) -> None:
        """What is dated first becomes visible last, when what came later has been told."""
        slow, fast, _ = (self.processes[n] for n in order)
        self.wait(700)  # so that no relay that died is still thought to be on duty
        pieces = self._piece(which), self._piece((which + 1) % (2 * PIECES))
        first, second = (
            self._prepare(p, piece, self._likely(piece, move), None)
            for p, piece in zip((slow, fast), pieces, strict=True)
        )
        if second is not None:
            self._commit(second)
        for process in self.processes:
            process.relay.run_once()
        if first is not None:
            self._commit(first)

    # Time

    @rule(time=st.sampled_from([1, 30, 60, 400, 700]))
    def let_time_pass(self, time: int) -> None:
        self.wait(time)

    def wait(self, time: int) -> None:
        for process in self.processes:
            process.clock.advance(timedelta(seconds=time))

    @rule(who=st.integers(0, 2), project=st.integers(0, 1), slip=st.sampled_from("xyz"), left=st.integers(1, 900))
    def write_a_slip(self, who: int, project: int, slip: str, left: int) -> None:
        process, place = self.processes[who], (self.projects[project], slip)
        ends = process.second() + left
        visible = self.slips.get(place, 0) > process.second()
        made = Slip(world=self.world, project_id=place[0], slip_id=slip, ends=ends, writer=process.name)
        try:
            process.store.create(made)
            created = True
            self.slips[place] = ends
        except Conflict:
            created = False
        with self.judging("what has expired is invisible"):
            assert created is not visible, "a record that has expired stands in nobody's way, and another does"

    @rule(who=st.integers(0, 2))
    def reap(self, who: int) -> None:
        process = self.processes[who]
        Reaper(process.store, [WORKSHOP], owner=process.name).run_once()
        if not process.store.engine.features.native_expiry:
            end = process.second() - SKEW.total_seconds()
            self.slips = {place: ends for place, ends in self.slips.items() if ends > end}

    # What always holds

    @invariant()
    def look_around(self) -> None:
        self.steps += 1
        self._transitions()
        if self.steps % 4 == 0:
            self._counters()
            self._index()
            self._expiry()
        if self.steps % 8 == 0:
            self._pages()
            self._projects()

    def _transitions(self) -> None:
        with self.judging("only declared transitions happen"):
            now = {(p.project_id, p.number): p.state for p in self.pieces()}
            moved = {(self.states[k], s) for k, s in now.items() if k in self.states and self.states[k] is not s}
            self.states = now
            assert moved <= set(MOVES.values()), f"{moved} is not declared"

    def _counters(self) -> None:
        with self.judging("counters equal a recount"):
            for project in self.projects:
                hall = self.operator.lookup(Hall.at(project_id=project))
                if hall is None:
                    continue
                states = Counter(p.state for p in self.operator.find(Piece.of_project(project_id=project)))
                deeds = len(list(self.operator.find(Deed.of_project(project_id=project))))
                counted = {State.WAITING: hall.waiting, State.WORKING: hall.working, State.DONE: hall.done}
                assert counted == {s: states[s] for s in State}
                assert hall.deeds == deeds

    def _index(self) -> None:
        with self.judging("an index is a function of its base"):
            base = self.pieces()
            for state in State:
                found = list(self.reader.find(Piece.by_state(world=self.world, state=state)))
                wanted = [p for p in base if p.state is state]
                assert [p.weight for p in found] == sorted(p.weight for p in wanted)
                assert sorted(found, key=_number) == sorted(wanted, key=_number)

    def _expiry(self) -> None:
        for process in self.processes:
            with self.judging("what has expired is invisible"):
                wanted = {p for p, ends in self.slips.items() if ends > process.second()}
                store = process.store
                refs = [Slip.at(project_id=project, slip_id=slip) for project, slip in sorted(self.slips)]
                got = [s for s in store.get_many(refs) if s is not None] if refs else []
                by_key = [s for name in self.projects for s in store.find(Slip.of_project(project_id=name))]
                by_index = list(store.find(Slip.of_world(world=self.world)))
                for found in (got, by_key, by_index):
                    assert {(s.project_id, s.slip_id) for s in found} == wanted

    def _queries(self) -> list[Query[Any]]:
        return [
            *(Piece.by_state(world=self.world, state=state) for state in State),
            *(Piece.of_project(project_id=project) for project in self.projects),
            Slip.of_world(world=self.world),
        ]

    def _pages(self) -> None:
        with self.judging("a list does not depend on the size of its pages"):
            for query in self._queries():
                whole = list(self.reader.find(query))
                size = self.steps // 8 % 3 + 1
                assert by_pages(self.reader, query, size) == whole
                assert by_pages(self.reader, query.reversed(), size) == whole[::-1]

    def _projects(self) -> None:
        with self.judging("no project reads another"):
            for project in self.projects:
                mine = self.place.scoped(self.reader, project)
                for query in self._queries():
                    whole = [r for r in self.operator.find(query) if r.project_id == project]
                    assert list(mine.find(query)) == whole
                    assert by_pages(mine, query, 2) == whole
                others = [p.ref for p in self.pieces() if p.project_id != project]
                assert mine.get_many(others) == [None] * len(others)
                assert mine.lookup(Hall.at(project_id=next(p for p in self.projects if p != project))) is None

    def teardown(self) -> None:
        for work in self.open:
            self._commit(work)
        self.open.clear()
        self._transitions()
        self._counters()
        self._index()
        self._expiry()
        self._pages()
        self._projects()
        self._deliveries()

    def _deliveries(self) -> None:
        """In the end all that was committed is told, by whichever relay is left."""
        waiting = SystemMessage.by_status(status=MessageStatus.PENDING)
        for _ in range(12):
            self.wait(700)
            self.processes[self.steps % 3].relay.drain()
            if not any(m.project_id in self.projects for m in self.operator.find(waiting)):
                break
        with self.judging("every event is delivered"):
            refs = [SystemMessage.at(event_id=event) for event in self.events]
            there = [m.event_id for m in self.operator.get_many(refs) if m is not None] if refs else []
            assert set(there) <= self.ear.heard, f"{len(set(there) - self.ear.heard)} of {len(there)} were never told"
            assert self.ear.heard & set(self.events) <= set(there), "something was told that never happened"


def _same(one: Ref[Any], other: Ref[Any]) -> bool:
    return dict(one.key) == dict(other.key)


def _holds(lease: Lease, piece: Piece) -> bool:
    return (piece.lease_owner, piece.lease_epoch) == (lease.owner, lease.epoch)


def _number(piece: Piece) -> tuple[str, int]:
    return piece.project_id, piece.number


def live(place: Place, *, days: int, steps: int = 40, **options: Any) -> Verdicts:
    """Let some random days pass; what was found."""

    class Here(Workdays):
        pass

    Here.place = place
    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=days,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            **options,
        ),
    )
    return place.verdicts


SAME_EVERY_TIME: dict[str, Any] = {"derandomize": True, "phases": [Phase.generate]}
