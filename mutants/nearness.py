"""Which files of tests are likely to notice a mutant, by their names and their text alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from mutants.mutant import Mutant
from mutants.tree import Tree


def nearest(mutant: Mutant, files: Sequence[str], tree: Tree) -> list[str]:
    """The nearest first; of two that are as near, the first."""
    return sorted(files, key=lambda file: -nearness(mutant, file, tree))


def nearness(mutant: Mutant, file: str, tree: Tree) -> float:
    """By the words that the names of both files have in common, and by what the tests speak of."""
    source, tests, text = Path(mutant.path), Path(file), tree.text(file)
    own = 3 * len(_words(source.stem) & _words(tests.stem))
    around = len(_words(str(source.parent)) & _words(str(tests)))
    spoken = [name for name in mutant.function.split(".") if not name.startswith("_")]
    said = sum(1 for name in spoken if re.search(rf"\b{name}\b", text))
    return own + around + said + (2 if f"{tree.module(mutant.path)} " in text else 0)


def rounds(files: Sequence[str], first: int = 2) -> Iterator[list[str]]:
    """A few, then twice as many, until all were there."""
    left = iter(files)
    while some := list(islice(left, first)):
        yield some
        first *= 2


def _words(name: str) -> set[str]:
    """The words of a path, whether of one thing or of several."""
    found = re.findall(r"[a-z0-9]+", name.lower())
    return {word.removesuffix("s") for word in found} - {"test", "src", "penstock", "init", "py"}
