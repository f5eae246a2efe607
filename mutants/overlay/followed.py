"""What processes call that a test forks or starts: each function is written down as soon as it is called.

They may be killed at any moment, so that nothing can be left for their end.
"""

import os
import sys
import threading
from types import CodeType, FrameType
from typing import Any

_SOURCE = os.environ.get("MUTANTS_SOURCE", "")
_WITHOUT_NAME = (".<locals>.<listcomp>", ".<locals>.<genexpr>", ".<locals>.<lambda>", ".<locals>.<dictcomp>")
_known: set[CodeType] = set()


def name(code: CodeType) -> str | None:
    """The file of a function and its name, if it is one of the source."""
    if not code.co_filename.startswith(_SOURCE):
        return None
    called = code.co_qualname
    while called.endswith(_WITHOUT_NAME):
        called = called.rpartition(".<locals>.")[0]
    return f"{code.co_filename[len(_SOURCE) :]}:{called.replace('.<locals>', '')}"


def follow() -> None:
    """From now on, in this process and all that it forks."""
    threading.settrace(_call)
    sys.settrace(_call)


def told() -> list[str]:
    """What was written down since the last time."""
    try:
        with open(_path(), "r+") as file:
            lines = file.read().splitlines()
            file.truncate(0)
    except FileNotFoundError:
        return []
    return lines


def _call(frame: FrameType, event: str, argument: Any) -> None:
    if frame.f_code in _known:
        return
    _known.add(frame.f_code)
    if called := name(frame.f_code):
        file = os.open(_path(), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(file, f"{called}\n".encode())
        os.close(file)


def _path() -> str:
    return os.environ["MUTANTS_REACHED"] + ".elsewhere"
