"""Text becomes code in one place, speaks only of names it was given, and shows itself in a traceback."""

from __future__ import annotations

import ast
import builtins
import dis
import gc
import linecache
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

import penstock
from penstock.domains import DOMAINS
from penstock.engines.dynamodb.item_type import ItemType
from penstock.engines.sql.dialects import POSTGRES, SQLITE
from penstock.engines.sql.rows import compile_codec
from penstock.schema.generated import defined, expressed
from penstock.testing.entities import SUITE

SOURCE = Path(penstock.__file__).parent
MAKERS = {"exec", "eval", "compile"}


def test_text_becomes_code_in_one_module_only() -> None:
    found = {str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if any(_makers(path))}
    assert found == {"schema/generated.py"}


def _makers(path: Path) -> Iterator[ast.Name]:
    text = path.read_text()
    if not any(maker in text for maker in MAKERS):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and node.id in MAKERS:
            yield node


def test_generated_code_speaks_only_of_names_that_there_are() -> None:
    """A name within a text is found by no checker, and missed by any renaming, until the line runs."""
    kept: list[Any] = []
    for domain in (*DOMAINS, SUITE):
        for entity in domain.entities:
            shape = entity.__shape__
            kept += [compile_codec(shape, dialect) for dialect in (SQLITE, POSTGRES)]
            kept.append(ItemType(shape, "Table").decode)
    functions = [f for f in gc.get_objects() if type(f) is FunctionType and _is_generated(f)]
    assert len(functions) > len(kept)
    unknown = {(f.__code__.co_filename, name) for f in functions for name in _spoken_of(f.__code__) - _known(f)}
    assert not unknown


def _is_generated(function: FunctionType) -> bool:
    return function.__code__.co_filename.startswith("<penstock ")


def _known(function: FunctionType) -> set[str]:
    return {*function.__globals__, *vars(builtins)}


def _spoken_of(code: CodeType) -> set[str]:
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    own = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return own.union(*map(_spoken_of, inner))


def test_a_traceback_shows_the_generated_line() -> None:
    read = expressed("read", "r", "r['nothing'] + other", about="Shot", names={"other": 1})
    with pytest.raises(KeyError) as missing:
        read({})
    shown = "".join(traceback.format_exception(missing.value))
    assert "read of Shot" in shown
    assert "return r['nothing'] + other" in shown


def test_source_is_forgotten_with_its_function() -> None:
    function = defined("nothing", "def nothing():\n    pass\n", about="Shot")
    file = function.__code__.co_filename
    assert linecache.getline(file, 2) == "    pass\n"
    linecache.checkcache()
    assert file in linecache.cache
    del function
    gc.collect()
    assert file not in linecache.cache


def test_names_that_were_given_stay_as_they_were() -> None:
    names = {"a": 1}
    assert expressed("add", "x", "x + a", about="Shot", names=names)(2) == 3
    assert names == {"a": 1}
