"""The imports and classes of a file. Each file is read once, whoever asks: there are many of both."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_WITHIN = ("body", "orelse", "finalbody", "handlers", "cases")
"Where a statement has others in it: no expression has any."


@dataclass(frozen=True, slots=True)
class Written:
    """One import."""

    module: str | None
    "Whose names are imported; None where modules are."
    names: tuple[str, ...]
    line: int
    for_types: bool
    "Made by type checkers alone."
    renamed: bool
    "Some of it by another name."

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules it names."""
        return self.names if self.module is None else (self.module,)


@dataclass(frozen=True, slots=True)
class Statements:
    """What is known of a file."""

    imports: tuple[Written, ...]
    classes: tuple[str, ...]
    "Those at its top."


@cache
def statements(path: Path) -> Statements:
    """Those of one file."""
    tree = ast.parse(path.read_text())
    classes = tuple(node.name for node in tree.body if isinstance(node, ast.ClassDef))
    return Statements(tuple(_imports(tree, for_types=False)), classes)


def _imports(parent: ast.AST, *, for_types: bool) -> Iterator[Written]:
    for node in (node for name in _WITHIN for node in getattr(parent, name, ())):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = (node.module or "") if isinstance(node, ast.ImportFrom) else None
            names = tuple(alias.name for alias in node.names)
            yield Written(module, names, node.lineno, for_types, renamed=any(alias.asname for alias in node.names))
        else:
            checked = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            yield from _imports(node, for_types=for_types or checked)
