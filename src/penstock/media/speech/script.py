"""A script: what is to be said one after the other, how fast and how loud, and the pauses between."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.media.speech.errors import Unspeakable
from penstock.media.speech.length import Length, length_of
from penstock.media.speech.ssml import Pause, Said, check_no_markup, is_ssml, read_ssml


@dataclass(frozen=True, slots=True)
class Script:
    """A text as it is to be spoken."""

    parts: tuple[Said | Pause, ...]
    languages: frozenset[str] = frozenset()
    "Those in which it says that it is written."

    @property
    def text(self) -> str:
        """All that is said."""
        return " ".join(part.text for part in self.parts if isinstance(part, Said))

    @property
    def length(self) -> Length:
        """How long it takes."""
        lengths = [_length(part) for part in self.parts]
        return Length(sum(length.least for length in lengths), sum(length.most for length in lengths))

    def check_language(self, spoken: str) -> None:
        """Unspeakable where it says that it is written in another language than is spoken."""
        for language in sorted(self.languages):
            if _primary(language) != _primary(spoken):
                raise Unspeakable(f"there is a text in {language}, and the voice speaks {spoken}; choose another voice")


def script_of(text: str) -> Script:
    """What is to be made of a text: of one that is SSML what it asks for, of any other all of it.

    BadMarkup for SSML that cannot be followed, and where a text has some of it that it would be wrong to read aloud.
    """
    if is_ssml(text):
        return Script(*read_ssml(text))
    check_no_markup(text)
    return Script((Said(text),))


def _length(part: Said | Pause) -> Length:
    if isinstance(part, Pause):
        return Length(part.seconds, part.seconds)
    told = length_of(part.text)
    return Length(told.least / part.rate, told.most / part.rate)


def _primary(language: str) -> str:
    """``de`` of ``de-AT``."""
    return language.replace("_", "-").partition("-")[0].lower()
