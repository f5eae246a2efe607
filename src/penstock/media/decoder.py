"""The process that looks at files on behalf of another, and may fail at it: ``python -m penstock.media.decoder``.

Each line it reads is a question, each line it writes an answer, both JSON: whatever a file makes of a decoder, nobody
unpickles what it says. It lets itself have only so much memory and time for each, writes no files, and ends with
whoever has started it.
"""

from __future__ import annotations

import json
import math
import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from penstock.errors import Misconfigured
from penstock.media.errors import UnusableFile
from penstock.media.extra import need
from penstock.media.image import decode_image_here, probe_image_here
from penstock.media.probe import probe_here
from penstock.media.waveform import waveform_here

_FILES = 64
"That may be open; one is looked at."


def _probe(path: str, *, seconds: float) -> dict[str, Any]:
    return asdict(probe_here(Path(path), limit=timedelta(seconds=seconds)))


def _probe_image(path: str, *, pixels: int, frames: int) -> dict[str, Any]:
    return asdict(probe_image_here(Path(path), pixels=pixels, frames=frames))


def _decode_image(path: str, *, pixels: int, frames: int) -> None:
    decode_image_here(Path(path), pixels=pixels, frames=frames)


def _waveform(path: str, *, seconds: float) -> dict[str, Any]:
    return asdict(waveform_here(Path(path), limit=timedelta(seconds=seconds)))


JOBS: dict[str, Callable[..., Any]] = {
    "probe": _probe,
    "probe_image": _probe_image,
    "decode_image": _decode_image,
    "waveform": _waveform,
}


def main() -> None:
    """Answer questions until nobody asks any more."""
    # A library that prints must not be taken for an answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    for name, most in ((resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, _FILES)):
        resource.setrlimit(name, (most, most))
    _load()
    for line in sys.stdin:
        answer = _answer(json.loads(line))
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
        if "too_much" in answer:
            return  # what failed for want of memory may not be fit for more


def _load() -> None:
    """Everything that is needed for it, so that it is not counted as the first file's."""
    for name in ("PIL", "av", "numpy"):
        try:
            need(name)
        except Misconfigured:
            continue
        if name == "PIL":
            from PIL import Image

            Image.init()
        else:
            import_module(name)


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    try:
        with _at_most(memory=asked["memory"], seconds=asked["cpu"]):
            return {"found": JOBS[asked["job"]](asked["path"], **asked["arguments"])}
    except UnusableFile as error:
        return {"unusable": str(error)}
    except MemoryError:
        return {"too_much": True}
    except Exception as error:
        # Libraries fail in many ways at bytes they do not expect.
        return {"unusable": f"the file cannot be read ({type(error).__name__}); export it anew and send it again"}


@contextmanager
def _at_most(*, memory: int, seconds: float) -> Iterator[None]:
    """So much memory on top of what there is, and so many seconds of the processor."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    soft = {resource.RLIMIT_CPU: math.ceil(spent.ru_utime + spent.ru_stime + seconds)}
    if (there := _address_space()) is not None:
        soft[resource.RLIMIT_AS] = there + memory
    hard = {name: resource.getrlimit(name)[1] for name in soft}
    for name, most in soft.items():
        resource.setrlimit(name, (most if hard[name] == resource.RLIM_INFINITY else min(most, hard[name]), hard[name]))
    try:
        yield
    finally:
        for name, most in hard.items():
            resource.setrlimit(name, (most, most))


def _address_space() -> int | None:
    """Bytes that are mapped; None where that cannot be told, and not be limited either."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return None


if __name__ == "__main__":
    main()
