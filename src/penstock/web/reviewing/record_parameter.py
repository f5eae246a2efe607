"""The record that a request is about, by its path: /api/films/films/p1/Robot%20in%20Austin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import unquote_to_bytes

from annotated_types import MaxLen
from fastapi import Query
from pydantic import TypeAdapter, ValidationError

from penstock.auth.caller import Caller
from penstock.declare.entity import Entity
from penstock.operations.reads import Ref
from penstock.review.errors import NotAnItem
from penstock.review.review_subject import KindsByPath, ReviewSubject
from penstock.web.errors import Forbidden
from penstock.web.forms import parameter_type

LONGEST_RECORD = 4096
ABOUT_RECORD = "The path of the record, as its own routes have it, such as /api/films/films/p1/Robot%20in%20Austin."
RecordPath = Annotated[str, MaxLen(LONGEST_RECORD), Query(description=ABOUT_RECORD)]


def subject_of(caller: Caller, known: KindsByPath, record: str) -> ReviewSubject:
    """The record that a caller names, if they may see it; NotFound if it does not stand."""
    kind, ref = read_record(known, record)
    if not kind.__shape__.is_shown_to(caller.role):
        seen_by = kind.__shape__.seen_by
        raise Forbidden(f"this takes the role {seen_by.value if seen_by else ''}; the key has {caller.role or 'none'}")
    return ReviewSubject.read(caller.store, ref)


def read_record(known: KindsByPath, record: str) -> tuple[type[Entity], Ref[Any]]:
    """The kind and the key that a path names; NotAnItem if it names none."""
    segments = [_decoded(each) for each in record.removeprefix("/api/").split("/")]
    if len(segments) < 3:
        raise NotAnItem(f"{record[:200]!r} is not the path of a record, such as /api/films/films/p1/Robot")
    kind = known.kind(segments[0], segments[1])
    names, parts = kind.__shape__.key.fields, segments[2:]
    if len(names) != len(parts):
        raise NotAnItem(f"the key of {kind.__shape__.label} has the parts {', '.join(names)}; {len(parts)} were given")
    return kind, kind.__key__(**_read_parts(kind, dict(zip(names, parts, strict=True))))


def _decoded(segment: str) -> str:
    return unquote_to_bytes(segment).decode("utf-8", "surrogateescape")


def _read_parts(kind: type[Entity], parts: Mapping[str, str]) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for name, text in parts.items():
        try:
            read[name] = TypeAdapter(parameter_type(kind, name)).validate_strings(text)
        except ValidationError as error:
            raise NotAnItem(f"{name}: {error.errors()[0]['msg']}") from None
    return read
