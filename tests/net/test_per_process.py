"""What belongs to a process is not its children's, whatever a thread of the parent was doing when it forked."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import penstock
from penstock.engines.dynamodb.calls import Calls
from penstock.engines.dynamodb.wire import Reply
from penstock.net import per_process
from penstock.net.per_process import PerProcess, generation, watch
from penstock.ports.ids import commit_token
from tests.forked import forked

T = TypeVar("T")


def holds_in_a_child(question: Callable[[], bool]) -> bool:
    return forked(question) == 0


def after(event: threading.Event, ask: Callable[[], T]) -> T:
    event.set()
    return ask()


def test_each_process_opens_its_own_and_keeps_it() -> None:
    kept = PerProcess(object)
    mine = kept.get()
    assert kept.get() is mine
    assert holds_in_a_child(lambda: kept.get() is not mine and kept.get() is kept.get())
    assert holds_in_a_child(lambda: holds_in_a_child(lambda: kept.get() is not mine))
    assert kept.drop() is mine
    assert kept.drop() is None
    assert kept.get() is not mine


_INHERITED = """
import gc
from penstock.net.per_process import PerProcess, generation
from tests.forked import forked

class Connection:
    def __del__(self):
        if generation() != born:
            print("ended")

born = generation()
kept = PerProcess(Connection)
kept.get()
assert forked(lambda: kept.drop() is None and kept.get() is not None and gc.collect() >= 0) == 0
"""


def test_what_a_child_inherits_is_not_ended_there() -> None:
    """In a process of its own: garbage of other tests is not for a child to collect."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-u", "-c", _INHERITED]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=90, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_child_does_not_wait_for_a_thread_that_it_has_not() -> None:
    opening, go_on = threading.Event(), threading.Event()

    def slowly() -> str:
        opening.set()
        go_on.wait(10)
        return "opened"

    kept = PerProcess(slowly)
    thread = threading.Thread(target=kept.get)
    thread.start()
    opening.wait(10)
    parent = generation()
    try:
        assert holds_in_a_child(lambda: generation() != parent and after(go_on, kept.get) == "opened")
    finally:
        go_on.set()
        thread.join()


def test_a_child_may_call_though_a_thread_of_its_parent_was_about_to_connect() -> None:
    connecting, go_on = threading.Event(), threading.Event()

    class Wire:
        def call(self, operation: str, body: bytes) -> Reply:
            return Reply(b"", False)

        def close(self) -> None: ...

    def connect() -> Wire:
        connecting.set()
        go_on.wait(10)
        return Wire()

    calls = Calls(connect, lambda seconds: None)
    thread = threading.Thread(target=calls.call, args=("GetItem", b""))
    thread.start()
    connecting.wait(10)
    try:
        assert holds_in_a_child(lambda: after(go_on, lambda: calls.call("GetItem", b"")).body == b"")
    finally:
        go_on.set()
        thread.join()


def test_only_what_still_lives_is_told() -> None:
    class Watched:
        told = 0

        def forked(self) -> None:
            Watched.told += 1

    first, second = Watched(), Watched()
    watch(first)
    watch(second)
    del first
    gc.collect()
    assert holds_in_a_child(lambda: Watched.told == 1)
    assert (Watched.told, second.told) == (0, 0)


def test_commits_of_a_child_have_names_of_their_own() -> None:
    mine = commit_token()[:24]
    assert commit_token()[:24] == mine
    assert holds_in_a_child(lambda: commit_token()[:24] != mine)


def test_there_is_one_fork_guard() -> None:
    source = Path(penstock.__file__).parent
    guards = [path for path in source.rglob("*.py") if "register_at_fork" in path.read_text()]
    assert guards == [Path(per_process.__file__)]
