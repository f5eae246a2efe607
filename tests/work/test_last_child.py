"""The last child ends at the very moment when the plan tells how many there are: one of them has the step joined."""

from __future__ import annotations

import pytest

from penstock import Store
from penstock.errors import Conflict
from penstock.work.fan_out import close_count, count_end
from penstock.work.job import ChildCount
from penstock.work.pipeline_step import StepInput

AT = StepInput(job_id="j", position=0, round=1)


@pytest.mark.parametrize("first", ["the plan", "the child"])
def test_whoever_comes_second_learns_of_the_other(store: Store, first: str) -> None:
    """Neither writes what the other has read, so each save has to look at both numbers."""
    store.create(ChildCount(job_id="j", position=0, round=1, project_id="p", ended=1))
    writers = {"the plan": lambda change: close_count(change, AT, 2), "the child": lambda change: count_end(change, AT)}
    second = next(name for name in writers if name != first)
    with pytest.raises(Conflict), store.change() as late:
        assert writers[second](late) is False
        with store.change() as early:
            assert writers[first](early) is False
    with store.change() as again:
        assert writers[second](again) is True
    count = store.get(AT.count)
    assert (count.total, count.ended, count.joined) == (2, 2, True)
