"""Piper's voices: models in a folder of this machine, such as en_US-lessac-medium.onnx beside its .onnx.json.

Piper is under the GPL, so it is an extra of its own and never needed.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from penstock.domains.speech.errors import SynthesisFailed, Unspeakable
from penstock.domains.speech.sound import Sound
from penstock.domains.speech.voices import Offer, other_script
from penstock.errors import Misconfigured


def piper_offers(folder: str) -> list[Offer]:
    """Every model in the folder that has its description beside it."""
    if not Path(folder).is_dir():
        raise Misconfigured(f"there is no folder of voices {folder}")
    if find_spec("piper") is None:
        raise Misconfigured("piper-tts is not installed; run: pip install 'penstock[piper]'")
    models = [path for path in sorted(Path(folder).glob("*.onnx")) if path.with_name(f"{path.name}.json").exists()]
    return [Offer(m.stem, _language(m.stem), "piper", lambda m=m: PiperVoice(m)) for m in models]  # type: ignore[misc]


class PiperVoice:
    """One of Piper's models."""

    def __init__(self, model: Path) -> None:
        from piper import PiperVoice as Engine

        self._english = _language(model.stem).startswith("en")
        self._engine = Engine.load(model)

    def speak(self, text: str) -> Sound:
        # Of a script it does not know it would say the name of each letter.
        letter = other_script(text) if self._english else None
        if letter is not None:
            raise Unspeakable(f"the voice reads Latin script only, and there is a {letter!r} in the text")
        try:
            chunks = list(self._engine.synthesize(text))
        except Exception as error:
            raise SynthesisFailed(f"Synthesis failed: {type(error).__name__}") from error
        if not chunks:
            raise Unspeakable("there is nothing in the text that can be said")
        return Sound(b"".join(chunk.audio_int16_bytes for chunk in chunks), chunks[0].sample_rate)


def _language(name: str) -> str:
    """``en_US-lessac-medium`` speaks en-US."""
    return name.partition("-")[0].replace("_", "-")
