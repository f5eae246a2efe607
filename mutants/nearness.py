"""Which files of tests are likely to notice a mutant, by their names and their words alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from math import log
from pathlib import Path

from mutants.likeness import words
from mutants.mutant import Mutant, spans
from mutants.tree import Tree


class Nearness:
    """Of some files, compared by words of which the rare ones count most."""

    def __init__(self, tree: Tree, files: Sequence[str]) -> None:
        self._tree = tree
        self._words = {file: words(tree.text(file)) for file in files}
        seen = Counter(word for each in self._words.values() for word in each)
        self._rare = {word: log(len(files) / count) for word, count in seen.items()}

    def order(self, mutant: Mutant, files: Sequence[str]) -> list[str]:
        """The nearest first; of two that are as near, the first."""
        text = self._tree.text(mutant.path)
        broken = words(" ".join(text[first:last] for first, last in spans(text, mutant.function)))
        far = {file: -self._between(mutant, broken, file) for file in files}
        return sorted(files, key=lambda file: far[file])

    def _between(self, mutant: Mutant, broken: set[str], file: str) -> float:
        """What tests speak of weighs less the more they speak of; and names of files are chosen with care."""
        said = sum(self._rare[word] for word in broken & self._words[file])
        source, tests = Path(mutant.path), Path(file)
        named = 3 * len(_names(source.stem) & _names(tests.stem)) + len(_names(str(source.parent)) & _names(file))
        return named + said / (1 + log(1 + len(self._words[file])))


def rounds(files: Sequence[str], first: int = 2) -> Iterator[list[str]]:
    """A few, then twice as many, until all were there."""
    left = iter(files)
    while some := list(islice(left, first)):
        yield some
        first *= 2


def _names(path: str) -> set[str]:
    """The words of a path, whether of one thing or of several."""
    found = re.findall(r"[a-z0-9]+", path.lower())
    return {word.removesuffix("s") for word in found} - {"test", "src", "penstock", "init", "py"}
