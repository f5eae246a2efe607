"""Voices: what speaks, which ones there are, and how they stay loaded.

A voice is loaded when it is first used, once in each process, and may then be used by any number of threads at once.
Nothing is ever downloaded: a voice whose model is not on this machine is not offered.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Protocol, runtime_checkable

from penstock.errors import Misconfigured
from penstock.media.speech.errors import VoiceNotFound
from penstock.media.speech.sound import Sound
from penstock.net.per_process import PerProcess


class Voice(Protocol):
    """Something that speaks."""

    def speak(self, text: str) -> Sound:
        """The sound of a text; Unspeakable when it cannot be read, SynthesisFailed when nothing comes of it."""
        ...


@runtime_checkable
class StreamingVoice(Voice, Protocol):
    """Something that speaks bit by bit, and need not hold all that it says at once."""

    def stream(self, text: str) -> Iterator[Sound]:
        """The sound of a text in short parts, each as soon as it is spoken."""
        ...


@runtime_checkable
class PacedVoice(Voice, Protocol):
    """Something that can speak faster and slower."""

    def paced(self, text: str, speed: float) -> Iterator[Sound]:
        """The sound of a text in short parts, so many times as fast as usual; from 0.5 to 2."""
        ...


@runtime_checkable
class CandidVoice(Voice, Protocol):
    """Something that knows what it cannot say."""

    def left_out(self, text: str) -> str:
        """The characters of a text that it leaves out, each once, in their order."""
        ...


def parts_of(voice: Voice, text: str) -> Iterator[Sound]:
    """The sound of a text in the shortest parts that the voice can give."""
    if isinstance(voice, StreamingVoice):
        yield from voice.stream(text)
    else:
        yield voice.speak(text)


class Quality(StrEnum):
    """How a voice sounds."""

    HIGH = "high"
    "Like a person."
    MEDIUM = "medium"
    LOW = "low"
    "Clear, and like a machine."


@dataclass(frozen=True, slots=True)
class Offer:
    """A voice that is here, whether or not it is loaded yet."""

    voice_id: str
    language: str
    engine: str
    load: Callable[[], Voice]
    quality: Quality | None = None
    "None where nobody has said."


class Voices:
    """The voices of a deployment; the first is used where none is asked for."""

    def __init__(self, offers: Sequence[Offer]) -> None:
        self.offers = tuple(offers)
        self._loaded = {offer.voice_id: PerProcess(offer.load) for offer in offers}

    @property
    def usual(self) -> str:
        """The id of the voice that is used where none is asked for."""
        if not self.offers:
            raise Misconfigured("there is no voice; run: pip install 'penstock[speech]'")
        return self.offers[0].voice_id

    def offer(self, voice_id: str | None) -> Offer:
        """The voice asked for, or the usual one, as it is offered."""
        chosen = self.chosen(voice_id)
        return next(offer for offer in self.offers if offer.voice_id == chosen)

    def chosen(self, voice_id: str | None) -> str:
        """The id of the voice asked for, or of the usual one; VoiceNotFound where there is none of that name."""
        chosen = voice_id or self.usual
        if chosen not in self._loaded:
            raise VoiceNotFound(chosen, list(self._loaded))
        return chosen

    def get(self, voice_id: str) -> Voice:
        """A voice, loaded."""
        return self._loaded[self.chosen(voice_id)].get()


@lru_cache(maxsize=8)
def installed_voices(folder: str | None = None, usual: str | None = None) -> Voices:
    """The voices of the packages that are installed, and those of a folder of Piper models; ``usual`` is the first."""
    from penstock.media.speech.hibari_voice import hibari_offers
    from penstock.media.speech.pico_voice import pico_offers
    from penstock.media.speech.piper_voice import piper_offers

    offers = [*hibari_offers(), *(piper_offers(folder) if folder else ()), *pico_offers()]
    if usual is not None and usual not in {offer.voice_id for offer in offers}:
        raise Misconfigured(f"the usual voice {usual!r} is not here; there are {_names(offers)}")
    return Voices(sorted(offers, key=lambda offer: offer.voice_id != usual))


def is_doubtful(sign: str) -> bool:
    """May a voice leave this out without a word? Letters and digits of ASCII are said; marks are pauses, or nothing."""
    return not (sign.isascii() and sign.isalnum()) and unicodedata.category(sign)[0] in "LNS"


def other_script(text: str) -> str | None:
    """The first letter that somebody who reads Latin script cannot say; single Greek letters stand for themselves."""
    for word in "".join(c if c.isalpha() else " " for c in text).split():
        for letter in word:
            name = unicodedata.name(letter, "")
            greek = name.startswith(("GREEK", "MICRO", "OHM")) and len(word) == 1
            if not greek and not unicodedata.normalize("NFKD", letter)[0].isascii() and "LATIN" not in name:
                return letter
    return None


def _names(offers: Sequence[Offer]) -> str:
    return ", ".join(offer.voice_id for offer in offers) or "none"
