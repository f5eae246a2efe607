"""The check that a file is about the nova whose dataset it is; once the nova has other names it is made again."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from penstock.astronomy.judgement import FileVerdict
from penstock.domains.novae.data_records import DatasetVerdict
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.dataset_science import JudgedFile, canonical
from penstock.domains.novae.nova_names import all_names
from penstock.domains.novae.object_matching import MISMATCH, KnownNova, matched
from penstock.domains.novae.positions import position_of
from penstock.domains.novae.runs import followed
from penstock.domains.novae.told_object import told_object
from penstock.kernel.store import Store


def object_checked(store: Store, dataset: Dataset, path: Path, judged: JudgedFile) -> JudgedFile:
    """A valid file that is about its nova, as it was, with remarks; one of another object waits for a person."""
    if judged.verdict is not FileVerdict.VALID:
        return judged
    match = matched(told_object(path, judged, dataset), _known(store, dataset))
    if match.finding is not None:
        return replace(judged, verdict=FileVerdict.QUARANTINED, finding=match.finding)
    if match.remarks:
        return replace(judged, summary={**judged.summary, "remarks": match.remarks})
    return judged


def once_more(store: Store, dataset: Dataset, known: DatasetVerdict) -> str | None:
    """The fingerprint under which a file is compared again that was another object's: with the names and the place that
    its nova has by now. None where the verdict stands."""
    if known.code != MISMATCH:
        return None
    nova = _known(store, dataset)
    told = {"was": known.fingerprint, "names": sorted(nova.names), "position": str(nova.position)}
    return hashlib.sha256(canonical(told).encode()).hexdigest()[:32]


def _known(store: Store, dataset: Dataset) -> KnownNova:
    nova = followed(store, dataset.nova_id)
    return KnownNova(all_names(nova), position_of(nova), str(nova.nova_id))
