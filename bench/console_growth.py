"""What each screen of the console asks of the service: as many calls and bytes among many records as among few.

Every kind of record that a screen lists is there as often as is said. The bytes are those of all answers but the
scripts and styles, which are the same everywhere, as the browser receives them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from bench.browsing import Traffic, Visitor, browser_in
from bench.console_records import ASSET, CATEGORY, FIRST, JOB, PROJECT, TASK, fill
from bench.contender import Limit
from bench.measure import FULL, Contest, Effort, Round
from bench.served import PenstockUp
from bench.topic import Contests

_VIDEO, _THING = UUID(int=FIRST, version=4), UUID(int=FIRST)
SCREENS: Mapping[str, str] = {
    "home": "/",
    "inbox": "/console/inbox",
    "review": "/console/review",
    "item": f"/console/review/videos/videos/{_VIDEO}",
    "jobs": "/console/work/jobs",
    "job": f"/console/work/jobs/{JOB}",
    "task": f"/console/work/tasks/{TASK}",
    "queues": "/console/work/queues",
    "letters": "/console/work/letters",
    "messages": "/console/work/letters?tab=messages",
    "changes": "/console/work/letters?tab=changes",
    "schedules": "/console/work/schedules",
    "health": "/console/ops/health",
    "audit": f"/console/ops/audit?of={PROJECT}",
    "keys": "/console/ops/keys",
    "retention": "/console/ops/retention",
    "uploads": "/console/ops/uploads",
    "api": "/console/api",
    "parts": "/console/parts",
    "system": "/console/d/videos",
    "records": f"/console/d/videos/videos?pattern=newest_of_category&q.category={CATEGORY}",
    "record": f"/console/d/videos/videos/{_VIDEO}",
    "history": f"/console/d/assetcreator/assets/{PROJECT}/{ASSET}?tab=history",
    "related": f"/console/d/assetcreator/projects/{PROJECT}?tab=related",
    "make": "/console/d/musicvideo/p/make.js",
    "film": f"/console/d/musicvideo/p/make.js?video={_THING}",
    "ask": "/console/d/assetcreator/p/ask.js",
    "watch": f"/console/d/videos/p/watch.js?category={CATEGORY}",
    "say": "/console/d/speech/p/say.js",
    "look": "/console/d/novae/p/look.js",
    "nova": f"/console/d/novae/p/look.js?nova={_THING}",
}
"Every screen, and every state of one that lists something else."
SMALL, LARGE = "1,000 records", "100,000 records"
SIZES = {SMALL: 1_000, LARGE: 100_000}
BASELINE = SMALL
OWN = (SMALL, LARGE)
_COUNTED: Mapping[str, Callable[[Traffic], int]] = {
    "calls": lambda traffic: len(traffic.calls),
    "bytes": lambda traffic: traffic.bytes_of("Fetch", "XHR"),
}
_MORE = {"calls": 1.0, "bytes": 1.05}
"How much more of each there may be: numbers and times have some digits more or less."
GROUPS = {f"console-{screen}.{what}": "numbers, in the place of µs" for screen in SCREENS for what in _COUNTED}
LIMITS = tuple(
    Limit(
        f"{group}: at most {_MORE[group.partition('.')[2]]:g} at 100,000 records of what they are at 1,000",
        group,
        LARGE,
        SMALL,
        _MORE[group.partition(".")[2]],
    )
    for group in GROUPS
)
_LEAST = 250
"So many that every first page is full, on a trial too."
_ROUNDS = 3


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """One service with few records and one with many; each screen is opened at both, in turn, with nothing cached."""
    with ExitStack() as stack:
        browser = browser_in(stack)
        visitors: dict[str, Visitor] = {}
        for name in filter(effort.wants, SIZES):
            url = f"sqlite:///{Path(stack.enter_context(TemporaryDirectory())) / 'console.db'}"
            fill(url, records=effort.sized(SIZES[name], least=_LEAST))
            visitors[name] = Visitor(browser, stack.enter_context(PenstockUp({"PENSTOCK_STORE": url})))
        count = _ROUNDS if effort.rounds >= FULL.rounds else 2
        for place, counted in groupby(groups, key=lambda group: group.partition(".")[0]):
            path = SCREENS[place.removeprefix("console-")]
            visits = {name: _Visits(visitor, path) for name, visitor in visitors.items()}
            for group in counted:
                what = group.partition(".")[2]
                rounds: dict[str, Round] = {
                    n: partial(next, each.counted(_COUNTED[what])) for n, each in visits.items()
                }
                yield group, Contest(rounds, count)


class _Visits:
    """Visits of one screen, each made once, whatever is counted of it."""

    def __init__(self, visitor: Visitor, path: str) -> None:
        self._visitor, self._path = visitor, path
        self._made: list[Traffic] = []

    def counted(self, count: Callable[[Traffic], int]) -> Iterator[float]:
        """What is counted of one visit after the other."""
        number = 0
        while True:
            if number == len(self._made):
                self._made.append(self._visitor.visit(self._path))
            yield float(count(self._made[number]))
            number += 1
