"""Retrying: what was refused because others were quicker is done anew, from what they have left.

Whoever reads, changes and saves meets others who do the same. One of them wins each time, so that all of them get
there; pauses of chance lengths keep them from meeting again and again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from penstock.errors import Conflict
from penstock.net.backoff import Backoff

T = TypeVar("T")

TRIES = 60
"So often something is tried, which takes some seconds; then others are quicker than it will ever be."
_BACKOFF = Backoff(first=0.002, longest=0.25, factor=1.5)


def retried(action: Callable[[], T], *, tries: int = TRIES) -> T:
    """What an action gives that reads, decides and writes anew each time it is refused; Conflict after the last try.

    A refusal with a name of its own, such as a lost lease, is no race and ends it at once.
    """
    for failures in range(1, tries):
        try:
            return action()
        except Conflict as refused:
            if type(refused) is not Conflict:
                raise
        time.sleep(_BACKOFF.pause(failures))
    return action()
