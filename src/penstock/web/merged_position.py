"""How far each part of a merged stream was heard, as one id: signed, so that only what we gave out is read as one."""

from __future__ import annotations

import hashlib
import hmac
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

import msgspec

from penstock.errors import InvalidCursor

_SIGNATURE = 12


@dataclass(frozen=True, slots=True)
class MergedPosition:
    """How far each part was heard."""

    heard: dict[str, str | None]
    unheard: frozenset[str]
    "The parts that were there and not listened to: whoever asks for one later hears it from then on."


class MergedPositions:
    """Ids of a merged stream. Parts that stand at the same place, as those of one database do, take no room twice."""

    def __init__(self, secret: bytes) -> None:
        self._key = hmac.new(secret, b"merged events", hashlib.sha256).digest()

    def id_of(self, position: MergedPosition) -> str:
        told = msgspec.json.encode([position.heard, sorted(position.unheard)])
        raw = zlib.compress(told, 6)
        return urlsafe_b64encode(self._sign(raw) + raw).decode().rstrip("=")

    def read(self, text: str) -> MergedPosition:
        try:
            raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except ValueError:
            raw = b""
        signature, told = raw[:_SIGNATURE], raw[_SIGNATURE:]
        # Whatever is unpacked was packed here.
        if not hmac.compare_digest(signature, self._sign(told)):
            raise InvalidCursor("Last-Event-ID is not the id of an event of this stream; leave it out to start now")
        heard, unheard = msgspec.json.decode(zlib.decompress(told), type=tuple[dict[str, str | None], list[str]])
        return MergedPosition(heard, frozenset(unheard))

    def _sign(self, told: bytes) -> bytes:
        return hmac.new(self._key, told, hashlib.sha256).digest()[:_SIGNATURE]
