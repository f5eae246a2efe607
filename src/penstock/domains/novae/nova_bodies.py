"""The bodies of requests."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from annotated_types import Len
from pydantic import BaseModel, ConfigDict, Field

from penstock.domains.novae.decisions import NovaDecision
from penstock.domains.novae.nova_names import LONGEST_NAME

NovaName = Annotated[str, Len(1, LONGEST_NAME), Field(examples=["V1324 Sco"])]
Why = Annotated[str | None, Field(max_length=1000, description="For the audit trail.")]
CorrelationId = Annotated[
    str | None,
    Field(
        pattern="^[!-~]{1,100}$",
        description="What ties this request to others; made if there is none, and told to all that comes of it.",
    ),
]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class InitializeBody(_Body):
    """A name of which the nova is to be found or made."""

    candidate_name: NovaName
    correlation_id: CorrelationId = None


class RunBody(_Body):
    """A workflow that is to run for a nova."""

    correlation_id: CorrelationId = None


class AliasBody(_Body):
    """A name that a nova goes by."""

    name: NovaName
    shared: bool = Field(
        False, description="It is that of another nova as well: from now on, whoever asks by it is told of both."
    )
    why: Why = None


Degrees = Annotated[float | None, Field(allow_inf_nan=False)]
Discovered = Annotated[
    str | None, Field(max_length=10, description="YYYY-MM-DD, YYYY-MM or YYYY.", examples=["2012-06-01"])
]


class NewNovaBody(_Body):
    """A nova that somebody knows."""

    name: NovaName
    aliases: Annotated[list[NovaName], Len(0, 19)] = Field(default_factory=list)
    ra_deg: Degrees = Field(None, ge=0, lt=360, description="Right ascension, ICRS, in degrees.")
    dec_deg: Degrees = Field(None, ge=-90, le=90, description="Declination, ICRS, in degrees.")
    discovery_date: Discovered = None
    why: Why = None


class CorrectionBody(_Body):
    """What is wrong with a nova; what is left out stays as it is."""

    version_counter: int = Field(ge=0, description="As it was read; another is refused.")
    preferred_name: Annotated[str | None, Len(1, LONGEST_NAME)] = None
    ra_deg: Degrees = Field(None, ge=0, lt=360, description="Right ascension, ICRS, in degrees; with `dec_deg`.")
    dec_deg: Degrees = Field(None, ge=-90, le=90, description="Declination, ICRS, in degrees; with `ra_deg`.")
    discovery_date: Discovered = None
    why: Why = None


class RestoreBody(_Body):
    """Why a nova is one after all."""

    why: Why = None


class MergeBody(_Body):
    """The nova that another was all along."""

    into: UUID
    why: Why = None


class DeprecateBody(_Body):
    """Why a nova is none."""

    why: Annotated[str | None, Field(max_length=1000, description="Others will ask; it is needed.")] = None


class DecisionBody(NovaDecision):
    """What a person has decided about what a run could not know."""
