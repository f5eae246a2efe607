"""`penstock new`, from the wheel, in an empty environment: what it writes is a whole system."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.cli.conftest import Penstock
from tests.cli.wheel import DOMAINS, Environment, clean_environment, environment, wheel
from tests.work.soon import soon

__all__ = ["environment", "wheel"]

LONG_ENOUGH = 120.0
AT = "2037-01-01T00:00:00Z"


# What is written


def test_the_environment_has_penstock_from_the_wheel_and_finds_all_domains(environment: Environment) -> None:
    said = environment.run("python", "-c", "import penstock, films; print(penstock.__file__, films.__file__)")
    assert said.stdout.count(str(environment.folder)) == 2, said
    checks = json.loads(environment.run("penstock", "doctor", "--json").stdout)["checks"]
    served = next(c["state"] for c in checks if c["what"] == "domains").split(", ")
    assert {*DOMAINS, "speech"} < set(served)
    assert len(served) == 7


def test_what_is_written_is_small_and_complete(penstock: Penstock, folder: Path) -> None:
    assert penstock("new", "films").code == 0
    written = {str(p.relative_to(folder / "films")) for p in (folder / "films").rglob("*.*")}
    assert written == {
        "README.md",
        "pyproject.toml",
        "src/films/__init__.py",
        "src/films/console/at_a_glance.js",
        "src/films/model.py",
        "src/films/plugin.py",
        "src/films/py.typed",
        "src/films/tasks.py",
        "tests/test_films.py",
        "tests/test_simulation.py",
    }
    for path in (folder / "films").rglob("*.*"):
        assert "{{" not in path.read_text()
        assert "NAME" not in path.read_text()


def test_its_own_tests_pass_beside_it(penstock: Penstock, folder: Path) -> None:
    """As they do from the wheel, where long runs have them with their simulation."""
    assert penstock("new", "lanterns").code == 0
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_lanterns.py"]
    alone = {**os.environ, "PYTHONPATH": "src", "PYTEST_ADDOPTS": ""}
    said = subprocess.run(command, cwd=folder / "lanterns", env=alone, capture_output=True, text=True, timeout=280)
    assert said.returncode == 0, said.stdout[-3000:]
    assert "8 passed" in said.stdout


def test_its_tests_pass(environment: Environment) -> None:
    said = environment.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", folder=environment.work / "films")
    assert said.returncode == 0, said.stdout[-3000:]
    assert "9 passed" in said.stdout


@pytest.mark.parametrize("name", ["ants", "zebras", "a_b"])
def test_it_passes_the_linter(penstock: Penstock, folder: Path, name: str) -> None:
    """Whatever the name, which decides the order of imports and the width of lines."""
    assert penstock("new", name).code == 0
    passes(folder / name, "ruff", "check", "--select", "E,F,W,I,B,UP,RUF")
    passes(folder / name, "ruff", "format", "--check")


def test_it_passes_the_type_checker(penstock: Penstock, folder: Path) -> None:
    assert penstock("new", "lanterns").code == 0
    passes(folder / "lanterns", "mypy", "--strict")


def passes(folder: Path, tool: str, *words: str) -> None:
    command = [str(Path(sys.executable).parent / tool), *words]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=280)
    assert said.returncode == 0, said.stdout + said.stderr


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("my-films", "not 'my-films'; such as \"my_films\""),
        ("Films", "not 'Films'; such as \"films\""),
        ("1st", "small letters, digits and single underscores"),
        ("", "not ''"),
        ("../films", "not '../films'"),
        ("f" * 500, "not '" + "f" * 40 + "…'"),
        ("films\n", "small letters"),
        ("class", "means something else already"),
        ("json", "means something else already"),
        ("penstock", "means something else already"),
        ("pg_films", "means something else already"),
        ("novae", "there is a package or a domain 'novae' here already"),
        ("pydantic", "there is a package or a domain 'pydantic' here already"),
    ],
)
def test_a_bad_name_is_refused_and_nothing_is_written(penstock: Penstock, folder: Path, name: str, told: str) -> None:
    said = penstock("new", name)
    assert said.code == 2
    assert told in said.err
    assert len(said.err) < 300
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch, lambda path: path.symlink_to("nowhere")])
def test_what_is_there_already_is_not_overwritten(
    penstock: Penstock, folder: Path, make: Callable[[Path], None]
) -> None:
    make(folder / "lanterns")
    said = penstock("new", "lanterns")
    assert said.code == 2
    assert "is there already, and nothing is overwritten" in said.err
    assert [p.name for p in folder.iterdir()] == ["lanterns"]


# What runs


class Running:
    """`penstock up` in the environment."""

    def __init__(self, environment: Environment, folder: Path, url: str) -> None:
        self.environment, self.folder, self.url = environment, folder, url

    def penstock(self, *words: str) -> str:
        return self.environment.penstock(*words, folder=self.folder)

    def ask(self, path: str, body: Any = None) -> Any:
        name, _, value = (self.folder / ".penstock" / "key").read_text().strip().partition(": ")
        content = None if body is None else json.dumps(body).encode()
        headers = {name: value, "Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(self.url + path, content, headers), timeout=30) as answer:
            return json.loads(answer.read())

    def operations(self, domain: str) -> list[tuple[str, str, dict[str, Any]]]:
        """The method, the path and the description of each thing one can ask of a domain."""
        paths = self.ask("/openapi.json")["paths"]
        every = ((m, path, told) for path, some in paths.items() for m, told in some.items())
        return [(m, path, told) for m, path, told in every if domain in told.get("tags", ())]

    def create(self, domain: str, record: dict[str, Any]) -> None:
        """Through whichever route the description gives for it."""
        (path,) = (p for m, p, _ in self.operations(domain) if m == "post" and p.endswith("/assets"))
        self.ask(path, record)

    def titles(self, domain: str, status: str) -> list[str]:
        """The assets in a state."""
        for method, path, told in self.operations(domain):
            parameters = {p["name"]: p for p in told.get("parameters", ()) if "$ref" not in p}
            if method == "get" and "status" in parameters and "{" not in path and "events" not in path:
                asked = {"status": status, **({"pattern": "by_status"} if "pattern" in parameters else {})}
                return [item["title"] for item in self.ask(f"{path}?{urlencode(asked)}")["items"]]
        raise AssertionError("no list by status")


@pytest.fixture
def running(environment: Environment, tmp_path: Path) -> Iterator[Running]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with open(tmp_path / "log", "w") as log:
        command = [str(environment.bin / "penstock"), "up", "--port", str(port)]
        process = subprocess.Popen(command, cwd=tmp_path, env=clean_environment(), stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        soon(lambda: _answers(url, process), seconds=LONG_ENOUGH)
        yield Running(environment, tmp_path, url)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0, (tmp_path / "log").read_text()[-3000:]


def _answers(url: str, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "it has ended"
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=5):
            return True
    except OSError:
        return False


@pytest.mark.long
def test_two_new_domains_run_beside_each_other(running: Running) -> None:
    """From the API through the feed, the pipeline and a person's word to the end, on the command line too."""
    for domain in DOMAINS:
        running.create(domain, {"title": f"a first of {domain}", "created_at": AT})
    for domain in DOMAINS:
        soon(lambda d=domain: running.titles(d, "made") == [f"a first of {d}"], seconds=LONG_ENOUGH)  # type: ignore[misc]
    assert running.penstock("films", "approve", "a first of films") == "a first of films is approved.\n"
    soon(lambda: running.titles("films", "released") == ["a first of films"], seconds=LONG_ENOUGH)
    assert running.titles("kites", "made") == ["a first of kites"], "a domain's records are its own"

    (film,) = json.loads(running.penstock("ls", "films.Asset.by_status", "status=released", "--json"))["items"]
    assert (film["title"], film["content"]) == ("a first of films", "a first of films, version 1")
    assert running.penstock("tables", "plan") == "Nothing is missing.\n"
    checks = {c["what"]: c["state"] for c in json.loads(running.penstock("doctor", "--json"))["checks"]}
    assert checks["feeds"] == "films: followed; kites: followed; videos: followed"
    assert "films-retention (17 3 * * * UTC)" in checks["schedules"]


def test_one_domain_can_be_served_alone(environment: Environment, tmp_path: Path) -> None:
    planned = environment.penstock("--domain", "films", "tables", "plan", folder=tmp_path)
    assert "films_assets" in planned
    assert "kites" not in planned
    (tmp_path / "penstock.toml").write_text('without = ["films"]\n')
    planned = environment.penstock("tables", "plan", folder=tmp_path)
    assert "films_assets" not in planned
    assert "kites_assets" in planned
