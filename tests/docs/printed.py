"""Runs a page's Python as printed, and holds it to what it says of itself.

    store.get(ref).title
    # → 'First words'

    store.create(again)
    # raises Conflict: Episode(show=tea, number=1) …

What follows ``# →`` is what the expression above it is, as Python writes it; what follows ``# raises`` is the error of
the statement above it. Either may stand behind the statement or below it (below a class after blank lines, as the
formatter wants it), and go on in further comment lines; ``…`` stands for any text. An example that raises without
saying so fails, and so does one that says so and does not.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_CLAIM = re.compile(r"# (?P<kind>→|raises) (?P<text>.*)$")


def run_page(page: Path) -> dict[str, Any]:
    """Run every block of a page in one module, top to bottom; the names it has made."""
    text = page.read_text()
    names: dict[str, Any] = {"__name__": page.stem}
    for block in _BLOCK.finditer(text):
        run_block(block[1], names, where=page.name, line=text.count("\n", 0, block.start(1)))
    return names


def run_block(source: str, names: dict[str, Any], *, where: str, line: int = 0) -> None:
    """Run one block; ``line`` is how many lines come before it on its page."""
    tree = ast.parse(source)
    lines = source.splitlines()
    ends = [statement.lineno - 1 for statement in tree.body[1:]] + [len(lines)]
    for statement, end in zip(tree.body, ends, strict=True):
        place = f"{where}:{line + statement.lineno}"
        claim = _claim(lines[(statement.end_lineno or 1) - 1 : end])
        ast.increment_lineno(statement, line)
        _hold(statement, names, claim, place)


def claims(page: Path) -> int:
    """How much a page says of its own results."""
    return sum(len(re.findall(_CLAIM.pattern, b[1], re.MULTILINE)) for b in _BLOCK.finditer(page.read_text()))


def _claim(lines: list[str]) -> tuple[str, str] | None:
    """What the last line of a statement, or the comment below it, says of it."""
    for number, line in enumerate(lines):
        if found := _CLAIM.search(line):
            texts = [found["text"]]
            for more in lines[number + 1 :]:
                if not more.startswith("# ") or _CLAIM.search(more):
                    break
                texts.append(more[2:])
            return found["kind"], " ".join(texts)
        if number and line and not line.startswith("#"):
            return None
    return None


def _hold(statement: ast.stmt, names: dict[str, Any], claim: tuple[str, str] | None, place: str) -> None:
    kind, text = claim or (None, "")
    if kind == "→":
        assert isinstance(statement, ast.Expr), f"{place}: only an expression has a value"
        value = eval(compile(ast.Expression(statement.value), place, "eval", dont_inherit=True), names)
        _fits(repr(value), text, place)
        return
    code = compile(ast.Module([statement], []), place, "exec", dont_inherit=True)
    if kind is None:
        exec(code, names)
        return
    try:
        exec(code, names)
    except Exception as error:
        _fits(f"{type(error).__name__}: {error}", text, place)
    else:
        pytest.fail(f"{place}: nothing was raised, but {text}")


def _fits(found: str, said: str, place: str) -> None:
    """Lines are broken where the page needs it."""
    found, said = " ".join(found.split()), " ".join(said.split())
    pattern = ".*".join(re.escape(part) for part in said.split("…"))
    assert re.fullmatch(pattern, found), f"{place}: the page says\n  {said}\nbut it is\n  {found}"
