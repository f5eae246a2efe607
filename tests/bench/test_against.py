"""Two trees are compared in turns: what is slower is found, what is the same is not, and what fails is named."""

from __future__ import annotations

import json
import shutil
from io import StringIO
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest
from rich.console import Console

from bench.__main__ import main
from bench.against import EFFORTS, LIMIT, Against, Compared, Pair

ROOT = Path(__file__).parents[2]
TOPIC = """
from bench.measure import contest

class Toy:
    GROUPS = {groups!r}
    BASELINE, OWN, LIMITS = "peer", ("ours",), ()

    def contests(self, groups, effort):
        print("not for whoever compares")
        for group in groups:
            if group == {broken!r}:
                raise OSError("the server does not start")
            works = {{"ours": lambda times: [sum(range({cost})) for _ in range(times)], "peer": None}}
            yield group, contest({{name: works[name] for name in works if effort.wants(name)}}, effort)

TOPICS = {{"toy": Toy}}
"""


def tree(folder: Path, *, groups: str = "abc", cost: int = 2000, broken: str = "") -> Path:
    """A small checkout with a bench of sums."""
    (folder / "bench").mkdir(parents=True)
    (folder / "src" / "penstock").mkdir(parents=True)
    (folder / "src" / "penstock" / "__init__.py").touch()
    for module in ("__init__", "measure", "family_cpu"):
        shutil.copy(ROOT / "bench" / f"{module}.py", folder / "bench")
    named = dict.fromkeys((f"toy.{group}" for group in groups), "client CPU")
    (folder / "bench" / "topic.py").write_text(TOPIC.format(groups=named, cost=cost, broken=broken))
    return folder


def compare(now: Path, then: Path, *names: str, limit: float = LIMIT) -> tuple[int, dict[str, Any], str]:
    report = now / "against.json"
    shown = StringIO()
    console = Console(file=shown, width=110)
    status = Against(then, report, limit, EFFORTS["trial"], console, now).run(names)
    return status, json.loads(report.read_text()), shown.getvalue()


def test_a_tree_that_costs_the_same_passes(tmp_path: Path) -> None:
    status, told, _ = compare(tree(tmp_path / "now"), tree(tmp_path / "then"), limit=1.5)
    assert (status, told["failed"], told["complete"]) == (0, {}, True)
    assert told["groups"].keys() == {"toy.a", "toy.b", "toy.c"}
    assert told["groups"]["toy.a"].keys() == {"ours"}
    assert 0.5 < told["groups"]["toy.a"]["ours"]["ratio"] < 1.5


def test_a_tree_that_costs_twice_as_much_does_not(tmp_path: Path) -> None:
    status, told, shown = compare(tree(tmp_path / "now", cost=4000), tree(tmp_path / "then"), "toy.a", limit=1.3)
    assert status == 1
    assert told["groups"]["toy.a"]["ours"]["ratio"] > 1.3
    assert len(told["groups"]["toy.a"]["ours"]["ratios"]) >= 3, "it was measured again before it was judged"
    assert "SLOWER  toy.a" in shown


@pytest.mark.parametrize("where", ["now", "then"])
def test_a_group_that_fails_in_one_tree_fails_alone(where: str, tmp_path: Path) -> None:
    trees = {name: tree(tmp_path / name, broken="toy.b" if name == where else "") for name in ("now", "then")}
    status, told, shown = compare(trees["now"], trees["then"], limit=1.5)
    assert status == 1
    assert told["failed"] == {"toy.b": f"{where}: OSError: the server does not start"}
    assert told["groups"].keys() == {"toy.a", "toy.c"}
    assert "Traceback" not in shown


def test_a_group_that_there_is_no_more_is_named_and_a_new_one_is_left_out(tmp_path: Path) -> None:
    status, told, _ = compare(tree(tmp_path / "now", groups="ax"), tree(tmp_path / "then", groups="ab"), limit=1.5)
    assert status == 1
    assert told["failed"] == {"toy.b": "now: there is no such group"}
    assert told["groups"].keys() == {"toy.a"}


def test_what_is_no_checkout_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--against", str(tmp_path)])
    assert ended.value.code == 2
    assert "is no checkout of this repository" in capsys.readouterr().err


@pytest.mark.long
def test_this_tree_can_be_compared_with_itself(tmp_path: Path) -> None:
    report = tmp_path / "against.json"
    arguments = ["--against", str(ROOT), "sqlite.get", "--trial", "--limit", "3", "--report", str(report)]
    assert main(arguments) == 0
    told = json.loads(report.read_text())
    assert told["failed"] == {}
    assert told["groups"]["sqlite.get"]["penstock"]["time"] == "CPU"


def pairs(ratios: list[float]) -> Compared:
    return Compared("CPU", [Pair([ratio] * 8, [1.0] * 8) for ratio in ratios])


def test_what_is_near_the_limit_is_measured_again() -> None:
    assert pairs([1.01]).is_clear(LIMIT)
    assert not pairs([1.03]).is_clear(LIMIT)
    assert not pairs([1.2]).is_clear(LIMIT), "one pair of processes proves nothing"
    assert pairs([1.2, 1.21, 1.19]).is_clear(LIMIT)
    assert pairs([1.0, 1.01, 0.99]).is_clear(LIMIT)
    assert not pairs([1.0, 1.04, 1.12]).is_clear(LIMIT)
    assert pairs([1.0, 1.04, 1.12] * 4).is_clear(LIMIT), "some time it must end"


def test_one_disturbed_process_changes_nothing() -> None:
    assert pairs([1.0, 1.4, 1.01]).ratio == 1.01


def test_waiting_is_compared_by_the_rounds_that_waited_least() -> None:
    undisturbed = NormalDist(100, 1).samples(60, seed=1)
    disturbed = [*NormalDist(100, 1).samples(30, seed=2), *NormalDist(900, 300).samples(30, seed=3)]
    assert Pair(disturbed, undisturbed).ratio("wall") == pytest.approx(1.0, abs=0.03)
