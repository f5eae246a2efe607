"""Every module has its place: import-linter watches over the kernel, and no new file escapes it."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
ABOVE = {
    *("access", "app", "caller", "ending", "heap", "installed", "logs", "ownkey", "presigned", "private", "probing"),
    *("service", "settings"),
}
"What knows engines, domains or doors, or stands beside them."


def test_each_module_is_of_the_kernel_or_known_to_be_above_it() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (kernel,) = [c for c in contracts if c["name"].startswith("The kernel knows ports")]
    watched = {name.removeprefix("penstock.") for name in kernel["source_modules"]}
    modules = {path.stem for path in (ROOT / "src" / "penstock").glob("*.py") if not path.stem.startswith("__")}
    assert modules - ABOVE == watched - {"declare", "seals"}, "the two that are folders"
