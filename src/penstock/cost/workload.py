"""A workload: what a month asks of a system, as people write it down.

replicas = 1                             # further regions that have all of it
point_in_time = true
peak = 3                                 # the busiest hour beside the average one

[records."films.Film"]
bytes = 900
created = 300_000                        # a month, as all that follows
changed = 600_000
moved = 300_000                          # of these changes of a state, which has an index
read = 3_000_000                         # by key
kept_days = 365

[patterns."films.Film.by_status"]
requests = 2_000_000
records = 20                             # that each of them finds

[files.films]
bytes = 500_000
created = 10_000
read = 10_000                            # by people elsewhere
kept_days = 2
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from penstock.errors import InvalidValue
from penstock.schema.shape import RECORD_BYTES, EntityShape, PatternShape

Number = Annotated[int, Meta(ge=0, le=10**15)]
Days = Annotated[int, Meta(ge=1, le=36_500)]


class RecordLoad(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a month does with the records of one entity."""

    bytes: Annotated[int, Meta(ge=1, le=RECORD_BYTES)]
    created: Number = 0
    changed: Number = 0
    "Changes, those of a state among them."
    moved: Number = 0
    "Of these, changes of a state."
    deleted: Number = 0
    "Expiry is free, and is none of these."
    read: Number = 0
    "By key."
    standing: Number = 0
    "That stand there all the time."
    kept_days: Days | None = None
    "How long each is kept that is created; for a year, if nothing is said."
    indexes: tuple[str, ...] | None = None
    "Those it is in; all that are declared, if nothing is said."
    in_transactions: bool = False
    "Is it written together with others, as an audit line makes it? Then its table is written twice."


class PatternLoad(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How often a pattern is asked in a month, and how many records each time finds."""

    requests: Number
    records: Annotated[int, Meta(ge=0, le=10**7)] = 1
    bytes: Annotated[int, Meta(ge=1, le=RECORD_BYTES)] | None = None
    "Of one record; as its entity's, if nothing is said."


class FileLoad(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a month does with files of one kind."""

    bytes: Annotated[int, Meta(ge=1, le=5 * 2**40)]
    created: Number = 0
    read: Number = 0
    standing: Number = 0
    kept_days: Days | None = None
    egress: Annotated[float, Meta(ge=0, le=1)] = 1.0
    "Which part of the reads is by people elsewhere."


class Workload(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A month."""

    records: Mapping[str, RecordLoad] = {}
    patterns: Mapping[str, PatternLoad] = {}
    files: Mapping[str, FileLoad] = {}
    replicas: Annotated[int, Meta(ge=0, le=30)] = 0
    point_in_time: bool = True
    backup_gb: Annotated[float, Meta(ge=0)] = 0.0
    peak: Annotated[float, Meta(ge=1, le=10_000)] = 1.0


def read_workload(path: Path, shapes: Iterable[EntityShape]) -> Workload:
    """The workload in a file; InvalidValue when it does not fit, or names what is not declared."""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
        workload = msgspec.convert(said, Workload)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise InvalidValue(f"the workload in {path} cannot be read: {error}") from None
    entities = {shape.label: shape for shape in shapes}
    _check_names(path, "records", workload.records, entities)
    _check_names(path, "patterns", workload.patterns, patterns_of(entities.values()))
    for label, load in workload.records.items():
        _check_load(path, label, load, entities[label])
    for label, asked in workload.patterns.items():
        if asked.bytes is None and label.rpartition(".")[0] not in workload.records:
            raise InvalidValue(f"{path}: say how many bytes a record has that {label} finds")
    return workload


def patterns_of(shapes: Iterable[EntityShape]) -> dict[str, PatternShape]:
    """Every pattern by its name."""
    return {pattern.label: pattern for shape in shapes for pattern in shape.patterns.values()}


def _check_names(path: Path, where: str, said: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    for name in said:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=3)
            hint = f"did you mean {' or '.join(close)}?" if close else "penstock patterns lists what is declared"
            raise InvalidValue(f"{path}: [{where}] names {name!r}, which is not declared; {hint}")


def _check_load(path: Path, label: str, load: RecordLoad, shape: EntityShape) -> None:
    there = {index.place.name for index in shape.indexes.values()}
    if unknown := set(load.indexes or ()) - there:
        known = ", ".join(sorted(there)) or "no index"
        raise InvalidValue(f"{path}: {label} is not in the index {sorted(unknown)[0]!r}; it has {known}")
    if load.moved > load.changed:
        raise InvalidValue(f"{path}: {label} is moved {load.moved:,} times, but changed only {load.changed:,} times")
