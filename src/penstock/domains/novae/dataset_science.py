"""What the workflows ask of science: whether a file can be used, what is in it, and what is made of it.

| | |
|---|---|
| `spectrum_science.SpectrumScience` | FITS and text spectra |
| `photometry_science.PhotometryScience` | tables of photometry |

Both are loaded with the first file that is judged: nothing else of this domain needs astropy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from penstock.astronomy.judgement import FileFinding, FileVerdict
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.states import DatasetType


@dataclass(frozen=True, slots=True)
class JudgedFile:
    """What a file of a dataset proved to be."""

    verdict: FileVerdict
    finding: FileFinding | None = None
    "Why it is not valid."
    selection: dict[str, Any] | None = None
    "What it was recognised as: inputs, candidates, choice and version; JSON, and enough to choose again."
    header_signature: str | None = None
    fits_checksum: str | None = None
    summary: dict[str, Any] = field(default_factory=dict)
    "What is in it, in numbers."
    evidence: dict[str, Any] = field(default_factory=dict)
    "What a person wants to see of a file that is not valid, such as the cards of its headers."
    contents: Any = None
    "The spectra or the light curve, for whoever makes products of them."


@dataclass(frozen=True, slots=True)
class DerivedFile:
    """A product of a dataset: a file, and its name under derived/…/."""

    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """What the stored inputs of a choice lead to today."""

    same: bool
    stored: dict[str, Any]
    now: dict[str, Any]


class DatasetScience(Protocol):
    """Judges the files of datasets of one type, and makes products of them."""

    version: str
    "Another one may judge the same file otherwise."

    def judge(self, path: Path, dataset: Dataset) -> JudgedFile:
        """What a file proved to be. What is wrong with it never raises."""

    def products(self, judged: JudgedFile, dataset: Dataset, folder: Path, *, title: str) -> Sequence[DerivedFile]:
        """What is made of a valid file, written into a folder."""

    def picture(self, judged: JudgedFile, dataset: Dataset, path: Path, *, title: str) -> bool:
        """Draw as much as could be read of a file, valid or not; False where that is nothing."""

    def replay(self, dataset: Dataset, path: Path | None) -> Replayed:
        """Choose again from what was stored, and compare."""


def science_of(type: DatasetType) -> DatasetScience:
    """The science of a type of datasets."""
    if type is DatasetType.SPECTRA:
        from penstock.domains.novae.spectrum_science import SpectrumScience

        return SpectrumScience()
    from penstock.domains.novae.photometry_science import PhotometryScience

    return PhotometryScience()


def fingerprint_of(dataset: Dataset, sha256: str, *, version: str) -> str:
    """What a verdict is about: these bytes, read with all that is said of them, by these rules."""
    told: dict[str, Any] = {"sha256": sha256, "said": dataset.said or {}, "rules": version}
    told |= {"ticket": dataset.ticket, "description": dataset.description, "name": dataset.file_name}
    if dataset.hints.get("sent_by") is not None and dataset.bibcode is not None:
        told["bibcode"] = dataset.bibcode  # products tell it, and whoever has sent the file may say another
    return hashlib.sha256(canonical(told).encode()).hexdigest()[:32]


def canonical(told: Mapping[str, Any]) -> str:
    """JSON in one spelling."""
    return json.dumps(told, sort_keys=True, separators=(",", ":"), default=str)
