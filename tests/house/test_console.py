"""The console is built only when it must be, from what its lock file names, and small enough to be there at once."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

import hatch_build
from tests.browser.console import build_once
from tests.servers import had

FIRST_LOAD = 60_000


def test_the_lock_file_names_no_host() -> None:
    text = (hatch_build.CONSOLE / "package-lock.json").read_text()
    assert '"resolved"' not in text
    packages = json.loads(text)["packages"]
    assert all("integrity" in told for name, told in packages.items() if name)


def test_what_was_built_from_these_sources_is_not_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    console, built = tmp_path / "console", tmp_path / "built"
    (console / "src").mkdir(parents=True)
    built.mkdir()
    (console / "src" / "main.ts").write_text("let a = 1;")
    monkeypatch.setattr(hatch_build, "CONSOLE", console)
    monkeypatch.setattr(hatch_build, "BUILT", built)
    assert not hatch_build.is_built()
    (built / "sources.sha256").write_text(hatch_build.sources_hash())
    assert hatch_build.is_built()
    (console / "src" / "schema.d.ts").write_text("made from the API, and no part of what is built")
    assert hatch_build.is_built()
    (console / "src" / "main.ts").write_text("let a = 2;")
    assert not hatch_build.is_built()


def test_where_there_are_no_sources_what_was_built_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hatch_build, "CONSOLE", tmp_path / "nowhere")
    assert hatch_build.is_built()


def test_the_first_page_is_small() -> None:
    """Script and style of the page itself and of the first screen, as they are sent."""
    had(build_once)
    page = (hatch_build.BUILT / "index.html").read_text()
    names = set(re.findall(r"/assets/([^\"]+\.(?:js|css))", page))
    names |= {p.name for p in (hatch_build.BUILT / "assets").glob("*") if p.name.startswith(("Home-", "Time-"))}
    sizes = {n: len(gzip.compress((hatch_build.BUILT / "assets" / n).read_bytes(), 9)) for n in names}
    assert 0 < sum(sizes.values()) <= FIRST_LOAD, sizes


def test_the_console_names_no_domain() -> None:
    from penstock.domains import DOMAINS

    words = re.compile("|".join(rf"\b{domain.name}\b" for domain in DOMAINS if domain.name != "videos"))
    for path in (hatch_build.CONSOLE / "src").rglob("*"):
        if path.suffix in (".ts", ".svelte") and path.name != "schema.d.ts":
            assert not words.search(path.read_text()), path
