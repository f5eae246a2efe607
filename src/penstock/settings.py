"""Settings: one frozen object, and the only reader of the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.declare.domain import Domain


@dataclass(frozen=True)
class Settings:
    """What a deployment may choose."""

    store: str = "sqlite:///.penstock/penstock.db"
    "Where records live: sqlite:///FILE, postgresql://…, or dynamodb://REGION."
    secret: str | None = None
    "Signs page cursors; without one they end with the process."
    aws_region: str | None = None
    "Where DynamoDB is, if its URL does not say; else AWS's own configuration does."
    table_names: Mapping[str, str] = field(default_factory=dict)
    "DynamoDB tables that are called otherwise than their declaration says."


def read_settings(domains: tuple[Domain, ...], environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of the environment; tables are renamed by the variables their declarations name."""
    found = os.environ if environment is None else environment
    renamed = {
        table.place.name: found[table.setting]
        for domain in domains
        for table in domain.tables
        if table.setting and found.get(table.setting)
    }
    return Settings(
        store=found.get("PENSTOCK_STORE") or Settings.store,
        secret=found.get("PENSTOCK_SECRET") or None,
        aws_region=found.get("AWS_REGION") or None,
        table_names=renamed,
    )
