"""`differs` is the only way to except an engine, and it is honest: excepted tests run, and may not pass."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.testing import EngineSuite, differences_page, differs, know, list_differences
from penstock.testing.differences import KNOWN
from tests.conftest import ENGINES

ROOT = Path(__file__).parents[2]
SUITE_OF_ONE = """
import pytest
from penstock.testing import differs, know
from penstock.testing.promises.promise import Promise

know("cosmos")

class TestCosmos(Promise):
    @pytest.fixture
    def engine(self):
        return object()

    @differs("cosmos", not_yet="theirs to do")
    def test_a_difference_that_is_there(self, engine):
        assert False

    @differs("cosmos", never="it will not")
    def test_a_difference_that_is_gone(self, engine):
        pass

    @differs("sqlite", not_done="ours to do")
    def test_a_difference_of_another_engine(self, engine):
        pass

    @differs("cosmos", never="only this error", raises=KeyError)
    def test_another_error_than_expected(self, engine):
        raise ValueError

    @differs("cosmos", not_done="ours to do")
    def test_a_refusal_that_does_not_come(self, engine):
        with pytest.raises(KeyError):
            pass
"""


def _pytest(folder: Path, text: str) -> str:
    file = folder / "test_cosmos.py"
    file.write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "--tb=no", "-q", str(file)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    ).stdout


def test_an_excepted_test_runs_and_may_not_pass(tmp_path: Path) -> None:
    told = _pytest(tmp_path, SUITE_OF_ONE)
    outcomes = {
        line.split("::")[-1].split(" ")[0]: line.split(" ")[0]
        for line in told.splitlines()
        if line.startswith(("PASSED", "FAILED", "XFAIL", "XPASS"))
    }
    assert outcomes == {
        "test_a_difference_that_is_there": "XFAIL",
        "test_a_difference_that_is_gone": "FAILED",
        "test_a_difference_of_another_engine": "PASSED",
        "test_another_error_than_expected": "FAILED",
        "test_a_refusal_that_does_not_come": "XFAIL",
    }


def test_an_unknown_engine_stops_the_collection(tmp_path: Path) -> None:
    told = _pytest(tmp_path, SUITE_OF_ONE.replace('differs("sqlite"', 'differs("sqlight"'))
    assert "sqlight" in told
    assert "passed" not in told


@pytest.mark.parametrize("reasons", [{}, {"never": ""}, {"never": "a", "not_yet": "b"}])
def test_a_difference_has_one_reason(reasons: dict[str, str]) -> None:
    with pytest.raises(pytest.UsageError, match="give one"):
        differs("sqlite", **reasons)  # type: ignore[arg-type]


def test_every_engine_of_the_tests_is_known() -> None:
    assert {name for names in KNOWN.values() for name in names} >= set(ENGINES)


def test_a_third_party_makes_its_engine_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.testing.differences.KNOWN", dict(KNOWN))
    know("cosmos", "cosmos-emulator", "cosmos")

    @differs("cosmos", never="its way")
    def test() -> None: ...

    assert test.__differences__[0].reason == "its way"  # type: ignore[attr-defined]


def test_all_differences_are_listed_for_the_documentation() -> None:
    listed = list(list_differences(EngineSuite))
    page = differences_page(EngineSuite)
    assert page.startswith("# Where engines differ\n")
    assert len(listed) == len([line for line in page.splitlines() if line.startswith("|")]) - 2
    for name, difference in listed:
        assert difference.reason in page
        assert name.removeprefix("test_").replace("_", " ") in page
