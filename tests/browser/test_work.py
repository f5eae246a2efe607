"""The screens of work: what needs somebody is seen at once and settled, one by one or all that match."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from penstock.schema.role import Role
from tests.servers import had
from tests.web.operating.test_bulk import bury, dead
from tests.web.operating.workshop import POTTERY, RUNS

from .complaints import Complaints
from .console import build_once
from .yard import YardConsole, yard_served

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

LIVE, ROWS = re.compile("^Live:"), 100


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[YardConsole]:
    had(build_once)
    with yard_served(tmp_path) as yard:
        yield yard


def shown(name: str) -> re.Pattern[str]:
    """An id as lists show it: its end is always there."""
    return re.compile(re.escape(name[-6:]))


def test_ten_thousand_dead_letters_are_tried_again_by_two_clicks(page: Page, yard: YardConsole) -> None:
    bury(yard.yard, 10_000)
    yard.open(page, "/console/work/letters", role=Role.ADMIN)
    table = page.get_by_role("region", name="Tasks")
    expect(table.get_by_role("link", name="workshop.bake").first).to_be_visible()
    page.get_by_role("group", name="All tasks that match").get_by_role("button", name="Try again …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1,000+ match.")
    dialog.get_by_label("Why").fill("the kiln is mended")
    dialog.get_by_role("button", name="Try again: 1,000+").click()
    run = page.get_by_role("region", name="Bulk run")
    expect(run.get_by_role("status")).to_have_text("0 done")
    expect(page).to_have_url(re.compile("bulk="))
    worker = threading.Thread(target=yard.yard.workers.run_one)
    worker.start()
    expect(run.get_by_role("status")).to_have_text(re.compile(r"^[1-9][\d,]*00 done"), timeout=20_000)
    worker.join(60)
    expect(run.get_by_role("status")).to_have_text("10,000 done")
    expect(run).to_contain_text("done")
    expect(page.get_by_text("There are none")).to_be_visible()
    assert dead(yard.yard) == 0


def test_a_bulk_run_is_narrowed_looked_at_and_stopped(page: Page, yard: YardConsole) -> None:
    bury(yard.yard, 30)
    yard.yard.task(fails="another")
    yard.yard.workers.drain()
    yard.yard.tick(seconds=1)
    yard.open(page, "/console/work/letters", role=Role.ADMIN)
    page.get_by_label("Error").fill("Nonsense")
    page.get_by_role("button", name="Find", exact=True).click()
    expect(page.get_by_text("None fits")).to_be_visible()
    expect(page.get_by_role("button", name="Show all")).to_be_visible()
    expect(page).to_have_url(re.compile("error=Nonsense"))
    page.get_by_label("Error").fill("Terminal")
    page.get_by_label("Error").press("Enter")
    expect(page.get_by_text("31 shown")).to_be_visible()
    page.get_by_role("heading", name="Dead letters and outbox").click()
    page.keyboard.press("Shift+X")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("31 match.")
    dialog.get_by_role("button", name="Give up: 31").click()
    run = page.get_by_role("region", name="Bulk run")
    run.get_by_role("button", name="Stop").click()
    page.get_by_role("dialog", name="Stop it?").get_by_role("button", name="Stop").click()
    expect(run).to_contain_text("stopped")
    assert dead(yard.yard) == 31


def test_a_job_says_why_it_waits_and_what_became_of_it(page: Page, yard: YardConsole) -> None:
    job = yard.yard.job()
    yard.open(page, "/console/work/jobs", role=Role.EDITOR)
    page.get_by_role("link", name=shown(job)).click()
    why = page.get_by_role("region", name="Why it waits")
    expect(why).to_contain_text("No worker is heard of that takes workshop.pottery.form")
    yard.yard.workers.runner.presence.tell(0)
    yard.yard.workers.drain()
    page.reload()
    expect(why).to_contain_text("What form made, run 1, waits for the review of a person")
    timeline = page.get_by_role("region", name="Timeline", exact=True)
    timeline.get_by_text("attempt", exact=True).first.click()
    expect(page.get_by_role("region", name="Log of attempt 1")).to_contain_text("WARNING forming")
    expect(page.get_by_role("region", name="What happened")).to_contain_text("1.5")
    page.reload()
    expect(page.get_by_role("region", name="Log of attempt 1")).to_be_visible()
    address = page.url
    page.get_by_role("region", name="What happened").get_by_role("link").click()
    expect(page.get_by_role("list", name="Attempts")).to_contain_text("cost 1.5")
    page.goto(address)
    POTTERY.approve(yard.yard.store, job, round=1, by="ann")
    yard.yard.workers.drain()
    page.reload()
    expect(page.get_by_role("region", name="How it stands")).to_contain_text("It is done")


def test_an_administrator_cancels_a_job_and_moves_it_on_by_keys(page: Page, yard: YardConsole) -> None:
    job = yard.yard.job()
    yard.yard.workers.drain()
    yard.open(page, f"/console/work/jobs/{job}", role=Role.ADMIN)
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text("paused")
    page.keyboard.press("x")
    page.get_by_role("dialog").get_by_role("button", name="Cancel it").click()
    expect(heading).to_contain_text("cancelled")
    page.keyboard.press("m")
    page.get_by_role("dialog", name="Move on from a step").get_by_role("button", name="Move on").click()
    expect(heading).to_contain_text("running")


def test_a_timeline_of_a_thousand_is_a_hundred_in_the_document(page: Page, yard: YardConsole) -> None:
    job = yard.yard.long_job(1000)
    yard.open(page, f"/console/work/jobs/{job}", role=Role.EDITOR)
    timeline = page.get_by_role("region", name="Timeline", exact=True)
    expect(timeline.get_by_text("the kiln is full, 1000 pots wait")).to_be_visible()
    for loaded in (400, 600, 800):
        timeline.press("End")
        expect(page.get_by_text(f"{loaded} entries, more follow")).to_be_visible()
    timeline.press("End")
    expect(page.get_by_text(re.compile(r"^1,0\d\d entries"))).to_be_visible()
    assert timeline.locator("tr").count() <= ROWS


def test_run_now_runs(page: Page, yard: YardConsole) -> None:
    yard.open(page, "/console/work/schedules", role=Role.ADMIN)
    row = page.get_by_role("row", name=re.compile("workshop-sweeping"))
    expect(row).to_contain_text("not run yet")
    row.get_by_role("button", name="Run now").click()
    run = page.get_by_role("region", name="workshop-sweeping, run now")
    expect(run).to_contain_text("It waits for a worker.")
    yard.yard.workers.drain()
    expect(run.get_by_role("status")).to_have_text("done")
    expect(row).to_contain_text("ok")
    assert len(RUNS) == 1


def test_what_needs_somebody_is_claimed_assigned_and_counted(page: Page, yard: YardConsole) -> None:
    yard.yard.job()
    yard.yard.workers.drain()
    yard.open(page, "/console/inbox", role=Role.EDITOR)
    reviews = page.get_by_role("region", name="Reviews")
    item = reviews.get_by_role("listitem")
    expect(item).to_contain_text("workshop.pottery: form, run 1")
    expect(page).to_have_title("(2) Needs you · Penstock")
    navigation = page.get_by_role("navigation", name="Console")
    expect(navigation.get_by_role("link", name="Needs you")).to_contain_text("2")
    item.get_by_role("button", name="Claim").click()
    mine = page.get_by_role("region", name="Assigned to you")
    expect(mine.get_by_role("listitem")).to_contain_text("you")
    expect(page).to_have_title("(2) Needs you · Penstock")  # the same in two groups is one
    page.keyboard.press("j")
    page.keyboard.press("a")
    dialog = page.get_by_role("dialog", name="Who is to look at it?")
    dialog.get_by_label("Assignee").fill("a viewer")
    dialog.get_by_label("Due").fill("2020-01-01T10:00")
    dialog.get_by_label("Note").fill("is the rim even?")
    dialog.get_by_role("button", name="Assign", exact=True).click()
    expect(mine).to_have_count(0)
    expect(reviews).to_contain_text("overdue by")
    yard.open(page, "/console/inbox", role=Role.VIEWER)
    expect(mine).to_contain_text("is the rim even?")
    expect(page).to_have_title("(1) Needs you · Penstock")


def test_lists_of_work_are_read_anew_when_something_happens_and_not_during_a_pause(
    page: Page, yard: YardConsole
) -> None:
    makers: dict[str, tuple[str, Callable[[], str]]] = {
        "jobs": ("/api/work/jobs", yard.yard.job),
        "letters": ("/api/ops/tasks", lambda: yard.yard.task(fails="no gas")),
    }
    for path, (asked, make) in makers.items():
        yard.open(page, f"/console/work/{path}", role=Role.ADMIN)
        expect(page.get_by_role("button", name=LIVE)).to_be_visible()
        expect(page.get_by_role("main")).to_contain_text(re.compile("There is no job yet|There are none"))
        first = make()
        yard.yard.workers.drain()
        with page.expect_request(re.compile(asked), timeout=8000):  # by itself it asks less often
            yard.film(f"{path} 1")
        expect(page.get_by_role("main")).to_contain_text(shown(first))
        page.get_by_role("button", name=LIVE).click()
        second = make()
        yard.yard.workers.drain()
        yard.film(f"{path} 2")
        expect(page.get_by_role("button", name=re.compile(r"^\d+ new"))).to_be_visible()
        expect(page.get_by_role("main")).not_to_contain_text(shown(second))
        page.get_by_role("button", name=re.compile(r"^\d+ new")).click()
        expect(page.get_by_role("main")).to_contain_text(shown(second))


def test_a_viewer_sees_no_button_that_would_be_refused(page: Page, yard: YardConsole) -> None:
    filled = yard.yard.fill()
    body = {"kind": "work.Job", "key": {"job_id": filled["job"]}, "assignee": "a viewer"}
    assert yard.service.client(Role.EDITOR).post("/api/work/assignments", json=body).status_code == 200
    main = page.get_by_role("main")
    yard.open(page, "/console/inbox", role=Role.VIEWER)
    expect(page.get_by_role("region", name="Assigned to you").get_by_role("listitem")).to_have_count(1)
    expect(main.get_by_role("button", name=re.compile("Claim|Assign|Try again|Settle"))).to_have_count(0)
    navigation = page.get_by_role("navigation", name="Console")
    expect(navigation.get_by_role("link", name="Jobs")).to_be_visible()
    for hidden in ("Queues", "Dead letters", "Schedules", "Audit", "Keys", "Health", "Uploads"):
        expect(navigation.get_by_role("link", name=hidden)).to_have_count(0)
    for path, name in ((f"jobs/{filled['job']}", "pottery"), (f"tasks/{filled['task']}", "bake"), ("jobs", "Jobs")):
        page.goto(f"{yard.url}/console/work/{path}")
        expect(page.get_by_role("heading", level=1)).to_contain_text(name)
        acting = re.compile("Try again|Cancel|Give up|Move on|Run now|Revoke")
        expect(main.get_by_role("button", name=acting)).to_have_count(0)
    page.goto(f"{yard.url}/console/work/letters")
    expect(page.get_by_text("is not for you")).to_be_visible()


def test_what_is_told_while_the_connection_is_lost_is_told_once_when_it_is_back(
    page: Page, browser_context: BrowserContext, yard: YardConsole, complaints: Complaints
) -> None:
    complaints.allow("failed: (GET|POST)", "ERR_INTERNET_DISCONNECTED")
    yard.open(page, "/console/inbox", role=Role.EDITOR)
    expect(page.get_by_role("button", name=LIVE)).to_be_visible()
    told = page.get_by_role("list", name="Just now").get_by_role("link")
    yard.film("One")
    expect(told).to_have_text(["p1 / One"])
    browser_context.set_offline(True)
    expect(page.get_by_text("The service does not answer.")).to_be_visible()
    for title in ("Two", "Three", "Four"):
        yard.film(title)
    yard.yard.pot("vase", cracked=True)
    browser_context.set_offline(False)
    expect(told).to_have_text(["p1 / Four", "p1 / Three", "p1 / Two", "p1 / One"], timeout=20_000)
    expect(page.get_by_role("region", name="Cracked pots")).to_contain_text("vase")
    yard.film("Five")
    expect(told).to_have_text([f"p1 / {title}" for title in ("Five", "Four", "Three", "Two", "One")])


def test_a_seventh_tab_shows_what_needs_somebody_as_the_first_does(
    browser_context: BrowserContext, yard: YardConsole
) -> None:
    pages = [browser_context.new_page() for _ in range(7)]
    for page in pages:
        yard.open(page, "/console/inbox", role=Role.EDITOR if page is pages[0] else None)
        expect(page).to_have_title("(1) Needs you · Penstock")
    expect(pages[0].get_by_role("button", name=LIVE)).to_be_visible()
    yard.yard.pot("vase", cracked=True)
    yard.film("One")
    for page in pages:
        expect(page.get_by_role("region", name="Cracked pots")).to_contain_text("vase")
        expect(page).to_have_title("(2) Needs you · Penstock")
    assert yard.service.app.state.streams.open == 1
