"""The table of the catalogue, what its lasting items carry, and which ids and spellings are always the same."""

from __future__ import annotations

from typing import Annotated
from uuid import NAMESPACE_URL, UUID, uuid5

from pydantic import Field

from penstock.declare import Entity, Table, UtcSeconds

NOVA_CAT = Table("NovaCat", partition="PK", sort="SK", tag="entity_type", expiry="ttl", feed=True)
ELIGIBILITY = NOVA_CAT.index("GSI1", partition="GSI1PK", sort="GSI1SK")
NAMES = NOVA_CAT.index("GSI2", partition="GSI2PK", sort="GSI2SK")
S3_OBJECTS = NOVA_CAT.index("GSI3", partition="GSI3PK", sort="GSI3SK")

_IDENTITIES = uuid5(NAMESPACE_URL, "penstock:novae")

# Fixed width; a paper dated by its month alone has day 00, which sorts before the days it may mean.
PaperDate = Annotated[str, Field(pattern=r"^\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])$")]


def normalize_name(name: str) -> str:
    """The one spelling a name is found by: trimmed, underscores as spaces, lower case, single spaces."""
    return " ".join(name.replace("_", " ").lower().split())


def dataset_identity(provider: str, identity: str) -> UUID:
    """The same product of a provider is the same dataset, whoever discovers it and however often."""
    return uuid5(_IDENTITIES, f"dataset:{len(provider)}:{provider}:{identity}")


def file_identity(bucket: str, s3_key: str) -> UUID:
    """The same object is the same file."""
    return uuid5(_IDENTITIES, f"file:{len(bucket)}:{bucket}:{s3_key}")


def run_identity(idempotency_key: str, turn: int) -> UUID:
    """The same request is the same run; one that takes over after it has a turn of its own."""
    return uuid5(_IDENTITIES, f"run:{len(idempotency_key)}:{idempotency_key}:{turn}")


def launched_identity(request: str, parent: UUID) -> UUID:
    """A run launches another for a request once, however often its step is begun again."""
    return uuid5(_IDENTITIES, f"launched:{parent}:{request}")


def nova_identity(job_run_id: UUID) -> UUID:
    """A run makes one nova at most, however often it is begun again."""
    return uuid5(_IDENTITIES, f"nova:{job_run_id}")


class Catalogued(Entity):
    """What every lasting item of the catalogue carries."""

    created_at: UtcSeconds = Field(frozen=True)
    updated_at: UtcSeconds
    schema_version: str = "1"
