"""Every place of the console that is looked at: its address, who opens it, and what is seen once it is there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from playwright.sync_api import expect

from .full_house import ANN, BEN, MUSEUM

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

SCREENS = Path(__file__).parents[3] / "console" / "src" / "screens" / "index.ts"
_SETTLED = """() => {
  const shown = (each) => each.getClientRects().length > 0;
  const come = [...document.images].filter(shown).map((each) => each.decode().catch(() => 0));
  const films = [...document.querySelectorAll("video")].filter((each) => shown(each) && each.readyState < 2);
  const seen = films.map((each) => new Promise((next) => each.addEventListener("loadeddata", next, { once: true })));
  const late = new Promise((next) => setTimeout(next, 4000));
  return Promise.race([late, Promise.all([...come, ...seen, document.fonts.ready])]).then(() => 0);
}"""
"Waits for pictures and films, a few seconds at most: a film that is not to be played yet may show nothing."
Act = Callable[["Page"], None]


@dataclass(frozen=True)
class Place:
    """Where somebody comes to."""

    name: str
    path: str
    seen: str
    "A text, or the name of something, that is seen there once all has come."
    who: str | None = BEN
    act: Act | None = None
    "What is done there before it is looked at."
    phone: bool = False
    "Is it looked at on a phone, too?"
    complains: tuple[str, ...] = ()

    def here(self, page: Page) -> None:
        """Wait until it is there."""
        expect(_anything(page, self.seen)).to_be_visible()
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        page.evaluate(_SETTLED)


def _anything(page: Page, seen: str) -> Locator:
    """A text or a label, as people would say."""
    return page.get_by_text(seen).or_(page.get_by_label(seen)).locator("visible=true").first


def screens() -> list[str]:
    """The addresses of all screens of the console, as it lists them."""
    return re.findall(r'path: "([^"]+)"', SCREENS.read_text())


def screen_of(place: Place) -> str | None:
    """The screen that a place is one of; None for what is shown before, instead of or above them."""
    path = place.path.partition("?")[0]
    return next((each for each in screens() if _pattern(each).fullmatch(path)), None)


def _pattern(screen: str) -> re.Pattern[str]:
    parts = (
        r".+" if part.startswith("*") else r"[^/]+" if part.startswith(":") else re.escape(part)
        for part in screen.split("/")
    )
    return re.compile("/".join(parts))


Made = Mapping[str, str]


def places(made: Made) -> Iterable[Place]:
    """All of them that there are where these things were made, the most ordinary place of each screen first."""
    yield from _frame()
    yield from _work(made)
    yield from _operation()
    yield from _records(made)
    yield from _refusals()
    if "nova" in made:
        yield from _more_work(made)
        yield from _more_records(made)
        yield from _more_doors(made)
        yield from _rooms(made)


def _frame() -> Iterable[Place]:
    yield Place("home", "/", "Music videos", phone=True)
    yield Place("sign-in", "/", "Sign in to Penstock", None, phone=True)
    yield Place("palette", "/", "Commands", act=_palette)
    yield Place("keyboard", "/console/inbox", "Keyboard", act=_map)
    yield Place("api", "/console/api", "How it is used")
    yield Place("parts", "/console/parts", "Parts of the console")


def _palette(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("revi")


def _map(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("?")


def _edit(page: Page) -> None:
    page.get_by_role("button", name="Edit …", exact=True).click()


def _model(page: Page) -> None:
    expect(page.locator("canvas").first).to_be_visible()


def _work(made: Made) -> Iterable[Place]:
    yield Place("inbox", "/console/inbox", "Reviews", ANN, phone=True)
    yield Place("review-queue", "/console/review", "Reviews", ANN, phone=True)
    yield Place("jobs", "/console/work/jobs", "Fox in a blue cloak", ANN, phone=True)
    yield Place("job", f"/console/work/jobs/{made['sprite_run']}", "Timeline", ANN, phone=True)
    yield Place("task", f"/console/work/tasks/{made['dead']}", "Attempts", ANN)
    yield Place("queues", "/console/work/queues", "Oldest due")
    yield Place("leases", "/console/work/queues?tab=leases", "studio-1")
    yield Place("workers", "/console/work/queues?tab=workers", "studio-1")
    yield Place("letters", "/console/work/letters", "musicvideo.compose")
    yield Place("messages", "/console/work/letters?tab=messages", "no such host")
    yield Place("schedules", "/console/work/schedules", "Next run")


def _more_work(made: Made) -> Iterable[Place]:
    yield Place("job-done", f"/console/work/jobs/{made['robot_run']}", "Timeline", ANN)


def _operation() -> Iterable[Place]:
    yield Place("health", "/console/ops/health", "The last hour")
    yield Place("audit", "/console/ops/audit", "Audit lines")
    yield Place("keys", "/console/ops/keys", "Museum display")
    yield Place("key-new", "/console/ops/keys?new=1", "Make the key")
    yield Place("retention", "/console/ops/retention", "Nobody has looked yet")
    yield Place("uploads", "/console/ops/uploads", "48.0 MB")


def _records(made: Made) -> Iterable[Place]:
    film = f"/console/d/musicvideo/projects/{made['film']}"
    yield Place("system", "/console/d/musicvideo", "First of Projects")
    yield Place("records", "/console/d/musicvideo/projects", "Concept prompt", phone=True)
    yield Place("record", film, "Robot exploring", phone=True)
    yield Place("record-form", film, "Go back", act=_edit)
    yield Place("door-film-done", f"{_MAKE}?video={made['film']}", "Download the film", ANN, phone=True)
    yield Place("room-picture", f"{_ROOM}/{made['sprite_step']}", "2048 × 2048", ANN, phone=True)


_MAKE, _ROOM = "/console/d/musicvideo/p/make.js", "/console/review"


def _more_records(made: Made) -> Iterable[Place]:
    film = f"/console/d/musicvideo/projects/{made['film']}"
    of_nova = f"/console/d/novae/datasets?pattern=of_nova&q.nova_id={made['nova']}"
    yield Place("records-filtered", f"{of_nova}&filter=true", "SPECTRA")
    yield Place("records-none", "/console/d/musicvideo/projects?pattern=by_status&q.status=pending", "Nothing fits")
    yield Place("record-related", f"{film}?tab=related", "Scenes")
    yield Place("record-history", f"{film}?tab=history", "Ann Ortiz")
    yield Place("record-json", f"{film}?tab=json", "concept_prompt")
    yield Place("record-nova", f"/console/d/novae/novae/{made['nova']}", "V1324 Sco")


def _more_doors(made: Made) -> Iterable[Place]:
    asset = f"/console/d/assetcreator/p/ask.js?of={made['creative']}&job="
    watch, look = "/console/d/videos/p/watch.js", "/console/d/novae/p/look.js"
    nova, said = f"{look}?nova={made['nova']}", f"/console/d/speech/p/say.js?audio={made['spoken']}"
    yield Place("door-film-growing", f"{_MAKE}?video={made['growing']}", "filmed", ANN)
    yield Place("door-film-empty", _MAKE, "No video is open", ANN)
    yield Place("door-asset-gate", f"{asset}{made['knight']}", "Are you content", ANN, _model, phone=True)
    yield Place("door-asset-again", f"{asset}{made['sprite']}", "run 2", ANN)
    yield Place("door-asset-done", f"{asset}{made['robot']}", "Version 1", ANN)
    yield Place("door-videos", watch, "First light", ANN, phone=True)
    yield Place("door-video", f"{watch}?video={made['video']}", "views", ANN)
    yield Place("door-speech", said, "Will be forgotten", phone=True)
    yield Place("door-nova", nova, "magnitude over time", ANN, phone=True)
    yield Place("door-nova-doubt", f"{nova}&dataset={made['doubtful']}", "furlong", ANN)
    yield Place("door-nova-empty", look, "No nova is open", ANN)


def _rooms(made: Made) -> Iterable[Place]:
    """Something of each of the five systems, in the viewer that it is looked at with."""
    film, sprite = f"{_ROOM}/musicvideo/projects/{made['film']}", f"{_ROOM}/{made['sprite_step']}"
    asset, nova = f"{_ROOM}/assetcreator/asset_versions/{made['asset']}", f"{_ROOM}/novae/datasets/{made['nova']}"
    yield Place("room-film", film, f"of {made['frames']}", ANN, phone=True)
    yield Place("room-scene", f"{_ROOM}/musicvideo/scenes/{made['film']}/2", f"of {made['frames_of_scene']}", ANN)
    yield Place("room-compare", f"{sprite}?with={quote(made['sprite_before'], safe='')}", "Compared with", ANN)
    yield Place("room-gate", f"{_ROOM}/{made['knight_step']}", "triangles", ANN)
    yield Place("room-model", f"{asset}?file=asset.glb", "triangles", ANN, phone=True)
    yield Place("room-stream", f"{_ROOM}/videos/videos/{made['video']}", "frame", ANN)
    yield Place("room-sound", f"{_ROOM}/speech/audios/{made['spoken']}", "Waveform: click to go there")
    yield Place("room-spectrum", f"{nova}/SPECTRA/folder/{made['spectra']}", "Seen", ANN)
    yield Place("room-light-curve", f"{nova}/PHOTOMETRY/folder/{made['photometry']}", "Seen", ANN, phone=True)
    yield Place("room-doubt", f"{nova}/SPECTRA/folder/{made['doubtful']}", "1200 × 700", ANN, phone=True)
    yield Place("guest", made["guest"], f"of {made['frames']}", None, phone=True)


def _refusals() -> Iterable[Place]:
    nobody = "/console/d/musicvideo/projects/00000000-0000-4000-8000-000000000000"
    yield Place("refused", "/console/work/letters", "is not for you", MUSEUM)
    yield Place("lost", "/console/nowhere", "Nothing is here")
    yield Place("gone", nobody, "It is not there", complains=("answered 404: GET .*/00000000-0000-4000",))
    yield Place("error", "/console/review/novae/comets/1", "Try again", complains=("answered 422: GET .*comets",))
