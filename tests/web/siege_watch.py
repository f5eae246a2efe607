"""Asks a service for health until its input ends, then says how long each answer took: siege_watch.py PORT PID.

A process of its own, and a small one, so that it waits for nobody but the service. What passes while the service, or
the one who asks, waits for a core is not counted: others use the machine as well, and what is left is the same on a
busy one and on a quiet one.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

ASKED = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
NEVER = 60.0
"Seconds that stand for no answer at all."


@contextmanager
def watched_health(port: int, pid: int) -> Iterator[list[float]]:
    """Somebody keeps asking; when it is over, the list has the seconds of each answer, the longest last."""
    command = [sys.executable, "-S", __file__, str(port), str(pid)]
    watch = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    taken: list[float] = []
    try:
        yield taken
    finally:
        said, _ = watch.communicate()
    taken += sorted(json.loads(said))


class Spent(NamedTuple):
    """Seconds until now: by the clock, of a core by the thread that answers, and waiting for a core by each thread."""

    clock: float
    core: float
    waiting: dict[str, float]

    def since(self, before: Spent) -> float:
        """What the service took: all that it did not wait for a core, and at least what its loop used of one."""
        waited = sum(seconds - before.waiting.get(thread, 0.0) for thread, seconds in self.waiting.items())
        return max(self.core - before.core, self.clock - before.clock - waited)


def spent(pid: int) -> Spent:
    """As the kernel tells it of every thread; where it does not, all time is the service's."""
    core, waiting = 0.0, {}
    for owner in (pid, os.getpid()):
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{owner}/task"):
                with suppress(OSError, ValueError), open(f"/proc/{owner}/task/{thread}/schedstat") as told:
                    ran, waited, _ = (int(value) / 1e9 for value in told.read().split())
                    waiting[thread] = waited
                    core = ran if thread == str(pid) else core
    return Spent(time.monotonic(), core, waiting)


def seconds_to_an_answer(port: int, pid: int) -> float:
    before = spent(pid)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=NEVER) as line:
            line.sendall(ASKED)
            alive = line.recv(1000).startswith(b"HTTP/1.1 200")
    except OSError:
        alive = False
    return spent(pid).since(before) if alive else NEVER


def main(port: str, pid: str) -> None:
    over = threading.Event()

    def listen() -> None:
        sys.stdin.read()
        over.set()

    threading.Thread(target=listen, daemon=True).start()
    taken = [seconds_to_an_answer(int(port), int(pid))]
    while not over.wait(0.05):
        taken.append(seconds_to_an_answer(int(port), int(pid)))
    print(json.dumps(taken))


if __name__ == "__main__":
    main(*sys.argv[1:])
