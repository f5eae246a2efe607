"""The ports of generative steps: a provider writes scenes, films, moves lips, draws or speaks.

A provider gets paths of files that exist and a path to write to. It tells how far it is through a reporter, and may be
stopped there: what a reporter raises goes through, and whatever was begun elsewhere is given up. A failure that another
attempt may mend is any exception; one that it cannot is `penstock.work.Terminal`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from penstock.media.speech.voices import StreamingVoice, Voice

__all__ = [
    "Artist",
    "Brief",
    "LipSync",
    "Made",
    "SceneIdea",
    "SceneWriter",
    "Shot",
    "StepReporter",
    "StreamingVoice",
    "VideoGenerator",
    "Voice",
]


@dataclass(frozen=True, slots=True)
class Brief:
    """What a video is to be about."""

    mode: str
    "Which of its domain's kinds of film it is, by name."
    concept: str
    character: str
    scenes: int
    "How many there are to be."
    seconds: float
    "How long each of them is."
    product: str | None = None
    director: str | None = None
    "The name of a director's configuration."
    film: str = "a film"
    "What it is, in words: a music video, an advertisement."
    advertises: bool = False
    "Is it about the product? Otherwise it is about a song."


@dataclass(frozen=True, slots=True)
class SceneIdea:
    """A scene as somebody has written it."""

    prompt: str
    seconds: float
    negative_prompt: str | None = None
    needs_lip_sync: bool = False


@dataclass(frozen=True, slots=True)
class Shot:
    """A scene as it is to be filmed."""

    prompt: str
    seconds: float
    seed: int
    "The same shot with the same seed gives the same film, as far as whoever films it can promise that."
    negative_prompt: str | None = None
    character: str = ""
    director: str | None = None
    references: Sequence[Path] = ()
    "Pictures of what is to be seen."
    job: str | None = None
    "What an earlier attempt has begun elsewhere, as told to its reporter; go on with it instead of paying twice."
    order: str = ""
    "What is the same for all attempts at one film, and for no other film, should that be ordered in the same words."


@dataclass(frozen=True, slots=True)
class Made:
    """That something was made: the file is where it was asked for."""

    cost: float | None = None
    "In US dollars, if whoever made it charges."
    metrics: dict[str, Any] = field(default_factory=dict)
    "Numbers worth keeping."
    not_drawn: Sequence[str] | None = None
    "What was asked for in words and is not to be seen; None if whoever made it cannot tell."


class StepReporter(Protocol):
    """Whoever waits for a step."""

    def progress(self, fraction: float, note: str | None = None) -> None:
        """How far it is. Raises when nobody waits any more."""
        ...

    def remember(self, job: str) -> None:
        """What was begun elsewhere, so that another attempt can go on with it. Kept before this returns."""
        ...


class SceneWriter(Protocol):
    def write(self, brief: Brief, reporter: StepReporter) -> Sequence[SceneIdea]:
        """The scenes of a video, in order; as many as the brief wants."""
        ...

    def add(self, brief: Brief, concept: str, earlier: Sequence[str], reporter: StepReporter) -> SceneIdea:
        """One scene more, from a few words about it; ``earlier`` are the prompts there are."""
        ...


class VideoGenerator(Protocol):
    def film(self, shot: Shot, into: Path, reporter: StepReporter) -> Made:
        """An MP4 of a shot, as long as it says to within a frame, without sound."""
        ...


class LipSync(Protocol):
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
        """The clip as an MP4, as long as before, with the sound, and somebody's lips moving to it.

        ``words`` are what is sung, if that is known; ``job`` is what an earlier attempt has begun elsewhere, and
        ``order`` is the same for all attempts, as it is of a shot.
        """
        ...


class Artist(Protocol):
    def draw(self, description: str, into: Path, *, seed: int) -> Made:
        """A PNG of a character, square and at least 512 pixels wide."""
        ...
