"""Scratch folders are gone when their work is, however it ended."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from penstock.files import scratch
from penstock.files.scratch import scratch_folder

KILLED = """
import os, signal
from penstock.files.scratch import scratch_folder
with scratch_folder("work") as folder:
    (folder / "large").write_bytes(b"x")
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    scratch._remove_abandoned.cache_clear()


def long_ago(folder: Path) -> None:
    os.utime(folder, (1, 1))


def test_a_folder_is_empty_and_goes_with_its_work() -> None:
    with scratch_folder("work") as folder:
        assert list(folder.iterdir()) == []
        (folder / "made").mkdir()
    assert not folder.exists()


def test_that_of_a_process_which_was_killed_goes_with_the_next_work() -> None:
    ran = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, check=False)
    left = Path(ran.stdout.strip())
    assert (left / "large").exists()
    with scratch_folder("work"):
        assert left.exists(), "so new that its process may just begin"
    long_ago(left)
    scratch._remove_abandoned.cache_clear()
    with scratch_folder("work"):
        assert not left.exists()


def test_that_of_a_process_at_work_stays_however_old_it_is(tmp_path: Path) -> None:
    strange = tmp_path / "penstock-scratch-elsewhere"
    strange.symlink_to(tmp_path.parent)
    with scratch_folder("work") as at_work:
        long_ago(at_work)
        scratch._remove_abandoned.cache_clear()
        with scratch_folder("work"):
            assert at_work.exists()
    assert strange.is_symlink(), "nor is a link followed"
