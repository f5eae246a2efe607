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
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TextIO

import bench
import penstock


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
        contenders = {contender: _by_cpu(each) for contender, each in contest.rounds.items()}
        waits = "wall" in topic.GROUPS[group] and contenders == contest.rounds
        talk.tell(group=group, count=contest.count, time="wall" if waits else "CPU")
        gc.collect()
        gc.freeze()
        while (word := talk.hear()) == "round":
            talk.tell(micros={contender: each() for contender, each in contenders.items()})
        gc.unfreeze()
        if word != "next":
            return
    talk.tell(group=None)


def _by_cpu(measure: Callable[[], float]) -> Callable[[], float]:
    """The same by the CPU of all who take part, where it goes by the wall: what else runs here must not count."""
    if isinstance(measure, partial) and measure.args and measure.args[-1] is perf_counter:
        return partial(measure.func, *measure.args[:-1], _of_all)
    return measure


def _of_all() -> float:
    """CPU seconds of this process and of all it has started, whether they still run or not."""
    from bench import family_cpu

    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return family_cpu.clock(os.getpid())() + ended.ru_utime + ended.ru_stime


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
