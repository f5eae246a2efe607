"""What the files of a bundle are called: for people who open it, by type, provider, day and a short id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from uuid import UUID

from penstock.domains.novae.bringing import plain_name
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.first_detection import detected_on

UNDATED = "undated"
TICKET = "ticket.txt"
_SHORT = 8
_LONGEST = 60
_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")


def folders_of(datasets: Iterable[Dataset]) -> dict[UUID, str]:
    """The folder of each dataset, such as spectra/eso/2012-06-09_1a2b3c4d; no two have the same."""
    named: dict[UUID, str] = {}
    for dataset in sorted(datasets, key=lambda each: str(each.dataset_id)):
        digits = _SHORT
        while (name := _folder(dataset, digits)) in named.values():
            digits += 4
        named[dataset.dataset_id] = name
    return named


def _folder(dataset: Dataset, digits: int) -> str:
    provider = _UNSAFE.sub("_", dataset.provider).strip("._")[:_LONGEST] or "provider"
    day = detected_on(dataset) or UNDATED
    return f"{dataset.dataset_type.value.lower()}/{provider}/{day}_{dataset.dataset_id.hex[:digits]}"


def names_within(dataset: Dataset) -> Mapping[str, str]:
    """What each file of a dataset is called within its folder, by its key: the raw one as where it comes from."""
    names: dict[str, str] = {}
    if dataset.raw_key is not None:
        own = dataset.file_name or PurePosixPath(dataset.raw_key).name
        name = plain_name(own, PurePosixPath(dataset.raw_key).name)
        names[dataset.raw_key] = f"raw/{f'data-{name}' if name == TICKET else name}"
    for key in dataset.artifacts:
        names[key] = f"{'plots' if '/plots/' in key else 'normalized'}/{PurePosixPath(key).name}"
    return names
