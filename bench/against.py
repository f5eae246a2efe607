"""Two trees of this repository, measured in turns: what Penstock costs now, by what it cost then.

Each tree is measured by its own bench in a process of its own, and what is compared is the time of a round here and of
one there, right after each other. Other programs of the machine disturb both alike, and mostly by the wall's clock, so
the time is the CPU's wherever work is measured. Where waiting is, others can only make it longer: there the quarter of
the rounds that waited least is compared.

A whole process, too, may be some hundredths quicker than another with the same code, as its memory happens to lie. What
comes near the limit is therefore measured again in new processes, until their median is clearly on one side of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from statistics import median, quantiles, stdev
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.measure import Effort
from bench.report import replace_json

HERE = Path(__file__).parent.parent
NOW, THEN = "now", "then"
LIMIT = 1.05
_NEAR = 0.03
"So close below the limit the ratio of the first two processes does not count,"
_ERRORS = 2.0
"nor does the median of several within so many standard errors of it,"
_PAIRS = 11
"until there were so many."
_FEWEST = 8
"Rounds of a group in one process, also where each takes long."
EFFORTS = {"full": Effort(80, 0.02), "quick": Effort(30, 0.01, 0.1), "trial": Effort(_FEWEST, 0.001, 0.01)}
"Many and short rounds: what disturbs the one tree disturbs the other, the sooner it follows."
_FAREWELL = 60.0


class TreeFailed(RuntimeError):
    """One of the two trees could not be measured."""


@dataclass
class Pair:
    """A contender's times in both trees, in one pair of processes."""

    now: list[float] = field(default_factory=list)
    then: list[float] = field(default_factory=list)

    def ratio(self, time: str) -> float:
        """What it costs now, by what it cost then."""
        if time == "wall":
            return quantiles(self.now, n=4)[0] / quantiles(self.then, n=4)[0]
        return median(self._ratios)

    @property
    def spread(self) -> float:
        """Distance between the quartiles of the rounds' ratios."""
        low, _, high = quantiles(self._ratios, n=4)
        return high - low

    @property
    def _ratios(self) -> list[float]:
        return [now / then for now, then in zip(self.now, self.then, strict=True)]


@dataclass
class Compared:
    """A contender of a group in both trees, in as many pairs of processes as it took."""

    time: str
    pairs: list[Pair] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """The median over the pairs of processes."""
        return median(pair.ratio(self.time) for pair in self.pairs)

    @property
    def spread(self) -> float:
        """Distance between the quartiles: of the rounds, or of the processes, where there were several."""
        if len(self.pairs) == 1:
            return self.pairs[0].spread
        low, _, high = quantiles((pair.ratio(self.time) for pair in self.pairs), n=4)
        return high - low

    def is_clear(self, limit: float) -> bool:
        """Would measuring again hardly bring it to the other side of the limit?"""
        if len(self.pairs) < 3:
            return len(self.pairs) == 1 and self.ratio < limit - _NEAR
        error = 1.25 * stdev(pair.ratio(self.time) for pair in self.pairs) / sqrt(len(self.pairs))
        return len(self.pairs) >= _PAIRS or abs(self.ratio - limit) > _ERRORS * error

    def told(self, limit: float) -> dict[str, object]:
        """For other programs."""
        return {
            "ratio": round(self.ratio, 4),
            "spread": round(self.spread, 4),
            "met": self.ratio <= limit,
            "time": self.time,
            "now_micros": round(median(m for pair in self.pairs for m in pair.now), 1),
            "then_micros": round(median(m for pair in self.pairs for m in pair.then), 1),
            "ratios": [round(pair.ratio(self.time), 4) for pair in self.pairs],
        }


Group = dict[str, Compared]
"Contenders by name."


class Tree:
    """A process that measures one tree."""

    def __init__(self, name: str, path: Path, *arguments: str) -> None:
        self._name = name
        path = path.resolve()
        paths = os.pathsep.join([str(path / "src"), str(path)])
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - it is closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(HERE / "bench" / "rounds.py"), str(path), *arguments],
            cwd=path,
            # The same in both, as the order of a set may cost something.
            env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def say(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """What it tells; raises what has failed there."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._log.seek(0)
            last = self._log.read().strip().splitlines()[-1:] or ["it has said nothing"]
            raise TreeFailed(f"{self._name}: the process has ended: {last[0]}")
        told: dict[str, Any] = json.loads(line)
        if "error" in told:
            raise TreeFailed(f"{self._name}: {told['error']}")
        return told

    def close(self) -> None:
        """Have it end what it has started."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.close()
            self._process.wait(_FAREWELL)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        finally:
            self._process.stdout.close()
            self._log.close()


@contextmanager
def _trees(paths: Mapping[str, Path], *arguments: str) -> Iterator[dict[str, Tree]]:
    with ExitStack() as stack:
        trees = {}
        for name, path in paths.items():
            trees[name] = Tree(name, path, *arguments)
            stack.callback(trees[name].close)
        yield trees


def _agreed(now: Mapping[str, Any], then: Mapping[str, Any]) -> dict[str, int]:
    """How often each operation is done in a round where the trees have found differing numbers that fill the time.

    What is done seldom costs more each time, so it must be as often in both.
    """
    return {
        name: max(now["filling"][name], then["filling"][name])
        for name, times in now["times"].items()
        if times != then["times"].get(name, times)
    }


@dataclass
class Against:
    """A comparison of two trees, as far as it has come."""

    then: Path
    report: Path
    limit: float
    effort: Effort
    console: Console
    now: Path = HERE
    groups: dict[str, Group] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    complete: bool = False

    def run(self, names: Sequence[str]) -> int:
        """Compare the groups that begin so, or all; 1 if one failed or costs more than the limit allows."""
        self._write()
        for topic, groups in self._common(names).items():
            left = groups
            while left:
                left = self._attempt(topic, left)
            for group in groups:
                if group in self.groups:
                    self.console.print(self._table(group))
        self.complete = True
        self._write()
        slower = [name for name, group in self.groups.items() if any(c.ratio > self.limit for c in group.values())]
        for name in slower:
            self.console.print(f"[red]SLOWER[/]  {name}: over {self.limit:g} of what it was", soft_wrap=True)
        return 1 if slower or self.failed else 0

    def _common(self, names: Sequence[str]) -> dict[str, list[str]]:
        """The groups, by topic, that both trees have. One that there is no more has failed; a new one is left out."""
        with _trees({NOW: self.now, THEN: self.then}) as trees:
            told = {name: tree.hear() for name, tree in trees.items()}
        for name, each in told.items():
            for topic, reason in each["unloaded"].items():
                self._fail([topic], f"{name}: {reason}")
        now, then = (told[name]["groups"] for name in (NOW, THEN))
        wanted = {
            topic: [g for g in groups if not names or g.startswith(tuple(names))] for topic, groups in then.items()
        }
        known = {group for groups in now.values() for group in groups}
        self._fail([g for groups in wanted.values() for g in groups if g not in known], "now: there is no such group")
        topics = {group: topic for topic, groups in now.items() for group in groups}
        return {
            topic: here
            for topic, groups in wanted.items()
            if (here := [group for group in groups if topics.get(group) == topic])
        }

    def _attempt(self, topic: str, groups: Sequence[str]) -> list[str]:
        """Compare groups of a topic; those that are left if one of them fails, which is named."""
        left = list(groups)
        try:
            for group, found in self._measure(topic, groups):
                left.remove(group)
                self.groups[group] = found
                self._write()
            while unclear := [g for g in groups if g in self.groups and not self._is_clear(g)]:
                for group, found in self._measure(topic, unclear):
                    for contender, again in found.items():
                        self.groups[group][contender].pairs += again.pairs
                    self._write()
            reason = "the trees give no such group"
        except Exception as error:
            reason = str(error)
            if not left:
                self._fail([g for g in groups if g in self.groups and not self._is_clear(g)], reason)
        if left:
            self._fail([left.pop(0)], reason)
        return left

    def _measure(self, topic: str, groups: Sequence[str]) -> Iterator[tuple[str, Group]]:
        """Each group once, in two new processes."""
        effort = map(str, (self.effort.rounds, self.effort.seconds, self.effort.size))
        with _trees({NOW: self.now, THEN: self.then}, topic, *effort, *groups) as trees:
            while True:
                opened = {name: tree.hear() for name, tree in trees.items()}
                if len(names := {each["group"] for each in opened.values()}) > 1:
                    raise TreeFailed(f"the trees have opened {' and '.join(map(str, names))}")
                if (group := opened[NOW]["group"]) is None:
                    return
                count = min(self.effort.rounds, max(_FEWEST, opened[NOW]["count"]))
                times = _agreed(opened[NOW], opened[THEN])
                for tree in trees.values():
                    tree.say(json.dumps(list(times.items())))
                rounds = [self._round(trees, turn) for turn in range(count)]
                yield group, self._compared(rounds, opened[NOW]["time"])
                for tree in trees.values():
                    tree.say("next")

    def _round(self, trees: Mapping[str, Tree], turn: int) -> dict[str, dict[str, float]]:
        """Both trees, each as often the first as the other."""
        micros = {}
        for name in (NOW, THEN) if turn % 2 else (THEN, NOW):
            trees[name].say("round")
            micros[name] = trees[name].hear()["micros"]
        return micros

    def _compared(self, rounds: Sequence[Mapping[str, Mapping[str, float]]], time: str) -> Group:
        names = [name for name in rounds[0][NOW] if name in rounds[0][THEN]]
        if not names:
            raise TreeFailed("the trees have no contender in common")
        return {
            name: Compared(time, [Pair([r[NOW][name] for r in rounds], [r[THEN][name] for r in rounds])])
            for name in names
        }

    def _is_clear(self, group: str) -> bool:
        return all(compared.is_clear(self.limit) for compared in self.groups[group].values())

    def _fail(self, names: Sequence[str], reason: str) -> None:
        for name in names:
            self.failed[name] = reason
            self.console.print("[red]FAILED[/]", end="  ")
            self.console.print(f"{name}: {reason}", markup=False, soft_wrap=True)
        self._write()

    def _table(self, name: str) -> Table:
        made = Table(title=f"{name}: {self._time(name)}, now / then", title_justify="left")
        for column in ("contender", "then µs", "now µs", "ratio"):
            made.add_column(column, justify="left" if column == "contender" else "right")
        for contender, compared in self.groups[name].items():
            told = compared.told(self.limit)
            ratio = f"{compared.ratio:.3f} ± {compared.spread / 2:.3f}"
            cells = (f"{told['then_micros']:,.0f}", f"{told['now_micros']:,.0f}")
            made.add_row(contender, *cells, ratio if told["met"] else f"[red]{ratio}[/]")
        return made

    def _time(self, name: str) -> str:
        return next(iter(self.groups[name].values())).time

    def _write(self) -> None:
        told = {name: {c: compared.told(self.limit) for c, compared in g.items()} for name, g in self.groups.items()}
        content = {"limit": self.limit, "complete": self.complete, "groups": told, "failed": self.failed}
        replace_json(self.report, content)
