"""What can go wrong with speech, in the words of the documents where they have some.

PenstockError
└── InvalidValue
    ├── NoText             nothing was given to say
    └── TooLarge
        └── TextTooLong    more text than is spoken at once

Those of the voices themselves are in `penstock.media.speech`.
"""

from __future__ import annotations

from penstock.errors import InvalidValue, TooLarge


class NoText(InvalidValue):
    """Nothing was given to say."""

    slug, http_status = "no-text", 400
    hint = "Send something to say as `text`."

    def __init__(self) -> None:
        super().__init__("No text provided")


class TextTooLong(TooLarge):
    """More text than is spoken at once."""

    slug = "text-too-long"
    hint = "Send a shorter text, or have it spoken as a job: POST /public/tts/jobs."
