"""The screens of those who operate a system: its trail, its keys, what would go, its health; and all by everybody."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from penstock.schema.role import Role
from tests.servers import had

from .accessibility import too_wide_for_a_phone, violations_in_both_themes
from .console import build_once
from .yard import YardConsole, yard_served

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[YardConsole]:
    had(build_once)
    with yard_served(tmp_path) as yard:
        yield yard


def test_the_trail_is_filtered_exported_and_verified(page: Page, yard: YardConsole, tmp_path: Path) -> None:
    yard.yard.pot("vase")
    yard.yard.tick(seconds=5)
    with yard.yard.store.change(by="ann", why="an order came in") as change:
        change.create(yard.yard.pot("cup").model_copy(update={"name": "plate"}))
    yard.open(page, "/console/ops/audit?of=p1", role=Role.ADMIN)
    lines = page.get_by_role("region", name="Audit lines")
    expect(lines.get_by_role("row")).to_have_count(4)
    page.get_by_label("Who begins with").fill("an")
    page.get_by_role("button", name="Find", exact=True).click()
    expect(lines.get_by_role("row")).to_have_count(2)
    expect(lines).to_contain_text("an order came in")
    lines.get_by_text("ann").click()
    expect(page.get_by_role("region", name="Audit line", exact=True)).to_contain_text("an order came in")
    with page.expect_download() as saving:
        page.get_by_role("button", name="Export").click()
    saving.value.save_as(tmp_path / "audit.jsonl")
    told = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert [line.get("actor") for line in told] == ["ann", None]
    assert told[-1] == {"end": True, "lines": 1, "complete": True}
    page.get_by_role("button", name="Verify the seals").click()
    verdict = page.get_by_role("region", name="Trails verified")
    expect(verdict).to_contain_text("It waits for a worker.")
    yard.yard.workers.drain()
    expect(verdict).to_contain_text("Sound")
    expect(verdict.get_by_role("region", name="Verdicts")).to_contain_text("p1")


def test_a_key_is_made_its_secret_seen_once_and_revoked(page: Page, yard: YardConsole) -> None:
    yard.open(page, "/console/ops/keys", role=Role.ADMIN)
    expect(page.get_by_role("heading", name="Keys and roles")).to_be_visible()
    page.keyboard.press("n")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("For").fill("render farm")
    dialog.get_by_label("Role").select_option("editor")
    dialog.get_by_label("Project").fill("p1")
    dialog.get_by_role("button", name="Make the key").click()
    expect(dialog).to_contain_text("shown this once")
    token = dialog.get_by_role("region", name=re.compile("^Key: ")).inner_text()
    assert yard.service.client(key=token).get("/api/work/jobs").status_code == 200
    dialog.get_by_role("button", name="I have it").click()
    expect(dialog).to_have_count(0)
    assert token not in page.content()
    row = page.get_by_role("row", name=re.compile("render farm"))
    expect(row).to_contain_text("p1")
    row.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_have_count(0)
    assert yard.service.client(key=token).get("/api/work/jobs").status_code == 401
    page.get_by_role("tab", name="Revoked").click()
    expect(row).to_be_visible()


def test_a_dry_run_says_what_would_go_and_how_much(page: Page, yard: YardConsole) -> None:
    yard.open(page, "/console/ops/retention", role=Role.ADMIN)
    for tab, name, known in (
        ("Sweep", "Dry run of the sweep", "Files would go"),
        ("Retention", "Dry run of retention", "Records would go"),
    ):
        page.get_by_role("tab", name=tab).click()
        page.get_by_role("button", name="Dry run").click()
        found = page.get_by_role("region", name=name)
        expect(found).to_contain_text("It waits for a worker.")
        yard.yard.workers.drain()
        expect(found).to_contain_text(known)


def test_a_queue_that_nobody_works_on_is_seen_with_what_to_do(page: Page, yard: YardConsole, tmp_path: Path) -> None:
    yard.yard.task(name="vase")
    yard.yard.tick(minutes=5)
    yard.open(page, "/console/ops/health", role=Role.ADMIN)
    checks = page.get_by_role("region", name="Checks")
    expect(checks).to_contain_text("workshop.bake")
    expect(checks).to_contain_text("no worker takes it. Start one: penstock worker")
    expect(page.get_by_role("status").first).to_contain_text("needs a look")
    page.screenshot(path=tmp_path / "health.png")


def test_queues_workers_uploads_and_health_are_seen(page: Page, yard: YardConsole) -> None:
    yard.yard.fill()
    yard.open(page, "/console/work/queues", role=Role.ADMIN)
    expect(page.get_by_role("region", name="Queues", exact=True)).to_contain_text("workshop.bake")
    page.get_by_role("tab", name="Leases").click()
    expect(page.get_by_role("region", name="Leases", exact=True)).to_contain_text("manual")
    page.get_by_role("tab", name="Workers").click()
    expect(page.get_by_role("region", name="Workers", exact=True)).to_contain_text("manual")
    page.get_by_role("tab", name="Duties").click()
    expect(page.get_by_role("region", name="Duties", exact=True)).to_contain_text("schedule:workshop-sweeping")
    page.keyboard.press("g")
    page.keyboard.press("u")
    expect(page.get_by_role("region", name="Uploads", exact=True)).to_contain_text("48.0 MB")
    page.keyboard.press("g")
    page.keyboard.press("e")
    expect(page.get_by_role("img", name=re.compile("^Requests in 10 s: "))).to_be_visible()
    expect(page.get_by_role("status").first).to_have_text("needs a look")
    page.goto(f"{yard.url}/console/work/letters?tab=messages")
    expect(page.get_by_role("region", name="Messages", exact=True)).to_contain_text("no such host")
    page.get_by_role("button", name="Replay", exact=True).click()
    expect(page.get_by_text("There are none")).to_be_visible()


def screens(filled: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Every screen, and something that is seen once it is there."""
    return (
        ("/console/inbox", "Reviews"),
        ("/console/work/jobs", "pottery"),
        (f"/console/work/jobs/{filled['job']}", "Timeline"),
        (f"/console/work/tasks/{filled['task']}", "the kiln has no gas"),
        ("/console/work/queues", "workshop.bake"),
        ("/console/work/letters", "the kiln has no gas"),
        ("/console/work/schedules", "workshop-sweeping"),
        ("/console/ops/health", "The last hour"),
        ("/console/ops/audit?of=p1", "ann"),
        ("/console/ops/keys", "a viewer"),
        ("/console/ops/keys?new=1", "a viewer"),
        ("/console/ops/retention", "Nobody has looked yet"),
        ("/console/ops/uploads", "48.0 MB"),
    )


@pytest.mark.long  # each screen is looked at in test_every_screen
def test_everybody_can_use_the_screens_in_both_themes_and_on_a_phone(page: Page, yard: YardConsole) -> None:
    filled = yard.yard.fill()
    yard.service.key(Role.VIEWER)
    yard.open(page, "/console/parts", role=Role.ADMIN)
    for path, seen in screens(filled):
        page.goto(f"{yard.url}{path}")
        expect(page.get_by_role("main")).to_contain_text(seen)
        assert violations_in_both_themes(page) == [], path
        assert not too_wide_for_a_phone(page), path
