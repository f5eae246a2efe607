"""Every mutant that a file has."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mutants.declarations import declared_edits
from mutants.edit import Edit, SourceText
from mutants.expressions import ONLY_CHECKED, called_name, expression_edits
from mutants.mutant import Mutant
from mutants.statements import body_edits, statement_edits

_UNTOLD = ("__repr__", "__str__", "__rich__", "__class_getitem__", "__hash__")
"Functions whose answers are for those who look on."


def candidates(path: str, source: str, *, declared: bool = False) -> list[Mutant]:
    """Each once, in the order of the text; with those of what is `declared`, which have a kind of their own."""
    found = _Finder(path, source, declared=declared)
    tree = ast.parse(source)
    found.within(tree, "", (0, len(source)))
    if declared:
        found.top(tree)
    return list(dict.fromkeys(found.mutants))


class _Finder:
    """Walks through a file and keeps in mind in which function it is."""

    def __init__(self, path: str, source: str, *, declared: bool) -> None:
        self.mutants: list[Mutant] = []
        self._declared = declared
        self._path, self._text = path, SourceText(source)
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def within(self, node: ast.AST, function: str, span: tuple[int, int]) -> None:
        for child in _children(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self._definition(child, function)
                continue
            for edit in self._edits(child):
                self._add(function, edit, span)
            self.within(child, function, span)

    def top(self, tree: ast.Module) -> None:
        """What is declared outside of functions and classes."""
        for edit in declared_edits(tree, self._text):
            self._add("", edit, (0, len(self._text.source)))

    def _add(self, function: str, edit: Edit, span: tuple[int, int]) -> None:
        if made := self._text.mutant(self._path, function, edit, span):
            self.mutants.append(made)

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, within: str) -> None:
        if node.name in _UNTOLD:
            return
        name = f"{within}.{node.name}".lstrip(".")
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        span = self._starts[first - 1], self._starts[node.end_lineno or node.lineno]
        if not isinstance(node, ast.ClassDef):
            for edit in body_edits(node):
                self._add(name, edit, span)
        if self._declared:
            for edit in declared_edits(node, self._text):
                self._add(name, edit, span)
        self.within(node, name, span)

    def _edits(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.expr):
            yield from expression_edits(node, self._text)
        elif isinstance(node, ast.stmt | ast.excepthandler):
            yield from statement_edits(node, self._text)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Those that are carried out: no types, no text for people, nothing that is only checked."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
        return
    untold = [getattr(node, name, None) for name in ("annotation", "returns", "type_comment")]
    if isinstance(node, ast.Call) and called_name(node) in ONLY_CHECKED:
        untold += node.keywords
    if isinstance(node, ast.keyword) and node.arg == "slots":  # how objects lie in memory
        return
    for child in ast.iter_child_nodes(node):
        if child not in untold and not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
            yield child
