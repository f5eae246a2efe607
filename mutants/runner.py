"""Runs pytest, again and again, in processes that are forked from one which has the libraries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from mutants.tree import Tree

OVERLAY = Path(__file__).parent / "overlay"


class TestRunner:
    """One process that forks others, one at a time."""

    __test__ = False

    def __init__(self, tree: Tree, *, loaded: Sequence[str] = ()) -> None:
        """With modules of the tree `loaded` that no mutant is in, nor anything that they load."""
        path = os.pathsep.join([str(OVERLAY), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        self._root = tree.root
        self._process = subprocess.Popen(
            [sys.executable, str(OVERLAY / "warm.py"), *loaded],
            cwd=tree.root,
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, arguments: Sequence[str], folder: Path, variables: Mapping[str, str], *, seconds: float
    ) -> tuple[int | None, str]:
        """Its code, or None if it took too long, and what it printed. What tests write goes to the folder."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        told = folder / "told"
        asked = {
            "arguments": ["-q", "-p", "no:cacheprovider", f"--basetemp={folder / 'tests'}", *arguments],
            "variables": dict(variables),
            "root": str(self._root),
            "told": str(told),
            "seconds": seconds,
        }
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return answer["code"], told.read_text(errors="replace") if told.exists() else ""

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@contextmanager
def runners(tree: Tree, count: int) -> Iterator[list[TestRunner]]:
    """So many, ended afterwards."""
    opened = [TestRunner(tree) for _ in range(count)]
    try:
        yield opened
    finally:
        for each in opened:
            each.close()
