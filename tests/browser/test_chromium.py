"""Which browser is taken, and what is said where there is none."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.servers import Unavailable

from .chromium import VARIABLE, program
from .driver import started

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_the_browser_that_a_variable_names_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own-browser"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    for named in (str(own), "own-browser"):
        monkeypatch.setenv(VARIABLE, named)
        assert program().path == own


def test_a_named_browser_that_is_not_there_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/nowhere/chromium")
    with pytest.raises(pytest.UsageError, match="PENSTOCK_TEST_BROWSER names '/nowhere/chromium'"):
        program()


def test_another_machine_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(Unavailable, match=r"on riscv64: install one, and name it in PENSTOCK_TEST_BROWSER"):
        program()


def test_without_playwright_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    with pytest.raises(Unavailable, match="pip install playwright"):
        started()


def test_it_speaks_english_draws_text_and_knows_films_and_models(page: Page) -> None:
    page.set_content("<h1>Ein Wort – слово – 言葉</h1>")
    known = page.evaluate(
        """() => [navigator.language, new Intl.NumberFormat().format(0.5),
            MediaSource.isTypeSupported('video/mp4; codecs="avc1.64001f,mp4a.40.2"'),
            document.createElement("canvas").getContext("webgl2") !== null]"""
    )
    assert known == ["en-US", "0.5", True, True]
    assert page.screenshot().startswith(b"\x89PNG")
