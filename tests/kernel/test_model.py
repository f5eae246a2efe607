"""The model that judges the engines keeps their promises itself."""

from __future__ import annotations

import pytest

from penstock.ports.engine import Engine
from penstock.testing.promises.batches import Batches
from penstock.testing.promises.changes import Changes
from penstock.testing.promises.commits import Commits
from penstock.testing.promises.conditions import ConditionalWrites
from penstock.testing.promises.expiry import Expiry
from penstock.testing.promises.kernel import KernelOnTop
from penstock.testing.promises.lookups import Lookups
from penstock.testing.promises.paging import Paging
from penstock.testing.promises.patterns import Patterns
from penstock.testing.promises.saves import GuardedSaves
from penstock.testing.promises.updates import Updates
from tests.kernel.model import ModelEngine


class TestModel(
    Lookups,
    ConditionalWrites,
    Updates,
    Commits,
    Batches,
    Patterns,
    Paging,
    Expiry,
    Changes,
    GuardedSaves,
    KernelOnTop,
):
    test_a_commit_repeated_with_its_token_is_applied_once = None  # type: ignore[assignment] # nothing is lost here

    @pytest.fixture
    def engine(self) -> Engine:
        return ModelEngine()
