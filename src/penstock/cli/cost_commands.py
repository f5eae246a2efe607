"""Commands for what a system takes and costs."""

from __future__ import annotations

import json
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli import names
from penstock.cli.installed import installed
from penstock.cli.metered_rows import METERED, Dimension, read_month, spendings
from penstock.cli.terminal import AsJson, By, StoreUrl, complain, opened, settings, show, tell
from penstock.cost.monthly_cost import MonthlyCost
from penstock.cost.price_list import PriceList, read_price_list
from penstock.cost.workload import Workload, read_workload
from penstock.cost.workload_estimate import WorkloadEstimate, estimate
from penstock.errors import InvalidValue
from penstock.runtime.budget_standings import budgets_of
from penstock.runtime.usage_ledger import chosen_prices
from penstock.work.budget import WARN_AT, remove_budget, set_budget
from penstock.work.spending import month_of

cost = typer.Typer(no_args_is_help=True, help="What a system takes and costs: before it runs, and while it does.")

PricesFile = Annotated[
    Path | None, typer.Option("--prices", help="A file of your own prices, dated; else PENSTOCK_PRICES, else ours.")
]


@cost.command("estimate")
def estimate_workload(
    workload: Annotated[Path, typer.Argument(metavar="WORKLOAD.toml", help="What a month asks.")],
    prices: PricesFile = None,
    as_json: AsJson = False,
) -> None:
    """What a workload takes and costs a month: units by pattern, storage, backups, egress; on demand and planned."""
    shapes = [shape for domain in names.every() for shape in domain.shapes]
    asked, at = read_workload(workload, shapes), _prices(prices)
    told = estimate(asked, shapes, at)
    if as_json:
        print(json.dumps({**asdict(told), "total": told.total, "prices": asdict(at)}, indent=2, default=_plain))
        return
    rows = [
        {
            "what": line.what,
            "requests": f"{line.requests:,}",
            "each": line.why,
            "read units": _number(line.read_units),
            "write units": _number(line.write_units),
        }
        for line in told.lines
    ]
    show(rows, title="A month", as_json=False)
    show(_bill(told), title="US dollars a month, on demand", as_json=False)
    _tell_planned(told, asked)
    _tell_sources(at)


@cost.command("examples")
def examples(prices: PricesFile = None, as_json: AsJson = False) -> None:
    """What documents of the systems print about units and prices, beside what it comes to."""
    at = _prices(prices)
    rows = [
        {
            "document": plugin.domain.name,
            "what": figure.what,
            "printed": figure.printed,
            "corrected": figure.corrected(at),
            "why": figure.why,
            "statement": figure.id,
        }
        for plugin in installed()
        for figure in plugin.printed_costs
    ]
    show(rows, title="As printed, and as it is", as_json=as_json, empty="No document of theirs says what it costs.")
    if not as_json:
        _tell_sources(at)


def _prices(chosen: Path | None) -> PriceList:
    return chosen_prices(settings()) if chosen is None else read_price_list(chosen)


@cost.command("meter")
def meter(
    by: Annotated[Dimension, typer.Option("--by", help="What it is told by.")] = Dimension.PATTERN,
    project: Annotated[str | None, typer.Option("--project", help="Only of this one; - is for none.")] = None,
    month: Annotated[str | None, typer.Option("--month", help="Such as 2026-05; else this one.")] = None,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """What a running system has used, by pattern, project or key: as estimated, and as DynamoDB has measured it."""
    with opened(store) as handle:
        asked = month_of(handle.clock.now()) if month is None else read_month(month)
        found = spendings(handle, asked, project)
    _note_if_not_counted()
    rows = METERED[by](found)
    show(rows, title=f"Used in {asked}, by {by.value}", as_json=as_json, empty=f"Nothing was counted in {asked}.")


budget = typer.Typer(no_args_is_help=True, help="How much a project may spend in a month.")
cost.add_typer(budget, name="budget")


@budget.command("set")
def set_it(
    project: Annotated[str, typer.Argument(help="The project's id.")],
    dollars: Annotated[str, typer.Argument(help="US dollars a month.")],
    warn_at: Annotated[float, typer.Option("--warn-at", help="From this part of it on somebody is told.")] = WARN_AT,
    by: By = "local",
    store: StoreUrl = None,
) -> None:
    """Say how much a project may spend in a month: near the end somebody is told, beyond it no job is begun."""
    try:
        amount = Decimal(dollars)
    except ArithmeticError:
        raise InvalidValue(f"a budget is a number of US dollars, such as 12.50, not {dollars!r}") from None
    with opened(store) as handle:
        made = set_budget(handle, project, amount, by=by, warn_at=warn_at)
    tell(f"{made.project_id} may spend ${made.dollars:.2f} a month; somebody is told at {made.warn_at:.0%} of it.")
    _note_if_not_counted()


@budget.command("remove")
def remove(
    project: Annotated[str, typer.Argument(help="The project's id.")], by: By = "local", store: StoreUrl = None
) -> None:
    """Let a project spend as much as it does."""
    with opened(store) as handle:
        remove_budget(handle, project, by=by)
    tell(f"{project} has no budget.")


@budget.command("list")
def list_budgets(store: StoreUrl = None, as_json: AsJson = False) -> None:
    """Every budget, and what is spent of it this month."""
    with opened(store) as handle:
        found = budgets_of(handle, None)
    rows = [
        {
            "project": budget.project_id,
            "dollars": f"{budget.dollars:.2f}",
            "spent": "0" if spending is None else _money(spending.spent),
            "standing": budget.standing(spending).value,
            "set by": budget.set_by,
        }
        for budget, spending in found
    ]
    show(rows, title="Budgets", as_json=as_json, empty="No project has a budget.")


def _note_if_not_counted() -> None:
    if not settings().meter:
        complain("nothing is counted while PENSTOCK_METER is not true; set it for every process of the system")


def _bill(told: WorkloadEstimate) -> list[dict[str, Any]]:
    rows = [
        {"paid for": "read units", "how much": _number(told.read_units), "$": _money(told.records.reads)},
        {"paid for": "write units", "how much": _number(told.write_units), "$": _money(told.records.writes)},
        {"paid for": "records stored", "how much": f"{told.gb:.3f} GB", "$": _money(told.records.storage)},
        {"paid for": "indexes stored", "how much": f"{told.index_gb:.3f} GB", "$": _money(told.records.indexes)},
        {"paid for": "backups", "how much": "", "$": _money(told.records.backups)},
        *_files(told),
    ]
    return [*(row for row in rows if row["$"] != "0"), {"paid for": "all", "how much": "", "$": _money(told.total)}]


def _files(told: WorkloadEstimate) -> list[dict[str, Any]]:
    files: MonthlyCost = told.files
    return [
        {"paid for": "files stored", "how much": f"{told.file_gb:.3f} GB", "$": _money(files.storage)},
        {"paid for": "files written", "how much": "", "$": _money(files.writes)},
        {"paid for": "files read", "how much": "", "$": _money(files.reads)},
        {"paid for": "egress", "how much": f"{told.egress_gb:.3f} GB", "$": _money(files.egress)},
    ]


def _tell_planned(told: WorkloadEstimate, asked: Workload) -> None:
    planned, on_demand = told.planned, told.records.reads + told.records.writes
    tell(
        f"Planned capacity of {planned.reads:,} read and {planned.writes:,} write units, for a busiest hour of "
        f"{asked.peak:g} times the average, costs ${_money(planned.cost)}; the same units cost ${_money(on_demand)} on "
        f"demand: {'plan them' if told.cheaper_planned else 'stay on demand'}. "
        f"Planning is cheaper while more than {planned.break_even:.1%} of what is planned is used."
    )


def _tell_sources(at: PriceList) -> None:
    for name, section in asdict(at).items():
        tell(f"Prices of {name}: {section['region']}, {section['as_of']}, {section['source']}")


def _plain(value: object) -> float | str:
    return float(value) if isinstance(value, Decimal) else str(value)


def _number(units: float) -> str:
    return f"{units:,.1f}".removesuffix(".0") if units else ""


def _money(amount: Decimal) -> str:
    """To the cent, or to the mill of what is less than a dollar."""
    if amount == 0:
        return "0"
    if amount < Decimal("0.0005"):
        return "less than 0.001"
    return f"{amount:,.2f}" if amount >= 1 else f"{amount:.3f}"
