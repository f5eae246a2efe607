"""Broken twins: real lines, each broken on purpose, and the scene in which the simulation is to find it."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from penstock.domains.speech import actions
from penstock.events.handover import Handover
from penstock.events.relay import Relay
from penstock.evolution.migration import Migration
from penstock.kernel import idempotency, lease, quota_movements, uniqueness
from penstock.kernel.change import Change
from penstock.kernel.idempotency import ClaimEnd
from penstock.kernel.layouts.knower_watch import KnowerWatch
from penstock.kernel.lease import Duty, Fence, Lease
from penstock.operations import additions, index_keys
from penstock.operations.writes import Check, Write
from penstock.testing.simulation import Happening, Scene, SimulatedEngine, worker
from penstock.testing.simulation.change_log import ChangeLog
from penstock.testing.simulation.choosers import LIKELY
from penstock.testing.simulation.invariants import invariant
from penstock.testing.simulation.world import World
from penstock.work.registry import TaskOf
from penstock.work.rescue import Rescuer
from penstock.work.runner import Runner
from penstock.work.task import Task, TaskStatus
from tests.simulation import cinema, shop, speech
from tests.simulation.foundry import foundry
from tests.work.plant import TASKS, Order


@dataclass(frozen=True)
class Twin:
    """One line that is broken, and where that is to be noticed."""

    name: str
    function: Any
    line: str
    instead: str
    scene: Callable[[], Scene]
    likely: Mapping[Happening, float] = field(default_factory=lambda: LIKELY)

    @contextmanager
    def broken(self) -> Iterator[None]:
        """Have the line broken, for all who call the function."""
        if self.function is None:  # it is the engine that is broken
            yield
            return
        function = inspect.unwrap(getattr(self.function, "fget", None) or self.function)
        source = textwrap.dedent(inspect.getsource(function))
        assert source.count(self.line) == 1, f"{self.name}: {self.line!r} stands {source.count(self.line)} times"
        made: dict[str, Any] = {}
        exec(compile(source.replace(self.line, self.instead), f"<{self.name}>", "exec"), function.__globals__, made)
        kept, function.__code__ = function.__code__, made[function.__name__].__code__
        try:
            yield
        finally:
            function.__code__ = kept


def namesakes() -> Scene:
    """Two workers of one name, as two threads of a process are."""
    scene = foundry()
    return replace(scene, actors=[worker(TASKS, name="worker"), worker(TASKS, name="worker"), scene.actors[-1]])


@invariant
def no_more_than_two_at_once(world: World) -> None:
    """A project has no more tasks running than it may."""
    running = [t for t in world.records(Task) if t.status is TaskStatus.RUNNING and t.name == "plant.roll"]
    held = [t for t in running if t.due_at > world.time.now]
    assert len(held) <= 2 or world.clocks_set, f"{len(held)} run at once"


def rollers() -> Scene:
    """Four workers, and four tasks of which two may run at once."""

    def begin(store: Any) -> None:
        declared: TaskOf[Any] = next(t for t in TASKS if t.name == "plant.roll")
        with store.change(by="ann") as change:
            for _ in range(4):
                declared.enqueue(change, Order(name="x"))

    scene = foundry()
    workers = [worker(TASKS, name=f"worker {n}") for n in range(1, 5)]
    always = [*scene.always, no_more_than_two_at_once]
    return replace(scene, actors=[*workers, scene.actors[-1]], begin=begin, always=always, at_rest=scene.at_rest[:1])


class EarlyChecks(SimulatedEngine):
    """A database in which a check locks nothing: what it has seen may be over when its transaction commits.

    PostgreSQL would be so without ``for share``.
    """

    def __init__(self) -> None:
        super().__init__()
        self._early: int | None = None

    def open_early(self, writes: Sequence[Write], *, now: datetime) -> int:
        for position, write in enumerate(writes):
            if isinstance(write, Check):
                self.judge(write, position, now)
        self._early = super().open_early(writes, now=now)
        return self._early

    def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
        if self.begun is not None and self.begun == self._early:
            writes = [write for write in writes if not isinstance(write, Check)]
        super().commit(writes, now=now, token=token)


def unlocked() -> Scene:
    return replace(shop.watch(), engine=EarlyChecks)


OFTEN = {Happening.SWITCH: 0.3, Happening.STALL: 0.03, Happening.REFUSAL: 0.03}
"For what takes a zombie that wakes while another is at its work."

LOST = {**LIKELY, Happening.LOST_ANSWER: 0.1}
"For what takes an answer that is lost at one certain moment."

TWINS = [
    # Those that were shown to lose data, where a schedule reaches them
    Twin(
        "a feed without the snapshot's bound",
        ChangeLog.settled,
        "min(self.open, default=self.last + 1)",
        "self.last + 1",
        shop.followed,
    ),
    Twin("a check that locks nothing", None, "", "", unlocked),
    Twin(
        "a feed's mark that stays",
        Handover._was_written_by,
        "[claim.done(None), expected_once_less(found)]",
        "[claim.done(None)]",
        shop.followed,
    ),
    # Leases
    Twin(
        "a fence that looks at nothing",
        Fence.join,
        "return out if met else",
        "return writes if True else",
        foundry,
        likely=OFTEN,
    ),
    Twin(
        "a fence only where the leased record is written",
        Fence.join,
        "return out if met else [*out, Check(self._lease.ref.shape, self._lease.ref.key, held)]",
        "return out",
        shop.watch,
    ),
    Twin(
        "a lease that is its owner's, whichever it is",
        Lease.holds,
        'All((Compare("lease_owner", "=", self.owner), Compare("lease_epoch", "=", self.epoch)))',
        'Compare("lease_owner", "=", self.owner)',
        namesakes,
        likely=OFTEN,
    ),
    Twin("an epoch that does not grow", lease.taken_by, 'Add("lease_epoch", 1)', 'Add("lease_epoch", 0)', shop.watch),
    Twin(
        "a lease that is always free",
        lease.is_free,
        'Compare("lease_expires_at", "<=", int(now.timestamp()))',
        '~Missing("lease_owner")',
        shop.watch,
    ),
    Twin("a duty that is relieved at once", Duty._relieve, "passed - self._since <", "False and passed <", shop.watch),
    Twin(
        "a duty that is watched while one stands still",
        Duty._relieve,
        "seen, self._store.clock.monotonic()",
        "seen, passed",
        shop.watch,
    ),
    # Work
    Twin("a task that two may take", Runner._begin, "when=unchanged)", "when=None)", foundry),
    Twin("a rescuer that finds nothing", Rescuer._look, "rescued += self._rescue(task)", "pass", foundry),
    Twin("a slot that is not looked at", Runner._begin, "if chosen.slot is not None:", "if False:", rollers),
    # Messages
    Twin(
        "messages about one thing at once",
        Relay._tell_all,
        "round_, waiting = _first_of_each(waiting)",
        "round_, waiting = list(reversed(waiting)), []",
        shop.letters,
    ),
    Twin("a message that stays pending", Relay._write, "change.save(message)", "pass", shop.letters),
    # The feed, and what happens once
    Twin(
        "a claim that is not ended with the work",
        ClaimEnd.join,
        "return [*writes, self._end]",
        "return writes",
        shop.paid,
    ),
    Twin(
        "a claim that two take over",
        idempotency._taken_over,
        'unchanged(found, ("status", "turn"))',
        "None",
        shop.paid,
        likely=OFTEN,
    ),
    Twin("a claim that two begin", idempotency._created, "store.create(record)", "store.put(record)", shop.paid),
    # What must add up
    Twin(
        "a unique value that two may take",
        uniqueness.ClaimMoves.writes,
        "Any_(tuple(conditions))",
        "Any_((Missing(), ~Missing()))",
        shop.ledger,
    ),
    Twin(
        "a quota without its limit",
        quota_movements._count,
        'when = Compare("used", "<=", share.limit - added)',
        "pass",
        shop.ledger,
    ),
    Twin("a sum without its bounds", additions.within_bounds, "u.field in shape.bounded", "False", shop.ledger),
    Twin(
        "an index key of what nobody read",
        index_keys.with_index_keys,
        "when = both(when, _still(name, value))",
        "pass",
        shop.ledger,
    ),
    Twin("a state that two may leave", Change._save, "elif shape.states:", "elif False:", shop.ledger),
    # Files, and declarations that change
    Twin(
        "a file that is removed though its record may stand",
        actions._discard,
        "if studio.store.lookup(audio.ref) is None:",
        "if True:",
        speech.spoken,
        likely=LOST,
    ),
    Twin(
        "a migration that waits for nobody",
        KnowerWatch.wait_for,
        "while behind := self.behind(edition):",
        "while behind := []:",
        cinema.migrated,
    ),
    Twin(
        "a migration that goes on though another has ended it",
        Migration._under_way,
        "if stored.stage is None:",
        "if False:",
        cinema.migrated_by_two,
    ),
]
