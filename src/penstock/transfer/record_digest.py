"""A digest of records that does not depend on their order: two stores that hold the same have the same."""

from __future__ import annotations

import hashlib

_SIZE = 2**256


class RecordDigest:
    """Counts lines and adds up their hashes."""

    def __init__(self, text: str = "0" * 64, *, records: int = 0) -> None:
        self._sum, self.records = int(text, 16), records

    def add(self, line: bytes) -> None:
        self._sum = (self._sum + int.from_bytes(hashlib.sha256(line).digest())) % _SIZE
        self.records += 1

    def __str__(self) -> str:
        return f"{self._sum:064x}"
