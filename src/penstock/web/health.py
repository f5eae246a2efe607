"""Is the process alive, and could it do its work?"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from penstock.kernel.outages import Outages, outages_of
from penstock.runtime.probing import probe_objects, probe_store
from penstock.web.errors import NotReady
from penstock.work.domain_context import DomainContext

log = logging.getLogger("penstock.web")

_FRESH = 1.0
"Seconds for which an answer is used again, so that probes cannot wear the store out."
_PATIENCE = 2.0
"Seconds after which no answer is as good as a bad one."


class Readiness:
    """Asks the store and the files whether they can be written to, and have room; and tells of other parts.

    Without these nothing is lost and most goes on, as without a broker tasks wait in the store: they refuse nobody.
    """

    def __init__(self, context: DomainContext, others: Mapping[str, Callable[[], Any]] | None = None) -> None:
        checks: dict[str, Callable[[], Any]] = {
            "store": lambda: probe_store(context.store),
            "objects": lambda: probe_objects(context.objects),
        }
        outages = outages_of(context.store)
        self._checks = [_Check(name, ask, outages) for name, ask in checks.items()]
        self._others = [_Check(name, ask, outages) for name, ask in (others or {}).items()]

    async def check(self) -> dict[str, str]:
        """What answers; NotReady when something does not. Why is in the log, not in the answer."""
        everything = [*self._checks, *self._others]
        answers = await asyncio.gather(*(check.passes() for check in everything))
        failed = [check for check, passed in zip(everything, answers, strict=True) if not passed]
        if needed := [check.name for check in failed if check in self._checks]:
            raise NotReady(f"{' and '.join(needed)} cannot be reached or written to")
        return {check.name: "away" if check in failed else "ok" for check in everything}


class _Check:
    """One question, asked by one thread at a time: where nothing answers, no second one waits for the same.

    Only the event loop's thread wants to know the answer.
    """

    def __init__(self, name: str, ask: Callable[[], Any], outages: Outages) -> None:
        self.name, self._ask, self._outages = name, ask, outages
        self._asked: Future[bool] | None = None
        self._until = 0.0

    async def passes(self) -> bool:
        """Is it answered well, and soon?"""
        try:
            async with asyncio.timeout(_PATIENCE):
                return await asyncio.shield(asyncio.wrap_future(self._answer()))
        except TimeoutError:
            log.warning("the %s did not answer a probe within %g seconds", self.name, _PATIENCE)
            return False

    def _answer(self) -> Future[bool]:
        """The answer that is on its way, or was just given, or else a new one."""
        if self._asked is None or (self._asked.done() and time.monotonic() >= self._until):
            self._asked = Future()
            # A daemon, so that a store that never answers does not keep the process from ending.
            name = f"penstock probe {self.name}"
            threading.Thread(target=self._run, args=(self._asked,), name=name, daemon=True).start()
        return self._asked

    def _run(self, answer: Future[bool]) -> None:
        try:
            self._ask()
            passed = True
        except Exception as error:
            if self._outages.met(error) is None:
                log.exception("a probe failed")
            passed = False
        self._until = time.monotonic() + _FRESH
        answer.set_result(passed)
