"""Processes that a test kills and starts again, and that say what they do."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
"Seconds within which something must happen that takes milliseconds on an idle machine."


class ProcessGroup:
    """Processes by their names, each of a role, on the store at a URL; a nursery gives birth to them."""

    def __init__(self, module: str, roles: Mapping[str, str], url: str, folder: Path, seed: int) -> None:
        self.url, self._module, self._roles, self._folder = url, module, roles, folder
        self.chance = random.Random(seed)
        self._pids: dict[str, int] = {}
        self._dead: set[int] = set()
        self._ticks: Counter[int] = Counter()
        self._news = threading.Condition()

    def __enter__(self) -> Self:
        self.begin()
        self._log = (self._folder / "crew.log").open("wb")
        self._nursery = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.nursery", self._module, self.url, str(self._folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            bufsize=1,
        )
        threading.Thread(target=self._listen, daemon=True).start()
        for name in self._roles:
            self.start(name)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in list(self._pids):
            self.kill(name)
        assert self._nursery.stdin is not None
        self._nursery.stdin.close()
        self._nursery.wait(PATIENCE)
        self._log.close()
        self.end()

    def begin(self) -> None:
        """What is to be there before the first of them."""

    def end(self) -> None:
        """What is left to do when all of them are gone."""

    def enqueue_if_idle(self) -> None:
        """Keep them busy."""

    # Births, ticks and deaths

    def start(self, name: str, *, ticks: int = 0) -> None:
        """Start a process; given a number of ticks, it dies with the last of them."""
        assert self._nursery.stdin is not None
        self._nursery.stdin.write(f"{self._roles[name]} {name} {ticks}\n")
        self._wait_until(lambda: name in self._pids, f"{name} is born")

    def kill(self, name: str) -> None:
        """SIGKILL, without a word."""
        with suppress(ProcessLookupError):
            os.kill(self._pids[name], signal.SIGKILL)
        self._bury(name)

    def kill_at_random(self) -> None:
        """Kill one of the crew, wherever it is just then, and start it again under its name."""
        name = self._anybody()
        self._wait_for(name, self.chance.randint(1, 20))
        self.kill(name)
        self.start(name)

    def kill_between_writes(self) -> None:
        """Let one of the crew die at a moment in which it has written something and not yet something else."""
        name = self._anybody()
        self.kill(name)
        self.start(name, ticks=self.chance.randint(1, 20))
        self._bury(name, busy=True)
        self.start(name)

    def stall(self, seconds: float) -> None:
        """Stop one of the crew for longer than its lease lasts, and then let it go on as if nothing had happened."""
        name = self._anybody()
        self._wait_for(name, self.chance.randint(1, 20))
        os.kill(self._pids[name], signal.SIGSTOP)
        with self._news:
            self._news.wait_for(lambda: False, seconds)
        os.kill(self._pids[name], signal.SIGCONT)

    def _anybody(self) -> str:
        return self.chance.choice(sorted(self._roles))

    def _wait_for(self, name: str, ticks: int) -> None:
        pid = self._pids[name]
        goal = self._ticks[pid] + ticks
        self._wait_until(lambda: self._ticks[pid] >= goal, f"{name} does something", busy=True)

    def _bury(self, name: str, *, busy: bool = False) -> None:
        pid = self._pids[name]
        self._wait_until(lambda: pid in self._dead, f"{name} is dead", busy=busy)
        del self._pids[name]

    def wait_for_ticks(self, count: int) -> None:
        """Let the crew do something."""
        goal = self._ticks.total() + count
        self._wait_until(lambda: self._ticks.total() >= goal, "the crew does something", busy=True)

    def _listen(self) -> None:
        assert self._nursery.stdout is not None
        for line in self._nursery.stdout:
            what, *more = line.split()
            with self._news:
                if what == "born":
                    self._pids[more[0]] = int(more[1])
                elif what == "died":
                    self._dead.add(int(more[0]))
                else:
                    self._ticks[int(more[0])] += 1
                self._news.notify_all()

    def _wait_until(self, happened: Callable[[], bool], what: str, *, busy: bool = False) -> None:
        """Wait for something; if the crew is to bring it about, see to it that they do not run out of work."""
        deadline = time.monotonic() + PATIENCE
        while True:
            with self._news:
                if self._news.wait_for(happened, 0.5 if busy else PATIENCE):
                    return
            if time.monotonic() > deadline:
                log = (self._folder / "crew.log").read_text()[-2000:]
                raise AssertionError(f"waited {PATIENCE:g} s in vain until {what}\n{log}")
            if busy:
                self.enqueue_if_idle()
