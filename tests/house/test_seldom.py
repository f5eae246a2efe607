"""What is left to long runs is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.seldom import A_FEW, SELDOM

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("beginning", [*(each for group in SELDOM.values() for each in group), *A_FEW])
def test_no_test_is_left_out_that_there_is_no_more(beginning: str) -> None:
    path, _, name = beginning.partition("::")
    source = (ROOT / path).read_text()
    function = name.rpartition("::")[2].partition("[")[0]
    inherited = path.endswith(("test_engine_suite.py", "test_pooling.py"))  # of the suite that ships with the package
    assert not function or re.search(rf"def {function}", source) or inherited
