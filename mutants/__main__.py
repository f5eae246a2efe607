"""`python -m mutants [--count 400] [--budget 1h]`: break lines one at a time, and fail if one goes unnoticed."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from mutants.area import Area, areas, chosen
from mutants.campaign import Campaign
from mutants.equivalents import complaints, equivalents
from mutants.mutant import ROOT
from mutants.report import report
from mutants.tree import Tree

RESULTS = ROOT / "build" / "mutants"
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours"}


def main(arguments: Sequence[str]) -> int:
    """1 if a mutant survived, or there was no time to try any."""
    options = _options(arguments)
    tree, known = Tree(), equivalents()
    if wrong := complaints(tree, known):
        print("equivalents.toml:", *wrong, sep="\n  ")
        return 1
    wanted = chosen(tree, _areas(options), count=options.count, seed=options.seed)
    tell = partial(print, flush=True) if options.tell else lambda line: None
    campaign = Campaign(tree, RESULTS, options.budget, options.parallel, options.farthest, tell=tell)
    results = campaign.run(wanted, argued=known)
    text, sound = report(tree, results, known)
    print(text)
    if left := len(wanted) - len(results):
        print(f"\nNo time for {left} more: run it again, and it goes on from here.")
    return 0 if sound and results else 1


def _options(arguments: Sequence[str]) -> Namespace:
    parser = ArgumentParser(prog="python -m mutants", description="Breaks lines: a test must notice each.")
    parser.add_argument("--count", type=int, default=400, help="how many mutants")
    parser.add_argument("--budget", type=duration, default=timedelta(hours=1), help="as 90s, 30m or 8h")
    parser.add_argument("--farthest", type=duration, default=timedelta(minutes=1), help="for one that nobody notices")
    parser.add_argument("--seed", type=int, default=1, help="another one chooses others")
    parser.add_argument("--parallel", type=int, default=2, help="how many are tried at once")
    parser.add_argument("--area", nargs="*", default=[], help=f"of {', '.join(each.name for each in areas())}")
    parser.add_argument("--quiet", dest="tell", action="store_false", help="tell of the end alone")
    return parser.parse_args(arguments)


def duration(text: str) -> timedelta:
    """``30m`` as a duration."""
    found = re.fullmatch(r"(\d+)([smh])", text)
    if found is None:
        raise ArgumentTypeError(f"{text!r} is no duration: write 90s, 30m or 8h")
    return timedelta(**{_UNITS[found.group(2)]: int(found.group(1))})


def _areas(options: Namespace) -> list[Area]:
    return [each for each in areas() if not options.area or each.name.startswith(tuple(options.area))]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
