from __future__ import annotations

from pathlib import Path

import pytest

from penstock import Domain, Store
from penstock.work.working import WORKING
from tests.web.operating.workshop import RUNS, WORKSHOP, Workshop


@pytest.fixture
def furniture() -> tuple[Domain, ...]:
    return (WORKSHOP.domain, WORKING)


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """On an embedded store."""
    RUNS.clear()
    return Workshop(tmp_path)


@pytest.fixture
def workshops(anywhere: Store, tmp_path: Path) -> Workshop:
    """On a store of each kind of engine."""
    RUNS.clear()
    return Workshop(tmp_path, store=anywhere)
