"""The page of the API: every operation is found, sent with all it takes, and shows what came back."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from penstock.cli.new import _write as write_domain
from penstock.plugin import DomainPlugin
from penstock.schema.role import Role
from tests.servers import had
from tests.web.films import INSTALLED as FILMS

from .accessibility import violations_in_both_themes
from .complaints import Complaints
from .console import Console, build_once, served

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

ANSWER = ".live-responses-table"
READER_FAILS = {"label": 'input[value="views>=0"]'}
"""What Swagger UI itself breaks, by rule, and where.

label: the texts of a list that is a parameter, such as `where`, have no names, and it lets nobody give them any.
"""

_STEPS = """async (keys) => {
  const shown = () => [...document.querySelectorAll(".reader .opblock")].map((each) => each.id).join();
  for (const key of keys) {
    const before = shown();
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    while (shown() === before) await new Promise(requestAnimationFrame);
  }
}"""
"""Goes on from each operation as soon as it is there, while the reader is about to look up what it refers to."""


@pytest.fixture(scope="module")
def gliders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DomainPlugin]:
    """The domain that `penstock new` writes, as a stranger has it."""
    folder = tmp_path_factory.mktemp("gliders")
    write_domain("gliders", folder / "gliders")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(folder / "gliders" / "src"), *sys.path])
        yield importlib.import_module("gliders").PLUGIN
    for name in [n for n in sys.modules if n.split(".")[0] == "gliders"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory, gliders: DomainPlugin) -> Iterator[Console]:
    """One for all: its document is made once."""
    had(build_once)
    with served(tmp_path_factory.mktemp("console"), installed=(FILMS, gliders)) as console:
        yield console


def chosen(page: Page, title: str, path: str) -> Locator:
    """Choose an operation by what it is called, and see its form."""
    page.get_by_role("searchbox", name="Find an operation").fill(path)
    page.get_by_role("link", name=f"{title} {path}", exact=False).first.click()
    expect(page.get_by_role("heading", name=title, level=3)).to_be_visible()
    return page.get_by_role("button", name="Execute")


def field(page: Page, name: str) -> Locator:
    return page.locator(".reader").get_by_label(name, exact=True)


def test_a_caller_sends_what_an_operation_takes_and_sees_what_came(
    page: Page, console: Console, complaints: Complaints
) -> None:
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    console.open(page, "/console/api", role=None)
    expect(page.get_by_text("Nobody is signed in")).to_be_visible()
    console.open(page)
    page.get_by_role("navigation", name="Console").get_by_role("link", name="API").click()
    answer = page.locator(ANSWER)

    send = chosen(page, "Films Create", "/api/films/films")
    body = page.get_by_label("Request body")
    expect(body).to_have_value(re.compile('"title": ""'))
    body.fill('{"project_id": "p1", "title": "Robot / 1", "created_at": "2037-01-01T00:00:00Z"}')
    page.keyboard.press("Control+Enter")
    expect(answer).to_contain_text("201")
    expect(answer).to_contain_text('"status": "draft"')
    expect(page.locator(".curl")).to_contain_text("'@.penstock/key'")
    expect(page.locator(".curl")).not_to_contain_text("CSRF")

    send = chosen(page, "Films Get", "/api/films/films/{project_id}/{title}")
    send.click()
    expect(field(page, "project_id")).to_be_focused()
    field(page, "project_id").fill("p1")
    field(page, "title").fill("Robot / 1")
    send.click()
    expect(answer).to_contain_text('"title": "Robot / 1"')
    expect(page).to_have_url(re.compile("operation=films_films_get"))

    complaints.expect("answered 404: GET .*/nobody")
    field(page, "title").fill("nobody")
    send.click()
    expect(answer).to_contain_text('"type": "not-found"')

    send = chosen(page, "Hang", "/cinema/posters")
    field(page, "poster").set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": b"p" * 1234})
    send.click()
    expect(answer).to_contain_text('"size": 1234')
    assert hosts == {urlsplit(console.url).netloc}


def test_whoever_steps_through_operations_sees_one_at_a_time(page: Page, console: Console) -> None:
    console.open(page, "/console/api?find=/api/films/films")
    page.get_by_role("link", name="List /api/films/films").first.click()
    expect(page.get_by_role("button", name="Execute")).to_be_visible()
    page.evaluate(_STEPS, "jjjkk")
    expect(page.get_by_role("heading", name="Films Create", level=3)).to_be_visible()
    expect(page.get_by_label("Request body")).to_have_value(re.compile('"title": ""'))  # it has looked that up
    expect(page.locator(".reader .opblock")).to_have_count(1)


def test_a_pasted_key_is_used_and_kept_nowhere(page: Page, console: Console, complaints: Complaints) -> None:
    complaints.expect("answered 403: POST .*/api/gliders/assets")
    key = console.service.key(Role.VIEWER)
    console.open(page, "/console/api?operation=gliders_assets_create")
    send = page.get_by_role("button", name="Execute")
    page.get_by_label("Request body").fill('{"title": "kite", "created_at": "2037-01-01T00:00:00Z"}')
    page.get_by_label("Send with another key").fill(f"Authorization: Bearer {key}")
    send.click()
    expect(page.locator(ANSWER)).to_contain_text('"type": "forbidden"')
    kept = page.evaluate(
        "() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])"
        " + document.body.innerText"
    )
    assert key.split("_")[2] not in kept
    page.get_by_label("Send with another key").fill("")
    send.click()
    expect(page.locator(ANSWER)).to_contain_text("201")
    page.reload()
    expect(page.get_by_label("Send with another key")).to_have_value("")


def test_anybody_finds_their_way_in_it(page: Page, console: Console) -> None:
    console.open(page, "/docs#top", role=None)
    expect(page).to_have_url(f"{console.url}/console/api#top")
    console.open(page, "/console/api?project=p1", role=Role.ADMIN)
    expect(page.get_by_role("heading", name="How it is used")).to_be_visible()
    assert ours(violations_in_both_themes(page)) == []
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("GET /api/films/films")
    page.get_by_role("option", name="GET /api/films/films", exact=True).click()
    expect(field(page, "X-Project")).to_have_value("p1")
    page.get_by_role("combobox", name="pattern").select_option("by_status")
    page.get_by_role("combobox", name="status").select_option("draft")
    page.get_by_role("button", name="Add string item").click()
    page.locator(".json-schema-form-item input").fill("views>=0")
    page.keyboard.press("Control+Enter")
    expect(page.locator(ANSWER)).to_contain_text('"next": null')
    expect(page.locator(".request-url")).to_contain_text("where=views")
    page.get_by_role("tab", name="Schema").last.click()
    assert ours(violations_in_both_themes(page)) == []
    page.keyboard.press("Escape")
    chosen(page, "Events", "/api/events")
    expect(page.get_by_text("curl -N")).to_be_visible()
    expect(page.get_by_role("button", name="Execute")).to_have_count(0)
    page.get_by_role("link", name="Home", exact=True).click()
    expect(page.get_by_role("heading", name="What is running")).to_be_visible()


def ours(found: list[str]) -> list[str]:
    return [
        f for f in found if not any(f.startswith(f"{rule}:") and f.endswith(at) for rule, at in READER_FAILS.items())
    ]
