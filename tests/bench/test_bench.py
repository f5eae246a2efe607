"""The bench can be trusted: every topic runs, what fails fails alone, and nothing that was measured is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from bench.__main__ import INTERRUPTED, main, outcomes
from bench.contender import Limit
from bench.measure import TRIAL, Contest, Effort, contest
from bench.report import Group
from bench.topic import TOPICS, Contests, Topic

ROOT = Path(__file__).parents[2]


@dataclass
class Toy:
    """A topic of sums; some of its groups fail in one way or another."""

    name: str
    broken: Mapping[str, str] = field(default_factory=dict)
    "Groups, and where each breaks: opening or measuring."
    BASELINE = "sum"
    OWN = ("sum",)

    @property
    def GROUPS(self) -> Mapping[str, str]:
        return dict.fromkeys((f"{self.name}.a", f"{self.name}.b", f"{self.name}.c"), "client CPU")

    @property
    def LIMITS(self) -> Sequence[Limit]:
        return [Limit(f"{group}: below a minute", group, "sum", None, 60e6) for group in self.GROUPS]

    def contests(self, groups: Sequence[str], effort: Effort) -> Contests:
        for group in groups:
            breaks = self.broken.get(group.partition(".")[2])
            if breaks == "opening":
                raise OSError("the server does not start\nand more lines")
            if breaks == "measuring":
                yield group, Contest({"sum": self._fail}, 3)
            elif breaks == "interrupted":
                yield group, Contest({"sum": self._interrupt}, 3)
            elif breaks != "left out":
                yield group, contest({"sum": lambda times: sum(range(1000 * times))}, effort)

    def _fail(self) -> float:
        raise ZeroDivisionError("nothing to divide by")

    def _interrupt(self) -> float:
        raise KeyboardInterrupt


def run(tmp_path: Path, *arguments: str, **topics: Topic | Exception) -> tuple[int, dict[str, Any]]:
    def loader(topic: Topic | Exception) -> Topic:
        if isinstance(topic, Exception):
            raise topic
        return topic

    report = tmp_path / "bench.json"
    loaders = {name: lambda topic=topic: loader(topic) for name, topic in topics.items()}
    status = main(["--quick", "--report", str(report), *arguments], loaders=loaders)
    return status, json.loads(report.read_text())


@pytest.mark.parametrize("name", TOPICS)
def test_every_topic_measures_penstock(name: str) -> None:
    """In the first of its groups; a long run measures all of them, and everybody."""
    topic = TOPICS[name]()
    first = next(iter(topic.GROUPS))
    ours = {topic.BASELINE, *topic.OWN}
    found = {}
    for came in outcomes(topic, (first,), replace(TRIAL, only=frozenset(ours)), ()):
        assert isinstance(came, Group), came.reason
        found[came.name] = came.comparison.results(baseline=topic.BASELINE)
    assert found.keys() == {first}
    for results in found.values():
        assert ours <= {result.name for result in results}
        assert all(result.micros > 0 and result.ratio > 0 for result in results)


@pytest.mark.long
@pytest.mark.parametrize("name", TOPICS)
def test_every_topic_measures_each_of_its_contenders(name: str, tmp_path: Path) -> None:
    report = tmp_path / "bench.json"
    topic = TOPICS[name]()
    status = main(["--trial", "--report", str(report)], loaders={name: lambda: topic})
    told = json.loads(report.read_text())
    assert told["failed"] == {}
    assert (status, told["complete"]) == (0, True)
    assert told["groups"].keys() == topic.GROUPS.keys()
    for contenders in told["groups"].values():
        assert {topic.BASELINE, *topic.OWN} <= contenders.keys()
        for numbers in contenders.values():
            assert numbers["micros"] > 0
            assert numbers["ratio"] > 0


def test_every_limit_is_of_a_group_that_there_is() -> None:
    for loader in TOPICS.values():
        topic = loader()
        assert {limit.group for limit in topic.LIMITS} <= topic.GROUPS.keys()


@pytest.mark.parametrize("breaks", ["opening", "measuring", "left out"])
def test_a_group_that_fails_fails_alone(breaks: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, told = run(tmp_path, first=Toy("first", {"b": breaks}), second=Toy("second"))
    assert status == 1
    assert told["groups"].keys() == {"first.a", "first.c", "second.a", "second.b", "second.c"}
    assert told["failed"].keys() == {"first.b"}
    assert told["complete"]
    shown = capsys.readouterr().out
    assert f"first.b: {told['failed']['first.b']}" in shown
    assert "Traceback" not in shown
    (limit,) = [limit for limit in told["limits"] if limit["claim"].startswith("first.b")]
    assert (limit["measured"], limit["met"]) == (None, False)


def test_a_reason_is_one_line(tmp_path: Path) -> None:
    _, told = run(tmp_path, first=Toy("first", {"b": "opening", "c": "measuring"}))
    assert told["failed"] == {
        "first.b": "OSError: the server does not start and more lines",
        "first.c": "ZeroDivisionError: nothing to divide by",
    }


def test_a_long_reason_is_cut_short(tmp_path: Path) -> None:
    _, told = run(tmp_path, first=RuntimeError("x" * 10_000))
    assert len(told["failed"]["first"]) < 500


def test_a_server_that_cannot_start_fails_its_groups_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.servers.postgres.package_dir", lambda name: None)  # as if it were not installed
    report = tmp_path / "bench.json"
    loaders = {name: TOPICS[name] for name in ("postgresql", "sqlite")}
    assert main(["--trial", "--report", str(report)], loaders=loaders) == 1
    told = json.loads(report.read_text())
    assert told["failed"].keys() == {"postgresql.get", "postgresql.put", "postgresql.query"}
    assert all("PostgreSQL is missing" in reason for reason in told["failed"].values())
    assert told["groups"].keys() == {"sqlite.get", "sqlite.put", "sqlite.query"}


def test_a_traceback_is_shown_to_whoever_asks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, "--traceback", first=Toy("first", {"a": "measuring"}))
    assert "Traceback" in capsys.readouterr().out


def test_a_topic_that_cannot_be_loaded_fails_alone(tmp_path: Path) -> None:
    status, told = run(tmp_path, first=ImportError("no module 'x'"), second=Toy("second"))
    assert status == 1
    assert told["failed"] == {"first": "ImportError: no module 'x'"}
    assert len(told["groups"]) == 3


def test_a_topic_that_cannot_be_loaded_is_no_matter_to_whoever_asks_for_another(tmp_path: Path) -> None:
    status, told = run(tmp_path, "second", first=ImportError("no module 'x'"), second=Toy("second"))
    assert (status, told["failed"]) == (0, {})
    status, told = run(tmp_path, "first", first=ImportError("no module 'x'"), second=Toy("second"))
    assert (status, list(told["failed"])) == (1, ["first"])


def test_a_limit_that_is_not_met_fails_the_run(tmp_path: Path) -> None:
    class Proud(Toy):
        LIMITS = (Limit("too good", "first.a", "sum", None, 0.0),)

    status, told = run(tmp_path, first=Proud("first"))
    assert status == 1
    assert [limit["met"] for limit in told["limits"]] == [False]


def test_what_is_no_time_is_told_in_its_own_unit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Weighed(Toy):
        GROUPS = {"first.a": "bytes, in the place of µs"}
        LIMITS = (Limit("light", "first.a", "sum", None, 60.0, unit="B"),)

        def contests(self, groups: Sequence[str], effort: Effort) -> Contests:
            yield "first.a", Contest({"sum": lambda: 50.0}, 3)

    status, told = run(tmp_path, first=Weighed("first"))
    assert status == 0
    assert told["limits"][0]["unit"] == "B"
    shown = capsys.readouterr().out
    assert "light: 50 B, limit 60 B" in shown
    assert "a µs" not in shown


def test_a_limit_that_is_broken_for_a_moment_is_measured_again(tmp_path: Path) -> None:
    @dataclass
    class Disturbed(Toy):
        LIMITS = (Limit("quick", "first.a", "sum", None, 60.0),)

        def contests(self, groups: Sequence[str], effort: Effort) -> Contests:
            times = iter([500.0] * 3 + [50.0] * 100)
            yield "first.a", Contest({"sum": lambda: next(times)}, 3)

    status, told = run(tmp_path, "first.a", first=Disturbed("first"))
    assert status == 0
    (limit,) = told["limits"]
    assert limit["measured"] == 50.0, "the median of nine rounds, of which three were disturbed"


def test_an_interrupted_run_leaves_what_it_has_measured(tmp_path: Path) -> None:
    status, told = run(tmp_path, first=Toy("first", {"c": "interrupted"}), second=Toy("second"))
    assert status == INTERRUPTED
    assert told["groups"].keys() == {"first.a", "first.b"}
    assert not told["complete"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_whoever_ends_the_process_finds_the_groups_before(how: signal.Signals, tmp_path: Path) -> None:
    report = tmp_path / "bench.json"
    # Behind the first groups are some that take far longer, whatever else the machine does.
    command = [sys.executable, "-m", "bench", "sqlite", "--quick", "--report", str(report)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    deadline = time.monotonic() + 120
    while not (report.exists() and json.loads(report.read_text())["groups"]):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(how)
    assert process.wait(60) != 0
    told = json.loads(report.read_text())
    assert told["groups"]
    assert not told["complete"]
