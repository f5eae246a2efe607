"""Budgets that are spent, or nearly: a group of the inbox."""

from __future__ import annotations

from penstock.kernel.store import Store
from penstock.runtime.inbox import InboxItem, InboxSource, Person
from penstock.schema.role import Role
from penstock.work.budget import ProjectBudget, standing_of
from penstock.work.spending import ProjectSpending, Told, month_of

_LOOKED_AT = 200
"So many budgets are looked at."


def near_end() -> InboxSource:
    """The group of budgets that are spent, or nearly."""

    def ending(person: Person) -> list[InboxItem]:
        found = budgets_of(person.store, person.project)
        return [_item(b, s) for b, s in found if s is not None and b.standing(s) is not Told.NOTHING]

    why = "No new job of a project is begun once its budget of the month is spent."
    return InboxSource("budgets", "Budgets nearly spent", why, Role.ADMIN, direct=ending)


def budgets_of(store: Store, project: str | None) -> list[tuple[ProjectBudget, ProjectSpending | None]]:
    """The budgets that there are, of one project or of all, each with what is spent of it this month."""
    if project is not None:
        budget, spending = standing_of(store, project)
        return [] if budget is None else [(budget, spending)]
    budgets = store.page(ProjectBudget.all(), limit=_LOOKED_AT).records
    month = month_of(store.clock.now())
    refs = [ProjectSpending.at(project_id=b.project_id, month=month) for b in budgets]
    return list(zip(budgets, store.get_many(refs) if refs else [], strict=True))


def _item(budget: ProjectBudget, spending: ProjectSpending) -> InboxItem:
    spent = f"${spending.spent:.2f} of ${budget.dollars:.2f} spent by {budget.project_id}"
    fields = {"project": budget.project_id, "spent": float(spending.spent), "budget": float(budget.dollars)}
    return InboxItem(spent, None, detail=f"For {spending.month}; a larger budget: penstock cost budget", fields=fields)
