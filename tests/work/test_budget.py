"""A budget warns, then no job is begun; what was begun goes on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.cost.meter import ProjectUsage, Usage
from penstock.errors import InvalidValue, OutOfScope
from penstock.kernel.handle import StoreHandle
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.operations.reads import Query
from penstock.work import JobStatus, PipelineJob, Task, TaskStatus, budget
from penstock.work.budget import BudgetSpent, ProjectBudget, check_budget, remove_budget, set_budget, spend
from penstock.work.spending import ProjectSpending, month_of
from penstock.workers.manual import ManualWorkers
from tests.work.plant import SHOWN, Order, Stamp, look

MINUTE = timedelta(minutes=1)
FIVE = Decimal(5)


def _used(store: Store, project: str, dollars: str) -> ProjectSpending:
    used = ProjectUsage()
    used.add("plant.Stamp put", Usage(requests=1, records=1, bytes=100, write_units=2.5))
    used.keys.add("plant STAMP#a", 2.5)
    return spend(store, project, used, Decimal(dollars))


def _this_month(store: Store) -> Query[ProjectSpending]:
    return ProjectSpending.of_month(month=month_of(store.clock.now()))


def _told(store: Store) -> list[tuple[str, str | None, str]]:
    found = store.find(SystemMessage.by_status(status=MessageStatus.PENDING))
    return [(m.type, m.project_id, m.payload["spent"]) for m in found if m.type.startswith("budget.")]


def _begin(store: Store, project: str) -> PipelineJob:
    with store.change(by="ann") as change:
        return SHOWN.start(change, {"name": project}, project=project)


def test_somebody_is_told_once_and_then_no_job_is_begun(store: Store, clock: FrozenClock) -> None:
    """AC-51: refused before anything is written, in words that say what to do; for that project alone."""
    set_budget(store, "p1", FIVE, by="ann")
    _used(store, "p1", "3.99")
    assert _told(store) == []
    _used(store, "p1", "0.01")
    _used(store, "p1", "0.01")
    assert [(kind, project) for kind, project, _ in _told(store)] == [("budget.warned", "p1")]
    _begin(store, "p1")
    _used(store, "p1", "0.99")
    _used(store, "p1", "1")
    assert [kind for kind, _, _ in _told(store)] == ["budget.warned", "budget.spent"]
    clock.advance(MINUTE)
    before = len(list(store.find(Task.by_status(status=TaskStatus.WAITING))))
    with pytest.raises(
        BudgetSpent, match=r"project p1 has spent \$6.00 of \$5.00 for \d{4}-\d\d; no new job"
    ) as refused:
        _begin(store, "p1")
    assert 0 < refused.value.retry_after <= 31 * 86400
    with pytest.raises(BudgetSpent), store.change() as change:
        look.enqueue(change, Order(name="a"), project="p1")
    assert len(list(store.find(Task.by_status(status=TaskStatus.WAITING)))) == before
    _begin(store, "p2")
    with store.change() as change:
        look.enqueue(change, Order(name="a"))


def test_what_was_begun_goes_on_to_its_end(store: Store, workers: ManualWorkers, clock: FrozenClock) -> None:
    """A job whose budget is spent meanwhile: its further steps, its review and its tries are not refused."""
    for step in ("draw", "paint", "frame"):
        store.put(Stamp(name=f"p1-{step}"))
    job = _begin(store, "p1")
    set_budget(store, "p1", Decimal(0), by="ann")
    clock.advance(MINUTE)
    with pytest.raises(BudgetSpent):
        _begin(store, "p1")
    workers.drain()
    while (run := store.get(PipelineJob.at(job_id=job.job_id))).status is JobStatus.PAUSED:
        SHOWN.approve(store, job.job_id, round=run.round, by="ann")
        workers.drain()
    assert store.get(PipelineJob.at(job_id=job.job_id)).status is JobStatus.DONE


def test_a_larger_budget_or_another_month_lets_jobs_begin(store: Store, clock: FrozenClock) -> None:
    clock.set(datetime(2037, 12, 31, 23, 0, tzinfo=UTC))
    set_budget(store, "p1", FIVE, by="ann")
    _used(store, "p1", "5")
    with pytest.raises(BudgetSpent) as refused:
        _begin(store, "p1")
    assert refused.value.retry_after == 3600
    set_budget(store, "p1", Decimal(6), by="ann")
    _begin(store, "p1")
    set_budget(store, "p1", FIVE, by="ann")
    with pytest.raises(BudgetSpent):
        _begin(store, "p1")
    remove_budget(store, "p1", by="ann")
    _begin(store, "p1")
    set_budget(store, "p1", FIVE, by="ann")
    clock.advance(timedelta(hours=1))
    _begin(store, "p1")
    assert store.lookup(ProjectSpending.at(project_id="p1", month="2037-12")) is not None
    assert store.lookup(ProjectSpending.at(project_id="p1", month="2038-01")) is None


def test_what_processes_have_used_adds_up_whoever_is_quicker(open_plant: Callable[[], Store]) -> None:
    """Two handles, as two processes have, add by turns; nothing is lost, and each adds by one write."""
    one, other = open_plant(), open_plant()
    for handle in (one, other, one, other):
        _used(handle, "p1", "0.000000125")
    (found,) = one.find(ProjectSpending.of_month(month=month_of(one.clock.now())))
    assert (found.project_id, found.spent, found.added) == ("p1", Decimal("0.0000005"), 4)
    assert found.usage() == {"plant.Stamp put": Usage(requests=4, records=4, bytes=400, write_units=10.0)}
    assert found.keys == {"plant STAMP#a": 10.0}


def test_what_another_adds_between_a_look_and_its_commit_is_not_lost(
    open_plant: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = open_plant(), open_plant()
    looked = budget.standing_of

    def look_and_be_slow(store: StoreHandle, project: str) -> Any:
        found = looked(store, project)
        if store is one:
            monkeypatch.setattr(budget, "standing_of", looked)
            _used(other, project, "2")
        return found

    for former in ("0", "1"):
        _used(other, "p1", former)
        monkeypatch.setattr(budget, "standing_of", look_and_be_slow)
        _used(one, "p1", "1")
    monkeypatch.setattr(budget, "standing_of", look_and_be_slow)
    _used(one, "p2", "1")
    found = {each.project_id: (each.spent, each.added) for each in one.find(_this_month(one))}
    assert found == {"p1": (Decimal(7), 6), "p2": (Decimal(3), 2)}


def test_a_process_remembers_the_budgets_of_so_many_projects(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_REMEMBERED", 3)
    for number in range(10):
        check_budget(store, f"p{number}")
    assert 0 < len(store.context.known(budget._BUDGETS)) <= 3


def test_a_project_sees_its_own_budget_and_changes_none(store: Store) -> None:
    """AC-45: whoever is bound to a project is refused by its budget, and cannot raise it."""
    set_budget(store, "p1", Decimal(0), by="ann")
    mine = store.scoped("p1", enforce=False)
    with pytest.raises(BudgetSpent):
        _begin(mine, "p1")
    with pytest.raises(OutOfScope):
        set_budget(mine, "p1", FIVE, by="eve")
    assert store.scoped("p2", enforce=False).lookup(ProjectBudget.at(project_id="p1")) is None


@pytest.mark.parametrize(("dollars", "warn_at"), [("-1", 0.8), ("NaN", 0.8), ("Infinity", 0.8), ("1", 0), ("1", 1.1)])
def test_what_is_no_budget_is_refused(store: Store, dollars: str, warn_at: float) -> None:
    with pytest.raises(InvalidValue, match="budget"):
        set_budget(store, "p1", Decimal(dollars), by="ann", warn_at=warn_at)
    with pytest.raises(InvalidValue, match="project"):
        set_budget(store, "-", FIVE, by="ann")
