"""What a model elsewhere is told: the parts of an order, under the names that the model has for them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from penstock.errors import Misconfigured
from penstock.media.content_type import SNIFFED_BYTES, sniff
from penstock.work import Terminal

MOST_INLINE = 16_000_000
"""Bytes of a file that are sent within a request, as a data URI.

Workers have files and no address a service could fetch them from. Sent inline they grow by a third, and all of them are
held in memory at once; a clip of some seconds and its sound have a few megabytes.
"""


class ModelInput:
    """The names of one model's parts, and what it is sent each time."""

    def __init__(
        self, fields: Mapping[str, str], parts: frozenset[str], always: Mapping[str, Any] | None, most_inline: int
    ) -> None:
        """``fields`` are names by parts; a part without a name is not sent. ``parts`` are all that there are."""
        if unknown := set(fields) - parts:
            raise Misconfigured(f"a model is not told {', '.join(sorted(unknown))}, only {', '.join(sorted(parts))}")
        self._fields = {part: name for part, name in fields.items() if name}
        self._always, self._most = dict(always or {}), most_inline

    def __contains__(self, part: str) -> bool:
        """Whether the model is told this part."""
        return part in self._fields

    def of(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        """The parts there are, as the model knows them; a file is sent with all its bytes."""
        told = {self._fields[part]: value for part, value in parts.items() if part in self and value is not None}
        return {**self._always, **{name: self._sent(value) for name, value in told.items()}}

    def _sent(self, value: Any) -> Any:
        if isinstance(value, Path):
            return data_uri(value, self._most)
        return [self._sent(each) for each in value] if isinstance(value, list | tuple) else value


def data_uri(file: Path, most: int) -> str:
    """A file as a part of a request."""
    size = file.stat().st_size
    if size > most:
        raise Terminal(f"{file.name} has {size} bytes, and a service is sent at most {most} within a request")
    content = file.read_bytes()
    return f"data:{sniff(content[:SNIFFED_BYTES])};base64,{base64.b64encode(content).decode()}"


def beside(into: Path) -> AbstractContextManager[str]:
    """A folder on the disk of a file to come, for what comes before it."""
    return TemporaryDirectory(dir=into.parent, prefix=f".{into.stem}-")
