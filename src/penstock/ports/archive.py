"""What is asked of cold storage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from penstock.ports.stored_object import Body


class Archive(Protocol):
    """Cold storage: whole files by name, each written once."""

    def put(self, name: str, content: Body) -> bool:
        """Keep a file durably, unless there is one of this name: that one stays as it is, and the answer is False.

        What is given in pieces is never held whole; where they break off, nothing is kept.
        """
        ...

    def get(self, name: str) -> bytes:
        """The file as it is kept, or NotFound."""
        ...

    def pieces(self, name: str) -> Iterator[bytes]:
        """The same piece by piece, for what may be large."""
        ...

    def exists(self, name: str) -> bool: ...

    def list(self, prefix: str = "") -> Iterator[str]:
        """The names that begin so, in order."""
        ...
