"""What comes of sending one request: an answer, or none."""

from zlib import crc32

import msgspec

_OK = 200
_CHECKSUM = b"\nx-amz-crc32: "


class WireAnswer(msgspec.Struct, frozen=True, gc=False):
    """A complete HTTP answer. `resent`: an earlier copy of the request may have been executed."""

    status: int
    body: bytes
    head: bytes
    resent: bool

    def good(self) -> bool:
        """Whether the operation succeeded and its result arrived undamaged."""
        return self.status == _OK and self.intact()

    def intact(self) -> bool:
        """Whether the body is the one DynamoDB computed its checksum of. True when it sent none."""
        # Done for every answer, so it looks for DynamoDB's own spelling only, unlike `header`.
        start = self.head.find(_CHECKSUM)
        if start < 0:
            return True
        stated = self.head[start + len(_CHECKSUM) : self.head.find(b"\r", start)]
        return stated.isdigit() and int(stated) == crc32(self.body)

    def header(self, name: bytes) -> bytes | None:
        """The value of a header, asked for in lower case with its colon, e.g. b"date:"."""
        start = self.head.lower().find(b"\n" + name)
        if start < 0:
            return None
        start += len(name) + 1
        return self.head[start : self.head.find(b"\r", start)].strip()


class Lost(Exception):
    """No complete HTTP answer came."""

    def __init__(
        self, reason: str, *, sent: bool, stale: bool = False, timed_out: bool = False, hopeless: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.sent = sent  # the whole request went out, so it may have been executed
        self.stale = stale  # the connection had been idle and was found dead
        self.timed_out = timed_out
        self.hopeless = hopeless  # trying again will not help
