"""The page about music videos names every route there is, and no other."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

from fastapi import APIRouter

from penstock import open_store
from penstock.domains.musicvideo.routes import routes
from penstock.objects import LocalObjects
from penstock.work.domain_context import DomainContext

PAGE = Path(__file__).parents[2] / "docs" / "musicvideo.md"


def test_every_route_is_on_the_page(tmp_path: Path) -> None:
    """Each path by its words, as the page writes them."""
    with closing(open_store(f"sqlite:///{tmp_path}/mv.db")) as store:
        router: APIRouter = routes(DomainContext(store, LocalObjects(tmp_path / "files"), lambda name: None))
    page = PAGE.read_text(encoding="utf-8")
    table = "\n".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    told = set(re.findall(r"[a-z_-]{4,}", table))
    there = {word for r in router.routes for word in re.findall(r"[a-z_-]{4,}", re.sub(r"\{\w+\}", "", r.path))}  # type: ignore[attr-defined]
    methods = {(m, r.path) for r in router.routes for m in r.methods}  # type: ignore[attr-defined]
    assert there <= told, there - told
    assert len(methods) == 28, "a route has come or gone; say so on the page"
