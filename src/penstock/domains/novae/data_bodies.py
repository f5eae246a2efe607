"""The bodies of requests about datasets, files and the quarantine desk."""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import Len
from pydantic import BaseModel, ConfigDict, Field

from penstock.domains.novae.contributions import LONGEST_TICKET, NewFile
from penstock.domains.novae.states import DatasetType

Hints = Annotated[
    dict[str, Any],
    Field(
        max_length=20,
        description="Of a spectrum: unit, flux_unit, profile, aperture, target, medium, frame, member. "
        "Of photometry: columns, delimiter, time_system, time_offset, epoch, outburst, unit, band, target, table. "
        "Of both: object, the nova that it is of; `this` says that it is this one.",
        examples=[{"unit": "nm"}],
    ),
]
Ticket = Annotated[
    str | None, Field(max_length=LONGEST_TICKET, description="What describes the columns, in lines `NAME: value`.")
]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AnnounceFile(_Body):
    """A file that will be sent."""

    dataset_type: DatasetType
    file_name: Annotated[str, Len(1, 200)]
    size: Annotated[int, Field(ge=1, description="Bytes of the file.")]
    content_type: Annotated[str, Len(1, 200)] = "application/octet-stream"
    sha256: Annotated[str, Field(pattern="^[0-9a-fA-F]{64}$", description="Of the file.")]
    ticket: Ticket = None
    metadata: Annotated[
        str | None, Field(max_length=4_000_000, description="The table that a ticket of spectra is about.")
    ] = None
    bibcode: Annotated[str | None, Field(max_length=40, description="The paper that it is from.")] = None
    hints: Hints = Field(default_factory=dict)

    def wanted(self) -> NewFile:
        return NewFile(**self.model_dump())


class ClearBody(_Body):
    """What is said of a dataset that is to be tried again."""

    hints: Hints = Field(default_factory=dict)
    ticket: Ticket = None
    note: Annotated[str | None, Field(max_length=1000, description="For the audit trail.")] = None


class RejectBody(_Body):
    """Why a dataset will never be valid."""

    reason: Annotated[str, Len(1, 1000)]


class DroppedBody(_Body):
    """A file that lies in the bucket."""

    key: Annotated[str, Len(1, 1024)]
    bucket: Annotated[str | None, Field(max_length=255)] = None
