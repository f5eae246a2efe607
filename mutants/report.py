"""What a campaign has shown, by area, and every survivor with its line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mutants.equivalents import Equivalent
from mutants.results import Result
from mutants.tree import Tree
from mutants.trial import Outcome


@dataclass(frozen=True)
class Tally:
    """The figures of one area, or of all."""

    area: str
    killed: int
    equivalent: int
    survivors: Sequence[Result]

    def row(self) -> str:
        judged = self.killed + len(self.survivors)
        share = f"{self.killed / judged:.1%}" if judged else "-"
        tried = judged + self.equivalent
        return f"{self.area:<20}{tried:>7}{self.killed:>8}{len(self.survivors):>10}{self.equivalent:>12}{share:>9}"


def tally(area: str, results: Sequence[Result], known: Mapping[str, Equivalent]) -> Tally:
    """Count them. What a test kills is not equivalent, whatever was argued."""
    killed = [each for each in results if each.outcome == Outcome.KILLED]
    lived = [each for each in results if each.outcome != Outcome.KILLED]
    survivors = [each for each in lived if each.id not in known]
    return Tally(area, len(killed), len(lived) - len(survivors), survivors)


def report(tree: Tree, results: Sequence[Result], known: Mapping[str, Equivalent]) -> tuple[str, bool]:
    """The text of it, and whether nothing survived."""
    names = dict.fromkeys(sorted(each.area for each in results))
    lines = [f"{'area':<20}{'tried':>7}{'killed':>8}{'survived':>10}{'equivalent':>12}{'noticed':>9}"]
    lines += [tally(name, [each for each in results if each.area == name], known).row() for name in names]
    whole = tally("all", results, known)
    lines.append(whole.row())
    if whole.survivors:
        lines += ["", "Survivors: a test has to notice each, or equivalents.toml to say why none can."]
        lines += [_survivor(tree, each) for each in whole.survivors]
    return "\n".join(lines), not whole.survivors


def _survivor(tree: Tree, survivor: Result) -> str:
    line = survivor.mutant.line(tree.text(survivor.path))
    why = f" ({survivor.why})" if survivor.why else ""
    return (
        f"\n{survivor.path}:{line} {survivor.function}: {survivor.kind}{why}\n"
        f"  - {_indented(survivor.before)}\n  + {_indented(survivor.after)}"
    )


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")
