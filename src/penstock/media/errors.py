"""What can go wrong with media.

PenstockError
├── InvalidValue
│   └── UnusableFile       a file that somebody sent is damaged, disguised, or too much
│       └── TooMuchToDecode    it would take more memory than one file may
├── Unavailable
│   └── DecodingBusy       too many files are decoded already
└── FfmpegFailed           ffmpeg gave up; its last words are for the log
    ├── FfmpegTooSlow      ffmpeg was ended, for its time was over
    └── FfmpegTooLarge     ffmpeg wanted more memory than it may have
"""

from __future__ import annotations

from penstock.errors import InvalidValue, PenstockError, Unavailable


class UnusableFile(InvalidValue):
    """A file is damaged, is not what it is taken for, or is more than can be handled."""

    slug = "unusable-file"
    hint = "Look whether the file plays on your own machine, export it again as the detail says, and send it anew."


class TooMuchToDecode(UnusableFile):
    """A file would take more memory to decode than one file may."""

    slug = "too-much-to-decode"
    hint = "Export it with fewer pixels, and send it anew."


class DecodingBusy(Unavailable):
    """As many files are being decoded as there is room for."""

    slug, tells = "decoding-busy", True
    part = "decoders"
    hint = "Send the same request again, after as many seconds as the header Retry-After says."


class FfmpegFailed(PenstockError):
    """ffmpeg could not do what it was asked to."""

    slug = "ffmpeg-failed"
    hint = "Look whether the files that went in are whole; the log has ffmpeg's own words."


class FfmpegTooSlow(FfmpegFailed):
    """ffmpeg took longer than it may, and was ended."""

    slug = "ffmpeg-too-slow"
    hint = "Send less at once, or try again when the machine has less to do."


class FfmpegTooLarge(FfmpegFailed):
    """ffmpeg wanted more memory than it may have."""

    slug = "ffmpeg-too-large"
    hint = "Send films with fewer pixels, or fewer of them at once."
