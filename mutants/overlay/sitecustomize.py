"""Loaded by every Python that has this folder on its path: one module comes from another text than its file has.

The working tree stays as it is, and processes that a test starts have the mutant too.
"""

import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any


class _Broken(SourceFileLoader):
    """Says of itself that it is the file, so that what lies beside the file is found."""

    def get_code(self, fullname: str) -> CodeType:
        return compile(Path(os.environ["MUTANT_TEXT"]).read_text(), self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    """Finds what others find, and has the one file loaded from elsewhere."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname != os.environ["MUTANT_MODULE"]:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = _Broken(fullname, spec.origin)
        return spec


def install() -> None:
    """From now on, if there is a mutant."""
    if "MUTANT_MODULE" in os.environ:
        sys.meta_path.insert(0, _Finder())


install()
if "MUTANTS_REACHED" in os.environ:
    import followed  # type: ignore[import-not-found]  # beside this file

    followed.follow()
