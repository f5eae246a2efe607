"""No domain is known by name outside `domains/`: what serves the shipped ones serves a stranger's alike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import penstock
from penstock.domains import DOMAINS
from tests.house.statements import statements

SOURCE = Path(next(iter(penstock.__path__)))
SERVING = ("plugin.py", "runtime", "web", "cli", "testing")


def outside(*rooms: str) -> Iterator[Path]:
    for path in sorted(SOURCE.rglob("*.py")):
        room = path.relative_to(SOURCE).parts[0]
        if room != "domains" and (not rooms or room in rooms):
            yield path


def test_nothing_outside_the_domains_imports_one() -> None:
    found = [
        f"{path.relative_to(SOURCE)}: {name}"
        for path in outside()
        for written in statements(path).imports
        for name in written.modules
        if name.startswith("penstock.domains")
    ]
    assert found == []


def test_what_serves_domains_names_none() -> None:
    names = "|".join(domain.name for domain in DOMAINS)
    # In a string of its own, or before a dot, as one writes a domain's name.
    written = re.compile(rf"[\"'/ ](?:{names})(?:[\"'/]|\.[A-Z])")
    found = [
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for path in outside(*SERVING)
        for line in path.read_text().splitlines()
        if written.search(line)
    ]
    assert found == []
