"""What can go wrong with speech.

PenstockError
├── InvalidValue
│   ├── Unspeakable        the voice cannot read the text: another script, only marks, a broken character
│   ├── BadMarkup          SSML that cannot be followed
│   └── TooLarge
│       └── SpeechTooLong  a text that takes longer to be spoken than is allowed
├── NotFound
│   └── VoiceNotFound      there is no such voice here
└── SynthesisFailed        the voice could read the text, and made nothing of it
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.errors import InvalidValue, NotFound, PenstockError, TooLarge

_SHOWN = 60
"Characters of a name that are repeated."


class SpeechTooLong(TooLarge):
    """Spoken, the text takes longer than is allowed."""

    slug = "speech-too-long"
    hint = "Send less at once; numbers and signs are read out in full, and take long."


class Unspeakable(InvalidValue):
    """The voice cannot read this text; what it left out would be missing without a word."""

    slug = "unspeakable"
    hint = "Write in the language of the voice, and spell out what it cannot read."


class BadMarkup(InvalidValue):
    """There is SSML in the text that cannot be followed; it is not read aloud instead."""

    slug = "bad-markup"
    hint = "Correct the SSML, or send the text without it. docs/speech.md has what is understood."


class VoiceNotFound(NotFound):
    """There is no such voice here."""

    slug = "voice-not-found"
    hint = "Choose one of those that GET /voices lists, or name none."

    def __init__(self, voice: str, offered: Sequence[str] = ()) -> None:
        shown = voice if len(voice) <= _SHOWN else f"{voice[:_SHOWN]}…"
        among = f"; there are {', '.join(offered)}" if offered else ""
        super().__init__(f"Voice '{shown}' not found{among}")


class SynthesisFailed(PenstockError):
    """The voice could read the text, and made nothing of it.

    It tells the kind of the engine's error and not its words, which might repeat the text.
    """

    slug = "synthesis-failed"
    hint = "Try again, or with another voice; the log has what went wrong."
