"""`python -m bench [names…] [--quick]`: measure, print, write build/bench.json, fail on a broken claim.

Whatever fails to be measured fails by itself, and is named; all else is measured. The file is written anew after every
group, so that a run which is broken off leaves what it has measured.
"""

from __future__ import annotations

import sys
import traceback
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from rich.console import Console

from bench import against
from bench.contender import Limit
from bench.measure import FULL, QUICK, TRIAL, Contest, Effort
from bench.report import Failed, Group, Report, judge, sentence, table
from bench.topic import TOPICS, Loader, Topic

REPORT = Path(__file__).parent.parent / "build" / "bench.json"
EFFORTS = {"full": FULL, "quick": QUICK, "trial": TRIAL}
INTERRUPTED = 130
_AGAIN = 2
"Times that a group which breaks a limit is measured again."


class NotGiven(RuntimeError):
    """A topic has no contest for a group of its own."""


def main(arguments: Sequence[str], *, loaders: Mapping[str, Loader] = TOPICS) -> int:
    """Run what was asked for; 1 if a group failed or a claimed limit is not met."""
    topics, unloaded = load(loaders)
    known = [group for topic in topics.values() for group in topic.GROUPS]
    parser = _parser(known)
    options = parser.parse_args(arguments)
    if options.against is not None:
        return compare_with(parser, options)
    wanted = [group for group in known if not options.names or group.startswith(tuple(options.names))]
    missing = [name for name in options.names if not any(group.startswith(name) for group in known)]
    if missing and not unloaded:
        parser.error(f"no group begins with {' or '.join(missing)}")
    lost = unloaded if missing or not options.names else []
    return run(topics, wanted, lost, options)


def _parser(known: Sequence[str]) -> ArgumentParser:
    parser = ArgumentParser(prog="python -m bench", description="CPU and time, side by side with peers.")
    parser.add_argument("names", nargs="*", help=f"beginnings of groups, all if none: {', '.join(known)}")
    efforts = {
        "quick": "few and short rounds: seconds, and rough",
        "trial": "next to nothing of everything: whether it runs at all, and no limits",
    }
    for name, told in efforts.items():
        parser.add_argument(f"--{name}", dest="effort", action="store_const", const=name, default="full", help=told)
    parser.add_argument("--report", type=Path, help=f"where the numbers are written: {REPORT.name} in build/")
    parser.add_argument("--against", type=Path, help="another checkout of this repository: how much slower are we now?")
    parser.add_argument(
        "--limit", type=float, default=against.LIMIT, help=f"how much slower we may be: {against.LIMIT:g}"
    )
    parser.add_argument("--traceback", action="store_true", help="show where a failure comes from")
    return parser


def compare_with(parser: ArgumentParser, options: Namespace) -> int:
    """Compare another tree's costs with ours."""
    if not (options.against / "bench" / "topic.py").is_file():
        parser.error(f"{options.against} is no checkout of this repository whose bench has topics")
    report = options.report or REPORT.with_name("bench-against.json")
    comparison = against.Against(options.against, report, options.limit, against.EFFORTS[options.effort], _console())
    try:
        return comparison.run(options.names)
    except KeyboardInterrupt:
        return interrupted(report)


def load(loaders: Mapping[str, Loader]) -> tuple[dict[str, Topic], list[Failed]]:
    """The topics, and those that cannot even be loaded."""
    topics: dict[str, Topic] = {}
    unloaded = []
    for name, loader in loaders.items():
        try:
            topics[name] = loader()
        except Exception as error:
            unloaded.append(Failed(name, error))
    return topics, unloaded


def run(topics: Mapping[str, Topic], wanted: Sequence[str], unloaded: Sequence[Failed], options: Namespace) -> int:
    """Measure group after group, telling and keeping what comes."""
    console, effort = _console(), EFFORTS[options.effort]
    report = Report(options.report or REPORT, options.effort)
    report.write()
    for lost in unloaded:
        report.add(lost, ())
        tell(console, lost, options)
    try:
        for topic in topics.values():
            measured: list[Group] = []
            limits = () if effort is TRIAL else topic.LIMITS
            for came in outcomes(topic, [group for group in topic.GROUPS if group in wanted], effort, limits):
                report.add(came, limits)
                if isinstance(came, Failed):
                    tell(console, came, options)
                else:
                    measured.append(came)
            for place, groups in groupby(measured, key=lambda group: group.name.partition(".")[0]):
                console.print(table(place, list(groups)))
    except KeyboardInterrupt:
        return interrupted(report.path)
    report.complete = True
    report.write()
    for verdict in report.verdicts:
        console.print(sentence(verdict), soft_wrap=True)
    for failed in report.failed:
        console.print(f"[red]FAILED[/]  {failed.name}", soft_wrap=True)
    return 0 if report.met else 1


def interrupted(report: Path) -> int:
    """Say where to find what there is."""
    _console().print(f"[red]Interrupted.[/] What was measured is in {report}.", soft_wrap=True)
    return INTERRUPTED


def _console() -> Console:
    # A file or a pipe has no width, and the default is too narrow.
    return Console(width=None if sys.stdout.isatty() else 110)


def tell(console: Console, failed: Failed, options: Namespace) -> None:
    """Name what failed, and say why."""
    console.print("[red]FAILED[/]", end="  ")
    console.print(f"{failed.name}: {failed.reason}", markup=False, soft_wrap=True)
    if options.traceback:
        console.print("".join(traceback.format_exception(failed.error)), markup=False, soft_wrap=True)


def outcomes(topic: Topic, wanted: Sequence[str], effort: Effort, limits: Sequence[Limit]) -> Iterator[Group | Failed]:
    """What becomes of each group. A topic that breaks off is asked again for those behind the one it failed at."""
    left = list(wanted)
    while left:
        try:
            with closing(topic.contests(tuple(left), effort)) as contests:
                for name, contest in contests:
                    left.remove(name)
                    yield outcome(topic, name, contest, limits)
            error: Exception = NotGiven("the topic gives no such group")
        except Exception as raised:
            error = raised
        if left:
            yield Failed(left.pop(0), error)
        elif not isinstance(error, NotGiven):
            yield Failed(f"{wanted[-1]}, at its end", error)


def outcome(topic: Topic, name: str, contest: Contest, limits: Sequence[Limit]) -> Group | Failed:
    """A group's numbers, or why there are none.

    What breaks a limit is measured again, and all rounds count: other programs of the machine may have broken it.
    """
    try:
        group = Group(name, topic.BASELINE, contest.run(), topic.GROUPS[name])
        for _ in range(_AGAIN):
            if all(judge(limit, group).met for limit in limits if limit.group == name):
                break
            group = replace(group, comparison=group.comparison.with_more(contest.run()))
        return group
    except Exception as error:
        return Failed(name, error)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
