"""A part of an exploration, in a process of its own: how many preemptions, faults, which part, of how many."""

from __future__ import annotations

import json
import sys
import time

from penstock.testing.simulation import explore, story
from tests.simulation.foundry import foundry


def main(preemptions: int, faults: int, part: int, parts: int) -> None:
    began = time.process_time()
    found = explore(foundry(), preemptions=preemptions, faults=faults, first=lambda number: number % parts == part)
    told = {
        "schedules": found.schedules,
        "left": found.left,
        "states": found.states,
        "seconds": round(time.process_time() - began),
        "broken": [story(outcome) for outcome in found.broken],
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
