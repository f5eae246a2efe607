"""Pages that domains bring for a console."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock import Domain, Role
from penstock.cli.new import _write as write_domain
from penstock.errors import DeclarationError
from penstock.plugin import ConsoleHints, ConsolePage, DomainPlugin, ProjectList
from tests.web.films import DOMAIN as FILMS
from tests.web.films import INSTALLED
from tests.web.service import Service


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DomainPlugin]:
    """The domain that `penstock new` writes, as a stranger has it."""
    write_domain("gliders", tmp_path / "gliders")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "gliders" / "src"), *sys.path])
    yield importlib.import_module("gliders").PLUGIN
    for name in [n for n in sys.modules if n.split(".")[0] == "gliders"]:
        del sys.modules[name]


def test_the_domain_that_is_written_brings_a_panel(written: DomainPlugin, tmp_path: Path) -> None:
    service = Service(tmp_path, installed=(INSTALLED, written))
    viewer = service.client(Role.VIEWER)
    told = viewer.get("/api/declared/gliders").json()
    (page,) = told["pages"]
    assert (page["title"], page["file"], page["panel_of"]) == ("At a glance", "at_a_glance.js", "assets")
    got = service.client().get(page["module"])
    assert got.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "export function mount(element, context)" in got.text
    assert (got.headers["cache-control"], got.headers["x-content-type-options"]) == (
        "public, max-age=31536000, immutable",
        "nosniff",
    )
    assert (told["title"], told["first"]) == ("Gliders", {"collection": "assets", "pattern": "by_status"})
    (assets,) = told["collections"]
    assert [m["name"] for machine in assets["states"] for m in machine["moves"]] == [
        "make",
        "release",
        "drop",
        "retire",
    ]
    assert viewer.get("/api/declared").json()["items"][1]["pages"] == told["pages"]


def test_what_is_written_is_listed_and_moved_by_what_is_told(written: DomainPlugin, tmp_path: Path) -> None:
    service = Service(tmp_path, installed=(written,))
    editor = service.client(Role.EDITOR)
    (assets,) = editor.get("/api/declared/gliders").json()["collections"]
    record = {"title": "a kite", "created_at": "2037-01-01T00:00:00Z"}
    assert set(record) == set(assets["creation"]["body"]["properties"])
    assert editor.post(assets["path"], json=record).status_code == 201
    by_status = assets["patterns"][0]
    (item,) = editor.get(f"{by_status['path']}&status=draft").json()["items"]
    assert item["title"] == "a kite"
    may = {m["name"]: m["may"] for m in assets["states"][0]["moves"]}
    assert may == {"make": False, "release": False, "drop": False, "retire": True}
    viewer = service.client(Role.VIEWER).get("/api/declared/gliders").json()["collections"][0]
    assert not any(m["may"] for m in viewer["states"][0]["moves"])
    assert not viewer["creation"]["may"]


@pytest.mark.parametrize("path", ["at_a_glance.js", "{version}/../model.py", "{version}/model.py", "{version}/x.js"])
def test_nothing_else_of_a_package_is_served(written: DomainPlugin, tmp_path: Path, path: str) -> None:
    service = Service(tmp_path, installed=(written,))
    told = service.client(Role.VIEWER).get("/api/declared/gliders").json()["pages"][0]
    version = told["module"].split("/")[3]
    assert service.client().get(f"/console-pages/gliders/{path.format(version=version)}").status_code == 404
    assert service.client().get(told["module"].replace(version, "0" * 16)).status_code == 404
    assert service.client().get(told["module"].replace("gliders", "others")).status_code == 404


def test_other_bytes_have_another_path(written: DomainPlugin, tmp_path: Path) -> None:
    def module() -> Any:
        service = Service(tmp_path, installed=(written,))
        return service.client(Role.VIEWER).get("/api/declared/gliders").json()["pages"][0]["module"]

    before = module()
    (tmp_path / "gliders/src/gliders/console/other.css").write_text("p { color: red }")
    (tmp_path / "gliders/src/gliders/console/notes.py").write_text("secret = 1")
    after = module()
    assert before != after
    service = Service(tmp_path, installed=(written,))
    beside = service.client().get(after.replace("at_a_glance.js", "other.css"))
    assert beside.headers["content-type"] == "text/css; charset=utf-8"
    assert service.client().get(after.replace("at_a_glance.js", "notes.py")).status_code == 404


@pytest.mark.parametrize(
    ("hints", "said"),
    [
        (ConsoleHints("Films", pages=[ConsolePage("a.js", "A")]), "no package="),
        (ConsoleHints("Films", package="films", pages=[ConsolePage("../a.js", "A")]), "no file of a page"),
        (ConsoleHints("Films", package="films", pages=[ConsolePage("a.html", "A")]), "no file of a page"),
        (ConsoleHints("Films", package="films", pages=[ConsolePage("a.js", " ")]), "no title"),
        (ConsoleHints("Films", package="films", pages=[ConsolePage("a.js", "A", panel_of="Kite")]), "Film, Reel"),
        (ConsoleHints("Films", package="films", pages=[ConsolePage("a.js", "A")] * 2), "two pages"),
        (ConsoleHints("Films", names={"Kite": "title"}), "no entity Kite"),
        (ConsoleHints("Films", names={"Film": "wish.title"}), "no field wish"),
        (ConsoleHints("Films", projects=ProjectList("Film.nothing", "title")), "no pattern Film.nothing"),
        (ConsoleHints("Films", projects=ProjectList("Film.of_project", "title")), "more than choices"),
        (ConsoleHints("Films", projects=ProjectList("Film.by_status", "nothing")), "no nothing"),
        (ConsoleHints("Films", first="Film.nothing"), "no pattern Film.nothing"),
    ],
)
def test_a_hint_that_leads_nowhere_is_refused_when_it_is_given(hints: ConsoleHints, said: str) -> None:
    with pytest.raises(DeclarationError, match=said):
        DomainPlugin(FILMS, console=hints)


@pytest.mark.parametrize("package", ["penstock", "there_is_no_such_package"])
def test_a_page_that_is_not_there_keeps_the_service_from_starting(tmp_path: Path, package: str) -> None:
    hints = ConsoleHints("Empty", package=package, pages=[ConsolePage("a.js", "A")])
    with pytest.raises(DeclarationError, match="empty"):
        Service(tmp_path, installed=(DomainPlugin(Domain("empty"), console=hints),))
