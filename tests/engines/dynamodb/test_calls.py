"""The wire is opened when it is needed, once, and closed for good by whoever closes, whatever others do meanwhile."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pytest

from penstock.engines.dynamodb.calls import Calls
from penstock.errors import Misconfigured
from tests.engines.dynamodb.scripted import Scripted

A_MOMENT = 0.1


class Closable(Scripted):
    """One that is asked for anything, until it is closed."""

    def __init__(self) -> None:
        super().__init__(otherwise=lambda *_: {})
        self.closed = False

    def close(self) -> None:
        self.closed = True


class Opened:
    """Every wire that was opened, and what is done by another thread while the first is."""

    def __init__(self, meanwhile: Callable[[], object] | None = None) -> None:
        self.wires: list[Closable] = []
        self._meanwhile = meanwhile
        self.calls = Calls(self._connect, lambda _: None)
        self._thread: threading.Thread | None = None

    def _connect(self) -> Closable:
        if self._meanwhile is not None and self._thread is None:
            self._thread = threading.Thread(target=self._meanwhile)
            self._thread.start()
            self._thread.join(A_MOMENT)
        self.wires.append(Closable())
        return self.wires[-1]

    def call(self) -> None:
        self.calls.call("GetItem", b"{}")
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()


def test_a_wire_is_opened_once_and_again_after_it_was_closed() -> None:
    opened = Opened()
    opened.calls.close()
    assert opened.wires == []
    for _ in range(2):
        opened.call()
    opened.calls.close()
    opened.calls.close()
    opened.call()
    assert [(len(wire.calls), wire.closed) for wire in opened.wires] == [(2, True), (1, False)]


def test_of_two_who_call_first_one_opens() -> None:
    opened = Opened(meanwhile=lambda: opened.call())
    opened.call()
    assert [len(wire.calls) for wire in opened.wires] == [2]


def test_what_is_being_opened_is_closed_too() -> None:
    opened = Opened(meanwhile=lambda: opened.calls.close())
    opened.call()
    assert [wire.closed for wire in opened.wires] == [True]


def test_a_fork_while_another_thread_opens_can_call() -> None:
    parent, opening, forked = os.getpid(), threading.Event(), threading.Event()

    def connect() -> Closable:
        if os.getpid() == parent:
            opening.set()
            forked.wait(10)
        return Closable()

    calls = Calls(connect, lambda _: None)
    thread = threading.Thread(target=calls.call, args=("GetItem", b"{}"))
    thread.start()
    opening.wait(10)
    child = os.fork()
    if child == 0:
        asking = threading.Thread(target=calls.call, args=("GetItem", b"{}"), daemon=True)
        asking.start()
        asking.join(5)
        os._exit(asking.is_alive())
    forked.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_driver_that_is_not_installed_is_named() -> None:
    missing = ImportError("no such module", name="pycurl")
    with pytest.raises(Misconfigured, match=r"needs pycurl: pip install 'penstock\[dynamodb\]'"):
        Calls(lambda: Scripted(missing), lambda _: None).call("GetItem", b"{}")
