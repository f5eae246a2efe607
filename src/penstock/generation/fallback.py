"""Fallbacks: while a provider is left alone, another one makes what was ordered, and what is made says so.

What was begun at one of them is gone on with there, whoever is first by then: the ids of jobs that were begun at a
fallback carry its name. What rests everywhere is put off until the first of them may be asked again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

from penstock.generation.asset_steps import AssetOrder, Modeller, PictureMaker
from penstock.generation.circuit_breaker import ProviderResting
from penstock.generation.steps import LipSync, Made, Shot, StepReporter, VideoGenerator

log = logging.getLogger("penstock.generation")
P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Fallback(Generic[P]):
    """Whoever stands in for another."""

    name: str
    "Its jobs are remembered under this name."
    provider: P
    host: str
    "Who it is, in the metrics of what it makes."
    model: str


class FallbackChain(Generic[P]):
    """A provider and those who stand in for it, in order."""

    def __init__(self, first: P, others: Sequence[Fallback[P]]) -> None:
        self.first, self._others = first, tuple(others)

    def make(
        self, step: Callable[[P, str | None, StepReporter], Made], job: str | None, reporter: StepReporter
    ) -> Made:
        """What the first makes that is not resting; ``step`` asks one of them, with what was begun there."""
        name, _, begun = (job or "").partition(":")
        owner = next((each for each in self._others if begun and each.name == name), None)
        resting: list[ProviderResting] = []
        # Whoever has begun it is asked before the others: it is paid for.
        for each in sorted((None, *self._others), key=lambda each: each is not owner):
            try:
                if each is None:
                    return step(self.first, job if owner is None else None, reporter)
                made = step(each.provider, begun if each is owner else None, _Renaming(reporter, each.name))
                told = {"provider": each.host, "model": each.model, "fallback": True}
                return replace(made, metrics={**made.metrics, **told})
            except ProviderResting as rests:
                log.info("%s", rests)
                resting.append(rests)
        raise min(resting, key=lambda rests: rests.after)


class _Renaming:
    """A reporter that remembers jobs under the name of whoever has begun them."""

    def __init__(self, reporter: StepReporter, name: str) -> None:
        self._reporter, self._name = reporter, name

    def progress(self, fraction: float, note: str | None = None) -> None:
        self._reporter.progress(fraction, note)

    def remember(self, job: str) -> None:
        self._reporter.remember(f"{self._name}:{job}")


class FilmWithFallback:
    """Films, whoever may be resting."""

    def __init__(self, first: VideoGenerator, others: Sequence[Fallback[VideoGenerator]]) -> None:
        self._chain = FallbackChain(first, others)

    def film(self, shot: Shot, into: Path, reporter: StepReporter) -> Made:
        return self._chain.make(lambda one, job, told: one.film(replace(shot, job=job), into, told), shot.job, reporter)


class LipSyncWithFallback:
    """Moves lips, whoever may be resting."""

    def __init__(self, first: LipSync, others: Sequence[Fallback[LipSync]]) -> None:
        self._chain = FallbackChain(first, others)

    def sync(
        self,
        clip: Path,
        audio: Path,
        into: Path,
        reporter: StepReporter,
        *,
        words: str | None = None,
        job: str | None = None,
        order: str = "",
    ) -> Made:
        return self._chain.make(
            lambda one, job, told: one.sync(clip, audio, into, told, words=words, job=job, order=order), job, reporter
        )


class PictureWithFallback:
    """Draws, whoever may be resting; it goes by the name of the first."""

    def __init__(self, first: PictureMaker, others: Sequence[Fallback[PictureMaker]]) -> None:
        self._chain = FallbackChain(first, others)
        self.name, self.version = first.name, first.version

    def draw(self, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        return self._chain.make(
            lambda one, job, told: one.draw(replace(order, job=job), into, told), order.job, reporter
        )


class MeshWithFallback:
    """Models, whoever may be resting; it goes by the name of the first."""

    def __init__(self, first: Modeller, others: Sequence[Fallback[Modeller]]) -> None:
        self._chain = FallbackChain(first, others)
        self.name, self.version = first.name, first.version

    def model(self, picture: Path, order: AssetOrder, into: Path, reporter: StepReporter) -> Made:
        return self._chain.make(
            lambda one, job, told: one.model(picture, replace(order, job=job), into, told), order.job, reporter
        )
