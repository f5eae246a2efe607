"""What may be broken in an expression."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from mutants.edit import Edit, SourceText

_FLIPPED = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_ESCAPES = ("escape", "quote", "encode", "normal", "redact", "shown", "check", "valid", "unquote", "resolve", "strip")
_GUARDS = {
    *("when", "once", "strict", "token", "limit", "longest", "until", "ge", "le", "max_length", "min_length", "bound"),
    *("expires", "ttl", "cursor", "backwards", "under", "absent", "etag", "if_match", "retry", "dir_fd", "owner"),
    *("unique", "immutable", "frozen_by", "by", "order", "timeout", "default", "required", "private", "personal"),
}
"Arguments that something is guarded by."
ONLY_CHECKED = ("TypeVar", "zip")
"What is told to a checker of types; and an assertion, that two are of the same length."
_ARITHMETIC = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.FloorDiv: ("//", "*")}


def expression_edits(node: ast.expr, text: SourceText) -> Iterator[Edit]:
    """Each way to break one expression."""
    for kind, find in _FINDERS.items():
        if isinstance(node, kind):
            yield from find(node, text)


def _compared(node: ast.Compare, text: SourceText) -> Iterator[Edit]:
    if len(node.ops) == 1:
        left, right = text.of(node.left), text.of(node.comparators[0])
        _, flipped = _FLIPPED[type(node.ops[0])]
        yield Edit(node, f"{left} {flipped} {right}", "comparison flipped")
    else:  # a bound at either end
        yield Edit(node, text.of(node).rsplit(_FLIPPED[type(node.ops[-1])][0], 1)[0].strip(), "bound dropped")


def _joined(node: ast.BoolOp, text: SourceText) -> Iterator[Edit]:
    for value in node.values:
        others = [text.of(other) for other in node.values if other is not value]
        word = " and " if isinstance(node.op, ast.And) else " or "
        yield Edit(node, f"({word.join(others)})", "condition dropped")


def _denied(node: ast.UnaryOp, text: SourceText) -> Iterator[Edit]:
    if isinstance(node.op, ast.Not):
        yield Edit(node, f"({text.of(node.operand)})", "condition turned")


def _calculated(node: ast.BinOp, text: SourceText) -> Iterator[Edit]:
    if (words := _ARITHMETIC.get(type(node.op))) and not _is_text(node.left) and not _is_text(node.right):
        yield Edit(node, f"{text.of(node.left)} {words[1]} {text.of(node.right)}", "arithmetic turned")


def _called(node: ast.Call, text: SourceText) -> Iterator[Edit]:
    name = called_name(node)
    if name in ("min", "max") and len(node.args) == 2 and not node.keywords:
        yield from (Edit(node, text.of(each), "bound dropped") for each in node.args)
    elif name in ("sorted", "reversed") and node.args:
        yield Edit(node, f"list({text.of(node.args[0])})", "order dropped")
    elif any(word in name.lower() for word in _ESCAPES) and len(node.args) == 1 and not node.keywords:
        yield Edit(node, text.of(node.args[0]), "check or escape dropped")
    for keyword in node.keywords:
        if keyword.arg in _GUARDS and name not in ONLY_CHECKED:
            yield _without(node, keyword, text)


def called_name(node: ast.Call) -> str:
    """The last name of what is called; nothing where it has none."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _without(node: ast.Call, keyword: ast.keyword, text: SourceText) -> Edit:
    kept = [text.of(arg) for arg in node.args] + [text.of(each) for each in node.keywords if each is not keyword]
    return Edit(node, f"{text.of(node.func)}({', '.join(kept)})", "argument dropped")


def _constant(node: ast.Constant, text: SourceText) -> Iterator[Edit]:
    if isinstance(node.value, bool):
        yield Edit(node, str(not node.value), "wrong value")
    elif isinstance(node.value, int):
        yield Edit(node, str(node.value + 1), "off by one")
    elif isinstance(node.value, str):
        yield from _statement_text(node, text)


_SQL = {" for share": "", " for update": "", " immediate": "", " desc": "", " skip locked": "", "not exists": "exists"}


def _statement_text(node: ast.Constant, text: SourceText) -> Iterator[Edit]:
    """What a statement of a database locks, orders and asks for."""
    written = text.of(node)
    for word, instead in _SQL.items():
        if word in written:
            yield Edit(node, written.replace(word, instead, 1), "lock or order dropped")


def _chosen(node: ast.IfExp, text: SourceText) -> Iterator[Edit]:
    yield Edit(node, text.of(node.body), "condition dropped")
    yield Edit(node, text.of(node.orelse), "condition dropped")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


_FINDERS: dict[type[ast.expr], Callable[..., Iterator[Edit]]] = {
    ast.Compare: _compared,
    ast.BoolOp: _joined,
    ast.UnaryOp: _denied,
    ast.BinOp: _calculated,
    ast.Call: _called,
    ast.Constant: _constant,
    ast.IfExp: _chosen,
}
