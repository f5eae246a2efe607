"""What can go wrong with media.

PenstockError
├── InvalidValue
│   └── UnusableFile       a file that somebody sent is damaged, disguised, or too much
└── FfmpegFailed           ffmpeg gave up; its last words are for the log
    └── FfmpegTooSlow      ffmpeg was ended, for its time was over
"""

from __future__ import annotations

from penstock.errors import InvalidValue, PenstockError


class UnusableFile(InvalidValue):
    """A file is damaged, is not what it is taken for, or is more than can be handled."""

    slug = "unusable-file"
    hint = "Look whether the file plays on your own machine, export it again as the detail says, and send it anew."


class FfmpegFailed(PenstockError):
    """ffmpeg could not do what it was asked to."""

    slug = "ffmpeg-failed"
    hint = "Look whether the files that went in are whole; the log has ffmpeg's own words."


class FfmpegTooSlow(FfmpegFailed):
    """ffmpeg took longer than it may, and was ended."""

    slug = "ffmpeg-too-slow"
    hint = "Send less at once, or try again when the machine has less to do."
