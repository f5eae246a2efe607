"""A text of any length, spoken by a voice piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from penstock.media.speech.chunks import chunks
from penstock.media.speech.errors import Unspeakable
from penstock.media.speech.script import script_of
from penstock.media.speech.sound import Sound, silence
from penstock.media.speech.ssml import Pause, Said
from penstock.media.speech.touch import quieter, trimmed
from penstock.media.speech.voices import CandidVoice, PacedVoice, Voice, parts_of

_PAUSES = frozenset(".!?…,;:—")
"Behind these a voice pauses by itself."


@dataclass(frozen=True, slots=True)
class Utterance:
    """A piece of a text, as it is said at once."""

    said: Said
    goes_on: bool = False
    "Does it go on from the one before without a pause, within a sentence?"
    is_followed: bool = False
    "Does the next one go on from it?"


def sounds(voice: Voice, text: str) -> Iterator[Sound]:
    """The text piece by piece and bit by bit, each as soon as it is spoken."""
    speaker = Speaker(voice)
    for step in steps_of(text):
        yield from speaker.say(step)


def steps_of(text: str) -> list[Utterance | Pause]:
    """What is said of a text, one after the other, and the pauses between."""
    parts = _said_parts(script_of(text).parts)
    # Turned down instead of up: nothing is cut off, and the whole is brought to its level afterwards.
    loudest = max([0.0, *(part.volume for part in parts if isinstance(part, Said))])
    steps: list[Utterance | Pause] = []
    goes_on = [*(_goes_on(*both) for both in pairwise(parts)), False]
    for number, part in enumerate(parts):
        if isinstance(part, Pause):
            steps.append(part)
        else:
            steps += _utterances(part, loudest, goes_on=number > 0 and goes_on[number - 1], is_followed=goes_on[number])
    return steps


def sayable(text: str) -> list[str]:
    """The pieces of a text, without those that are marks only: a line of stars between two paragraphs is no error."""
    pieces = list(chunks(text))
    return [piece for piece in pieces if _has_words(piece)] or pieces


def _has_words(text: str) -> bool:
    return any(sign.isalnum() for sign in text)


def left_out(voice: Voice, text: str) -> str | None:
    """The characters of a text that a voice leaves out, each once; None where there are none, or it cannot tell."""
    return (voice.left_out(script_of(text).text) or None) if isinstance(voice, CandidVoice) else None


class Speaker:
    """A voice that says one thing after the other."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._rate: int | None = None
        self._owed = 0.0
        "Seconds of silence before the first sound, which tells how many samples they have."

    def say(self, step: Utterance | Pause) -> Iterator[Sound]:
        """The sound of a step."""
        if isinstance(step, Pause):
            if self._rate is None:
                self._owed += step.seconds
            else:
                yield silence(step.seconds, self._rate)
            return
        for sound in _touched(step, self._spoken(step.said)):
            if self._rate is None and self._owed:
                yield silence(self._owed, sound.rate)
            self._rate = sound.rate
            yield sound

    def _spoken(self, said: Said) -> Iterator[Sound]:
        if said.rate == 1.0:
            return parts_of(self._voice, said.text)
        if not isinstance(self._voice, PacedVoice):
            raise Unspeakable("the voice has one pace only; leave out what changes the rate")
        return self._voice.paced(said.text, said.rate)


def _said_parts(parts: Sequence[Said | Pause]) -> list[Said | Pause]:
    """The parts, of which those that are marks only go with what they follow, as the full stop behind an emphasis."""
    if not any(isinstance(part, Said) for part in parts):
        raise Unspeakable("there is nothing in the text that can be said")
    if not any(isinstance(part, Said) and _has_words(part.text) for part in parts):
        return list(parts)
    told: list[Said | Pause] = []
    for part in parts:
        last = told[-1] if told else None
        if isinstance(part, Pause) or _has_words(part.text):
            told.append(part)
        elif isinstance(last, Said):
            told[-1] = replace(last, text=last.text + part.text)
    return told


def _goes_on(part: Said | Pause, following: Said | Pause) -> bool:
    """Is what follows part of the same sentence?"""
    return isinstance(part, Said) and isinstance(following, Said) and part.text[-1:] not in _PAUSES


def _utterances(part: Said, loudest: float, *, goes_on: bool, is_followed: bool) -> list[Utterance]:
    said = [Said(piece, part.rate, part.volume - loudest) for piece in sayable(part.text)]
    last = len(said) - 1
    return [
        Utterance(each, goes_on and number == 0, is_followed and number == last) for number, each in enumerate(said)
    ]


def _touched(step: Utterance, spoken: Iterator[Sound]) -> Iterator[Sound]:
    """Sound as loud as it should be, and without the silence of a voice that begins or ends within a sentence."""
    first, held = True, None
    for sound in spoken:
        made = quieter(trimmed(sound, start=True) if first and step.goes_on else sound, step.said.volume)
        first = False
        if not step.is_followed:
            yield made
            continue
        if held is not None:
            yield held
        held = made
    if held is not None:
        yield trimmed(held, start=False)
