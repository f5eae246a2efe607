"""The parts of `make test-long`: each takes at most half an hour on two cores, and can be run by itself.

    python -m tests.long_parts [NAME …]

Without a name all of them are run, one after the other; each tells its time. A test belongs to the part that names it
most exactly, so that a folder can be one part and a slow file in it another.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence

import pytest

_ALONG = "tests/evolution/proof/test_proof.py::test_a_hundred_thousand_records_come_along"
_CAST = "tests/simulation/test_full_cast.py::test_twenty_thousand_schedules_of_the_full_cast"
_CHANGING = "tests/kernel/test_histories.py::test_declarations_change_in_many_histories"
_KILLED = "tests/faults/test_thousand_kills.py::test_a_thousand_kills_lose_nothing_and_double_nothing"

PARTS: dict[str, tuple[str, ...]] = {
    "schedules": ("tests/simulation/",),
    "full-cast": ("tests/simulation/test_full_cast.py",),
    "full-cast-more": (f"{_CAST}[2", f"{_CAST}[3"),
    "histories": ("tests/kernel/test_histories.py",),
    "declarations": (_CHANGING,),
    "properties": ("tests/kernel/test_history_everywhere.py", "tests/kernel/test_properties.py"),
    "faults": ("tests/faults/", "tests/net/"),
    "kills-sqlite": (f"{_KILLED}[sqlite",),
    "kills-postgres": (f"{_KILLED}[postgres",),
    "kills-dynoxide": (f"{_KILLED}[dynoxide",),
    "crashes": ("tests/work/test_crashes.py",),
    "kernel": ("tests/declare/", "tests/kernel/", "tests/schema/"),
    "engines": ("tests/engines/", "tests/objects/", "tests/ports/", "tests/servers/", "tests/sinks/"),
    "work": ("tests/events/", "tests/files/", "tests/lifecycle/", "tests/runtime/", "tests/work/"),
    "evolution": ("tests/evolution/",),
    "evolution-killed": ("tests/evolution/proof/",),
    "evolution-sqlite": (f"{_ALONG}[sqlite",),
    "evolution-postgres": (f"{_ALONG}[postgres",),
    "evolution-dynoxide": (f"{_ALONG}[dynoxide",),
    "evolution-moves": (f"{_ALONG}[dynoxide-another key", f"{_ALONG}[dynoxide-another table"),
    "evolution-dynamodb": (f"{_ALONG}[dynamodb-local",),
    "domains": ("tests/domains/", "tests/generation/", "tests/review/"),
    "novae": ("tests/astronomy/", "tests/domains/novae/"),
    "media": ("tests/media/",),
    "studio": ("tests/studio/",),
    "models": ("tests/studio/modelling/", "tests/studio/test_foreign_assets.py"),
    "service": ("tests/attacks/", "tests/auth/", "tests/browser/", "tests/cli/", "tests/deploy/", "tests/web/"),
    "schemathesis": ("tests/web/test_schemathesis.py",),
    "cost": ("tests/bench/", "tests/cost/", "tests/docs/", "tests/house/", "tests/transfer/"),
    "mutants": ("tests/mutants/",),
}
"Beginnings of the names of tests, by part."
MINUTES = 30


def part_of(test: str) -> str | None:
    """The part that a test, or all tests of a file, belong to."""
    named = [(len(b), part) for part, beginnings in PARTS.items() for b in beginnings if test.startswith(b)]
    return max(named, default=(0, None))[1]


# What pytest is told, as it has this file for a plugin


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", choices=list(PARTS), help="only the tests of this part of `make test-long`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part = config.getoption("--part")
    others = [item for item in items if part_of(item.nodeid) != part]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if part_of(item.nodeid) == part]


def run(part: str) -> bool:
    """Run a part, and tell how long it took; False if a test has failed."""
    began = time.monotonic()
    where = dict.fromkeys(beginning.partition("::")[0] for beginning in PARTS[part])
    pytest_itself = [sys.executable, "-m", "pytest", "-p", "tests.long_parts", "-n", "2", "--dist", "worksteal"]
    code = subprocess.run([*pytest_itself, "-m", "long", "--part", part, *where], check=False).returncode
    minutes, seconds = divmod(round(time.monotonic() - began), 60)
    late = "" if minutes < MINUTES else f", which is more than {MINUTES} minutes: divide it in tests/long_parts.py"
    print(f"== {part}: {'passed' if code == 0 else 'FAILED'} in {minutes}:{seconds:02d}{late}", flush=True)
    return code == 0


def main(wanted: Sequence[str]) -> int:
    if unknown := [part for part in wanted if part not in PARTS]:
        print(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    failed = [part for part in wanted or PARTS if not run(part)]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
