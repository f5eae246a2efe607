"""A crowd of processes that see the same video, and ask again whenever they hear nothing.

    python -m tests.domains.videos.view_crowd '{"kind": "sqlite", "address": …, "video_id": …, "views": 2000}'

One process imports everything and forks the others, which begin together. Each prints what it has met as one line of
JSON: what it was answered, and every error.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path
from uuid import UUID

from penstock import Store
from penstock.domains.videos.video_library import VideoLibrary
from penstock.domains.videos.view_counting import count_view
from penstock.errors import Unavailable
from penstock.objects import LocalObjects
from tests.engines.crowd import Crowd, open_at

_TRIES = 20


@dataclass
class Viewers:
    """Where they are counted, how many processes they are, and how often they see the video altogether."""

    kind: str
    address: str
    video_id: str
    prefix: str = ""
    processes: int = 8
    views: int = 2000


@dataclass
class Seen:
    """What one process has met."""

    answers: list[int] = field(default_factory=list)
    repeated: int = 0
    errors: list[str] = field(default_factory=list)


def _see(library: VideoLibrary, viewers: Viewers, process: int) -> Seen:
    met = Seen()
    for number in range(viewers.views // viewers.processes):
        try:
            met.answers.append(_once(library, viewers, f"{process}-{number}", met))
            if number % 7 == 0:  # as one whose answer was lost on its way to them
                met.repeated += 1
                _once(library, viewers, f"{process}-{number}", met)
        except Exception:
            met.errors.append(traceback.format_exc())
    return met


def _once(library: VideoLibrary, viewers: Viewers, request_id: str, met: Seen) -> int:
    for _ in range(_TRIES):
        try:
            return count_view(library, UUID(viewers.video_id), request_id=request_id)
        except Unavailable:
            met.repeated += 1
    raise AssertionError(f"{request_id} was never answered")


def main(viewers: Viewers) -> None:
    store = Store(open_at(Crowd(viewers.kind, viewers.address, viewers.prefix)))
    library = VideoLibrary(store, LocalObjects(Path(os.devnull)))
    told, telling = os.pipe()
    starting, start = os.pipe()
    for process in range(viewers.processes):
        if os.fork() == 0:
            os.close(start)
            os.read(starting, 1)  # which ends when everybody is there
            met = _see(library, viewers, process)
            with os.fdopen(telling, "w") as out:
                out.write(json.dumps(asdict(met)) + "\n")
            os._exit(0)
    os.close(start)
    os.close(telling)
    with os.fdopen(told) as lines:
        sys.stdout.write(lines.read())


def gather(viewers: Viewers) -> list[Seen]:
    """Have them all see the video, and ask what each of them has met."""
    finished = subprocess.run(
        [sys.executable, "-m", "tests.domains.videos.view_crowd", json.dumps(asdict(viewers))],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return [Seen(**json.loads(line)) for line in finished.stdout.splitlines()]


if __name__ == "__main__":
    main(Viewers(**json.loads(sys.argv[1])))
