"""Piper's voices: models in a folder of this machine, such as en_US-lessac-medium.onnx beside its .onnx.json.

Piper is under the GPL, so it is an extra of its own and never needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from penstock.errors import Misconfigured
from penstock.media.speech.errors import SynthesisFailed, Unspeakable
from penstock.media.speech.sound import Sound, joined
from penstock.media.speech.voices import Offer, Quality, other_script


def piper_offers(folder: str) -> list[Offer]:
    """Every model in the folder that has its description beside it."""
    if not Path(folder).is_dir():
        raise Misconfigured(f"there is no folder of voices {folder}")
    if find_spec("piper") is None:
        raise Misconfigured("piper-tts is not installed; run: pip install 'penstock[piper]'")
    models = [path for path in sorted(Path(folder).glob("*.onnx")) if path.with_name(f"{path.name}.json").exists()]
    return [Offer(m.stem, _language(m.stem), "piper", partial(PiperVoice, m), _quality(m.stem)) for m in models]


class PiperVoice:
    """One of Piper's models."""

    def __init__(self, model: Path) -> None:
        from piper import PiperVoice as Engine

        self._english = _language(model.stem).startswith("en")
        self._engine = Engine.load(model)

    def speak(self, text: str) -> Sound:
        return joined(self.stream(text))

    def stream(self, text: str) -> Iterator[Sound]:
        """A part for each sentence."""
        return self.paced(text, 1.0)

    def paced(self, text: str, speed: float) -> Iterator[Sound]:
        from piper import SynthesisConfig

        # Of a script it does not know it would say the name of each letter.
        letter = other_script(text) if self._english else None
        if letter is not None:
            raise Unspeakable(f"the voice reads Latin script only, and there is a {letter!r} in the text")
        silent = True
        sentences = iter(self._engine.synthesize(text, SynthesisConfig(length_scale=1 / speed)))
        while (sentence := _next(sentences)) is not None:
            silent = False
            yield Sound(sentence.audio_int16_bytes, sentence.sample_rate)
        if silent:
            raise Unspeakable("there is nothing in the text that can be said")


def _next(sentences: Iterator[Any]) -> Any | None:
    try:
        return next(sentences, None)
    except Exception as error:
        raise SynthesisFailed(f"Synthesis failed: {type(error).__name__}") from error


def _quality(name: str) -> Quality | None:
    """``en_US-lessac-medium`` is of medium quality, as those say who made it."""
    told = name.rpartition("-")[2].removeprefix("x_")
    return Quality(told) if told in set(Quality) else None


def _language(name: str) -> str:
    """``en_US-lessac-medium`` speaks en-US."""
    return name.partition("-")[0].replace("_", "-")
