"""`penstock up` in its grown-up form: the API in one process, the work in others, a broker between them."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from penstock import open_store
from penstock.cli.running import is_loopback
from penstock.domains.speech.model import SpeechJob, SpeechJobStatus
from penstock.net.shown import without_secrets
from tests.cli.conftest import Penstock
from tests.servers import Valkey, free_port
from tests.work.soon import soon

LONG_ENOUGH = 120.0


@contextmanager
def process(folder: Path, broker: str, name: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command that runs until it is told to stop, which it then does well."""
    environment = {**os.environ, "REDIS_URL": broker, "PENSTOCK_SECRET": "the secret of these tests"}
    with open(folder / name, "wb") as log:
        command = [sys.executable, "-m", "penstock", *words]
        running = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        yield running
    finally:
        running.send_signal(signal.SIGINT if name == "up" else signal.SIGTERM)
        assert running.wait(60) in (0, -signal.SIGTERM), (folder / name).read_text()[-3000:]


def ask(url: str, body: Any = None) -> Any:
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, content, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def test_work_that_the_api_takes_in_is_done_by_workers_of_celery(tmp_path: Path, valkey_server: Valkey) -> None:
    """TA-24: on the store and with the files that both are told of; the broker is a real one."""
    valkey_server.flush()
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    where = ("--store", f"sqlite:///{tmp_path}/grown.db", "--objects", f"files:///{tmp_path}/grown")
    with ExitStack() as stack:
        up = stack.enter_context(
            process(tmp_path, valkey_server.url, "up", "up", "--workers", "celery", "--port", str(port), *where)
        )
        soon(lambda: _answers(url, up), seconds=LONG_ENOUGH)
        job = ask(f"{url}/public/tts/jobs", {"text": "Hello world test."})
        assert job["status"] == "queued"
        at = f"{url}/public/tts/jobs/{job['date']}/{job['job_id']}"
        soon(lambda: valkey_server.waiting("celery") == 1, seconds=LONG_ENOUGH)  # by the API's own dispatcher
        assert ask(at)["status"] == "queued", "the process of the API does no work itself"
        stack.enter_context(
            process(tmp_path, valkey_server.url, "worker", "worker", "--celery", "--threads", "1", *where)
        )
        store = open_store(where[1])
        ref = SpeechJob.at(date=date.fromisoformat(job["date"]), job_id=UUID(job["job_id"]))
        soon(lambda: store.get(ref).status is SpeechJobStatus.COMPLETED, seconds=LONG_ENOUGH)
        store.close()
        with urllib.request.urlopen(ask(at)["audio"]["audio_url"], timeout=30) as answer:
            assert answer.read(4) == b"RIFF"
    assert list((tmp_path / "grown").rglob("*.wav"))
    assert not (tmp_path / ".penstock" / "penstock.db").exists()


def _answers(url: str, up: subprocess.Popen[bytes]) -> bool:
    assert up.poll() is None, "it has ended"
    try:
        return bool(ask(f"{url}/healthz") == {"status": "ok"})
    except OSError:
        time.sleep(0.1)
        return False


def test_up_opens_the_console_and_shows_its_key_to_nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command is seen by every user of a machine, so the key is in a file that only its owner reads."""
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}.new && mv {opened}.new {opened}\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    port = free_port()
    words = ("up", "--open", "--workers", "none", "--port", str(port), "--store", f"sqlite:///{tmp_path}/a.db")
    with process(tmp_path, "redis://127.0.0.1:1/0", "up", *words):
        soon(opened.exists, seconds=LONG_ENOUGH)
    page = Path(urllib.parse.urlsplit(opened.read_text()).path)
    assert page == tmp_path / ".penstock" / "open.html"
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    token = (tmp_path / ".penstock" / "key").read_text().split()[-1]
    assert f"url=http://127.0.0.1:{port}/#key={token}" in page.read_text()
    assert token not in (tmp_path / "up").read_text()


def test_a_port_that_is_taken_is_told_before_anything_is_set_going(penstock: Penstock, folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = penstock("up", "--port", str(port))
    assert said.code == 2
    assert said.err == (
        f"penstock: cannot listen on 127.0.0.1:{port}: Address already in use; choose another with --host and --port\n"
    )
    assert not (folder / ".penstock" / "penstock.db").exists()
    assert "cannot listen on 127.0.0.1:70000" in penstock("up", "--port", "70000").err


@pytest.mark.parametrize(
    ("host", "here"),
    [("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("db", False)],
)
def test_a_key_is_needed_unless_only_this_machine_can_knock(host: str, here: bool) -> None:
    assert is_loopback(host) is here


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ann:pass@word@db/x?password=y", "postgresql://ann@db/x"),
        ("redis://:secret@r:1/0", "redis://@r:1/0"),
        ("sqlite:///.penstock/a.db", "sqlite:///.penstock/a.db"),
        ("sqlite:////home/ann@work/a.db", "sqlite:////home/ann@work/a.db"),
        ("postgresql://db:5/x?user=u&password=SEC@RET", "postgresql://db:5/x"),
        ("postgresql://ann:SEC#RET@[::1]:5/x", "postgresql://ann@[::1]:5/x"),
        ("postgresql://ann:SEC?RET@db/x", "postgresql://…"),
        ("postgresql://db?password=SEC@RET", "postgresql://…"),
        ("postgresql://ann:SEC/RET@db/x", "postgresql://…"),
        ("postgresql://a/nn:SECRET@db/x", "postgresql://…"),
        ("https://hooks.example/services/T0/SECRET", "https://hooks.example/…"),
        ("https://hooks.example?token=SECRET", "https://hooks.example"),
        ("https://hooks.example/#SECRET", "https://hooks.example/"),
        ("https://SECRET@hooks.example:8443/x", "https://hooks.example:8443/…"),
        ("HTTP://hooks.example/SECRET", "HTTP://hooks.example/…"),
        ("kafka://a:1,b:2/topic", "kafka://a:1,b:2/topic"),
        ("strange+thing://host/SECRET", "strange+thing://host/…"),
    ],
)
def test_no_password_is_shown(url: str, shown: str) -> None:
    assert without_secrets(url) == shown
