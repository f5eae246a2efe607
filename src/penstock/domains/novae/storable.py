"""What a file says, as every engine can hold it: a header may have anything in it, and its verdict is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from penstock.astronomy.judgement import FileFinding
from penstock.domains.novae.dataset_science import JudgedFile
from penstock.errors import InvalidValue
from penstock.schema.documents import integer, kept, real

BLANK = "(blank)"
"The name of what a file has no name for."


def storable_verdict(judged: JudgedFile) -> JudgedFile:
    """What a file proved to be, with nothing in it that cannot be stored."""
    found = judged.finding
    finding = None if found is None else FileFinding(found.code, storable(found.message), storable(found.details))
    return replace(
        judged,
        finding=finding,
        selection=storable(judged.selection),
        summary=storable(judged.summary),
        evidence=storable(judged.evidence),
    )


def storable(value: Any) -> Any:
    """A document whose texts and numbers fit every engine; a number that does not is told as a text."""
    if isinstance(value, str):
        return kept(value, len(value))
    if isinstance(value, Mapping):
        return {kept(str(name), 200) or BLANK: storable(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [storable(each) for each in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value)
    return value


def _number(value: float) -> float | str:
    try:
        return integer(value) if isinstance(value, int) else real(value)
    except InvalidValue:
        return f"{value}"[:60]
