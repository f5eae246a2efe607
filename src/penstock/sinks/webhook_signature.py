"""Signatures: how a receiver knows that a message is ours, and new."""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime, timedelta

HEADER = "Penstock-Signature"

_LONGEST_HEADER = 1024
_LONGEST_EPOCH = 12
_TOLERANCE = timedelta(minutes=5)


def sign(secret: str | bytes, body: bytes, *, now: datetime) -> str:
    """The value of the header: when it was signed, and a hash of that moment and the body under the secret."""
    epoch = str(int(now.timestamp()))
    return f"t={epoch},v1={_hash(secret, epoch, body)}"


def verify(secret: str | bytes, header: str, body: bytes, *, now: datetime, tolerance: timedelta = _TOLERANCE) -> bool:
    """Was this body, byte for byte, signed with this secret, at a moment not further from now than the tolerance?

    For receivers. Compare before parsing the body; the same id may still arrive twice within the tolerance.
    """
    epoch, hashes = _parse(header)
    if epoch is None or abs(now.timestamp() - int(epoch)) > tolerance.total_seconds():
        return False
    wanted = _hash(secret, epoch, body).encode()
    # Every one is compared, so that the time taken tells nothing; a sender may sign with an old and a new secret.
    matches = [hmac.compare_digest(wanted, h.encode()) for h in hashes]
    return True in matches


def _parse(header: str) -> tuple[str | None, list[str]]:
    """The moment and the hashes a header names; no moment when it is malformed."""
    if len(header) > _LONGEST_HEADER or not header.isascii():
        return None, []
    parts = [part.strip().partition("=") for part in header.split(",")]
    epochs = [value for name, _, value in parts if name == "t"]
    hashes = [value for name, _, value in parts if name == "v1"]
    if len(epochs) != 1 or not epochs[0].isdigit() or len(epochs[0]) > _LONGEST_EPOCH:
        return None, []
    return epochs[0], hashes


def _hash(secret: str | bytes, epoch: str, body: bytes) -> str:
    key = secret.encode() if isinstance(secret, str) else secret
    return hmac.new(key, f"{epoch}.".encode() + body, hashlib.sha256).hexdigest()
