"""Functions from generated source: the one place where a text becomes code.

Whoever generates writes only names that were checked at declaration, and never a value. The text is kept where
tracebacks and debuggers look for source, for as long as its function lives.
"""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Mapping
from itertools import count
from types import FunctionType
from typing import Any

_numbers = count(1)


def defined(name: str, source: str, *, about: str, names: Mapping[str, Any] | None = None) -> Any:
    """The function that a source defines under a name; ``names`` are what it may speak of besides the built-in ones.

    ``about`` says in a traceback whose it is.
    """
    file = f"<penstock {next(_numbers)}: {name} of {about}>"
    scope: dict[str, Any] = {**(names or {}), "__name__": __name__}
    exec(compile(source, file, "exec", dont_inherit=True), scope)
    function = scope[name]
    assert isinstance(function, FunctionType)
    # Without a time of change nobody looks for a file of this name.
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    weakref.finalize(function, linecache.cache.pop, file, None).atexit = False
    return function


def expressed(name: str, parameter: str, expression: str, *, about: str, names: Mapping[str, Any] | None = None) -> Any:
    """The function of one parameter that gives an expression's value."""
    return defined(name, f"def {name}({parameter}):\n    return {expression}\n", about=about, names=names)
