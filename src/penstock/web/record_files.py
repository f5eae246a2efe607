"""The files of a record, each with a URL that opens by itself for a while: for whoever may see the record."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from penstock.auth.caller import Caller
from penstock.declare.entity import Entity
from penstock.files.record_previews import previews_of
from penstock.ports.object_store import ObjectStore
from penstock.web.forms import json_of

URL_HEADERS = {"Cache-Control": "private, no-store"}
"A URL that opens by itself must not be kept by anybody on the way."


class RecordFile(BaseModel):
    """A file that a record points at."""

    field: str = Field(description="The field that points at it.")
    key: str
    size: int
    content_type: str | None = Field(description="As its bytes were found to be; null of a file within a folder.")
    inline: bool = Field(description="Does a browser show it in place? Pages and drawings are always saved.")
    url: str
    expires_at: datetime
    modified_at: datetime


class RecordFiles(BaseModel):
    """The files of a record that are there and that this caller may open."""

    items: list[RecordFile]
    more: bool = Field(description="Has it more files than are told?")
    withheld: list[str] = Field(description="The fields whose files this role may not open.")


def files_answer(caller: Caller, record: Entity, objects: ObjectStore) -> bytes:
    """The files of a record as its caller may open them."""
    found = previews_of(record, objects, role=caller.role)
    items: list[dict[str, Any]] = [{n: getattr(f, n) for n in RecordFile.model_fields} for f in found.files]
    return json_of({"items": items, "more": found.more, "withheld": found.withheld})
