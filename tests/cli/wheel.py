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
    return {n: v for n, v in os.environ.items() if not n.startswith(("PENSTOCK_", "PYTHON", "AWS_", "MV_"))}


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Environment:
    """Made once, whichever of the processes that test together comes first."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "wheel"
    folder.mkdir(exist_ok=True)
    made = Environment(folder)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready").exists():
            _make(made)
            (folder / "ready").touch()
    return made


def _make(made: Environment) -> None:
    wheels = made.folder / "wheels"
    _pip("wheel", "--no-build-isolation", "--wheel-dir", str(wheels), str(REPOSITORY))
    venv.create(made.folder / "venv", with_pip=False, symlinks=True)
    (own,) = (made.folder / "venv" / "lib").glob("python*/site-packages")
    python = str(made.bin / "python")
    _pip("install", str(next(wheels.glob("penstock-*.whl"))), python=python)
    # Only now: pip would take the Penstock of the tests for one that is installed already.
    others = [path for path in sys.path if Path(path).name == "site-packages"]
    (own / "what_penstock_depends_on.pth").write_text("\n".join(others))
    made.work.mkdir()
    for name in DOMAINS:
        made.penstock("new", name)
        _pip("install", "--no-build-isolation", str(made.work / name), python=python)


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
