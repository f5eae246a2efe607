"""The secret that a service keeps for itself."""

from __future__ import annotations

import multiprocessing
from multiprocessing.pool import Pool
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from penstock.errors import Misconfigured
from penstock.runtime.service import kept_secret
from penstock.runtime.settings import Settings
from tests.forked import mortal

_AT_ONCE = 4
_gate: Barrier


def _begin_together(barrier: Barrier) -> None:
    global _gate
    mortal()
    _gate = barrier


def _first_start(folder: Path) -> str | None:
    _gate.wait()
    return kept_secret(Settings(), folder=folder).secret


def test_processes_that_start_together_have_one_secret(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    folders = [tmp_path / str(number) for number in range(50)]
    with Pool(_AT_ONCE, _begin_together, (context.Barrier(_AT_ONCE),), context=context) as processes:
        found = processes.map(_first_start, [f for f in folders for _ in range(_AT_ONCE)], chunksize=1)
    secrets = [set(found[n : n + _AT_ONCE]) for n in range(0, len(found), _AT_ONCE)]
    assert all(len(each) == 1 and None not in each and "" not in each for each in secrets)
    assert [path.name for path in folders[0].iterdir()] == ["secret"]
    assert (folders[0] / "secret").stat().st_mode & 0o777 == 0o600


def test_a_secret_that_is_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").touch()
    with pytest.raises(Misconfigured, match="is empty; remove it"):
        kept_secret(Settings(), folder=tmp_path)
