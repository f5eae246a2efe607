"""What may be broken in a statement."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from mutants.edit import Edit, SourceText

_TALK = ("log", "logger", "debug", "info", "warning", "warn", "exception", "echo", "print")


def statement_edits(node: ast.stmt | ast.excepthandler, text: SourceText) -> Iterator[Edit]:
    """Each way to break one statement."""
    for kind, find in _FINDERS.items():
        if isinstance(node, kind):
            yield from find(node, text)


def body_edits(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Edit]:
    """Nothing is done, and nothing answered; and two calls in the other order."""
    body = [statement for statement in function.body if not _is_prose(statement)]
    if body and not (isinstance(body[0], ast.Return | ast.Raise | ast.Pass) or _is_empty(body)):
        yield Edit(body[0], "return None", "early return")


def _decided(node: ast.If | ast.While, text: SourceText) -> Iterator[Edit]:
    if isinstance(node, ast.If):
        yield Edit(node.test, "False", "check dropped")
        yield Edit(node.test, "True", "condition dropped")


def _repeated(node: ast.For, text: SourceText) -> Iterator[Edit]:
    if any(isinstance(each, ast.Raise | ast.Return | ast.Break) for each in node.body):
        return  # it is left the first time anyway
    if all(isinstance(each, ast.Expr) and _is_talk(each.value) for each in node.body):
        return  # it only says something
    yield Edit(node.iter, f"list({text.of(node.iter)})[:1]", "repetition dropped")


def _left(node: ast.Break | ast.Continue, text: SourceText) -> Iterator[Edit]:
    yield Edit(node, "continue" if isinstance(node, ast.Break) else "break", "loop turned")


def _spoken(node: ast.Expr, text: SourceText) -> Iterator[Edit]:
    value = node.value.value if isinstance(node.value, ast.Await | ast.YieldFrom) else node.value
    if isinstance(value, ast.Call) and not _is_talk(value):
        yield Edit(node, "pass", "call dropped")


def _raised(node: ast.Raise, text: SourceText) -> Iterator[Edit]:
    if "NotImplementedError" not in text.of(node):
        yield Edit(node, "pass", "refusal dropped")


def _assigned(node: ast.Assign | ast.AugAssign | ast.Delete, text: SourceText) -> Iterator[Edit]:
    targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
    if isinstance(node, ast.AugAssign) or all(isinstance(t, ast.Attribute | ast.Subscript) for t in targets):
        yield Edit(node, "pass", "write dropped")


def _answered(node: ast.Return, text: SourceText) -> Iterator[Edit]:
    constant = node.value.value if isinstance(node.value, ast.Constant) else ...
    # None is no answer to drop, and whoever asks for a truth takes it for False.
    if node.value is not None and constant is not None and constant is not False:
        yield Edit(node, "return None", "answer dropped")


def _held(node: ast.With | ast.AsyncWith, text: SourceText) -> Iterator[Edit]:
    """A lock that is not taken."""
    if all(item.optional_vars is None for item in node.items):
        yield Edit(node, f"if True:\n{' ' * node.body[0].col_offset}", "lock dropped", until=node.body[0])


def _caught(node: ast.ExceptHandler, text: SourceText) -> Iterator[Edit]:
    if not isinstance(node.body[0], ast.Raise | ast.Pass):
        yield Edit(node.body[0], "raise", "recovery dropped")


def _is_prose(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_empty(body: list[ast.stmt]) -> bool:
    return all(isinstance(each, ast.Pass) or _is_prose(each) for each in body)


def _is_talk(call: ast.expr) -> bool:
    if not isinstance(call, ast.Call):
        return False
    names = {node.id for node in ast.walk(call.func) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(call.func) if isinstance(node, ast.Attribute)}
    return any(name.lower().strip("_") in _TALK for name in names)


_FINDERS: dict[type[ast.AST], Callable[..., Iterator[Edit]]] = {
    ast.If: _decided,
    ast.For: _repeated,
    ast.Break: _left,
    ast.Continue: _left,
    ast.Expr: _spoken,
    ast.Raise: _raised,
    ast.Assign: _assigned,
    ast.AugAssign: _assigned,
    ast.Delete: _assigned,
    ast.Return: _answered,
    ast.With: _held,
    ast.AsyncWith: _held,
    ast.ExceptHandler: _caught,
}
