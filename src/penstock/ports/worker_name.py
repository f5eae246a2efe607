"""Names of workers, by which others on the same machine can tell that one has died.

A name has the process's number, when it was started, and where that counts: on which boot of which machine, and among
which numbers, for a container has numbers of its own. Only who finds itself at the very same place looks, and only two
things prove a death: there is no process of that number, or it was started at another time. A process that is stopped,
or does not answer, lives; so does one that nobody here may look at, and any on another machine.

A name is of the process that made it. A forked child makes its own.
"""

from __future__ import annotations

import os
import re
import socket
from functools import partial
from hashlib import sha256
from pathlib import Path

from penstock.net.per_process import PerProcess

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NAME = re.compile(r".*:(?P<pid>[1-9][0-9]*):(?P<started>[0-9]+)-(?P<place>[0-9a-f]{12})[0-9a-f]{4}")
_STATE, _STARTED = 0, 19
"Where a process's line says them, behind its name."
_GONE = frozenset("ZXx")
_NOWHERE = "0" * 12


def worker_name() -> str:
    """A name no other worker has, also not the same process started again."""
    told = _told_of(os.getpid())
    place, started = _PLACE.get(), "0" if told is None else told[1]
    return f"{socket.gethostname()}:{os.getpid()}:{started}-{place}{os.urandom(2).hex()}"


def is_proven_dead(name: str) -> bool:
    """Is the process of this name certainly gone? False wherever that is not certain."""
    told = _NAME.fullmatch(name)
    if told is None or told["place"] == _NOWHERE or told["place"] != _PLACE.get():
        return False
    try:
        os.kill(int(told["pid"]), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass  # it is another user's, who may be told of no less
    found = _told_of(int(told["pid"]))
    return found is not None and (found[1] != told["started"] or _is_remains(int(told["pid"]), found[0]))


def _is_remains(pid: int, state: str) -> bool:
    """It has ended, and only waits for its parent to hear so. Threads may outlive the first one."""
    try:
        return state in _GONE and len(os.listdir(f"/proc/{pid}/task")) <= 1
    except OSError:
        return False


def _told_of(pid: int) -> tuple[str, str] | None:
    """The state of a process, and when it was started in ticks since the machine was; None where nobody tells."""
    try:
        line = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        behind = line.rpartition(")")[2].split()  # its name may have anything in it
        return behind[_STATE], behind[_STARTED]
    except (OSError, IndexError):
        return None


def _place() -> str:
    """Where this process is; nowhere, if what is told of processes is not what they are called here by."""
    try:
        if int(Path("/proc/self/stat").read_text().partition(" ")[0]) != os.getpid():
            return _NOWHERE
        parts = [_BOOT.read_text().strip(), socket.gethostname(), *map(_number, ("pid", "time"))]
    except (OSError, ValueError):
        return _NOWHERE
    return sha256("\0".join(parts).encode()).hexdigest()[:12]


def _number(kind: str) -> str:
    """Of the namespace that this process is in."""
    space = Path(f"/proc/self/ns/{kind}")
    return str(space.stat().st_ino) if space.exists() else "-"


_PLACE = PerProcess(partial(_place))
