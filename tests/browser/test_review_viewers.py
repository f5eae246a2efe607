"""Viewers in a real browser: every frame is the right one, and a note leads back to where it was written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from penstock.schema.role import Role

from . import studio
from .console import Console
from .review_room import ROOM, at_frame, drawn, made, note, painted, seen_of_all
from .seen_whole import WHOLE
from .signed_streams import keep, signed_playlists
from .studio import Take

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_a_frame_step_is_exact_and_a_note_leads_back_to_it(page: Page, reviewed: Console, numbered_mp4: bytes) -> None:
    room = made(reviewed, film=numbered_mp4)
    reviewed.open(page, room)
    at_frame(page, 0)
    for number in (1, 2, 3):
        page.keyboard.press(".")
        at_frame(page, number)
        assert painted(page) == number
    page.keyboard.press(">")
    at_frame(page, 13)
    assert painted(page) == 13
    back = note(page, "The eye flickers.")
    expect(back).to_contain_text("0:00.52 · frame 13")
    page.get_by_role("button", name="Frame before").click()
    at_frame(page, 12)
    assert painted(page) == 12
    back.click()
    at_frame(page, 13)
    assert painted(page) == 13
    expect(page).to_have_url(re.compile("t=520"))
    page.goto(page.url.replace("t=520", "t=2000"))
    at_frame(page, 13)
    assert painted(page) == 13, "the address of a note leads to it"
    thread = page.get_by_role("article", name="Note 1")
    thread.get_by_role("button", name="Reply").click()
    thread.get_by_label("Reply", exact=True).fill("It is the lamp.")
    thread.get_by_role("button", name="Send").click()
    expect(thread).to_contain_text("It is the lamp.")
    thread.get_by_role("button", name="Edit").last.click()
    thread.get_by_label("Say instead").fill("The left eye flickers.")
    thread.get_by_role("button", name="Save").click()
    expect(thread).to_contain_text("The left eye flickers.")
    thread.get_by_role("button", name="Resolve").click()
    expect(page.get_by_role("article", name="Note 1, resolved")).to_be_visible()


def test_a_region_is_drawn_on_a_film(page: Page, reviewed: Console, numbered_mp4: bytes) -> None:
    room = made(reviewed, film=numbered_mp4)
    reviewed.open(page, room)
    at_frame(page, 0)
    page.keyboard.press(">")
    at_frame(page, 10)
    page.keyboard.press("r")
    drawn(page, (0.25, 0.25), (0.5, 0.75))
    back = note(page, "Too dark here.")
    expect(back).to_contain_text("frame 10 · region")
    page.keyboard.press(".")
    at_frame(page, 11)
    expect(page.get_by_role("button", name="Note 1: Too dark here.", exact=True)).to_be_visible()
    (said,) = (
        reviewed.service.client(Role.VIEWER)
        .get("/api/review/notes", params={"record": "studio/takes/p1/Robot/1"})
        .json()["items"]
    )
    region = said["pin"]["region"]
    assert [region[n] for n in ("x", "y", "width", "height")] == pytest.approx([0.25, 0.25, 0.25, 0.5], abs=0.02)


def test_two_versions_are_in_step_and_never_black(page: Page, reviewed: Console, numbered_mp4: bytes) -> None:
    made(reviewed, film=numbered_mp4)
    room = made(reviewed, take=2, film=numbered_mp4)
    reviewed.open(page, room)
    at_frame(page, 0)
    page.keyboard.press(">")
    at_frame(page, 10)
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("group", name="Compare")).to_be_visible()
    expect(page.get_by_label("Wipe between the versions")).to_be_visible()
    assert (painted(page), painted(page, "film, the other version")) == (10, 10)
    for way in ("Side by side", "Other", "This", "Wipe"):
        page.get_by_role("group", name="Compare").get_by_role("button", name=way).click()
        shown = seen_of_all(page, 10)
        assert shown == [10] * len(shown), way
        assert len(shown) == (2 if way in ("Side by side", "Wipe") else 1)
        expect(page.get_by_role("group", name="Versions that are seen").locator("p")).to_have_count(len(shown))
    for number in (11, 12):
        page.keyboard.press(".")
        at_frame(page, number)
        assert seen_of_all(page, number) == [number, number]
    page.keyboard.press("k")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    expect(page.get_by_label("Position", exact=True)).to_contain_text(re.compile(r"frame (2[0-9]|[3-9][0-9]) of"))
    before = page.url
    page.keyboard.press("k")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(page).not_to_have_url(before)  # the moment is in it once both stand there
    mine, other = seen_of_all(page)
    assert mine is not None
    assert mine == other


def test_a_frame_of_a_stream_is_exact_too(page: Page, reviewed: Console, numbered_stream: Path, tmp_path: Path) -> None:
    objects = reviewed.service.objects
    keep(objects, numbered_stream.parent, "takes/Robot/1/")
    signed_playlists(objects, numbered_stream.parent, tmp_path / "signed", "takes/Robot/1/")
    for path in (tmp_path / "signed").rglob("*.m3u8"):
        objects.put(f"takes/Robot/1/{path.relative_to(tmp_path / 'signed').as_posix()}", path.read_bytes())
    reviewed.service.store.create(
        Take(
            project_id="p1",
            title="Robot",
            take=1,
            created_at=reviewed.service.clock.now(),
            stream="takes/Robot/1/master.m3u8",
        )
    )
    reviewed.open(page, f"{ROOM}/Robot/1")
    expect(page.get_by_text(re.compile("of 10[01]"))).to_be_visible()
    for keys, number in ((">", 10), (".", 11), (">", 21), ("<", 11), (",", 10)):
        page.keyboard.press(keys)
        at_frame(page, number)
        assert painted(page, "stream") == number


# Other kinds: a note comes back to where it was written


def test_a_note_on_a_sound(page: Page, reviewed: Console) -> None:
    reviewed.open(page, made(reviewed, sound=studio.sound()))
    page.get_by_label("Waveform: click to go there").click(position={"x": 300, "y": 60})
    place = page.get_by_label("Position", exact=True)
    expect(place).not_to_contain_text("0:00 /")
    was = place.inner_text()
    back = note(page, "A click.")
    page.keyboard.press(".")
    expect(place).not_to_have_text(was)
    back.click()
    expect(place).to_have_text(was, use_inner_text=True)
    page.keyboard.press("k")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    expect(place).not_to_have_text(was, use_inner_text=True)


def test_a_note_on_a_picture(page: Page, reviewed: Console) -> None:
    made(reviewed, still=studio.still(40))
    reviewed.open(page, made(reviewed, take=2, still=studio.still()))
    expect(page.get_by_text("960 × 540")).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 560})  # a low window, in which it is seen whole all the same
    assert page.get_by_role("img", name="still", exact=True).evaluate(WHOLE)
    page.get_by_role("button", name="Region").click()
    drawn(page, (0.7, 0.1), (0.85, 0.3))
    back = note(page, "The moon is too large.")
    expect(back).to_contain_text("region")
    zoom = page.get_by_label("Zoom", exact=True)
    expect(zoom).to_have_text("100 %")
    back.click()
    expect(zoom).to_have_text(re.compile("^[3-4].. %"))
    expect(page.get_by_role("button", name="Note 1: The moon is too large.")).to_be_in_viewport()
    page.keyboard.press("0")
    expect(zoom).to_have_text("100 %")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_label("Wipe between the versions")).to_be_visible()
    labels = page.get_by_role("group", name="Versions that are seen").locator("p")
    named = [re.compile(r"Left\s+Robot, take 2\s+\S"), re.compile(r"Right\s+Robot, take 1\s+\S")]
    expect(labels).to_have_text(named)
    page.keyboard.press("v")
    expect(labels).to_have_text(named)
    expect(page.get_by_role("img", name="still, the other version")).to_be_visible()


def test_a_note_on_a_model_and_its_clip_moves(page: Page, reviewed: Console) -> None:
    reviewed.open(page, made(reviewed, model=studio.model()))
    stage = page.get_by_role("application")
    expect(page.get_by_text("4 triangles")).to_be_visible()
    stage.focus()
    page.keyboard.press("Enter")
    back = note(page, "A hole.")
    expect(back).to_contain_text("point")
    was = stage.get_attribute("data-view")
    stage.focus()
    page.keyboard.press("ArrowLeft")
    expect(stage).not_to_have_attribute("data-view", str(was))
    back.click()
    expect(stage).to_have_attribute("data-view", str(was))
    clip = page.get_by_label("Time of the clip")
    expect(clip).to_have_text(re.compile(r"^0\.00"))
    page.keyboard.press("k")
    expect(clip).not_to_have_text(re.compile(r"^0\.00"))
    page.keyboard.press("k")
    page.keyboard.press("w")
    expect(page.get_by_role("button", name="Wireframe")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("y")
    expect(stage).not_to_have_attribute("data-view", str(was))
    expect(page).to_have_url(re.compile("wire=1.*turn=1"))


def test_a_spectrum_is_zoomed_and_noted(page: Page, reviewed: Console) -> None:
    reviewed.open(page, made(reviewed, spectrum=studio.spectrum()))
    sheet, seen = page.get_by_role("application"), page.get_by_label("Seen", exact=True)
    expect(seen).to_have_text("all")
    over = page.locator(".u-over")
    box = over.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 90, steps=4)
    page.mouse.up()
    expect(seen).to_have_text(re.compile(r"^6\d+.* – 6\d+.* Å$"))
    expect(page).to_have_url(re.compile(r"x=6\d+"))
    page.get_by_label("Unit of the x axis").select_option("nm")
    expect(seen).to_have_text(re.compile(r"^6\d\d(\.\d+)? – 6\d\d(\.\d+)? nm$"))
    over.click(position={"x": 200, "y": 100})
    back = note(page, "H alpha is cut off.")
    expect(back).to_contain_text(re.compile(r"6\d\d\d(\.\d+)? Å"))
    page.keyboard.press("0")
    expect(seen).to_have_text("all")
    page.keyboard.press("Shift+Y")
    expect(page.get_by_role("button", name="log y")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Go to note 1")).to_be_visible()
    sheet.focus()
    page.keyboard.press("Shift+ArrowLeft")
    back.click()
    expect(page.get_by_text(re.compile("^at "))).to_contain_text(
        re.sub(r"^1", "", back.inner_text()).split(" Å")[0].strip()
    )


def test_a_light_curve_has_its_bright_nights_above(page: Page, reviewed: Console) -> None:
    reviewed.open(page, made(reviewed, light_curve=studio.light_curve()))
    expect(page.get_by_label("Seen", exact=True)).to_have_text("all")
    page.get_by_role("application").focus()
    page.keyboard.press("ArrowRight")
    expect(note(page, "A second rise.")).to_contain_text("JD 24566")
    page.keyboard.press("+")
    expect(page.get_by_label("Seen", exact=True)).to_contain_text(" – ")
