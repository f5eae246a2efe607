"""Screens that the console derives from declarations: lists, records, moves, pages of a domain's own."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from penstock.cli.new import _write as write_domain
from penstock.plugin import ConsolePage, DomainPlugin
from penstock.schema.role import Role
from penstock.workers.manual import ManualWorkers
from tests.servers import free_port, had
from tests.web.films import INSTALLED as FILMS
from tests.web.films import Film, FilmStatus
from tests.web.service import Service, film
from tests.web.serving import serving
from tests.web.test_record_files import POSTERS, Poster

from .accessibility import violations_in_both_themes
from .complaints import Complaints
from .console import Console, build_once, served
from .elsewhere import film_from_elsewhere

if TYPE_CHECKING:
    from playwright.sync_api import Page

LIVE, NEW = re.compile("^Live:"), re.compile("^New")
PHONE, MANY, ROWS = {"width": 390, "height": 844}, 1_000, 100
FIRST = datetime(2037, 1, 1, tzinfo=UTC)
PIXEL = (
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415478da63304858000001"
    "f40131391d2d010000000049454e44ae426082"
)
"A picture of one pixel."
BOARD = """
export function mount(element, context) {
  const said = document.createElement("p");
  const link = document.createElement("a");
  link.href = context.href("assets", { title: "a/kite" });
  link.textContent = "The kite";
  element.append(said, link);
  const count = async () => {
    const { items } = await context.get("/api/gliders/assets?pattern=by_status&status=draft");
    said.textContent = `${items.length} drafts of ${context.domain}`;
  };
  count();
  const stop = context.onEvent(count);
  return () => { stop(); document.title = "the board has gone"; };
}
"""


@pytest.fixture
def gliders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DomainPlugin]:
    """The domain that `penstock new` writes, with a screen of its own besides."""
    write_domain("gliders", tmp_path / "gliders")
    (tmp_path / "gliders" / "src" / "gliders" / "console" / "board.js").write_text(BOARD)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "gliders" / "src"), *sys.path])
    plugin = importlib.import_module("gliders").PLUGIN
    pages = [*plugin.console.pages, ConsolePage("board.js", "Board")]
    yield replace(plugin, console=replace(plugin.console, pages=pages))
    for name in [n for n in sys.modules if n.split(".")[0] == "gliders"]:
        del sys.modules[name]


@pytest.fixture
def console(tmp_path: Path, gliders: DomainPlugin) -> Iterator[Console]:
    had(build_once)
    with served(tmp_path, installed=(FILMS, gliders)) as console:
        yield console


@pytest.fixture
def advance(console: Console, gliders: DomainPlugin) -> Callable[[], None]:
    """Has workers do what is to be done."""
    context = console.service.context
    assert gliders.tasks is not None
    workers = ManualWorkers(context.store, [gliders.tasks], context=context)
    feed = gliders.open_feed(context, owner="tests")
    assert feed is not None

    def run() -> None:
        feed.drain()
        workers.drain()

    return run


def is_live(page: Page) -> None:
    expect(page.get_by_role("button", name=LIVE)).to_be_visible()


def test_a_domain_that_nobody_wrote_a_screen_for_is_listed_filtered_moved_and_reviewed(
    page: Page, console: Console, advance: Callable[[], None]
) -> None:
    """By clicking and typing only, from an empty store to an asset that has had its time, and one that was given up."""
    console.open(page, "/console/d/gliders")
    expect(page.get_by_role("heading", name="Gliders")).to_be_visible()
    page.get_by_role("region", name="Collections").get_by_role("link", name="Assets", exact=True).click()
    expect(page.get_by_text("Nothing fits")).to_be_visible()
    is_live(page)
    page.get_by_role("button", name=NEW).click()
    dialog = page.get_by_role("dialog", name="New in Assets")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_text("This is needed.")).to_be_visible()
    dialog.get_by_role("textbox", name="Title").fill("a/kite & co")
    dialog.get_by_role("button", name="Create").click()
    kite = page.get_by_role("heading", name="a/kite & co")
    expect(kite).to_contain_text("draft")
    expect(page.get_by_role("region", name="At a glance")).to_contain_text("Nothing was made of it yet.")
    assert page.url.endswith("/console/d/gliders/assets/a%2Fkite%20%26%20co")
    advance()
    expect(page.get_by_role("region", name="At a glance")).to_contain_text("a/kite & co, version 1")
    expect(kite).to_contain_text("made")
    assert page.get_by_role("button", name="Retire").count() == 0

    page.get_by_role("navigation", name="Where we are").get_by_role("link", name="Assets").click()
    expect(page.get_by_role("button", name=NEW)).to_be_visible()
    page.keyboard.press("n")
    dialog.get_by_role("textbox", name="Title").fill("a lamp")
    dialog.get_by_label("Created at").fill("2037-01-01T00:00:00")  # later than the kite, however quick this is
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="a lamp")).to_contain_text("draft")
    advance()
    reviewed(page, advance)

    console_map = page.get_by_role("navigation", name="Console")
    console_map.get_by_text("Gliders").click()
    console_map.get_by_role("link", name="Assets", exact=True).click()
    page.get_by_role("combobox", name="Status").select_option("released")
    rows = page.get_by_role("region", name="Assets", exact=True).get_by_role("link")
    expect(rows).to_have_text(["a/kite & co"])
    page.get_by_role("button", name="Filter").click()
    page.get_by_role("combobox", name="Field").select_option("title")
    page.get_by_role("combobox", name="Compared").select_option("!=")
    page.get_by_role("textbox", name="With", exact=True).fill("a/kite & co")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing fits")).to_be_visible()
    page.reload()
    page.get_by_role("button", name="Without title!=a/kite & co").click()
    rows.click()
    page.get_by_role("button", name="Retire").click()
    expect(kite).to_contain_text("retired")
    expect(page.get_by_role("img", name=re.compile("States of status: it is retired"))).to_be_visible()
    expect(page.get_by_role("button", name="Retire")).to_have_count(0)
    page.get_by_role("tab", name="History").click()
    expect(page.get_by_role("region", name="History", exact=True)).to_contain_text("Retire")
    assert console.service.store.get(sys.modules["gliders.model"].Asset.at(title="a/kite & co")).status == "retired"


def reviewed(page: Page, advance: Callable[[], None]) -> None:
    """In the review room the kite is made again and then approved, and the lamp is given up."""
    page.get_by_role("navigation", name="Console").get_by_role("link", name="Review", exact=True).click()
    waiting = page.get_by_role("region", name="Assets: made", exact=True).get_by_role("link")
    expect(waiting).to_have_count(2)
    waiting.filter(has_text="kite").click()
    page.get_by_role("button", name="Make it again").click()
    dialog = page.get_by_role("dialog", name="Make it again")
    dialog.get_by_label("Why").fill("a longer tail")
    dialog.get_by_role("button", name="Make it again").click()
    expect(page.get_by_role("heading", name="a lamp")).to_be_visible()  # the next one that waits
    page.get_by_role("button", name="Give it up").click()
    page.get_by_role("dialog", name="Give it up").get_by_label("Why").fill("nobody needs one")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile("/console/review$"))
    advance()
    expect(waiting).to_have_count(1)
    waiting.click()
    page.get_by_role("link", name="The record itself").click()
    expect(page.get_by_role("region", name="At a glance")).to_contain_text("a/kite & co, version 2")
    page.get_by_role("link", name="Review and decide").click()
    page.get_by_role("button", name="Approve").click()
    expect(page).to_have_url(re.compile("/console/review$"))
    advance()
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()


def test_a_page_of_a_domain_is_mounted_kept_up_and_taken_away(page: Page, console: Console) -> None:
    console.open(page, "/")
    page.get_by_role("navigation", name="Console").get_by_role("link", name="Board").click()
    expect(page.get_by_text("0 drafts of gliders")).to_be_visible()
    is_live(page)
    made = {"title": "a/kite", "created_at": "2037-01-01T00:00:00Z"}
    assert console.service.client(Role.EDITOR).post("/api/gliders/assets", json=made).status_code == 201
    expect(page.get_by_text("1 drafts of gliders")).to_be_visible()
    page.get_by_role("link", name="The kite").click()
    expect(page.get_by_role("heading", name="a/kite")).to_be_visible()
    expect(page.get_by_text("drafts of gliders")).to_have_count(0)


def test_a_viewer_sees_no_button_that_would_be_refused(page: Page, console: Console) -> None:
    console.film("Robot")
    for role, seen in ((Role.VIEWER, 0), (Role.EDITOR, 1)):
        console.open(page, "/console/d/films/films?pattern=by_status", role=role)
        expect(page.get_by_role("link", name="Robot")).to_be_visible()
        expect(page.get_by_role("button", name=NEW)).to_have_count(seen)
        page.get_by_role("link", name="Robot").click()
        expect(page.get_by_role("region", name="States of status")).to_be_visible()
        expect(page.get_by_role("main").get_by_role("button", name="Shoot")).to_have_count(seen)
        expect(page.get_by_role("tab", name="History")).to_have_count(seen)
        page.keyboard.press("Control+k")
        page.get_by_role("combobox").fill("shoot")
        expect(page.get_by_role("option", name="Shoot")).to_have_count(seen)
        page.keyboard.press("Escape")
        page.goto(f"{console.url}/console/d/films/films/p1/Robot?do=move-shoot")
        page.goto(f"{console.url}/console/d/films/films?pattern=by_status&new=true")
        expect(page.get_by_role("link", name="Robot")).to_be_visible()
        expect(page.get_by_role("dialog", name="New in Films")).to_have_count(seen)


def test_a_move_is_asked_for_its_arguments_and_refused_if_somebody_was_first(
    page: Page, console: Console, complaints: Complaints
) -> None:
    complaints.expect("answered 412: POST .*/moves/redo", "answered 422: POST .*/moves/rate")
    editor = console.service.client(Role.EDITOR)
    console.film("Robot")
    console.open(page, "/console/d/films/films/p1/Robot")
    is_live(page)
    expect(page.get_by_role("button", name="Shoot")).to_be_visible()
    page.get_by_role("button", name=LIVE).click()  # what somebody else does is not seen from now on
    page.keyboard.press("m")
    page.keyboard.press("1")
    heading = page.get_by_role("heading", name="Robot")
    expect(heading).to_contain_text("filmed")
    page.get_by_role("button", name="Rate").click()
    dialog = page.get_by_role("dialog", name="Rate")
    dialog.get_by_role("spinbutton", name="Views").fill("-3")
    dialog.get_by_role("button", name="Rate").click()
    expect(dialog.get_by_role("spinbutton", name="Views")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_role("spinbutton", name="Views").fill("7")
    page.keyboard.press("Enter")
    expect(heading).to_contain_text("rated")
    expect(page.get_by_role("region", name="Fields")).to_contain_text("7")

    assert editor.post("/api/films/films/p1/Robot/moves/redo").status_code == 200
    page.get_by_role("button", name="Redo").click()
    expect(page.get_by_text("Somebody has changed it meanwhile")).to_be_visible()
    expect(heading).to_contain_text("draft")
    expect(page.get_by_role("button", name="Shoot")).to_be_visible()


def test_a_thousand_rows_are_scrolled_and_few_are_in_the_document(page: Page, console: Console) -> None:
    films = [Film(project_id="p1", title=f"Film {n:05}", created_at=FIRST + timedelta(seconds=n)) for n in range(MANY)]
    for start in range(0, MANY, 50):
        with console.service.store.change(by="tests") as change:
            for each in films[start : start + 50]:
                change.create(each)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    console.open(page, "/console/d/films/films?pattern=of_project&q.project_id=p1")
    table = page.get_by_role("region", name="Films", exact=True)
    expect(table.get_by_text("Film 00000")).to_be_visible()
    expect(page.get_by_role("heading", name="Films")).to_contain_text("100+")
    lists = [url for url in asked if "pattern=of_project" in url and "/api/" in url]
    assert len(lists) == 1, "no more is asked for than is seen"
    while not table.get_by_text(f"Film {MANY - 1:05}").is_visible():
        shown = page.get_by_role("navigation", name="Pages").inner_text()
        table.press("End")
        assert table.locator("tr").count() <= ROWS
        if "more follow" in shown:
            expect(page.get_by_role("navigation", name="Pages")).not_to_have_text(shown)
    expect(page.get_by_text(f"{MANY} shown")).to_be_visible()
    assert table.locator("tr").count() <= ROWS


def test_what_another_process_commits_is_seen_at_once(page: Page, console: Console, tmp_path: Path) -> None:
    console.film("Near")
    console.open(page, "/console/d/films/films?pattern=by_status")
    is_live(page)
    rows = page.get_by_role("region", name="Films", exact=True).get_by_role("link")
    expect(rows).to_have_text(["Near"])
    film_from_elsewhere(f"sqlite:///{tmp_path}/web.db", "From afar")
    expect(rows).to_have_text(["From afar", "Near"])
    near = console.service.client(Role.EDITOR)
    assert near.post("/api/films/films/p1/Near/moves/shoot").status_code == 200
    expect(rows).to_have_text(["From afar"])
    page.goto(f"{console.url}/console/d/films")
    is_live(page)
    assert near.post("/api/films/films/p1/From afar/moves/shoot").status_code == 200
    expect(page.get_by_role("list", name="Latest changes")).to_contain_text("filmed")


def test_a_record_is_found_by_the_beginning_of_its_name(page: Page, console: Console) -> None:
    for title in ("Robot in Austin", "Robot in Berlin", "Lighthouse"):
        console.film(title)
    console.open(page, "/?project=p1")
    expect(page.get_by_role("heading", name="What is running")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("Robot in B")
    expect(page.get_by_role("option", name="Robot in Berlin · Films")).to_be_visible()
    page.get_by_role("option", name="Robot in Berlin · Films").click()
    expect(page.get_by_role("heading", name="Robot in Berlin")).to_be_visible()
    page.get_by_role("tab", name="Related").click()
    expect(page.get_by_role("main").get_by_role("link", name="Lighthouse")).to_be_visible()
    page.get_by_role("tab", name="JSON").click()
    expect(page.get_by_text("penstock show films.Film project_id=p1 'title=Robot in Berlin'")).to_be_visible()


@pytest.mark.long  # each screen is looked at in test_every_screen
def test_everybody_can_use_what_is_derived_in_both_themes_and_on_a_phone(page: Page, console: Console) -> None:
    store = console.service.store
    for n, status in enumerate(FilmStatus):
        store.create(Film(**{**film(f"Film {n}", tags=["night"], notes={"lens": 35}), "status": status}))
    console.open(page, "/console/d/films")
    one = "/console/d/films/films/p1/Film 1"
    every = (
        ("/console/d/films", "Collections"),
        ("/console/d/films/films?pattern=by_status&filter=true&where=views>%3D0", "Pages"),
        ("/console/d/films/films?pattern=of_project", "Lists"),
        ("/console/d/films/reels", "No list"),
        (one, "States of status"),
        (f"{one}?do=move-rate", "Views"),
        (f"{one}?tab=related", "All of them"),
        (f"{one}?tab=history", "Nothing is told of it"),
        (f"{one}?tab=json", "As JSON"),
        ("/console/d/films/films?columns=true", "Show these"),
    )
    for path, sign in every:
        page.goto(f"{console.url}{path}")
        there = page.get_by_label(sign).or_(page.get_by_text(sign)).or_(page.get_by_role("img", name=sign))
        expect(there.first).to_be_visible()
        assert violations_in_both_themes(page) == [], path
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    for path in ("/console/d/films", "/console/d/films/films?pattern=by_status", one, f"{one}?tab=json"):
        page.goto(f"{console.url}{path}")
        expect(page.get_by_role("main").get_by_role("heading").first).to_be_visible()
        assert page.evaluate("() => document.scrollingElement.scrollWidth") <= PHONE["width"], path


def test_pictures_of_a_record_are_shown_in_place(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    had(build_once)
    port = free_port()
    monkeypatch.setattr("tests.web.service.URL", f"http://127.0.0.1:{port}")  # where signed URLs lead
    service = Service(tmp_path, installed=(POSTERS,))
    service.objects.put("posters/p1/robot.png", bytes.fromhex(PIXEL))
    key = "posters/p1/robot.png"
    service.store.put(Poster(project_id="p1", name="robot", picture=key, contract=key))
    with serving(service.app, port=port):
        Console(service, port).open(page, "/console/d/posters/posters/p1/robot", role=Role.VIEWER)
        picture = page.get_by_role("region", name="Files").get_by_role("img", name="robot.png")
        expect(picture).to_be_visible()
        assert picture.evaluate("(shown) => shown.decode().then(() => shown.naturalWidth)") == 1
        expect(page.get_by_text("Not for your role: Contract.")).to_be_visible()
