"""One change of a file's text, said by the node whose text is replaced."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from mutants.mutant import Mutant


@dataclass(frozen=True)
class Edit:
    """The text from where one node begins to where it, or another, ends or begins; and what stands there instead."""

    node: ast.expr | ast.stmt | ast.excepthandler
    text: str
    kind: str
    until: ast.stmt | None = None
    "The node before which the replaced text ends; None if where `node` does."


class SourceText:
    """A file's text, by the places that its nodes tell: lines, and bytes within them."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._lines = source.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def of(self, node: ast.AST) -> str:
        """The text of a node; Python's own way divides the whole file into lines each time."""
        if not isinstance(node, ast.expr | ast.stmt | ast.excepthandler | ast.keyword):
            return ""
        return self.source[self._offset(node.lineno, node.col_offset) : self._node_end(node)]

    def mutant(self, path: str, function: str, edit: Edit, span: tuple[int, int]) -> Mutant | None:
        """The edit as a mutant; None if it changes nothing."""
        begin = self._offset(edit.node.lineno, edit.node.col_offset)
        end = self._end(edit)
        first = self.source.rfind("\n", 0, begin) + 1
        first += len(self.source[first:begin]) - len(self.source[first:begin].lstrip())
        last = self.source.find("\n", end)
        last = len(self.source) if last < 0 else last
        before = self.source[first:last]
        after = self.source[first:begin] + edit.text + self.source[end:last]
        nth = _count(self.source[span[0] : first + len(before) - 1], before)
        made = Mutant(path, function, before, after, edit.kind, nth)
        return made if before != after else None

    def _end(self, edit: Edit) -> int:
        if edit.until is not None:
            return self._offset(edit.until.lineno, edit.until.col_offset)
        return self._node_end(edit.node)

    def _node_end(self, node: ast.expr | ast.stmt | ast.excepthandler | ast.keyword) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._offset(node.end_lineno, node.end_col_offset)

    def _offset(self, line: int, column: int) -> int:
        """Python counts columns in bytes."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())


def _count(text: str, part: str) -> int:
    return sum(1 for _ in _places(text, part))


def _places(text: str, part: str) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)
