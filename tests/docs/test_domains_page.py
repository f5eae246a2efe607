"""The page about domains runs as printed: its steps, in an empty environment, and what it shows of code."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from penstock.plugin import DomainPlugin
from penstock.runtime.settings import read_settings
from tests.cli.wheel import Environment, clean_environment, install, wheel
from tests.docs.test_readme import await_answer
from tests.work.soon import soon

__all__ = ["wheel"]

PAGE = Path(__file__).parents[2] / "docs" / "domains.md"


@pytest.mark.long
@pytest.mark.skipif(shutil.which("curl") is None, reason="a line of the page is for curl")
def test_the_steps_of_the_page_lead_to_a_film(wheel: Path, tmp_path: Path) -> None:
    first, up, then = re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL)
    made = Environment(tmp_path / "environment")
    made.folder.mkdir()
    install(made, wheel)
    assert "9 passed" in shell(made, " && ".join(commands(first)), made.work)

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (line,) = commands(up)
    with open(tmp_path / "log", "w") as log:
        process = subprocess.Popen(
            f"exec {line} --port {port}", shell=True, cwd=made.work, env=around(made), stdout=log, stderr=log
        )
    try:
        await_answer(f"http://127.0.0.1:{port}/healthz", process, seconds=120)
        curl, while_made, approve, released, plan = commands(then)
        assert '"draft"' in shell(made, curl.replace("8000", str(port)), made.work)
        soon(lambda: "Robot in Austin, version 1" in shell(made, while_made, made.work), seconds=120)
        assert "is approved" in shell(made, approve, made.work)
        soon(lambda: "Robot in Austin" in shell(made, released, made.work), seconds=120)
        assert shell(made, plan, made.work) == "Nothing is missing.\n"
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0, (tmp_path / "log").read_text()[-2000:]


def test_what_the_page_shows_of_code_and_settings_is_so(tmp_path: Path) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, object] = {"__name__": "domains_page"}
    exec(compile(block, PAGE.name, "exec", dont_inherit=True), names)
    assert isinstance(names["PLUGIN"], DomainPlugin)
    for field in DomainPlugin.__dataclass_fields__:
        assert re.search(rf"^\| .*`{field}`.* \|", PAGE.read_text(), re.MULTILINE), f"the page says what {field} is"
    _, chosen, left_out = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "penstock.toml").write_text(chosen + left_out)
    read = read_settings((), {}, folder=tmp_path)
    assert (read.domains, read.without) == (("films", "my_package.module:PLUGIN"), ("novae",))


def commands(block: str) -> list[str]:
    return re.findall(r"^\$ (.*)$", block, re.MULTILINE)


def around(made: Environment) -> dict[str, str]:
    """As a user has it who has activated the environment, but for pip: what it needs is there already."""
    pip = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return {**clean_environment(), **pip, "PATH": f"{made.bin}{os.pathsep}{os.environ['PATH']}"}


def shell(made: Environment, line: str, folder: Path) -> str:
    said = subprocess.run(line, shell=True, cwd=folder, env=around(made), capture_output=True, text=True, timeout=240)
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    return said.stdout
