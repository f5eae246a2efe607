"""Names for commits: short enough for DynamoDB, and never the same twice, in whatever process."""

from __future__ import annotations

import os
from multiprocessing import get_context
from multiprocessing.connection import Connection

from penstock.ports.ids import commit_token


def _tell(there: Connection, count: int) -> None:
    there.send([commit_token() for _ in range(count)])


def test_no_two_commits_have_one_name_not_even_in_a_forked_process() -> None:
    fork = get_context("fork")
    named = [commit_token() for _ in range(100)]
    for _ in range(3):
        here, there = fork.Pipe()
        child = fork.Process(target=_tell, args=(there, 100))
        child.start()
        assert here.poll(30), f"process {os.getpid()} waits for its child's names"
        named += here.recv()
        child.join(30)
        named += [commit_token() for _ in range(100)]
    assert len(set(named)) == len(named) == 700


def test_a_name_is_one_that_dynamodb_takes() -> None:
    assert all(1 <= len(commit_token()) <= 36 for _ in range(1000))
