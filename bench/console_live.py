"""How long until a page shows what another process has committed: from the end of the commit to the frame it is in.

The page is a list of the console in a real browser, whose service is `penstock up` with all domains; whoever commits is
this process, on a connection of its own. Both clocks are the machine's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from itertools import count
from random import Random
from time import sleep, time
from typing import TYPE_CHECKING
from unittest.mock import patch

from bench import live
from bench.browsing import Visitor, browser_in
from bench.console_records import CATEGORY, video
from bench.contender import Limit
from bench.measure import Contest, Effort
from bench.served import PenstockUp
from bench.topic import Contests
from penstock import Store, open_store
from penstock.domains import DOMAINS
from penstock.work.working import WORKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

GROUPS = {f"{engine}-console.seen": "wall time, p50" for engine in live.ENGINES}
BASELINE = PAGE = "a page of the console"
OWN = (PAGE,)
LIMITS = tuple(
    Limit(
        f"{engine}-console.seen: a page shows a commit within {most / 1e6:g} s, p50",
        f"{engine}-console.seen",
        PAGE,
        None,
        most,
    )
    for engine, most in live.ENGINES.items()
)
COMMITS = 40
_PLACE = f"/console/d/videos/videos?pattern=newest_of_category&q.category={CATEGORY}"
# Told a frame after it was found, when it is on the screen.
_SEEN = """(title) => new Promise((told) => {
  const look = () => {
    const row = document.querySelector("main [role=region] tbody tr[aria-rowindex]");
    if (!row?.innerText.includes(title)) return requestAnimationFrame(look);
    requestAnimationFrame(() => told(performance.timeOrigin + performance.now()));
  };
  look();
})"""


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """One commit after the other, each waited for; half of them make something new, and half change what is shown."""
    with ExitStack() as whole:
        browser = browser_in(whole)
        for group in groups:
            with ExitStack() as stack:
                stack.enter_context(patch.dict(os.environ, live.KEYS))
                url = live.store_url(group, stack)
                up = stack.enter_context(PenstockUp({"PENSTOCK_STORE": url, **live.KEYS}))
                store = stack.enter_context(closing(open_store(url)))
                store.ensure(*DOMAINS, WORKING)
                store.put(video(0))
                waits = _waits(store, _page(Visitor(browser, up), stack))
                yield group, Contest({PAGE: partial(next, waits)}, effort.sized(COMMITS, least=3))


def _page(visitor: Visitor, stack: ExitStack) -> Page:
    """The list, once it is shown and hears of what happens."""
    page = stack.enter_context(visitor.profile())
    page.goto(f"{visitor.url}{_PLACE}")
    page.evaluate(_SEEN, video(0).title)
    page.get_by_role("button", name="Live").wait_for()
    return page


def _waits(store: Store, page: Page) -> Iterator[float]:
    """Microseconds that one change after the other takes to be seen."""
    chance = Random(1)
    for number in count(1):
        sleep(chance.uniform(*live.IDLE))
        title = f"Cut number {number:06d}"
        # The odd ones are new, and come first; the even ones are those, called otherwise.
        store.put(video((number + 1) // 2, title=title))
        committed = time()
        yield max(page.evaluate(_SEEN, title) / 1e3 - committed, 1e-6) * 1e6
