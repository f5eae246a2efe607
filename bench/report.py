"""What was measured, what of it holds, and what failed: shown as tables, and kept as JSON for other programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.table import Table

from bench.contender import Limit
from bench.measure import Comparison

_LONGEST = 400
"Characters of a reason."
_OTHERWISE = "in the place of µs"
"Is said of what is no time."


@dataclass(frozen=True)
class Group:
    """One operation in one place, measured."""

    name: str
    baseline: str
    comparison: Comparison
    time: str = "client CPU"
    "What was measured."


@dataclass(frozen=True)
class Failed:
    """A group, or a whole topic that cannot be loaded, that was not measured."""

    name: str
    error: Exception

    @property
    def reason(self) -> str:
        """What happened, in one line."""
        told = " ".join(f"{type(self.error).__name__}: {self.error}".split()).removesuffix(":")
        return told if len(told) <= _LONGEST else f"{told[:_LONGEST]}…"


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds."""

    claim: str
    limit: float
    measured: float | None
    met: bool
    unit: str = ""


@dataclass
class Report:
    """A run, as far as it has come; the file is whole whenever the run ends."""

    path: Path
    effort: str
    groups: list[Group] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    complete: bool = False
    "Has all been tried that was asked for?"

    def add(self, outcome: Group | Failed, limits: Sequence[Limit]) -> None:
        """Take in what became of a group, with what was claimed of it, and keep it."""
        if isinstance(outcome, Group):
            self.groups.append(outcome)
        else:
            self.failed.append(outcome)
        self.verdicts += [judge(limit, outcome) for limit in limits if limit.group == outcome.name]
        self.write()

    @property
    def met(self) -> bool:
        """Was everything measured, and does all that is claimed of it hold?"""
        return not self.failed and all(verdict.met for verdict in self.verdicts)

    def write(self) -> None:
        """Put the numbers in the place of those before: groups → contenders → micros, ratio, spread."""
        told: Mapping[str, object] = {
            "effort": self.effort,
            "complete": self.complete,
            "groups": {group.name: _numbers(group) for group in self.groups},
            "failed": {each.name: each.reason for each in self.failed},
            "limits": [asdict(verdict) for verdict in self.verdicts],
        }
        replace_json(self.path, told)


def replace_json(path: Path, content: Mapping[str, object]) -> None:
    """Write a file that is there as a whole, old or new, at every moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    new.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    new.replace(path)


def _numbers(group: Group) -> dict[str, dict[str, float]]:
    return {
        result.name: {
            "micros": round(result.micros, 1),
            "ratio": round(result.ratio, 4),
            "spread": round(result.spread, 4),
        }
        for result in group.comparison.results(baseline=group.baseline)
    }


def judge(limit: Limit, outcome: Group | Failed) -> Verdict:
    """Hold a claim against what was measured; a contender that did not run meets nothing."""
    unit = limit.unit if limit.against is None else ""
    comparison = outcome.comparison if isinstance(outcome, Group) else Comparison({})
    if not {limit.contender, limit.against or limit.contender} <= comparison.micros.keys():
        return Verdict(limit.claim, limit.limit, None, met=False, unit=unit)
    if limit.against is None:
        measured = comparison.median(limit.contender)
    else:
        measured = comparison.ratio(limit.contender, against=limit.against)
    return Verdict(limit.claim, limit.limit, round(measured, 4), met=measured <= limit.limit, unit=unit)


def table(title: str, groups: Sequence[Group]) -> Table:
    """The contenders of one or more groups of a topic, µs and ratio to the baseline for each."""
    made = Table(title=f"{title}: {groups[0].time}", title_justify="left")
    made.add_column("contender")
    lines: dict[str, list[str]] = {}
    for number, group in enumerate(groups):
        unit = "" if _OTHERWISE in group.time else " µs"
        made.add_column(f"{group.name.partition('.')[2]}{unit}", justify="right")
        made.add_column("ratio", justify="right")
        for result in group.comparison.results(baseline=group.baseline):
            cells = [f"{result.micros:,.0f}", f"{result.ratio:.2f} ± {result.spread / 2:.2f}"]
            # Not every contender is in every group.
            lines.setdefault(result.name, [""] * 2 * len(groups))[2 * number : 2 * number + 2] = cells
    for name, cells in lines.items():
        made.add_row(name, *cells)
    return made


def sentence(verdict: Verdict) -> str:
    """A claim and its fate in one line."""
    fate = "[green]met[/]" if verdict.met else "[red]NOT MET[/]"
    unit = f" {verdict.unit}" if verdict.unit else ""
    measured = "not measured" if verdict.measured is None else f"{verdict.measured:{',.0f' if unit else '.3f'}}{unit}"
    return f"{fate}  {verdict.claim}: {measured}, limit {verdict.limit:g}{unit}"
