"""Work beside other work: nothing is said to be done that is not, and no more is begun than there are hands."""

from __future__ import annotations

from threading import Event

import pytest

from penstock.transfer.read_ahead import Behind


def test_what_failed_is_not_said_to_be_done() -> None:
    said: list[str] = []

    def fail() -> None:
        raise ValueError("no")

    behind = Behind(1)
    with pytest.raises(ValueError, match="no"):
        behind.do(fail, lambda: said.append("done"))
        behind.wait()
    behind.close()
    assert said == []


def test_no_more_waits_to_be_done_than_is_done_at_once() -> None:
    """What waits is in memory."""
    may_end, said = Event(), list[int]()
    behind = Behind(2)
    for number in range(2):
        behind.do(may_end.wait, lambda n=number: said.append(n))  # type: ignore[misc]
    assert said == []
    may_end.set()
    behind.do(lambda: None, lambda: said.append(2))
    assert said[:1] == [0], "it has waited for the first"
    behind.wait()
    behind.close()
    assert said == [0, 1, 2]
