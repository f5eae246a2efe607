"""Films and moving lips from a prediction-style service."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from penstock.generation.model_input import MOST_INLINE, ModelInput, beside
from penstock.generation.predictions import Predictions
from penstock.generation.steps import Made, Shot, StepReporter
from penstock.media.fit import fit_film, fit_synced
from penstock.media.probe import probe

FILM_FIELDS = {
    "prompt": "prompt",
    "negative_prompt": "negative_prompt",
    "seconds": "duration",
    "seed": "seed",
    "reference": "image",
}
"What models call the parts of a shot. A part without a name is not sent; `references` are all of its pictures."
SYNC_FIELDS = {"clip": "video", "audio": "audio"}
FILM_PARTS = frozenset({*FILM_FIELDS, "references", "character"})
SYNC_PARTS = frozenset({*SYNC_FIELDS, "words"})


class PredictedFilm:
    """Films shots by a model that turns words, and perhaps a picture, into a film."""

    def __init__(
        self,
        predictions: Predictions,
        *,
        fields: Mapping[str, str] = FILM_FIELDS,
        always: Mapping[str, Any] | None = None,
        lengths: Sequence[int] = (),
        most_inline: int = MOST_INLINE,
    ) -> None:
        """``always`` is sent with every shot. ``lengths`` are the seconds a film may have, if the model knows only a
        few: the next longer one is ordered, and cut.
        """
        self._predictions, self._told = predictions, ModelInput(fields, FILM_PARTS, always, most_inline)
        self._lengths = sorted(lengths)

    def film(self, shot: Shot, into: Path, reporter: StepReporter) -> Made:
        with beside(into) as folder:
            film = Path(folder) / "made.mp4"
            made = self._predictions.make(self._input(shot), film, reporter, job=shot.job, order=shot.order)
            fit_film(film, into, seconds=shot.seconds, tell=_cutting(reporter))
            return made

    def _input(self, shot: Shot) -> dict[str, Any]:
        prompt = shot.prompt
        if shot.character and "character" not in self._told and shot.character not in prompt:
            prompt = f"{prompt}\n\nCharacter: {shot.character}"
        parts: dict[str, Any] = {
            "prompt": prompt,
            "negative_prompt": shot.negative_prompt,
            "character": shot.character or None,
            "seconds": self._length(shot.seconds),
            "seed": shot.seed,
        }
        if shot.references:
            parts |= {"reference": shot.references[0], "references": list(shot.references)}
        return self._told.of(parts)

    def _length(self, seconds: float) -> int:
        """Models count in whole seconds."""
        whole = max(1, math.ceil(seconds - 1e-6))
        longer = [length for length in self._lengths if length >= whole]
        return longer[0] if longer else max(self._lengths, default=whole)


class PredictedLipSync:
    """Moves lips by a model that takes a film and a sound."""

    def __init__(
        self,
        predictions: Predictions,
        *,
        fields: Mapping[str, str] = SYNC_FIELDS,
        always: Mapping[str, Any] | None = None,
        most_inline: int = MOST_INLINE,
    ) -> None:
        self._predictions, self._told = predictions, ModelInput(fields, SYNC_PARTS, always, most_inline)

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
        """As the port says; ``job`` is what an earlier attempt has told its reporter, to go on with."""
        seconds = probe(clip).duration
        given = self._told.of({"clip": clip, "audio": audio, "words": words})
        with beside(into) as folder:
            film = Path(folder) / "made.mp4"
            made = self._predictions.make(given, film, reporter, job=job, order=order)
            fit_synced(film, into, seconds=seconds, audio=audio, tell=_cutting(reporter))
            return made


def _cutting(reporter: StepReporter) -> Callable[[float], None]:
    return lambda fraction: reporter.progress(0.99 + 0.01 * fraction, "cutting")
