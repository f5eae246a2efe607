"""What the bucket's owner can do so that evidence and the payloads of workflows do not stay for ever."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

from penstock.operations.plan import ADVICE, PlanStep

DAYS = {"quarantine/": 365, "workflow-payloads/": 30}
"How long the documents keep what lies there; whatever is raw, derived or bundled stays."


def catalogue_rules(within: str = "") -> list[dict[str, Any]]:
    """The rules as S3 wants them."""
    return [
        {
            "ID": f"penstock-novae-{prefix.rstrip('/')}",
            "Status": "Enabled",
            "Filter": {"Prefix": f"{within}/{prefix}" if within else prefix},
            "Expiration": {"Days": days},
        }
        for prefix, days in DAYS.items()
    ]


def advice(objects_url: str, setting: Callable[[str], str | None]) -> list[PlanStep]:
    """The rules for where this deployment keeps its files; none for local files, which have no such rules."""
    parts = urlsplit(objects_url)
    if parts.scheme != "s3":
        return []
    rules = json.dumps(catalogue_rules(unquote(parts.path).strip("/")))
    detail = (
        f"Evidence about novae in s3://{parts.netloc} is of use for a year, payloads of workflows for a month. Add "
        f"these rules to those of the bucket; `aws s3api put-bucket-lifecycle-configuration --bucket {parts.netloc}` "
        f"replaces them all:\n{rules}"
    )
    return [PlanStep(ADVICE, f"expiry of novae in {parts.netloc}", detail)]
