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


class MergeBody(_Body):
    """The nova that another was all along."""

    into: UUID
    why: Why = None


class DeprecateBody(_Body):
    """Why a nova is none."""

    why: Why = None


class DecisionBody(NovaDecision):
    """What a person has decided about what a run could not know."""
