"""Patience with the handlers of a feed: how long one waits for a part of the system that is there for everybody else.

A handler that needs what is away waits for it, however long that is, and its feed with it. One that fails for a part
which answers whenever it is asked would hold up its feed for ever: after an hour that is its own failure, which has the
tries of any other and leaves letters, until it succeeds again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta

from penstock.errors import Unavailable
from penstock.kernel.outages import outages_of
from penstock.kernel.store import Store
from penstock.schema.kinds import instant_text

PATIENCE = timedelta(hours=1)

InVain = Mapping[str, str]
"Since when handlers have failed for a part that answers, by their names."


class HandlerPatience:
    """What one who follows a feed knows of its handlers."""

    def __init__(self, store: Store, *, least: int) -> None:
        """``least`` tries are made by this process before it believes what another has written down."""
        self._outages, self._clock, self._least = outages_of(store), store.clock, least
        self._tries: Counter[str] = Counter()
        self._were_away: set[str] = set()

    def waits(self, handler: str, error: Unavailable, in_vain: InVain) -> InVain | None:
        """What is known of a handler that has failed for a part of the system, and waits for it; None if it need not.

        It need not when it has failed for so long, for a part that is there, that it is its own failure.
        """
        part, now = str(error.part), self._clock.now()
        if self._is_away(error):
            self._were_away.add(part)
            return in_vain
        since = in_vain.get(handler)
        if since is None or part in self._were_away or datetime.fromisoformat(since) > now:
            self._were_away.discard(part)
            self._tries[handler] = 0
            return {**in_vain, handler: instant_text(now, 6)}
        self._tries[handler] += 1
        over = now - datetime.fromisoformat(since) >= PATIENCE and self._tries[handler] >= self._least
        return None if over else in_vain

    def succeeded(self, handler: str, in_vain: InVain) -> InVain:
        """The same, after a handler has dealt with an event."""
        return {name: since for name, since in in_vain.items() if name != handler}

    def _is_away(self, error: Unavailable) -> bool:
        """Is it away, or can nobody here tell?"""
        assert error.part is not None
        lookout = self._outages.lookout(error.part)
        lookout.failed(error)
        lookout.ask()
        return lookout.away or lookout.probe is None
