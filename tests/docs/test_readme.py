"""The README's example and its lines for a shell run as printed."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def test_the_example_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec", dont_inherit=True), {"__name__": "readme"})
    assert (tmp_path / "films.db").exists()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[str]:
    """`penstock up`, as a user starts it, in an empty folder and on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "penstock", "up", "--port", str(port)]
    with open(tmp_path / "log", "w") as log:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        await_answer(f"{url}/healthz", process, seconds=90)
        yield url
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0, (tmp_path / "log").read_text()[-2000:]


def await_answer(url: str, process: subprocess.Popen[bytes], *, seconds: float) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            assert process.poll() is None, "it has ended"
            assert time.monotonic() < end, "it does not answer"
            time.sleep(0.1)


@pytest.mark.skipif(shutil.which("curl") is None, reason="the README's lines are for curl")
def test_the_curl_lines_of_the_readme_work_as_printed(service: str, tmp_path: Path) -> None:
    """With `penstock up` running; Ctrl-C ends it well."""
    lines = re.findall(r"^\$ (curl .*)$", README.read_text(), re.MULTILINE)
    assert len(lines) == 3
    health, spoken, listed = (
        json.loads(subprocess.run(line, shell=True, capture_output=True, check=True, text=True, cwd=tmp_path).stdout)
        for line in (line.replace("http://127.0.0.1:8000", service) for line in lines)
    )
    assert health == {"status": "ok"}
    assert [item["audio_id"] for item in listed["items"]] == [spoken["audio_id"]], "nothing shown is empty"
    with urllib.request.urlopen(spoken["audio_url"], timeout=30) as answer:
        assert answer.read(4) == b"RIFF"
