"""What may be broken in a declaration: in a table, a class or a decorator, which is carried out when it is loaded."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mutants.edit import Edit, SourceText

DECLARED = "declaration: "
"How their kinds begin."
_Holder = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def declared_edits(holder: _Holder, text: SourceText) -> Iterator[Edit]:
    """Each way to break what stands right in a module or class, or in the head of a function."""
    for node in _declared(holder):
        for edit in _edits(node, text):
            yield Edit(edit.node, edit.text, DECLARED + edit.kind)


def _declared(holder: _Holder) -> Iterator[ast.AST]:
    if isinstance(holder, ast.FunctionDef | ast.AsyncFunctionDef):
        heads: list[ast.AST] = [*holder.decorator_list, *holder.args.defaults, *filter(None, holder.args.kw_defaults)]
    else:
        heads = [each for each in holder.body if isinstance(each, ast.Assign | ast.AnnAssign)]
    if isinstance(holder, ast.ClassDef):
        heads += [*holder.decorator_list, *(keyword.value for keyword in holder.keywords)]
    for head in heads:
        yield from ast.walk(head)


def _edits(node: ast.AST, text: SourceText) -> Iterator[Edit]:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        kept = f"{node.target.id}: {text.of(node.annotation)}"
        if node.value is not None:
            yield Edit(node, kept, "default dropped")
        yield Edit(node.target, f"{node.target.id}_other", "name changed")
    elif isinstance(node, ast.Constant):
        yield from _constant(node, text)
    elif isinstance(node, ast.Call) and node.lineno == node.end_lineno:
        yield from _call(node, text)
    elif isinstance(node, ast.List | ast.Tuple | ast.Set) and len(node.elts) > 1:
        yield from _shortened(node, text)


def _constant(node: ast.Constant, text: SourceText) -> Iterator[Edit]:
    written = text.of(node)
    if isinstance(node.value, str) and written.startswith('"') and len(written) > 2:
        yield Edit(node, f'{written[:-1]}x"', "text changed")
        if ":03d" in written:
            yield Edit(node, written.replace(":03d", ":04d"), "width changed")
    elif isinstance(node.value, bool):
        yield Edit(node, str(not node.value), "wrong value")
    elif isinstance(node.value, int | float):
        yield Edit(node, repr(node.value + 1), "wrong value")


def _call(node: ast.Call, text: SourceText) -> Iterator[Edit]:
    parts = [*node.args, *node.keywords]
    for part in parts:
        kept = ", ".join(text.of(each) for each in parts if each is not part)
        yield Edit(node, f"{text.of(node.func)}({kept})", "argument dropped")


def _shortened(node: ast.List | ast.Tuple | ast.Set, text: SourceText) -> Iterator[Edit]:
    """One of several left out."""
    written = text.of(node)
    for element in node.elts:
        kept = ", ".join(text.of(each) for each in node.elts if each is not element)
        yield Edit(node, f"{written[0]}{kept},{written[-1]}", "element dropped")
