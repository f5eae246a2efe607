"""The commands about cost, as people have them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from penstock import open_store
from penstock.cost.meter import ProjectUsage, Usage
from penstock.domains import DOMAINS
from penstock.work.budget import spend
from penstock.work.working import WORKING
from tests.cli.conftest import Penstock

WORKLOAD = """
peak = 3
[records."musicvideo.Project"]
bytes = 900
created = 1_000_000
[patterns."musicvideo.Project.by_status"]
requests = 1_000_000
records = 20
[files.films]
bytes = 500_000
created = 10_000
read = 10_000
kept_days = 2
"""


def test_a_workload_is_estimated_with_what_is_paid_for_and_where_prices_are_from(
    penstock: Penstock, folder: Path
) -> None:
    """VM-13, VM-26: units by pattern, storage, backups, egress; on demand against planned."""
    (folder / "workload.toml").write_text(WORKLOAD)
    said = penstock("cost", "estimate", "workload.toml")
    assert said.code == 0, said.err
    for words in (
        "2.5 for 20 of 900 bytes, of an index",
        "indexes stored",
        "egress",
        "28.9%",
        "2024-11-01",
        "https://aws",
    ):
        assert words in said.out
    told = penstock("cost", "estimate", "workload.toml", "--json").json
    assert {line["what"]: line["write_units"] for line in told["lines"]}["musicvideo.Project created"] == 2_000_000
    assert told["records"]["writes"] == 1.25


def test_prices_of_ones_own_are_used_wherever_they_are_said(penstock: Penstock, folder: Path) -> None:
    """F-VM-8: by the option, or by the setting; what does not fit is told, and nothing is estimated."""
    (folder / "workload.toml").write_text(WORKLOAD)
    (folder / "mine.toml").write_text('[dynamodb]\nas_of = 2026-05-01\nsource = "our contract"\nmillion_writes = 1\n')
    by_option = penstock("cost", "estimate", "workload.toml", "--prices", "mine.toml", "--json").json
    (folder / "penstock.toml").write_text('prices = "mine.toml"\n')
    by_setting = penstock("cost", "estimate", "workload.toml", "--json").json
    assert by_option["records"]["writes"] == by_setting["records"]["writes"] == 2.0
    (folder / "mine.toml").write_text("[dynamodb]\nmillion_writes = 1\n")
    refused = penstock("cost", "estimate", "workload.toml")
    assert refused.code == 2
    assert "does not say as_of and source" in refused.err


def test_what_the_documents_print_stands_beside_what_it_is(penstock: Penstock) -> None:
    """VM-13, VM-14, VM-15, VM-26, TA-27, F-VM-1, F-VM-8, F-TA-9: as printed and as corrected, side by side."""
    rows = {row["what"]: (row["printed"], row["corrected"]) for row in penstock("cost", "examples", "--json").json}
    assert rows["100 reads a second of 3 KB"] == ("300 strong / 150 eventual", "100 strong / 50 eventual")
    assert rows["A million writes"] == ("$1.25", "$0.625")
    assert rows["A million reads"] == ("$0.25", "$0.125")
    assert rows["Storage of an index, a GB-month"] == ("$0.20", "$0.25")
    assert rows["Point-in-time recovery, a GB-month"] == ("$0.10", "$0.20")
    assert rows["Storage of the files"] == ("$0.12", "$0.008")
    assert rows["10,000 files got"] == ("$0.04", "$0.004")
    assert rows["5,000 files deleted a day"] == ("$0.025", "$0")
    assert rows["DynamoDB"] == ("$1.25", "$0.006")
    assert rows["5 GB sent to people"] == ("", "$0.45")
    assert rows["All of it"] == ("$1.50", "$0.52")
    assert penstock("--domain", "musicvideo", "cost", "examples").out.startswith("No document")


def _used(folder: Path, project: str, units: float) -> None:
    store = open_store(f"sqlite:///{folder}/.penstock/penstock.db")
    store.ensure(*DOMAINS, WORKING)
    used = ProjectUsage()
    used.add("musicvideo.Scene put", Usage(requests=3, records=3, write_units=units, measured_write_units=units))
    used.keys.add(f"MVProjects PROJECT#{project}", units)
    spend(store, project, used, Decimal(str(units)))
    store.close()


def test_what_a_system_has_used_is_told_by_pattern_project_and_key(penstock: Penstock, folder: Path) -> None:
    """VM-13, VM-15: as estimated and as measured; the keys that took the most, which are those that get throttled."""
    _used(folder, "p1", 2.5)
    _used(folder, "p2", 4.0)
    (row,) = penstock("cost", "meter", "--json").json
    assert (row["pattern"], row["write units"], row["measured writes"]) == ("musicvideo.Scene put", "6.5", "6.5")
    (row,) = penstock("cost", "meter", "--project", "p1", "--json").json
    assert row["write units"] == "2.5"
    rows = penstock("cost", "meter", "--by", "project", "--json").json
    assert [(r["project"], r["$"]) for r in rows] == [("p1", "2.500000"), ("p2", "4.000000")]
    rows = penstock("cost", "meter", "--by", "key", "--json").json
    assert [(r["key"], r["units"]) for r in rows] == [("MVProjects PROJECT#p2", "4"), ("MVProjects PROJECT#p1", "2.5")]
    said = penstock("cost", "meter", "--month", "1999-01")
    assert "Nothing was counted in 1999-01" in said.out
    assert "PENSTOCK_METER" in said.err
    assert penstock("cost", "meter", "--month", "May").code == 2


def test_a_budget_is_set_listed_and_removed(penstock: Penstock, folder: Path) -> None:
    """AC-51: and whoever sets one where nothing is counted is told so."""
    _used(folder, "p1", 2.5)
    said = penstock("cost", "budget", "set", "p1", "2.00")
    assert "p1 may spend $2.00 a month; somebody is told at 80% of it." in said.out
    assert "PENSTOCK_METER" in said.err
    (row,) = penstock("cost", "budget", "list", "--json").json
    assert (row["project"], row["dollars"], row["spent"], row["standing"]) == ("p1", "2.00", "2.50", "spent")
    said = penstock("work", "inbox")
    assert "$2.50 of $2.00 spent by p1" in said.out
    assert penstock("cost", "budget", "set", "p1", "lots").code == 2
    assert penstock("cost", "budget", "remove", "p1").code == 0
    assert penstock("cost", "budget", "list", "--json").json == []
