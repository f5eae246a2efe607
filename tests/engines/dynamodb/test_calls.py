"""The wire is opened when it is needed, once, and closed for good by whoever closes, whatever others do meanwhile."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pytest

from penstock.engines.dynamodb.calls import Calls, translated
from penstock.engines.dynamodb.wire import Unconfigured
from penstock.errors import InvalidValue, Misconfigured, PenstockError, TooLarge
from tests.engines.dynamodb.scripted import Scripted, refusal

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


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b'{"TableName": "A"}', "table A does"),
        (b'{"RequestItems": {"D": [], "C": [], "B": [], "A": []}}', "table A or B or C or D does"),
        (b'{"TransactItems": [{"Put": {"TableName": "B"}}, {"Check": {"TableName": "A"}}]}', "table A or B does"),
        (b"{}", r"table \(unknown\) does"),
        (b"?", r"table \(unknown\) does"),
    ],
)
def test_tables_that_are_missing_are_named_by_what_was_asked(body: bytes, named: str) -> None:
    with pytest.raises(Misconfigured, match=named):
        raise translated(refusal("ResourceNotFoundException"), body)


@pytest.mark.parametrize(
    ("code", "message", "error", "words"),
    [
        ("ItemCollectionSizeLimitExceededException", "full", TooLarge, "full"),
        ("ValidationException", "Item size to update has exceeded it", TooLarge, "exceeded"),
        ("ValidationException", "Size of the key is above the maximum", TooLarge, "maximum"),
        ("ValidationException", "Expression size is over its limit", TooLarge, "limit"),
        ("ValidationException", "The maximum of keys is exceeded: a limit", InvalidValue, "keys"),
        ("ValidationException", "Size is no word", InvalidValue, "no word"),
        ("ValidationException", "no such thing as the specified index: x", Misconfigured, "A: .*tables apply"),
        ("ValidationException", "Cannot read from backfilling index x", Misconfigured, "A: .*tables apply"),
    ],
)
def test_what_is_not_valid_is_told_by_what_can_be_done(
    code: str, message: str, error: type[PenstockError], words: str
) -> None:
    with pytest.raises(error, match=words) as told:
        raise translated(refusal(code, message), b'{"TableName": "A"}')
    assert type(told.value) is error


def test_settings_that_are_missing_are_told() -> None:
    with pytest.raises(Misconfigured, match="no keys anywhere"):
        Calls(lambda: Scripted(Unconfigured("no keys anywhere")), lambda _: None).call("GetItem", b"{}")


def test_a_driver_that_is_not_installed_is_named() -> None:
    missing = ImportError("no such module", name="pycurl")
    with pytest.raises(Misconfigured, match=r"needs pycurl: pip install 'penstock\[dynamodb\]'"):
        Calls(lambda: Scripted(missing), lambda _: None).call("GetItem", b"{}")
