"""Where the files of the catalogue lie: each pattern both checks keys and makes them.

The first free part is the nova that a file was stored for. A nova that is merged leaves its files where they are, and
the records that point at them move to the other nova; so it is the dataset that says whose a file is.
"""

from __future__ import annotations

from uuid import UUID

from penstock.domains.novae.states import DatasetType
from penstock.schema.file_pattern import FilePattern

RAW_SPECTRUM = FilePattern("raw/spectra/*/{dataset_id}/**")
"primary.fits, source.json, archive.zip, unzipped/…"
QUARANTINED_SPECTRUM = FilePattern("quarantine/spectra/*/{dataset_id}/**")
"<moment>/primary.fits, <moment>/context.json"
DERIVED_SPECTRUM = FilePattern("derived/spectra/*/{dataset_id}/**")
"normalized/…, plots/preview.png"
RAW_PHOTOMETRY = FilePattern("raw/photometry/*/{dataset_id}/upload/**")
QUARANTINED_PHOTOMETRY = FilePattern("quarantine/photometry/*/{dataset_id}/**")
DERIVED_PHOTOMETRY = FilePattern("derived/photometry/*/{dataset_id}/**")
BUNDLE = FilePattern("bundles/{nova_id}/full.zip")
BUNDLE_MANIFEST = FilePattern("bundles/{nova_id}/manifest.json")

OF_DATASETS = (
    *(RAW_SPECTRUM, QUARANTINED_SPECTRUM, DERIVED_SPECTRUM),
    *(RAW_PHOTOMETRY, QUARANTINED_PHOTOMETRY, DERIVED_PHOTOMETRY),
)
NOVA_FILES = (*OF_DATASETS, BUNDLE, BUNDLE_MANIFEST)

RAW = {DatasetType.SPECTRA: RAW_SPECTRUM, DatasetType.PHOTOMETRY: RAW_PHOTOMETRY}
QUARANTINED = {DatasetType.SPECTRA: QUARANTINED_SPECTRUM, DatasetType.PHOTOMETRY: QUARANTINED_PHOTOMETRY}
DERIVED = {DatasetType.SPECTRA: DERIVED_SPECTRUM, DatasetType.PHOTOMETRY: DERIVED_PHOTOMETRY}

_NOVA_AT = 2
"Which part of a dataset's key is the nova, from 0."


def nova_of_key(key: str) -> UUID | None:
    """The nova that a dataset's file was stored for, as its key says; None if that is none."""
    parts = key.split("/")
    try:
        return UUID(parts[_NOVA_AT])
    except (IndexError, ValueError):
        return None


def in_edition(name: str, sha256: str) -> str:
    """A file's name within the folder of its own edition, where no other bytes ever lie."""
    folder, slash, last = name.rpartition("/")
    return f"{folder}{slash}{sha256[:16]}/{last}"
