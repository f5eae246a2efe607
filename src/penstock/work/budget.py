"""Budgets: how much a project may spend in a month. Near the end of it somebody is told; beyond it no job is begun.

What runs goes on, and so does what was accepted: only new jobs are refused, in the change that would begin them. A
budget is known to every process within a minute, and so is what was spent meanwhile.
"""

from __future__ import annotations

import logging
import math
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from penstock.cost.meter import NOBODY, ProjectUsage
from penstock.declare.entity import Entity
from penstock.declare.key import IndexKey, key
from penstock.declare.pattern import pattern
from penstock.declare.units import UtcSeconds
from penstock.errors import InvalidValue, PenstockError
from penstock.kernel.change import Change
from penstock.kernel.handle import StoreHandle
from penstock.kernel.scope import project_text
from penstock.kernel.store import Store
from penstock.operations.conditions import Compare, Missing
from penstock.schema.role import Role
from penstock.schema.shape import Rights
from penstock.work.spending import ProjectSpending, Told, added_to, month_of
from penstock.work.task import BY_STATUS, WORK

log = logging.getLogger("penstock.budget")

WARN_AT = 0.8
_KNOWN, _NONE = 10.0, 60.0
"Seconds for which a process believes what it has read of a budget, or that there is none."
_REMEMBERED = 10_000
"So many projects a process remembers."


class BudgetSpent(PenstockError):
    """The project has spent its budget of the month, so no new job is begun; nothing was written."""

    slug, http_status = "budget-spent", 402
    hint = "Ask an administrator for a larger budget, or wait for the next month. What runs goes on."

    def __init__(self, budget: ProjectBudget, spending: ProjectSpending | None, now: datetime) -> None:
        self.retry_after = math.ceil((_next_month(now) - now).total_seconds())
        spent = Decimal(0) if spending is None else spending.spent
        super().__init__(
            f"project {budget.project_id} has spent ${spent:.2f} of ${budget.dollars:.2f} for {month_of(now)}; "
            f"no new job is begun before the next month, or with a larger budget"
        )


class ProjectBudget(Entity, table=WORK, relation="project_budgets"):
    """How much a project may spend in a month."""

    __moved_by_work__ = True
    __seen_by__ = Role.ADMIN
    __rights__ = Rights(add=False, change=False, remove=False)

    project_id: str
    dollars: Annotated[Decimal, Field(ge=0, lt=10**12)]
    warn_at: Annotated[float, Field(gt=0, le=1)] = WARN_AT
    "From this part of it on somebody is told."
    set_by: str
    set_at: UtcSeconds

    @key("BUDGET#{project_id}", "BUDGET")
    def at(self, *, project_id: str) -> None: ...

    by_project = IndexKey(BY_STATUS, "BUDGETS", "{project_id}")

    @pattern(by_project)
    def all(self) -> None:
        """Every budget."""

    def standing(self, spending: ProjectSpending | None) -> Told:
        """What there is to tell of a month's spending."""
        spent = Decimal(0) if spending is None else spending.spent
        if spent >= self.dollars:
            return Told.SPENT
        return Told.WARNED if spent >= self.dollars * Decimal(str(self.warn_at)) else Told.NOTHING


def set_budget(store: Store, project: str, dollars: Decimal, *, by: str, warn_at: float = WARN_AT) -> ProjectBudget:
    """Say how much a project may spend in a month, from this month on."""
    if not dollars.is_finite() or not 0 <= dollars < 10**12:
        raise InvalidValue(f"a budget is a number of US dollars a month, from 0 on, not {dollars}")
    if not 0 < warn_at <= 1:
        raise InvalidValue(f"one is warned at a part of the budget, such as 0.8, not at {warn_at}")
    budget = ProjectBudget(
        project_id=project_text(project), dollars=dollars, warn_at=warn_at, set_by=by, set_at=store.clock.now()
    )
    with store.change(by=by, project=budget.project_id) as change:
        change.put(budget)
    store.context.known(_BUDGETS).pop(budget.project_id, None)
    return budget


def remove_budget(store: Store, project: str, *, by: str) -> None:
    """Let a project spend as much as it does."""
    with store.change(by=by, project=project) as change:
        change.delete(ProjectBudget.at(project_id=project))
    store.context.known(_BUDGETS).pop(project, None)


_BUDGETS = "budgets"


def check_budget(store: StoreHandle, project: str) -> None:
    """BudgetSpent if no job of a project may be begun. It is asked of the store every ten seconds at most."""
    if project == NOBODY:
        return
    known, passed = store.context.known(_BUDGETS), store.clock.monotonic()
    until, refusal = known.get(project, (-math.inf, None))
    if passed >= until:
        if len(known) >= _REMEMBERED:
            known.clear()
        refusal, lasts = _asked(store, project)
        known[project] = passed + lasts, refusal
    if refusal is not None:
        budget, spending = refusal
        raise BudgetSpent(budget, spending, store.clock.now())


def _asked(store: StoreHandle, project: str) -> tuple[tuple[ProjectBudget, ProjectSpending | None] | None, float]:
    """What there is to say against a job of a project, and for how many seconds that is believed."""
    budget, spending = standing_of(store, project)
    if budget is None:
        return None, _NONE
    return ((budget, spending) if budget.standing(spending) is Told.SPENT else None), _KNOWN


def standing_of(store: StoreHandle, project: str) -> tuple[ProjectBudget | None, ProjectSpending | None]:
    """A project's budget, and what it has spent this month."""
    month = month_of(store.clock.now())
    refs = (ProjectBudget.at(project_id=project), ProjectSpending.at(project_id=project, month=month))
    budget, spending = store.get_many(refs)
    assert budget is None or isinstance(budget, ProjectBudget)
    assert spending is None or isinstance(spending, ProjectSpending)
    return budget, spending


def spend(store: Store, project: str, used: ProjectUsage, cost: Decimal) -> ProjectSpending:
    """Add what was used for a project to its month; tell, once, that its budget nears its end or is spent."""

    def attempt() -> ProjectSpending:
        budget, former = standing_of(store, project)
        spending = added_to(former, project, used, cost, store.clock.now())
        with store.change() as change:
            if budget is not None:
                _tell(change, budget, spending)
            change.put(spending, when=Missing() if former is None else Compare("added", "=", former.added))
        return spending

    return store.retried(attempt)


def _tell(change: Change, budget: ProjectBudget, spending: ProjectSpending) -> None:
    stands = budget.standing(spending)
    if list(Told).index(stands) <= list(Told).index(spending.told):
        return
    spending.told = stands
    log.warning(
        "project %s: $%.2f of its budget of $%.2f for %s is spent%s",
        budget.project_id,
        spending.spent,
        budget.dollars,
        spending.month,
        "; no new job is begun" if stands is Told.SPENT else "",
    )
    change.emit(f"budget.{stands.value}", spending, spent=str(spending.spent), budget=str(budget.dollars))


def _next_month(now: datetime) -> datetime:
    first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first + timedelta(days=32)).replace(day=1)
