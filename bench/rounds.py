"""Measures the contenders of a tree that are Penstock, one round whenever it is told to; `bench.against` tells it.

It is run by its path, with the tree that is measured on its path, and uses nothing of that tree but what topics have
had since they give contests. It is told words, and tells lines of JSON.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import clock_gettime, perf_counter
from typing import TextIO, TypeGuard

import bench
import penstock

Round = Callable[[], float]
_TRIES = 3


class Conversation:
    """With whoever compares."""

    def __init__(self, told: TextIO, telling: TextIO) -> None:
        self._told, self._telling = told, telling

    def tell(self, **said: object) -> None:
        self._telling.write(json.dumps(said) + "\n")
        self._telling.flush()

    def hear(self) -> str:
        """The next word; an empty one if nobody is there any more."""
        return self._told.readline().strip()


def tell_groups(talk: Conversation) -> None:
    """Which groups there are, by topic, and which topics cannot be loaded."""
    from bench.topic import TOPICS

    groups, unloaded = {}, {}
    for name, loader in TOPICS.items():
        try:
            groups[name] = list(loader().GROUPS)
        except Exception as error:
            unloaded[name] = _reason(error)
    talk.tell(groups=groups, unloaded=unloaded)


def measure(talk: Conversation, name: str, groups: Sequence[str], *, rounds: int, seconds: float, size: float) -> None:
    """Open one group after the other, and measure rounds of it until the next is asked for."""
    from bench.measure import Effort
    from bench.topic import TOPICS

    topic = TOPICS[name]()
    effort = Effort(rounds, seconds, size, frozenset(topic.OWN))
    for group, contest in topic.contests(tuple(groups), effort):
        contenders = _by_cpu(contest.rounds)
        waits = "wall" in topic.GROUPS[group] and contenders == contest.rounds
        counted = {contender: each for contender, each in contenders.items() if _counts(each)}
        talk.tell(
            group=group,
            count=contest.count,
            time="wall" if waits else "CPU",
            times={contender: each.args[1] for contender, each in counted.items()},
            filling={contender: _filling(each, seconds) for contender, each in counted.items()},
        )
        contenders |= {contender: _as_often(counted[contender], times) for contender, times in json.loads(talk.hear())}
        gc.collect()
        gc.freeze()
        while (word := talk.hear()) == "round":
            talk.tell(micros={contender: each() for contender, each in contenders.items()})
        gc.unfreeze()
        if word != "next":
            return
    talk.tell(group=None)


def _counts(measure: Round) -> TypeGuard[partial[float]]:
    """Is it a work that is done so many times, by a clock?"""
    return isinstance(measure, partial) and len(measure.args) == 3 and isinstance(measure.args[1], int)


def _as_often(measure: partial[float], times: int) -> Round:
    work, _, clock = measure.args
    return partial(measure.func, work, times, clock)


def _filling(measure: partial[float], seconds: float) -> int:
    """How many times fill the time of a round: by its own clock, as by the wall's others would count with it."""
    quickest = max(0.01, min(measure() for _ in range(_TRIES)))
    return max(2, round(seconds * 1e6 / quickest))


def _by_cpu(rounds: Mapping[str, Round]) -> dict[str, Round]:
    """The same by the CPU of all who take part, where it goes by the wall: what else runs here must not count."""
    clock = _of_all()
    return {
        name: partial(each.func, *each.args[:2], clock) if _counts(each) and each.args[2] is perf_counter else each
        for name, each in rounds.items()
    }


def _of_all() -> Callable[[], float]:
    """CPU seconds of this process, of those it has started by now, and of those that end meanwhile."""
    # Only once: to look for them takes as long as many an operation.
    alive = list(_family(os.getpid()))

    def clock() -> float:
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return sum(map(_seconds, alive)) + ended.ru_utime + ended.ru_stime

    return clock


def _family(process: int) -> Iterator[int]:
    yield process
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has just ended
            for child in children.read_text().split():
                yield from _family(int(child))


def _seconds(process: int) -> float:
    with suppress(OSError):  # it has ended
        return clock_gettime(~process << 3 | 2)
    return 0.0


def _reason(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def main(tree: str, *arguments: str) -> None:
    """Without a topic, tell the groups; with one, an effort and some of its groups, measure them."""
    # Whatever else prints must not be taken for what is told.
    with os.fdopen(os.dup(1), "w") as telling:
        os.dup2(2, 1)
        talk = Conversation(sys.stdin, telling)
        try:
            for module in (bench, penstock):
                if not Path(str(module.__file__)).is_relative_to(tree):
                    raise ImportError(f"{module.__name__} was imported from {module.__file__}, not from {tree}")
            if arguments:
                name, rounds, seconds, size, *groups = arguments
                measure(talk, name, groups, rounds=int(rounds), seconds=float(seconds), size=float(size))
            else:
                tell_groups(talk)
        except Exception as error:
            talk.tell(error=_reason(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
