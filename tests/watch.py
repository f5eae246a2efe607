"""Watches what every test stores, on every engine: no URL where a key belongs, and no signature anywhere (MV-60).

Free text may mention a URL; what opens by itself may be nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any

from penstock.operations.updates import Append, Set, SetIfAbsent
from penstock.operations.writes import Patch, Put, Write
from penstock.schema.object_key import validate_s3_key
from penstock.schema.shape import EntityShape

_SIGNED = re.compile(
    r"X-(?:Amz|Goog)-(?:Signature|Credential|Security-Token)|[?&](?:Signature|sig|AWSAccessKeyId|Key-Pair-Id)=",
    re.IGNORECASE,
)

seen: list[str] = []
"What was stored and should not have been, since it was last asked for."


def watch(engine: type) -> None:
    """Look at everything that engines of a class write from now on."""
    for name in ("commit", "load", "patch"):
        setattr(engine, name, _watched(getattr(engine, name)))


def _watched(write: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(write)
    def watched(self: Any, writes: Any, *args: Any, **kwargs: Any) -> Any:
        return write(self, _looked_at(writes), *args, **kwargs)

    return watched


def _looked_at(writes: Any) -> Any:
    if isinstance(writes, list | tuple):
        for write in writes:
            look(write)
        return writes
    if isinstance(writes, Patch):
        look(writes)
        return writes
    return _one_by_one(writes)


def _one_by_one(writes: Iterable[Write]) -> Iterator[Write]:
    for write in writes:
        look(write)
        yield write


def look(write: Write) -> None:
    """Note what is wrong with a write."""
    for name, value in _values(write):
        seen.extend(f"{write.shape.label}.{name}: {problem}" for problem in _problems(write.shape, name, value))


def _values(write: Write) -> Iterator[tuple[str, Any]]:
    if isinstance(write, Put):
        yield from write.values.items()
    elif isinstance(write, Patch):
        for update in write.updates:
            if isinstance(update, Set | SetIfAbsent):
                yield update.field, update.value
            elif isinstance(update, Append):
                yield update.field, list(update.items)


def _problems(shape: EntityShape, name: str, value: Any) -> Iterator[str]:
    if value is None:
        return
    for text in _texts(value):
        if _SIGNED.search(text):
            yield "a signature"
    field = shape.fields.get(name)
    for key in field.keys(value) if field is not None and field.keys is not None else ():
        try:
            validate_s3_key(key)
        except ValueError as error:
            yield str(error)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield from _texts(key)
            yield from _texts(member)
    elif isinstance(value, list | tuple | set | frozenset):
        for member in value:
            yield from _texts(member)
