"""Is the process alive, and could it do its work?"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from penstock.installed import Surroundings
from penstock.probing import probe_objects, probe_store
from penstock.web.errors import NotReady

log = logging.getLogger("penstock.web")

_FRESH = 1.0
"Seconds for which an answer is used again, so that probes cannot wear the store out."


class Readiness:
    """Asks the store and the files whether they can be written to, and have room."""

    def __init__(self, around: Surroundings) -> None:
        self._checks: dict[str, Callable[[], Any]] = {
            "store": lambda: probe_store(around.store),
            "objects": lambda: probe_objects(around.objects),
        }
        self._lock = threading.Lock()
        self._failed: list[str] = []
        self._until = 0.0

    def check(self) -> dict[str, str]:
        """What answers; NotReady when something does not. Why is in the log, not in the answer."""
        with self._lock:
            if time.monotonic() >= self._until:
                self._failed = [name for name, ask in self._checks.items() if not _answers(ask)]
                self._until = time.monotonic() + _FRESH
            failed = self._failed
        if failed:
            raise NotReady(f"{' and '.join(failed)} cannot be reached or written to")
        return dict.fromkeys(self._checks, "ok")


def _answers(ask: Callable[[], Any]) -> bool:
    try:
        ask()
    except Exception:
        log.exception("a probe failed")
        return False
    return True
