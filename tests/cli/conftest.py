"""The command line as a user has it, but in this process: starting one costs a second."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from penstock import Store, open_store
from penstock.cli import main
from penstock.domains import DOMAINS
from tests.web.service import _empty_store


@dataclass(frozen=True)
class Said:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


Penstock = Callable[..., Said]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, and nothing in the environment that would tell a setting."""
    monkeypatch.chdir(tmp_path)
    for name in os.environ:
        if name.startswith(("PENSTOCK_", "AWS_", "CELERY_", "DYNAMODB_", "MV_")) or name.endswith(
            ("REDIS_URL", "BUCKET")
        ):
            monkeypatch.delenv(name)
    return tmp_path


@pytest.fixture
def penstock(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Penstock]:
    """Runs a command."""

    def run(*words: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["penstock", *words])
        monkeypatch.setattr("penstock.cli.leave", sys.exit)  # this process goes on, whatever still runs in it
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1 if end.code else 0
        told = capsys.readouterr()
        assert "Traceback" not in told.err + told.out
        return Said(code, told.out, told.err)

    root = logging.getLogger()
    before = root.handlers, root.level
    yield run
    root.handlers, root.level = before


@pytest.fixture
def store(folder: Path) -> Iterator[Store]:
    """The embedded store of the folder, with its tables."""
    (folder / ".penstock").mkdir()
    (folder / ".penstock" / "penstock.db").write_bytes(_empty_store(DOMAINS))
    store = open_store("sqlite:///.penstock/penstock.db")
    yield store
    store.close()
