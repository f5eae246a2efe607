"""What the bucket's owner can do so that no file outlives its day by much, even if nothing of ours runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

from penstock.declare.option import read_options
from penstock.domains.speech.model import PREFIX
from penstock.domains.speech.options import SpeechOptions
from penstock.operations.plan import ADVICE, PlanStep
from penstock.plugin import FileExpiry

DAYS = 2
"Later than any cleanup, and never before an audio's 24 hours are over: S3 counts from the midnight after."


def lifecycle_rule(prefix: str = PREFIX) -> dict[str, Any]:
    """The rule as S3 wants it."""
    return {
        "ID": "penstock-temp-audio",
        "Status": "Enabled",
        "Filter": {"Prefix": f"{prefix}/"},
        "Expiration": {"Days": DAYS},
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": DAYS},
    }


def file_expiries(setting: Callable[[str], str | None]) -> list[FileExpiry]:
    """The same, for whoever makes the bucket."""
    return [FileExpiry(f"{read_options(SpeechOptions, setting).prefix}/", DAYS)]


def advice(objects_url: str, setting: Callable[[str], str | None]) -> list[PlanStep]:
    """The rule for where this deployment keeps its files."""
    return lifecycle_steps(objects_url, read_options(SpeechOptions, setting).prefix)


def lifecycle_steps(objects_url: str, prefix: str = PREFIX) -> list[PlanStep]:
    """The advice for an object store at a URL; none for local files, which have no such rules."""
    parts = urlsplit(objects_url)
    if parts.scheme != "s3":
        return []
    within = unquote(parts.path).strip("/")
    rule = json.dumps(lifecycle_rule(f"{within}/{prefix}" if within else prefix))
    detail = (
        f"Temporary speech in s3://{parts.netloc} is deleted every day. As a backstop add this rule to those of the "
        f"bucket; `aws s3api put-bucket-lifecycle-configuration --bucket {parts.netloc}` replaces them all:\n{rule}"
    )
    return [PlanStep(ADVICE, f"lifecycle rule of {parts.netloc}", detail)]
