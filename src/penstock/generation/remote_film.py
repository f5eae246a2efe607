"""Films and moving lips from a prediction-style service."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from penstock.errors import Misconfigured
from penstock.generation.predictions import Predictions
from penstock.generation.steps import Made, Shot, StepReporter
from penstock.media.content_type import SNIFFED_BYTES, sniff
from penstock.media.fit import fit_film, fit_synced
from penstock.media.probe import probe
from penstock.work import Terminal

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
MOST_INLINE = 16_000_000
"""Bytes of a file that are sent within a request, as a data URI.

Workers have files and no address a service could fetch them from. Sent inline they grow by a third, and all of them are
held in memory at once; a clip of some seconds and its sound have a few megabytes.
"""


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
        self._predictions, self._fields = predictions, _named(fields, FILM_PARTS)
        self._always, self._lengths, self._most = dict(always or {}), sorted(lengths), most_inline

    def film(self, shot: Shot, into: Path, reporter: StepReporter) -> Made:
        with _beside(into) as folder:
            film = Path(folder) / "made.mp4"
            made = self._predictions.make(self._input(shot), film, reporter, job=shot.job, order=shot.order)
            fit_film(film, into, seconds=shot.seconds, tell=_cutting(reporter))
            return made

    def _input(self, shot: Shot) -> dict[str, Any]:
        prompt = shot.prompt
        if shot.character and "character" not in self._fields and shot.character not in prompt:
            prompt = f"{prompt}\n\nCharacter: {shot.character}"
        parts: dict[str, Any] = {
            "prompt": prompt,
            "negative_prompt": shot.negative_prompt,
            "character": shot.character or None,
            "seconds": self._length(shot.seconds),
            "seed": shot.seed,
        }
        if shot.references and "reference" in self._fields:
            parts["reference"] = data_uri(shot.references[0], self._most)
        if shot.references and "references" in self._fields:
            parts["references"] = [data_uri(picture, self._most) for picture in shot.references]
        return {**self._always, **_under(self._fields, parts)}

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
        self._predictions, self._fields = predictions, _named(fields, SYNC_PARTS)
        self._always, self._most = dict(always or {}), most_inline

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
        parts = {"clip": data_uri(clip, self._most), "audio": data_uri(audio, self._most), "words": words}
        with _beside(into) as folder:
            film = Path(folder) / "made.mp4"
            given = {**self._always, **_under(self._fields, parts)}
            made = self._predictions.make(given, film, reporter, job=job, order=order)
            fit_synced(film, into, seconds=seconds, audio=audio, tell=_cutting(reporter))
            return made


def data_uri(file: Path, most: int) -> str:
    """A file as a part of a request."""
    size = file.stat().st_size
    if size > most:
        raise Terminal(f"{file.name} has {size} bytes, and a service is sent at most {most} within a request")
    content = file.read_bytes()
    return f"data:{sniff(content[:SNIFFED_BYTES])};base64,{base64.b64encode(content).decode()}"


def _beside(into: Path) -> AbstractContextManager[str]:
    """A folder on the disk of a file to come, for what comes before it."""
    return TemporaryDirectory(dir=into.parent, prefix=f".{into.stem}-")


def _cutting(reporter: StepReporter) -> Callable[[float], None]:
    return lambda fraction: reporter.progress(0.99 + 0.01 * fraction, "cutting")


def _named(fields: Mapping[str, str], parts: frozenset[str]) -> dict[str, str]:
    if unknown := set(fields) - parts:
        raise Misconfigured(f"a model is not told {', '.join(sorted(unknown))}, only {', '.join(sorted(parts))}")
    return {part: name for part, name in fields.items() if name}


def _under(fields: Mapping[str, str], parts: Mapping[str, Any]) -> dict[str, Any]:
    """The parts there are, under the names the model knows them by."""
    return {fields[part]: value for part, value in parts.items() if part in fields and value is not None}
