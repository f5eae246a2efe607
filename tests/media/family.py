"""Looks at files as a service does, several at once, and tells how much memory that took: it and all below it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread

from penstock.errors import PenstockError
from penstock.media.soundness import sound_image, sound_video

_PAGE = os.sysconf("SC_PAGE_SIZE")


def looked_at(path: Path) -> str:
    try:
        (sound_video if path.suffix in (".mp4", ".mkv") else sound_image)(path)
    except PenstockError as error:
        return error.slug
    return "sound"


def resident() -> int:
    """Bytes that this process and its descendants have in memory."""
    return sum(_bytes(pid) for pid in [os.getpid(), *_below(os.getpid())])


def _below(pid: int) -> Iterator[int]:
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found = [int(child) for child in children.read_text().split()]
        except OSError:
            continue
        for child in found:
            yield child
            yield from _below(child)


def _bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def main() -> None:
    """The files are arguments; what came of each, and the most memory there was, are told in a line."""
    peak, over = 0, Event()

    def watch() -> None:
        nonlocal peak
        while not over.wait(0.005):
            peak = max(peak, resident())

    watcher = Thread(target=watch)
    watcher.start()
    with ThreadPoolExecutor(len(sys.argv)) as pool:
        found = list(pool.map(looked_at, map(Path, sys.argv[1:])))
    over.set()
    watcher.join()
    print(json.dumps({"found": found, "megabytes": peak >> 20}))


if __name__ == "__main__":
    main()
