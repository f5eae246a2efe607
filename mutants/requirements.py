"""The ids of what the documents ask for, and of the flaws in them: which there are, and which tests name them."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from mutants.mutant import named
from mutants.tree import Tree

STATEMENTS = {"MV": 76, "AC": 51, "VM": 28, "TA": 28, "NC": 38}
"How many statements each document has."
FLAWS = {"X": 10, "MV": 12, "AC": 14, "VM": 9, "TA": 10, "NC": 11}
"How many flaws were found in each, and in all of them together."
DOMAINS = {"MV": "musicvideo", "AC": "assetcreator", "VM": "videos", "TA": "speech", "NC": "novae"}
_ID = r"(?:F-X|(?:F-)?(?:MV|AC|VM|TA|NC))-\d+"
_NAMED = re.compile(rf"\b({_ID})(?:…({_ID}))?\b")


def ids() -> list[str]:
    """All of them, document by document."""
    statements = [f"{document}-{n}" for document, count in STATEMENTS.items() for n in range(1, count + 1)]
    return statements + [f"F-{document}-{n}" for document, count in FLAWS.items() for n in range(1, count + 1)]


def named_ids(text: str) -> set[str]:
    """Those that a text names; ``AC-23…AC-30`` names eight."""
    return {each for found in _NAMED.finditer(text) for each in _between(found.group(1), found.group(2))}


def _between(first: str, last: str | None) -> Iterator[str]:
    document, _, begin = first.rpartition("-")
    end = int(last.rpartition("-")[2]) if last else int(begin)
    yield from (f"{document}-{number}" for number in range(int(begin), end + 1))


def naming_tests(tree: Tree, folder: str = "tests") -> dict[str, list[str]]:
    """The tests whose docstrings name each id."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in tree.files(folder, "test_*.py"):
        if _NAMED.search(tree.text(file)) is None:
            continue
        for name, node in named(ast.parse(tree.text(file))):
            if node.name.startswith("test_"):
                for each in named_ids(ast.get_docstring(node) or ""):
                    found[each].append(f"{file}::{name.replace('.', '::')}")
    return dict(found)
