"""`python -m bench [names…] [--quick]`: measure, print, write build/bench.json, fail on a broken claim."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from rich.console import Console
from rich.table import Table

from bench import dynamodb_peers, items, jobs, musicvideo, pages, pickup, speech, sql_peers, tasks, transitions
from bench.canned_server import canned_server
from bench.contender import OPERATIONS, Canned, Contender, Database, Limit, Target, work
from bench.measure import FULL, QUICK, Comparison, Effort, compare
from tests.servers import Postgres


class Topic(Protocol):
    """A module that measures groups of its own."""

    @property
    def GROUPS(self) -> Mapping[str, str]:  # noqa: N802 - a module's constants are written so
        """The groups by name, and what time of each is measured."""

    @property
    def BASELINE(self) -> str:  # noqa: N802
        """The contender that others are compared with."""

    def measure(self, group: str, effort: Effort, /) -> Comparison:
        """All contenders of a group."""


TARGETS = ("dynamodb-http", "dynamodb-tls", "sqlite", "postgresql")
TOPICS: tuple[Topic, ...] = (pages, transitions, jobs, pickup, tasks, speech, musicvideo)
GROUPS = (
    *(f"{target}.{operation}" for target in TARGETS for operation in OPERATIONS),
    *(group for topic in TOPICS for group in topic.GROUPS),
)
REPORT = Path(__file__).parent.parent / "build" / "bench.json"


@dataclass(frozen=True)
class Group:
    """One operation on one target, measured."""

    name: str
    baseline: str
    comparison: Comparison
    time: str = "client CPU"
    "What was measured."


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds."""

    claim: str
    limit: float
    measured: float | None
    met: bool
    unit: str = ""


def main(arguments: Sequence[str]) -> int:
    """Run what was asked for; 1 if a claimed limit is not met."""
    parser = ArgumentParser(prog="python -m bench", description="CPU and time, side by side with peers.")
    parser.add_argument("names", nargs="*", help=f"beginnings of groups, all if none: {', '.join(GROUPS)}")
    parser.add_argument("--quick", action="store_true", help="few and short rounds: seconds, and rough")
    options = parser.parse_args(arguments)
    wanted = [group for group in GROUPS if not options.names or group.startswith(tuple(options.names))]
    if not wanted:
        parser.error(f"no group begins with {' or '.join(options.names)}")

    # A file or a pipe has no width, and the default is too narrow.
    console = Console(width=None if sys.stdout.isatty() else 110)
    own, limits = penstock()
    groups: list[Group] = []
    for target in targets(wanted):
        measured = list(measure(target, own, wanted, QUICK if options.quick else FULL))
        console.print(table(target.name, measured))
        groups += measured
    for topic in TOPICS:
        for name, time in topic.GROUPS.items():
            if name in wanted:
                group = Group(name, topic.BASELINE, topic.measure(name, QUICK if options.quick else FULL), time)
                console.print(table(name, [group]))
                groups.append(group)
    verdicts = [judge(limit, groups) for limit in limits if limit.group in wanted]
    for verdict in verdicts:
        console.print(sentence(verdict))
    write(groups, verdicts)
    return 0 if all(verdict.met for verdict in verdicts) else 1


def penstock() -> tuple[Callable[[Target], Iterable[Contender]], Sequence[Limit]]:
    """Our own contenders and claims, once there are any."""
    if find_spec("bench.penstock_contenders") is None:
        return lambda _target: (), ()
    module = import_module("bench.penstock_contenders")
    return module.contenders, module.LIMITS


def targets(wanted: Sequence[str]) -> Iterator[Target]:
    """Each target that a wanted group needs, up only while it is measured."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(TemporaryDirectory()))
        needed = {group.partition(".")[0] for group in wanted}
        if needed & {"dynamodb-http", "dynamodb-tls"}:
            with trusted_server() as both:
                yield from (target for target in both if target.name in needed)
        if "sqlite" in needed:
            yield Database("sqlite", f"sqlite:///{directory / 'bench.sqlite'}", directory)
        if "postgresql" in needed:
            with Postgres() as server:
                url = server.url.replace("postgresql:", "postgresql+psycopg:")
                yield Database("postgresql", url, directory)


@contextmanager
def trusted_server() -> Iterator[tuple[Canned, Canned]]:
    """The canned server, with its authority where clients look that cannot be told otherwise."""
    with canned_server() as both:
        os.environ["SSL_CERT_FILE"] = os.environ["AWS_CA_BUNDLE"] = str(both[0].authority)
        # Nothing here leaves the machine, whatever proxy it has.
        os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
        yield both


def measure(
    target: Target, own: Callable[[Target], Iterable[Contender]], wanted: Sequence[str], effort: Effort
) -> Iterator[Group]:
    """Check every contender, then compare them one operation after the other."""
    if isinstance(target, Canned):
        peers, baseline = dynamodb_peers.contenders(target), dynamodb_peers.BASELINE
    else:
        peers, baseline = sql_peers.contenders(target), sql_peers.baseline(target)
    with ExitStack() as stack:
        contenders = [*peers, *own(target)]
        for contender in contenders:
            contender.setup()
            stack.enter_context(closing(contender))
            check(contender)
        for operation in OPERATIONS:
            if (name := f"{target.name}.{operation}") in wanted:
                works = {contender.name: work(contender, operation) for contender in contenders}
                yield Group(name, baseline, compare(works, effort))


def check(contender: Contender) -> None:
    """Refuse to measure a contender that does not read and write the scenes it should."""
    expected = {"get": [1], "query": range(1, items.SCENES + 1)}
    found = {"get": [contender.get()], "query": contender.query()}
    for operation, sequences in expected.items():
        records = [contender.plain(record) for record in found[operation]]
        scenes = [items.fields(sequence) for sequence in sequences]
        if len(records) != len(scenes) or not all(map(items.same, records, scenes)):
            raise AssertionError(f"{contender.name}: {operation} gives other scenes, such as {records[:1]}")
    for draft in items.drafts():
        contender.put()
        if not items.same(written := contender.written(), draft):
            raise AssertionError(f"{contender.name}: put has left {written}")


def judge(limit: Limit, groups: Sequence[Group]) -> Verdict:
    """Hold a claim against what was measured; a contender that did not run meets nothing."""
    comparison = next(group.comparison for group in groups if group.name == limit.group)
    unit = "µs" if limit.against is None else ""
    if not {limit.contender, limit.against or limit.contender} <= comparison.micros.keys():
        return Verdict(limit.claim, limit.limit, None, met=False, unit=unit)
    if limit.against is None:
        measured = comparison.median(limit.contender)
    else:
        measured = comparison.ratio(limit.contender, against=limit.against)
    return Verdict(limit.claim, limit.limit, round(measured, 4), met=measured <= limit.limit, unit=unit)


def table(title: str, groups: Sequence[Group]) -> Table:
    """One target's contenders, µs and ratio to the baseline for each operation."""
    made = Table(title=f"{title}: {groups[0].time}", title_justify="left")
    made.add_column("contender")
    lines: dict[str, list[str]] = {}
    for group in groups:
        made.add_column(f"{group.name.partition('.')[2]} µs", justify="right")
        made.add_column("ratio", justify="right")
        for result in group.comparison.results(baseline=group.baseline):
            cells = [f"{result.micros:,.0f}", f"{result.ratio:.2f} ± {result.spread / 2:.2f}"]
            lines.setdefault(result.name, []).extend(cells)
    for name, cells in lines.items():
        made.add_row(name, *cells)
    return made


def sentence(verdict: Verdict) -> str:
    """A claim and its fate in one line."""
    fate = "[green]met[/]" if verdict.met else "[red]NOT MET[/]"
    unit = f" {verdict.unit}" if verdict.unit else ""
    measured = "not measured" if verdict.measured is None else f"{verdict.measured:{',.0f' if unit else '.3f'}}{unit}"
    return f"{fate}  {verdict.claim}: {measured}, limit {verdict.limit:g}{unit}"


def write(groups: Sequence[Group], verdicts: Sequence[Verdict]) -> None:
    """Leave the numbers for other programs: groups → contenders → micros, ratio, spread; and the limits."""
    report: Mapping[str, object] = {
        "groups": {
            group.name: {
                result.name: {
                    "micros": round(result.micros, 1),
                    "ratio": round(result.ratio, 4),
                    "spread": round(result.spread, 4),
                }
                for result in group.comparison.results(baseline=group.baseline)
            }
            for group in groups
        },
        "limits": [asdict(verdict) for verdict in verdicts],
    }
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
