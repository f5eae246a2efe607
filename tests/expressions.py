"""Every regular expression in a folder of Python files, found by reading them."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CALLS = ("compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
_SIGNS = ("re.", "pattern=", "regex=")
"A file without any of them has none."
_FROM_THE_BEGINNING = {"match", "fullmatch"}


@dataclass(frozen=True, slots=True)
class Expression:
    """A regular expression, where it stands, and how it is used."""

    where: str
    "The module, and the name or line in it."
    pattern: str | None
    "None if it is made of what only a running function knows."
    flags: int = 0
    searched: bool = True
    "Is it looked for anywhere in a text, and not only at its beginning?"
    as_bytes: bool = False

    def search(self, text: str) -> None:
        """Use it as the source does, on all of a text."""
        assert self.pattern is not None
        given: Any = text.encode("latin-1", "replace") if self.as_bytes else text
        found = re.compile(self.pattern.encode("latin-1") if self.as_bytes else self.pattern, self.flags)
        if not self.searched:
            found.fullmatch(given)
            found.match(given)
            return
        for _ in found.finditer(given):
            pass


def expressions(package: Path) -> Iterator[Expression]:
    """Those of a package, in the order of its files."""
    for path in sorted(package.rglob("*.py")):
        module = ".".join([package.name, *path.relative_to(package).with_suffix("").parts]).removesuffix(".__init__")
        text = path.read_text()
        if any(sign in text for sign in _SIGNS):
            yield from expressions_of(module, text)


def expressions_of(module: str, source: str) -> Iterator[Expression]:
    """Those of one module."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (written := _written(node)) is not None:
            yield _expression(module, tree, node, written)


def _written(call: ast.Call) -> ast.expr | None:
    """The expression that is given to a call, if it takes any."""
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == "re":
        return call.args[0] if call.func.attr in _CALLS else None
    return next((k.value for k in call.keywords if k.arg in ("pattern", "regex") and _is_text(k.value)), None)


def _is_text(value: ast.expr) -> bool:
    return isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str))


def _expression(module: str, tree: ast.Module, call: ast.Call, written: ast.expr) -> Expression:
    pattern = _value(module, written)
    uses = _uses(tree, call)
    where = f"{module}:{_name(tree, call) or _function(tree, call)}"
    if pattern is None:
        return Expression(where, None)
    as_bytes = isinstance(pattern, bytes)
    flags = next((_value(module, f) for f in [*call.args[1:], *_flags(call)] if "re." in ast.unparse(f)), 0)
    return Expression(
        where,
        pattern.decode("latin-1") if as_bytes else pattern,
        int(flags),
        searched=not uses or not uses <= _FROM_THE_BEGINNING,
        as_bytes=as_bytes,
    )


def _flags(call: ast.Call) -> list[ast.expr]:
    return [k.value for k in call.keywords if k.arg == "flags"]


def _value(module: str, written: ast.expr) -> Any:
    """What it is once the module is there; None if it needs more than that."""
    if isinstance(written, ast.Constant):
        return written.value
    scope = vars(importlib.import_module(module))
    try:
        return eval(compile(ast.Expression(written), module, "eval"), scope)
    except NameError:
        return None


def _uses(tree: ast.Module, call: ast.Call) -> set[str]:
    """The methods it is used by, as far as they can be seen; none if they cannot."""
    assert isinstance(call.func, ast.Attribute | ast.Name)
    verb = call.func.attr if isinstance(call.func, ast.Attribute) else "search"
    if verb != "compile":
        return {verb}
    name = _name(tree, call)
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and (node.value is call or (name and isinstance(node.value, ast.Name) and node.value.id == name))
        and node.attr in _CALLS
    }


def _name(tree: ast.Module, call: ast.Call) -> str | None:
    """The name it is bound to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and node.value is call and isinstance(node.targets[0], ast.Name):
            return node.targets[0].id
    return None


def _function(tree: ast.Module, call: ast.Call) -> str:
    """The innermost function it stands in, and else its line."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.lineno <= call.lineno <= (node.end_lineno or 0)
    ]
    return around[-1].name if around else f"line {call.lineno}"
