"""A mutant: one place of one file, as it stands and as it is broken."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parent.parent


class Gone(LookupError):
    """The text that a mutant breaks does not stand where it stood."""


@dataclass(frozen=True)
class Mutant:
    """Whole lines and what stands in their place: found by their text, wherever in the function they move to."""

    path: str
    "Of the file, from the root of the repository."
    function: str
    "The function that it breaks, with its classes: ``Lease.take``. A class where it breaks its body, or nothing."
    before: str
    after: str
    kind: str = ""
    nth: int = 0
    "Which of several equal texts in the function."

    @cached_property
    def id(self) -> str:
        """The same as long as the text is, whatever stands around it."""
        told = "\0".join((self.path, self.function, self.before, self.after, str(self.nth)))
        return hashlib.sha256(told.encode()).hexdigest()[:12]

    def applied(self, source: str) -> str:
        """The file's text with this broken; Gone where there is nothing to break."""
        begin = self._begin(source)
        return source[:begin] + self.after + source[begin + len(self.before) :]

    def is_python(self, source: str) -> bool:
        """Whether what it leaves can be compiled at all."""
        try:
            compile(self.applied(source), self.path, "exec", dont_inherit=True)
        except SyntaxError:
            return False
        return True

    def line(self, source: str) -> int:
        """The number of its first line."""
        return source.count("\n", 0, self._begin(source)) + 1

    def _begin(self, source: str) -> int:
        left = self.nth
        for first, last in spans(source, self.function):
            begin = source.find(self.before, first, last)
            while begin >= 0:
                if left == 0:
                    return begin
                left -= 1
                begin = source.find(self.before, begin + 1, last)
        raise Gone(f"{self.path}: {self.function or 'the module'} no longer has {self.before!r}")

    def __str__(self) -> str:
        return f"{self.function or 'module'}: {_short(self.before)}  →  {_short(self.after)}"


def spans(source: str, function: str) -> Iterator[tuple[int, int]]:
    """From where to where each function or class of the name goes; the whole file where there is no name."""
    if not function:
        yield 0, len(source)
        return
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for name, node in named(ast.parse(source)):
        if name == function:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            yield starts[first - 1], starts[node.end_lineno or node.lineno]


Named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def named(tree: ast.AST, within: str = "") -> Iterator[tuple[str, Named]]:
    """Every function and class with its name, which begins with those that it stands in."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Named):
            name = f"{within}.{node.name}".lstrip(".")
            yield name, node
            yield from named(node, name)
        else:
            yield from named(node, within)


def _short(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    if not lines:
        return "nothing"
    return lines[0] if len(lines) == 1 else f"{lines[0]} … ({len(lines)} lines)"
