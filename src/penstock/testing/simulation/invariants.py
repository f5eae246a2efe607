"""Invariants: what must be so after every step of every run, and what must be so when all has come to rest.

Each says in its docstring what it holds on to; the story of a run that breaks it ends with that sentence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.operations.reads import Unreadable
from penstock.schema.shape import KEPT, EntityShape
from penstock.testing.simulation.engine import Touched
from penstock.testing.simulation.row_writing import true_index_keys
from penstock.testing.simulation.stored_row import StoredRow
from penstock.testing.simulation.world import Invariant, World
from penstock.work.task import Outcome, Task, TaskAttempt, TaskStatus

F = TypeVar("F", bound=Callable[..., Any])


def invariant(holds: F) -> F:
    """Mark what must be so after every step: a function of the world that raises when it is not."""
    holds.__invariant__ = "always"  # type: ignore[attr-defined]
    return holds


def at_rest(holds: F) -> F:
    """Mark what must be so when nothing moves any more."""
    holds.__invariant__ = "at rest"  # type: ignore[attr-defined]
    return holds


def sorted_out(invariants: Iterable[Invariant]) -> tuple[list[Invariant], list[Invariant]]:
    """Those for every step, and those for the end."""
    given = list(invariants)
    last = [i for i in given if getattr(i, "__invariant__", "always") == "at rest"]
    return [i for i in given if i not in last], last


def settled(*last: Invariant, looks: int = 5) -> Callable[[World], bool]:
    """For the ``is_done`` of a scene in which something is always due: is all so that must be so at rest?

    One looks so many times, with pauses between, as somebody may still do something for the second time.
    """

    def is_settled(world: World) -> bool:
        try:
            for holds in last:
                holds(world)
        except AssertionError:
            world.notes["settled"] = 0
            return False
        world.notes["settled"] = world.notes.get("settled", 0) + 1
        return bool(world.notes["settled"] >= looks)

    return is_settled


@invariant
def index_keys_are_true(world: World) -> None:
    """A record is found through its indexes by what it holds."""
    for touched in world.touched:
        if touched.new is None:
            continue
        record = touched.new.read(touched.shape)
        if not isinstance(record, Unreadable):
            true = true_index_keys(touched.shape, record.__dict__)
            assert touched.new.index_keys == true, f"{record.ref!r} is at {dict(touched.new.index_keys)}, not {true}"


@invariant
def epochs_only_grow(world: World) -> None:
    """The epoch of a lease never goes back."""
    for touched in world.touched:
        field = touched.shape.fields.get("lease_epoch")
        # What nobody ever holds is no lease, though it may be kept where leases are.
        if field is not None and touched.old is not None and touched.new is not None and _is_held(touched):
            before, after = (row.values.get(field.column) or 0 for row in (touched.old, touched.new))
            assert after >= before, f"{touched.shape.name} had epoch {before}, and has {after}"


def _is_held(touched: Touched) -> bool:
    column = touched.shape.fields["lease_owner"].column
    return any(row is not None and row.values.get(column) for row in (touched.old, touched.new))


@invariant
def what_is_kept_stays(world: World) -> None:
    """An audit line is added, and never changed."""
    for touched in world.touched:
        if touched.shape.rights == KEPT and touched.old is not None and touched.new is not None:
            assert touched.old.values == touched.new.values, f"a {touched.shape.name} was written over"


@invariant
def a_task_ends_once(world: World) -> None:
    """A task that has ended stays so, and its work was accepted once."""
    ended: dict[str, int] = world.notes.setdefault("ended tasks", {})
    for touched in world.touched:
        if touched.shape is TaskAttempt.__shape__ and touched.old is None and touched.new is not None:
            attempt = touched.new.record(touched.shape)
            if attempt.outcome is Outcome.DONE:
                ended[attempt.task_id] = ended.get(attempt.task_id, 0) + 1
                assert ended[attempt.task_id] == 1, f"the task {attempt.task_id[-8:]} was done twice"


@invariant
def a_lease_is_one_holders(world: World) -> None:
    """Whoever takes a lease has an epoch of its own, and nobody loses one before its time, if no clock was set."""
    holders: dict[Any, str | None] = world.notes.setdefault("holders", {})
    for touched in world.touched:
        if "lease_owner" not in touched.shape.fields or touched.new is None:
            continue
        after = _lease(touched.shape, touched.new)
        before = _lease(touched.shape, touched.old) if touched.old is not None else _FREE
        if (after.owner, after.epoch) == (before.owner, before.epoch) or after.epoch is None:
            continue
        if after.owner is not None:
            assert after.epoch > (before.epoch or 0), f"{after.owner} has another's epoch"
            holders[touched.address, after.epoch] = world.acting
        holder = holders.get((touched.address, before.epoch), before.owner)
        mine = before.owner is None or holder == world.acting or _is_cancelled(touched)
        over = mine or before.ends is None or before.ends <= world.time.now or world.clocks_set
        assert over, f"{world.acting} took {touched.shape.name} from {before.owner}, whose lease holds"


def _is_cancelled(touched: Touched) -> bool:
    return touched.shape is Task.__shape__ and touched.new is not None and touched.new.values["status"] == "cancelled"


class _HeldLease(NamedTuple):
    owner: str | None
    epoch: int | None
    ends: datetime | None


_FREE = _HeldLease(None, None, None)


def _lease(shape: EntityShape, row: StoredRow) -> _HeldLease:
    names = [n for n in ("lease_owner", "lease_epoch", "lease_expires_at", "due_at") if n in shape.fields]
    found = row.some(shape, names)
    second = found.get("lease_expires_at")
    # Its end is rounded up; who has watched it for a whole period need not wait for the rest of the second.
    ends = datetime.fromtimestamp(second - 1, UTC) if second is not None else found.get("due_at")
    return _HeldLease(found["lease_owner"], found["lease_epoch"], ends)


@invariant
def a_fenced_worker_ends_nothing(world: World) -> None:
    """A task is ended by whoever took it last."""
    takers: dict[str, int | None] = world.notes.setdefault("takers", {})
    for touched in world.touched:
        if touched.shape is not Task.__shape__ or touched.old is None or touched.new is None:
            continue
        before, after = (row.record(Task.__shape__) for row in (touched.old, touched.new))
        if after.status is TaskStatus.RUNNING and before.status is TaskStatus.WAITING:
            takers[after.task_id] = world.actor
        if after.status is TaskStatus.DONE and before.status is TaskStatus.RUNNING:
            assert takers.get(after.task_id) == world.actor, f"{world.acting} ended {after.name}, which another has"


@at_rest
def nothing_is_left_behind(world: World) -> None:
    """Every task comes to an end."""
    left = [t for t in world.records(Task) if t.status in (TaskStatus.WAITING, TaskStatus.RUNNING)]
    assert not left, f"{left[0].name} is still {left[0].status.value}, and nobody takes it" if left else ""


@at_rest
def every_message_is_told(world: World) -> None:
    """No message waits for ever."""
    left = [m for m in world.records(SystemMessage) if m.status is MessageStatus.PENDING]
    assert not left, f"{left[0].type} about {left[0].aggregate} is still pending" if left else ""


@invariant
def messages_are_told_in_order(world: World) -> None:
    """What a process tells of one thing is told in the order in which it happened."""
    emitted: dict[str, tuple[str | None, int]] = world.notes.setdefault("emitted", {})
    for touched in world.touched:
        if touched.shape is SystemMessage.__shape__ and touched.old is None and touched.new is not None:
            emitted[touched.new.values["event_id"]] = (world.acting, len(emitted))
    told: dict[tuple[str, str | None], dict[str, int]] = defaultdict(dict)
    for message in world.outside.get("told", ()):
        by, place = emitted[message.id]
        told[message.aggregate, by].setdefault(message.id, place)
    for (aggregate, by), places in told.items():
        assert list(places.values()) == sorted(places.values()), f"what {by} told of {aggregate} came out of order"


ALWAYS: tuple[Invariant, ...] = (
    index_keys_are_true,
    epochs_only_grow,
    what_is_kept_stays,
    a_task_ends_once,
    a_lease_is_one_holders,
    a_fenced_worker_ends_nothing,
)
AT_REST: tuple[Invariant, ...] = (nothing_is_left_behind,)
"What every simulation holds on to."
