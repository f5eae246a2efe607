"""How soon the console is there, and how smoothly it moves: in a real browser, before the real service.

The service is `penstock up` with all domains, in a process of its own, and warm. Time is the wall's, by the clock of
the page: whoever waits for a screen waits for both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bench.browsing import Visitor, browser_in
from bench.console_records import CATEGORY, JOB, fill_console
from bench.contender import Limit
from bench.measure import FULL, Contest, Effort, Round
from bench.served import PenstockUp
from bench.topic import Contests

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIRST, LIST, TIMELINE = "console-load.bytes", "console-list.wait", "console-timeline.wait"
FRAMES, ROWS = "console-scroll.frames", "console-scroll.rows"
GROUPS = {
    FIRST: "bytes of script and style, gzip, in the place of µs",
    LIST: "wall time from the navigation until rows react to a key",
    FRAMES: "wall time of a frame, p95, while rows are scrolled",
    ROWS: "rows in the document at most, in the place of µs",
    TIMELINE: "wall time until all entries are drawn and react to a key",
}
CONSOLE, SIGN_IN, WARM, WHOLE = "the console", "its sign-in page", "with a warm cache", "its page, requests included"
BASELINE = CONSOLE
OWN = (CONSOLE,)
LIMITS = (
    Limit(f"{FIRST}: home has at most 60 kB", FIRST, CONSOLE, None, 60_000, unit="B"),
    Limit(f"{FIRST}: the sign-in page has at most 60 kB", FIRST, SIGN_IN, None, 60_000, unit="B"),
    Limit(f"{LIST}: a list of 50 reacts within 1.0 s, nothing cached", LIST, CONSOLE, None, 1_000_000),
    Limit(f"{LIST}: a list of 50 reacts within 1.0 s, scripts cached", LIST, WARM, None, 1_000_000),
    Limit(f"{FRAMES}: 10,000 rows are scrolled with a p95 frame time of 50 ms", FRAMES, CONSOLE, None, 50_000),
    Limit(f"{ROWS}: at most 100 of 10,000 rows are in the document", ROWS, CONSOLE, None, 100, unit="rows"),
    Limit(f"{TIMELINE}: 1,000 entries are drawn within 300 ms", TIMELINE, CONSOLE, None, 300_000),
    Limit(f"{TIMELINE}: the page of a job that has them is there within 300 ms", TIMELINE, WHOLE, None, 300_000),
)
LISTED, SCROLLED, ENTRIES = 50, 10_000, 1_000
_LEAST = 300
_TIMES, _SCROLLS = 5, 3
_WHEEL = 1_200
"Pixels of a turn of the wheel: most of the table at once, as somebody does who looks for something."
_PLACE = f"/console/d/videos/videos?pattern=newest_of_category&q.category={CATEGORY}"

# In the page. Each is a function that tells what it waits for; a frame later it has been seen.
_LISTED = """(rows) => new Promise((told) => {
  const look = () => {
    const table = document.querySelector("main [role=region] table");
    if (table?.ariaRowCount !== String(rows + 1) || !table.querySelector("tbody tr[aria-rowindex]"))
      return requestAnimationFrame(look);
    table.closest("[role=region]").focus();
    const react = () => {
      if (!table.querySelector("tr.current")) return requestAnimationFrame(react);
      requestAnimationFrame(() => (window.reacted = performance.now()));
    };
    react();
    told();
  };
  look();
})"""
_REACTED = """() => new Promise((told) => {
  const look = () => (window.reacted ? told(window.reacted) : requestAnimationFrame(look));
  look();
})"""
_RECORD = """() => {
  const box = document.querySelector("main [role=region]:has(table)");
  const [frames, seen] = [[], { rows: 0, last: 0 }];
  let [before, top] = [performance.now(), box.scrollTop];
  const frame = (now) => {
    if (box.scrollTop !== top) frames.push(now - before);
    [before, top] = [now, box.scrollTop];
    const rows = box.querySelectorAll("tr");
    seen.rows = Math.max(seen.rows, rows.length);
    for (const row of rows) seen.last = Math.max(seen.last, Number(row.ariaRowIndex ?? 0));
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  window.recorded = { frames, seen };
}"""
_TIMELINE = """() => {
  const [drawn, at] = [[], {}];
  addEventListener("keydown", (event) => (at[event.key] = performance.now()), true);
  const look = () => {
    const region = document.querySelector("main [role=region][aria-label=Timeline]");
    const number = /([\\d,]+) entries/.exec(region?.closest("main").innerText ?? "")?.[1].replaceAll(",", "");
    if (number && Number(number) !== drawn.at(-1)?.number) {
      const entry = { number: Number(number), now: 0 };
      drawn.push(entry);
      requestAnimationFrame(() => (entry.now = performance.now()));
    }
    if (region?.querySelector("tr.current") && !at.reacted)
      requestAnimationFrame(() => (at.reacted ??= performance.now()));
    requestAnimationFrame(look);
  };
  look();
  window.timeline = { drawn, at };
}"""
_DRAWN = """(least) => new Promise((told) => {
  const look = () =>
    window.timeline.drawn.some(({ number, now }) => number >= least && now) ? told() : requestAnimationFrame(look);
  look();
})"""
_AT_HAND = """() => new Promise((told) => {
  const look = () => (window.timeline.at.reacted ? told() : requestAnimationFrame(look));
  look();
})"""
_TOLD = """() => ({
  ...window.timeline,
  came: performance.getEntriesByType("resource").filter(({ name }) => name.includes("/timeline"))
    .map(({ responseEnd }) => responseEnd),
})"""


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """One service and one browser for all of them."""
    with ExitStack() as stack:
        browser = browser_in(stack)
        url = f"sqlite:///{Path(stack.enter_context(TemporaryDirectory())) / 'console.db'}"
        rows, entries = effort.sized(SCROLLED, least=_LEAST), effort.sized(ENTRIES, least=_LEAST)
        fill_console(url, videos=rows, entries=entries)
        up = stack.enter_context(PenstockUp({"PENSTOCK_STORE": url}))
        visitor = Visitor(browser, up)
        scrolls = _Scrolls(visitor, rows)
        measured: Mapping[str, Callable[[], Mapping[str, Round]]] = {
            FIRST: lambda: {
                CONSOLE: partial(_first_load, visitor, True),
                SIGN_IN: partial(_first_load, visitor, False),
            },
            LIST: lambda: _taken_apart(partial(_list, visitor), CONSOLE, WARM),
            FRAMES: lambda: {CONSOLE: scrolls.frames},
            ROWS: lambda: {CONSOLE: scrolls.rows},
            TIMELINE: lambda: _taken_apart(partial(_timeline, visitor, entries), CONSOLE, WHOLE),
        }
        full = effort.rounds >= FULL.rounds
        for group in groups:
            times = {FIRST: 2, FRAMES: _SCROLLS if full else 2, ROWS: _SCROLLS if full else 2}.get(group, _TIMES)
            yield group, Contest(measured[group](), times if full else min(times, effort.rounds))


def _taken_apart(measure: Callable[[], Iterable[float]], *names: str) -> Mapping[str, Round]:
    """The parts of what is measured at once: the first contender measures, the others tell what came of it."""
    found: dict[str, float] = {}

    def first() -> float:
        found.update(zip(names, measure(), strict=True))
        return found[names[0]]

    return {names[0]: first, **{name: partial(found.__getitem__, name) for name in names[1:]}}


def _first_load(visitor: Visitor, signed_in: bool) -> float:
    return float(visitor.visit("/", signed_in=signed_in).bytes_of("Script", "Stylesheet"))


def _list(visitor: Visitor) -> Iterator[float]:
    """Microseconds with nothing cached, and then with what a browser keeps."""
    with visitor.profile() as page:
        for _ in (CONSOLE, WARM):
            page.goto(f"{visitor.url}{_PLACE}", wait_until="commit")
            page.evaluate(_LISTED, LISTED)
            page.keyboard.press("j")
            yield page.evaluate(_REACTED) * 1000


class _Scrolls:
    """All rows scrolled from the first to the last: how long frames took, and how many rows there were."""

    def __init__(self, visitor: Visitor, rows: int) -> None:
        self._visitor, self._rows = visitor, rows
        self._most: list[int] = []

    def frames(self) -> float:
        recorded = self._recorded()
        self._most.append(recorded["seen"]["rows"])
        return float(quantiles(recorded["frames"], n=20)[-1]) * 1000

    def rows(self) -> float:
        """As it was while frames were measured, or measured now."""
        return float(self._most.pop() if self._most else self._recorded()["seen"]["rows"])

    def _recorded(self) -> Any:
        with self._visitor.profile() as page:
            page.goto(f"{self._visitor.url}{_PLACE}", wait_until="commit")
            page.evaluate(_LISTED, LISTED)
            page.evaluate(_RECORD)
            page.locator("main [role=region]:has(table)").hover()
            while page.evaluate("() => window.recorded.seen.last") < self._rows + 1:
                for _ in range(5):
                    page.mouse.wheel(0, _WHEEL)
            return page.evaluate("() => window.recorded")


def _timeline(visitor: Visitor, entries: int) -> tuple[float, float]:
    """From when entries are there until they are drawn, for all of them; and the page from Enter in the list of jobs.

    Both with what it takes to react to a key.
    """
    with visitor.profile() as page:
        _open_job(visitor, page)
        page.evaluate(_DRAWN, 1)
        timeline = page.get_by_role("region", name="Timeline", exact=True)
        timeline.press("j")
        page.evaluate(_AT_HAND)
        while (known := page.evaluate("() => window.timeline.drawn.at(-1).number")) < entries:
            timeline.press("End")
            page.evaluate(_DRAWN, known + 1)
        told = page.evaluate(_TOLD)
    at, drawn, came = told["at"], told["drawn"], told["came"]
    reaction = at["reacted"] - at["j"]
    drawing = sum(entry["now"] - max(moment for moment in came if moment < entry["now"]) for entry in drawn)
    return (drawing + reaction) * 1000, (drawn[0]["now"] - at["Enter"] + reaction) * 1000


def _open_job(visitor: Visitor, page: Page) -> None:
    """From the list of jobs, as a reader who has opened one before: what is measured is not the first load."""
    page.goto(f"{visitor.url}/console/work/jobs/{JOB}")
    page.get_by_role("region", name="Timeline", exact=True).wait_for()
    page.goto(f"{visitor.url}/console/work/jobs", wait_until="commit")
    page.evaluate(_LISTED, 1)
    page.keyboard.press("j")
    page.evaluate(_REACTED)
    page.evaluate(_TIMELINE)
    page.keyboard.press("Enter")
