"""Voices of the package hibari-tts. One of them lies in its wheel."""

from __future__ import annotations

import os
import re
import textwrap
import threading
import unicodedata
from collections.abc import Iterator
from enum import Enum
from functools import partial
from importlib.util import find_spec
from typing import Any

from penstock.errors import Misconfigured
from penstock.media.speech.errors import SynthesisFailed, Unspeakable
from penstock.media.speech.sound import Sound, joined
from penstock.media.speech.voices import Offer, Quality, is_doubtful, other_script

_AT_ONCE = 400
"Phonemes the model is given at once: its memory grows with their square, and it was taught no longer ones."
_PARTS = 40
"Parts of a word that are read together: the time for it grows with their cube."
_LONG_WORD = re.compile(rf"\S{{{_PARTS + 1},}}")
_TURNS = max(1, min(4, os.cpu_count() or 1))
"Parts that are spoken at the same moment: each takes up to 170 MB, and more than there are cores would be no faster."
_SEED = 0
"The same text sounds the same each time."


def hibari_offers() -> list[Offer]:
    """Those whose models are on this machine: in the wheel, or copied to its folder."""
    if find_spec("hibari") is None:
        return []
    from hibari.voices import VOICES, voice_path

    offers = []
    for name, told in VOICES.items():
        try:
            model = voice_path(name, download_missing=False)
        except FileNotFoundError:
            continue
        language = told["language"]
        voice_id = f"{language.replace('-', '_')}-{name}"
        offers.append(Offer(voice_id, language, "hibari", partial(HibariVoice, name, model), Quality.HIGH))
    return offers


class _Said(Enum):
    """When a sign is said."""

    ALWAYS = "always"
    BEFORE_A_NUMBER = "before a number"
    NEVER = "never"


class HibariVoice:
    """English, read by rules and spoken by a small model, far faster than real time."""

    def __init__(self, name: str = "heart", model: str | None = None) -> None:
        try:
            from hibari import Hibari
        except ImportError:
            raise Misconfigured("hibari-tts is not installed; run: pip install 'penstock[speech]'") from None
        self._engine = Hibari(name, model=model)
        # It loads these when they are first used, which two threads might do at once.
        _ = self._engine.g2p.oov
        self._letters: dict[str, str] = {}
        "What letters are read as that are not of ASCII; there are a few thousand of them."
        self._said: dict[str, _Said] = {}
        self._turns = threading.Semaphore(_TURNS)

    def speak(self, text: str) -> Sound:
        return joined(self.stream(text))

    def stream(self, text: str) -> Iterator[Sound]:
        """A part for each of the model's turns, which is half a minute at most."""
        return self.paced(text, 1.0)

    def paced(self, text: str, speed: float) -> Iterator[Sound]:
        import numpy

        chance = numpy.random.default_rng(_SEED)
        for phonemes in self._read(text):
            try:
                samples = self._say(phonemes, speed, chance)
            except Exception as error:
                raise SynthesisFailed(f"Synthesis failed: {type(error).__name__}") from error
            yield Sound(samples, self._engine.sample_rate)

    def left_out(self, text: str) -> str:
        """Signs that are said before a number and not by themselves, such as $, are left out where there is none."""
        signs = [sign for sign in dict.fromkeys(text) if is_doubtful(sign)]
        return "".join(sign for sign in signs if not self._is_said(sign, text))

    def _is_said(self, sign: str, text: str) -> bool:
        if sign not in self._said:
            self._said[sign] = self._verdict(sign)
        verdict = self._said[sign]
        if verdict is _Said.BEFORE_A_NUMBER:
            return all(after[:1].isdigit() for after in text.split(sign)[1:])
        return verdict is _Said.ALWAYS

    def _verdict(self, sign: str) -> _Said:
        """Asked of the voice: is a sign read by itself, within a word, before a number, or not at all?"""
        if self._phonemes(sign):
            return _Said.ALWAYS
        if sign.isalpha() and self._phonemes(f"ba{sign}da") not in map(self._phonemes, ("bada", "ba da")):
            return _Said.ALWAYS
        return _Said.NEVER if self._phonemes(f"{sign}5") == self._phonemes("5") else _Said.BEFORE_A_NUMBER

    def _phonemes(self, text: str) -> str:
        try:
            return " ".join(" ".join(self._engine.phonemize(self._legible(text))).split())
        except Exception:
            return ""  # it will not be spoken at all

    def _legible(self, text: str) -> str:
        """A text without words that are too long, and without letters that it does not know where it knows others."""
        known = text if text.isascii() else "".join(map(self._letter, text))
        return _LONG_WORD.sub(_in_parts, known)

    def _letter(self, sign: str) -> str:
        if sign.isascii() or not sign.isalpha():
            return sign
        if sign not in self._letters:
            bare = "".join(part for part in unicodedata.normalize("NFKD", sign) if part.isascii())
            self._letters[sign] = sign if any(self._engine.phonemize(sign)) else bare or sign
        return self._letters[sign]

    def _read(self, text: str) -> list[str]:
        """What is to be said, in pieces the model can take. It skips what it cannot read, so that is looked for."""
        letter = other_script(text)
        if letter is not None:
            raise Unspeakable(f"the voice reads Latin script only, and there is a {letter!r} in the text")
        try:
            sentences = self._engine.phonemize(self._legible(text))
        except Exception as error:
            raise Unspeakable("the voice cannot read this text; are there very long numbers in it?") from error
        if not any(sign.isalpha() for sentence in sentences for sign in sentence):
            raise Unspeakable("there is nothing in the text that can be said")
        return [piece for sentence in sentences for piece in textwrap.wrap(sentence, _AT_ONCE)]

    def _say(self, phonemes: str, speed: float, chance: Any) -> bytes:
        import numpy

        with self._turns:
            wave = self._engine.from_ids(self._engine.ids(phonemes), speed, chance)
            return bytes((numpy.clip(wave, -1.0, 1.0) * 32767.0).astype("<i2").tobytes())


def _in_parts(word: re.Match[str]) -> str:
    """A word of very many parts as several words."""
    from hibari.g2p import SUBTOKEN_RE

    parts = SUBTOKEN_RE.findall(word.group())
    return " ".join("".join(parts[n : n + _PARTS]) for n in range(0, len(parts), _PARTS)) or word.group()
