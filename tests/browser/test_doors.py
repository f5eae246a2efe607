"""The five front doors: each story by clicking and typing alone, from an empty store to its result.

What is asked for is done by the workers of the service, as it is by those of `penstock up`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest
from playwright.sync_api import expect

from penstock.domains import assetcreator, musicvideo, novae, speech, videos
from penstock.domains.musicvideo import scenes
from penstock.domains.musicvideo.film_studio import FilmStudio
from penstock.domains.musicvideo.model import Scene, SceneStatus
from penstock.files.uploads import Uploads
from penstock.plugin import DomainPlugin
from penstock.schema.role import Role
from tests.domains.novae.whole_story import NOVA, sky_of
from tests.servers import had
from tests.work.soon import soon

from .accessibility import too_wide_for_a_phone, violations_in_both_themes
from .complaints import Complaints
from .console import build_once
from .door import FrontDoor, opened
from .films import numbered_film
from .playing import played
from .seen_whole import WHOLE

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request, Route

Opens = Callable[..., FrontDoor]


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Opens]:
    """Opens the service of one domain, until the page has been judged."""
    had(build_once)
    with ExitStack() as stack:

        def open_one(plugin: DomainPlugin, variables: Mapping[str, str] | None = None) -> FrontDoor:
            return stack.enter_context(opened(tmp_path, plugin, variables=variables))

        yield open_one


def usable(page: Page) -> None:
    """By everybody, in both themes, and on a phone."""
    assert violations_in_both_themes(page) == []
    assert not too_wide_for_a_phone(page)


def test_a_sentence_is_typed_and_heard(page: Page, door: Opens) -> None:
    said = door(speech.PLUGIN)
    said.open(page)
    page.get_by_label("Text").fill("The train to the mountains leaves at nine.")
    page.get_by_label("Voice").select_option(index=0)
    page.get_by_label("Format").select_option("MP3")
    page.get_by_role("button", name="Speak").click()
    sound = page.locator("audio")
    assert played(sound) > 1
    expect(page.get_by_text("Will be forgotten in")).to_contain_text(re.compile("23 ?h|1 ?day|tomorrow"))
    expect(page.get_by_role("list", name="Said today").get_by_role("listitem")).to_have_count(1)
    page.reload()  # it is in the address, and can be sent to somebody
    assert played(sound) > 1
    usable(page)


def test_what_was_left_out_and_what_failed_is_shown(page: Page, door: Opens, complaints: Complaints) -> None:
    """Each voice with its language and how it sounds; what it could not say, and a text of which nothing came."""
    complaints.expect("answered 422: POST .*/public/tts/sync")
    said = door(speech.PLUGIN)
    said.open(page, role=Role.ADMIN)
    voice, text = page.get_by_label("Voice"), page.get_by_label("Text")
    expect(voice.locator("option").filter(has_text="like a person")).to_have_text(
        ["en_US-heart (en-US), like a person, the usual one"]
    )
    text.fill("Guten Tag 😊")
    voice.select_option("de_DE-pico")
    page.get_by_role("button", name="Speak").click()
    expect(page.get_by_text("Left out, as the voice cannot say it: 😊")).to_be_visible()
    text.fill("世界")
    page.get_by_role("button", name="Speak").click()
    expect(page.get_by_text("Latin script").first).to_be_visible()
    rows = page.get_by_role("list", name="Said today").get_by_role("listitem")
    expect(rows.filter(has_text="Latin script")).to_have_count(1)
    expect(rows.filter(has=page.get_by_role("button"))).to_have_count(1)
    usable(page)


def test_a_video_grows_scene_by_scene_and_is_played(page: Page, door: Opens) -> None:
    studio = door(musicvideo.PLUGIN, {"MV_SIZE": "160x90", "MV_FPS": "12", "MV_SCENE_SECONDS": "1"})
    studio.open(page)
    page.get_by_label("What it is about").fill("Robot exploring Austin, Texas")
    page.get_by_label("Who is in it").fill("Silver metallic humanoid robot")
    page.get_by_label("Style").select_option(index=1)
    page.get_by_label("Scenes", exact=True).fill("2")
    page.get_by_role("button", name="Make the video").click()
    scenes = page.get_by_role("list", name="Scenes").get_by_role("listitem")
    expect(scenes).to_have_count(2)
    expect(page.get_by_text("2 of 2 filmed")).to_be_visible()
    expect(scenes.get_by_text("completed")).to_have_count(2)
    assert played(scenes.first.locator("video")) > 0.5

    page.get_by_role("button", name="Film it again: scene 2").click()
    scene = Scene.at(project_id=UUID(parse_qs(urlsplit(page.url).query)["video"][0]), sequence=2)
    soon(lambda: (now := studio.system.context.store.get(scene)).take == 2 and now.status is SceneStatus.COMPLETED)
    page.reload()  # the page said so already, before it was filmed again
    expect(page.get_by_text("2 of 2 filmed")).to_be_visible()
    page.get_by_role("button", name="Cut the film").click()
    assert played(page.get_by_label("The film", exact=True)) > 1.5
    expect(page.get_by_role("link", name="Download the film")).to_be_visible()
    usable(page)


def test_lips_that_are_out_of_step_are_seen_and_moved_again(page: Page, door: Opens) -> None:
    studio = door(musicvideo.PLUGIN, {"MV_SIZE": "160x90", "MV_FPS": "12", "MV_SCENE_SECONDS": "1"})
    studio.open(page)
    page.get_by_label("What it is about").fill("Robot exploring Austin, Texas")
    page.get_by_label("Who is in it").fill("Silver metallic humanoid robot")
    page.get_by_label("Scenes", exact=True).fill("3")
    page.get_by_role("button", name="Make the video").click()
    expect(page.get_by_text("3 of 3 filmed")).to_be_visible()
    cut, again = (page.get_by_role("button", name=name) for name in ("Cut the film", "Move all stale lips again"))
    expect(cut).to_be_visible()
    expect(again).to_have_count(0)

    video = UUID(parse_qs(urlsplit(page.url).query)["video"][0])
    in_studio = FilmStudio.within(studio.system.context)
    sings = [s for s in in_studio.store.find(Scene.of_project(project_id=video)) if s.lip_synced_video_clip_s3_key]
    scenes.reorder(in_studio, video, [*sorted({1, 2, 3} - {sings[0].sequence}), sings[0].sequence][::-1], by="ann")
    expect(page.get_by_text("lips out of step").first).to_be_visible()
    expect(page.get_by_role("alert").get_by_text("Lips are out of step with the track: scene")).to_be_visible()
    expect(cut).to_have_count(0)
    usable(page)
    again.click()
    expect(cut).to_be_visible()
    expect(page.get_by_text("lips out of step")).to_have_count(0)


def test_an_asset_is_asked_for_decided_about_and_taken_away(page: Page, door: Opens) -> None:
    studio = door(assetcreator.PLUGIN)
    studio.open(page)
    page.get_by_label("Name of the project").fill("Robots")
    page.get_by_label("Type").select_option("2D sprite")
    page.get_by_label("What it is").fill("Space ranger robot with a red scarf")
    page.get_by_role("button", name="Ask for it").click()
    expect(page.get_by_role("heading", name="Space ranger robot")).to_be_visible()
    gate = page.get_by_role("region", name="Your decision")
    expect(gate.get_by_role("heading")).to_have_text("Are you content with Refine, run 1?")
    picture = gate.get_by_role("img", name="refined.png")
    expect(picture).to_be_visible()
    expect(gate.get_by_role("link", name="Look closely")).to_have_attribute("href", re.compile("^/console/review/"))
    assert picture.evaluate(WHOLE), "what is to be approved is seen whole"
    gate.get_by_label("Notes").fill("The scarf has to be red.")
    gate.get_by_role("button", name="Make it again").click()
    expect(gate).to_have_count(0)
    expect(gate.get_by_role("heading")).to_have_text("Are you content with Refine, run 2?")
    usable(page)
    page.get_by_role("heading", level=1).click()  # nobody types just now
    page.keyboard.press("a")  # Approve, by its key
    expect(gate).to_have_count(0)
    library = page.get_by_role("region", name="Versions")
    expect(library.get_by_role("heading", name="Version 1")).to_be_visible()
    with page.expect_download() as taken:
        library.get_by_role("link", name="Download version 1").click()
    assert taken.value.suggested_filename.endswith("-v1.zip")
    usable(page)


def test_a_film_is_sent_in_parts_taken_up_after_a_reload_found_and_watched(
    page: Page, door: Opens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    film = numbered_film(tmp_path / "winter_walk.mp4", seconds=3)
    usual: Any = Uploads.__init__.__kwdefaults__
    for name, value in {"at_once": 1_000, "part_size": film.stat().st_size // 4 + 1}.items():
        monkeypatch.setitem(usual, name, value)
    library = door(videos.PLUGIN)
    library.open(page)

    sent: list[str] = []

    def passed(route: Route, request: Request) -> None:
        """Of what is sent before the reload, the third part never arrives: somebody closes the lid."""
        sent.extend([request.url] if request.method == "PUT" else [])
        if len(sent) != 3:
            route.continue_()

    page.route("**/objects/**", passed)
    page.get_by_label("A film to send").set_input_files(film)
    expect(page.get_by_label("Title")).to_have_value("winter walk")
    page.get_by_role("textbox", name="Category").first.fill("Travel")
    page.get_by_label("Tags").fill("mountains, winter")
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("status").filter(has_text=re.compile("50 % sent|51 % sent"))).to_be_visible()

    page.reload()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose the same file").click()
    chooser.value.set_files(film)
    found = page.get_by_role("list", name="Videos").get_by_role("listitem")
    # It is looked at quickly: it may be a video before anybody could read that it is being looked at.
    expect(page.get_by_text("sent; it is being looked at").or_(found).first).to_be_visible()
    expect(found).to_have_count(1)
    assert len(sent) == 5  # two had arrived and are not sent again
    page.get_by_role("form", name="Find videos").get_by_label("Tag").fill("winter")
    page.get_by_role("button", name="Find", exact=True).click()
    expect(found).to_contain_text("#winter")
    page.get_by_role("form", name="Find videos").get_by_label("Tag").fill("")
    page.get_by_role("form", name="Find videos").get_by_label("Category").fill("Travel")
    page.get_by_role("button", name="Find", exact=True).click()
    found.get_by_role("link", name="winter walk").click()
    watched = page.get_by_role("region", name="The film")
    expect(watched).to_contain_text("0 views")
    assert played(watched.locator("video")) == pytest.approx(3, abs=0.2)
    expect(watched).to_contain_text("1 view ")
    usable(page)


def test_a_nova_is_looked_up_its_quarantine_cleared_and_its_data_bundled(
    page: Page, door: Opens, tmp_path: Path
) -> None:
    catalogue = door(novae.PLUGIN, sky_of(tmp_path / "sky"))
    catalogue.open(page)
    page.get_by_label("Name").fill(NOVA)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Find it elsewhere").click()
    expect(page.get_by_role("region", name="The nova")).to_contain_text(NOVA)
    expect(page.get_by_role("img", name=re.compile("magnitude over time"))).to_be_visible()
    usable(page)
    data = page.get_by_role("list", name="Light curves and spectra")
    data.get_by_role("listitem").filter(has_text="spectrum").filter(has_text="valid").first.get_by_role("link").click()
    expect(page.get_by_role("img", name=re.compile("flux over wavelength"))).to_be_visible()

    page.get_by_role("list", name="In quarantine").get_by_role("link").click()
    expect(page.get_by_text(re.compile("In quarantine: .*furlong"))).to_be_visible()
    page.get_by_label("What the file does not say").select_option("flux_unit")
    page.get_by_label("Its value").fill("erg/s/cm2/Angstrom")
    page.get_by_label("Note for the audit trail").fill("the observer says so")
    page.get_by_role("button", name="Judge it again").click()
    expect(page.get_by_text("It is judged again.")).to_be_visible()
    expect(page.get_by_text("Nothing is in quarantine.")).to_be_visible()
    expect(data.get_by_role("listitem").filter(has_text="unknown-unit")).to_contain_text("valid")
    page.get_by_role("button", name="Make the bundle").click()
    with page.expect_download() as taken:
        page.get_by_role("link", name="Download the bundle").click()
    assert taken.value.suggested_filename == f"{NOVA}.zip"


def test_a_viewer_sees_nothing_that_would_be_refused(page: Page, door: Opens) -> None:
    door(assetcreator.PLUGIN).open(page, role=Role.VIEWER)
    expect(page.get_by_text("No asset is open.")).to_be_visible()
    expect(page.get_by_role("button", name="Ask for it")).to_have_count(0)
