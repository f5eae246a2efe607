"""An empty environment with the wheel of this tree in it, and two domains that `penstock new` wrote there.

What Penstock depends on is taken from the environment of the tests, so that nothing is downloaded; Penstock itself is
the wheel's and no other.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
DOMAINS = ("films", "kites")


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and the folder in which one works with it."""

    folder: Path

    @property
    def bin(self) -> Path:
        return self.folder / "venv" / "bin"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def run(self, command: str, *words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        """A command of the environment, as its user has it."""
        return subprocess.run(
            [self.bin / command, *words],
            cwd=folder or self.work,
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=240,
        )

    def penstock(self, *words: str, folder: Path | None = None) -> str:
        """What a command says that must go well."""
        said = self.run("penstock", *words, folder=folder)
        assert said.returncode == 0, said.stderr
        assert said.stderr == ""
        return said.stdout


def clean_environment() -> dict[str, str]:
    """Nothing that would tell a setting, or where to import from."""
    return {n: v for n, v in os.environ.items() if not n.startswith(("PENSTOCK_", "PYTEST_", "PYTHON", "AWS_", "MV_"))}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The wheel of this tree."""
    with _once(tmp_path_factory, worker_id, "wheel") as (folder, is_new):
        if is_new:
            _pip("wheel", "--no-build-isolation", "--wheel-dir", str(folder), str(REPOSITORY))
    return next(folder.glob("penstock-*.whl"))


@pytest.fixture(scope="session")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Environment:
    """Penstock from the wheel, and two domains."""
    with _once(tmp_path_factory, worker_id, "environment") as (folder, is_new):
        made = Environment(folder)
        if is_new:
            install(made, wheel)
            for name in DOMAINS:
                made.penstock("new", name)
                _pip("install", "--no-build-isolation", str(made.work / name), python=str(made.bin / "python"))
    return made


@contextmanager
def _once(factory: pytest.TempPathFactory, worker_id: str, name: str) -> Iterator[tuple[Path, bool]]:
    """A folder, and whether it is still to be filled: by the first of the processes that test together."""
    base = factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / name
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder, not (folder / "ready").exists()
        (folder / "ready").touch()


def install(made: Environment, wheel: Path) -> None:
    """An environment with the wheel, and nothing else of ours."""
    venv.create(made.folder / "venv", with_pip=False, symlinks=True)
    (own,) = (made.folder / "venv" / "lib").glob("python*/site-packages")
    _pip("install", str(wheel), python=str(made.bin / "python"))
    # Only now: pip would take the Penstock of the tests for one that is installed already.
    others = [path for path in sys.path if Path(path).name == "site-packages"]
    (own / "what_penstock_depends_on.pth").write_text("\n".join(others))
    made.work.mkdir()


def _pip(command: str, *words: str, python: str = sys.executable) -> None:
    options = ["--no-deps", "--no-index", "--quiet", "--disable-pip-version-check"]
    said = subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, command, *options, *words],
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert said.returncode == 0, said.stderr
