"""What is deployed with: every command of the units, the Dockerfile and the compose file runs as it is written."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from configparser import ConfigParser
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from penstock import Store, open_store
from penstock.runtime.settings import SETTINGS
from penstock.work.unserved_queue import live_workers
from tests.cli.test_serving import LONG_ENOUGH, is_ready
from tests.cli.wheel import wheel
from tests.servers import Postgres, Valkey, free_port
from tests.work.soon import soon

__all__ = ["wheel"]

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))
INSTALLED, STATE = "/opt/penstock/bin/", "/var/lib/penstock"


def unit(path: Path) -> dict[str, str]:
    read = ConfigParser(interpolation=None, strict=False)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read(path)
    return {name: value for section in read.sections() for name, value in read[section].items()}


def dockerfile() -> dict[str, list[str]]:
    lines: dict[str, list[str]] = {}
    for line in (DEPLOY / "Dockerfile").read_text().splitlines():
        word, _, rest = line.partition(" ")
        lines.setdefault(word, []).append(rest)
    return lines


def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return read


def commands() -> dict[str, list[str]]:
    """Every command that serves or works, by where it is written, as the words after the program's own name."""
    found = {path.name: shlex.split(unit(path)["ExecStart"]) for path in UNITS}
    image = dockerfile()
    entry, usual = json.loads(image["ENTRYPOINT"][0]), json.loads(image["CMD"][0])
    found["Dockerfile"] = [*entry, *usual]
    for name, service in compose()["services"].items():
        if service.get("image") == "penstock":
            found[f"compose: {name}"] = [*entry, *service["command"]]
    assert {words[0] for words in found.values()} == {f"{INSTALLED}penstock"}
    return {where: words[1:] for where, words in found.items()}


@pytest.fixture
def environment(tmp_path: Path, postgres_server: Postgres, valkey_server: Valkey) -> dict[str, str]:
    """What the compose file says, with the addresses of servers that are here."""
    valkey_server.flush()
    told = compose()["x-penstock"]["environment"]
    here = {
        "PENSTOCK_STORE": postgres_server.create_database("deployed"),
        "PENSTOCK_OBJECTS": told["PENSTOCK_OBJECTS"].replace(STATE, str(tmp_path)),
        "PENSTOCK_BROKER": valkey_server.url,
        "PENSTOCK_SECRET": "the secret of these tests",
        "PENSTOCK_PUBLIC_URL": "http://localhost:8000",
    }
    assert told.keys() == here.keys() | {"PENSTOCK_LOG_FORMAT"}
    return {**os.environ, **told, **here, "PENSTOCK_DOMAINS": "speech", "PENSTOCK_GRACE": "10"}


@contextmanager
def running(words: list[str], folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """A command of ours, until it is told to stop, which it does well."""
    with open(folder / "log", "ab") as log:
        command = [sys.executable, "-m", "penstock", *words]
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(40) == 0, (folder / "log").read_text()[-3000:]


@pytest.mark.parametrize("where", commands())
def test_every_command_runs_as_it_is_written(where: str, tmp_path: Path, environment: dict[str, str]) -> None:
    words, port = commands()[where], free_port()
    with running(words, tmp_path, {**environment, "PENSTOCK_PORT": str(port)}):
        if words[0] == "serve":
            soon(lambda: is_ready(f"http://127.0.0.1:{port}"), seconds=LONG_ENOUGH)
            probe = json.loads(dockerfile()["HEALTHCHECK"][0].partition("CMD ")[2])
            code = probe[2].replace(":8000/", f":{port}/")
            assert subprocess.run([sys.executable, probe[1], code], timeout=60).returncode == 0
        else:
            soon(lambda: is_at_work(environment["PENSTOCK_STORE"]), seconds=LONG_ENOUGH)


def is_at_work(url: str) -> bool:
    store: Store = open_store(url)
    try:
        return bool(live_workers(store))
    except Exception:
        return False  # its tables are not made yet
    finally:
        store.close()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_systemd_knows_all_that_a_unit_says(path: Path, tmp_path: Path) -> None:
    text = path.read_text().replace(f"{INSTALLED}penstock", sys.executable).replace("User=penstock\n", "")
    (tmp_path / path.name).write_text(text)
    said = subprocess.run(["systemd-analyze", "verify", tmp_path / path.name], capture_output=True, text=True)
    assert [line for line in said.stderr.splitlines() if path.name in line] == []


def test_what_ends_a_process_waits_longer_than_it_takes() -> None:
    grace = next(s.default for s in SETTINGS if s.variable == "PENSTOCK_GRACE")
    assert all(int(unit(path)["TimeoutStopSec"]) > grace for path in UNITS)
    assert int(compose()["x-penstock"]["stop_grace_period"].rstrip("s")) > grace


def test_the_image_names_extras_that_there_are() -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (extras,) = re.findall(r"\.whl\)\[([\w,]+)\]", dockerfile()["RUN"][0])
    assert set(extras.split(",")) <= known.keys()


@pytest.mark.long
def test_the_image_s_own_commands_make_an_installation(tmp_path: Path, wheel: Path) -> None:
    shutil.copy(wheel, tmp_path)
    places = {"/tmp/": f"{tmp_path}/", "/opt/penstock": f"{tmp_path}/opt", STATE: f"{tmp_path}/state"}
    offline = {**os.environ, "PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1"}
    for line in dockerfile()["RUN"]:
        for place, here in places.items():
            line = line.replace(place, here)
        line = line.replace("[all]", "")  # which would ask for packages
        line = line if os.geteuid() == 0 else line.partition("&& chown")[0]
        done = subprocess.run(["sh", "-ec", line.replace("python -m venv", f"{sys.executable} -m venv")], env=offline)
        assert done.returncode == 0
    assert (tmp_path / "opt/bin/penstock").exists()
