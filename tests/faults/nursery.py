"""Gives birth to the processes that are to be killed.

    python -m tests.faults.nursery MODULE URL FOLDER

`prepared` of the module is given the URL and the folder, imports and does everything once, so that each process costs
milliseconds, and gives what a process does in a role; the store that they inherit opens connections of its own in each.

For each line ``ROLE NAME TICKS`` on its input it forks one and says ``born NAME PID``, and when that is dead
``died PID``. The processes say what they do on the same output, ``tick PID WHAT``. One that was given a number of
ticks kills itself with the last of them, which lies between two writes; when nobody listens any more they end.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module

Tick = Callable[[str], None]
"Says that something was done."
Live = Callable[[str, str, Tick], object]
"What a process does, given its role, its name and whom it tells."


def main(module: str, url: str, folder: str) -> None:
    live: Live = import_module(module).prepared(url, folder)
    for line in _lines():
        role, name, ticks = line.split()
        pid = os.fork()
        if pid == 0:
            _live(live, role, name, int(ticks))
        _say(f"born {name} {pid}")


def _lines() -> Iterator[str]:
    """What is asked for; meanwhile the dead are buried.

    A death is heard through a pipe: a signal's handler may not run once the process has begun to wait for its input.
    """
    deaths, heard = os.pipe()
    os.set_blocking(heard, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(heard, warn_on_full_buffer=False)
    asked = b""
    while True:
        ready, _, _ = select.select([0, deaths], [], [])
        if deaths in ready:
            os.read(deaths, 4096)
            _bury()
        if 0 in ready:
            more = os.read(0, 4096)
            if not more:
                return
            *lines, asked = (asked + more).split(b"\n")
            yield from (line.decode() for line in lines)


def _bury() -> None:
    with suppress(ChildProcessError):
        while pid := os.waitpid(-1, os.WNOHANG)[0]:
            _say(f"died {pid}")


def _live(live: Live, role: str, name: str, ticks: int) -> None:
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        live(role, name, _ticker(ticks))
    except BrokenPipeError:
        pass
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(1)


def _ticker(ticks: int) -> Tick:
    pid = os.getpid()
    left = ticks

    def tick(what: str) -> None:
        nonlocal left
        _say(f"tick {pid} {what}")
        left -= 1
        if left == 0:
            os.kill(pid, signal.SIGKILL)

    return tick


def _say(line: str) -> None:
    os.write(1, line.encode() + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
