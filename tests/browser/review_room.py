"""The review room as tests use it: takes with files, what is seen of them, and notes."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from .console import Console
from .studio import Take, TakeStatus

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

PATIENCE_MS = 30_000
"A film is looked at once by the service before its frames are counted, which takes long on a busy machine."
ROOM = "/console/review/studio/takes/p1"
KINDS = ("film", "sound", "still", "model", "spectrum", "light_curve")
PAINTED = """(film) => {
  const BITS = 10;
  const [width, height] = [film.videoWidth, film.videoHeight];
  const sheet = new OffscreenCanvas(width, height).getContext("2d");
  sheet.drawImage(film, 0, 0);
  const light = (x, y) => sheet.getImageData(Math.floor(x), Math.floor(y), 1, 1).data[1];
  let number = 0;
  for (let bit = 0; bit < BITS; bit++) {
    const x = ((bit + 0.5) * width) / BITS;
    const difference = light(x, height / 4) - light(x, (height * 3) / 4);
    if (Math.abs(difference) < 64) return null;
    number = number * 2 + (difference > 0 ? 1 : 0);
  }
  return number;
}"""
"The number that is painted into the picture that a film shows; null for one without, such as a black one."
SETTLED = f"""async (films, wanted) => {{
  const painted = {PAINTED};
  const ends = performance.now() + {PATIENCE_MS};
  for (;;) {{
    const seen = films.map(painted);
    const rest = seen.every((number) => number === (wanted ?? seen[0]));
    if (rest || seen.includes(null) || performance.now() > ends) return seen;
    await new Promise(requestAnimationFrame);
  }}
}}"""
"What films show once all of them show the same, or as soon as one shows nothing."


def made(console: Console, title: str = "Robot", take: int = 1, **files: bytes) -> str:
    """A take with these files; where its room is."""
    service = console.service
    for name, contents in files.items():
        service.objects.put(f"takes/{title}/{take}/{name}", contents)
    keys: dict[str, Any] = {name: f"takes/{title}/{take}/{name}" for name in files}
    service.clock.advance(timedelta(seconds=1))
    service.store.create(Take(project_id="p1", title=title, take=take, created_at=service.clock.now(), **keys))
    return f"{ROOM}/{title}/{take}"


def status(console: Console, title: str) -> tuple[TakeStatus, str | None]:
    found = console.service.store.get(Take.at(project_id="p1", title=title, take=1))
    return found.status, found.reason


def at_frame(page: Page, number: int) -> None:
    expect(page.get_by_label("Position", exact=True)).to_contain_text(f"frame {number} of", timeout=PATIENCE_MS)


def painted(page: Page, name: str = "film") -> int | None:
    found: int | None = page.get_by_label(name, exact=True).evaluate(PAINTED)
    return found


def seen_of_all(page: Page, number: int | None = None) -> list[int | None]:
    """What is painted into every film that is seen, once they are in step: on this frame, or on whichever."""
    found: list[int | None] = page.locator("video:visible").evaluate_all(SETTLED, number)
    return found


def note(page: Page, text: str) -> Locator:
    """Write a note about what is seen; the button that leads back there."""
    page.get_by_label("Note", exact=True).fill(text)
    page.keyboard.press("Control+Enter")
    thread = page.get_by_role("list", name="Threads").get_by_role("article").filter(has_text=text)
    expect(thread).to_be_visible()
    return thread.get_by_role("button").first


def drawn(page: Page, first: tuple[float, float], last: tuple[float, float]) -> None:
    box = page.get_by_role("group", name=re.compile("^Draw a region")).bounding_box()
    assert box is not None
    places = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in (first, last)]
    page.mouse.move(*places[0])
    page.mouse.down()
    page.mouse.move(*places[1], steps=4)
    page.mouse.up()


def shown(page: Page, kind: str) -> None:
    """Wait until the viewer of a kind has something to see."""
    seen = {
        "film": page.get_by_text("of 100"),
        "sound": page.get_by_label("Waveform: click to go there"),
        "still": page.get_by_text("960 × 540"),
        "model": page.get_by_text("4 triangles"),
        "spectrum": page.get_by_label("Seen", exact=True),
        "light_curve": page.get_by_label("Seen", exact=True),
    }
    expect(seen[kind]).to_be_visible()
    expect(page.get_by_role("heading", name="Notes")).to_be_visible()
