"""Bundles: all products of a nova in one zip, with a manifest and checksums; made by a task, and only when they change.

The archive lies where the documents say, so a new one takes the place of the former. What lies there is handed out only
while it is what the record tells of: should a worker that was given up have written late, it is made again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from penstock.domains.novae.bundle_names import TICKET, folders_of, names_within
from penstock.domains.novae.cross_references import cross_references
from penstock.domains.novae.data_records import NovaBundle
from penstock.domains.novae.dataset_files import sha256_of
from penstock.domains.novae.dataset_records import Dataset, FileObject
from penstock.domains.novae.dataset_science import canonical
from penstock.domains.novae.discovery_date import discovery_words, shown_date
from penstock.domains.novae.model import Nova
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_files import BUNDLE, BUNDLE_MANIFEST
from penstock.domains.novae.runs import followed, still_stands
from penstock.domains.novae.states import DatasetType, ProcessingStatus
from penstock.domains.novae.workflow import TASKS
from penstock.files.object_reads import lookup
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.work import TaskContext
from penstock.work.workspace import Workspace, workspace_of

LIMIT = timedelta(hours=1)
FORM = "nova-bundle-3"
"Rises when the same datasets make another bundle."


class BundleInput(BaseModel):
    """Which nova a bundle is of."""

    nova_id: UUID


@dataclass(frozen=True, slots=True)
class BundleState:
    """A bundle as it is by now."""

    nova_id: UUID
    bundle: NovaBundle | None
    "The last one that was made."
    fresh: bool
    "It is of all that there is now, and lies where it should."
    task_id: str | None = None
    "The task that makes it, if one was begun."


def ask_bundle(catalogue: NovaCatalogue, nova_id: UUID, *, by: str) -> BundleState:
    """The bundle of a nova; it is made, or made again, if something has changed."""
    state = bundle_of(catalogue, nova_id)
    if state.fresh:
        return state
    with catalogue.store.change(by=by, once=catalogue.once) as change:
        task_id = make_bundle.enqueue(change, BundleInput(nova_id=state.nova_id))
        change.result = {"nova_id": str(state.nova_id)}
    return BundleState(state.nova_id, state.bundle, fresh=False, task_id=task_id)


def bundle_of(catalogue: NovaCatalogue, nova_id: UUID) -> BundleState:
    """The last bundle of a nova, and whether it still tells all there is."""
    nova = followed(catalogue.store, nova_id)
    bundle = catalogue.store.lookup(NovaBundle.at(nova_id=nova.nova_id))
    fresh = bundle is not None and bundle.contents == contents_of(catalogue.store, nova) and _stands(catalogue, bundle)
    return BundleState(nova.nova_id, bundle, fresh)


def _stands(catalogue: NovaCatalogue, bundle: NovaBundle) -> bool:
    there = lookup(catalogue.objects, bundle.bundle_key)
    manifest = lookup(catalogue.objects, bundle.manifest_key)
    return there is not None and manifest is not None and there.etag == bundle.etag


def contents_of(store: Store, nova: Nova) -> str:
    """A fingerprint of all that a bundle of a nova tells."""
    datasets = valid_datasets(store, nova.nova_id)
    told = {
        "form": FORM,
        "name": nova.preferred_name,
        "aliases": sorted(nova.aliases),
        "discovery_date": nova.discovery_date,
        "discovery_source": nova.discovery_source,
        "position": [nova.ra_deg, nova.dec_deg],
        "datasets": sorted((str(each.dataset_id), str(each.fingerprint)) for each in datasets),
        "references": [each.told() for each in cross_references(store, nova.nova_id)],
    }
    return hashlib.sha256(canonical(told).encode()).hexdigest()


def valid_datasets(store: Store, nova_id: UUID) -> list[Dataset]:
    """The datasets of a nova that can be used."""
    every = store.find(Dataset.of_nova(nova_id=nova_id))
    return [each for each in every if each.processing_status is ProcessingStatus.COMPLETED]


@TASKS.task("make_bundle", limit=LIMIT)
def make_bundle(work: TaskContext, input: BundleInput) -> dict[str, Any] | None:
    """Make the bundle of a nova, unless it is as it should be."""
    from penstock.astronomy.products.product_bundle import MANIFEST, write_bundle

    catalogue = NovaCatalogue.within(work.domain)
    if bundle_of(catalogue, input.nova_id).fresh:
        return {"outcome": "UNCHANGED"}
    nova = followed(work.store, input.nova_id)
    contents, datasets = contents_of(work.store, nova), valid_datasets(work.store, nova.nova_id)
    with workspace_of(work) as workspace:
        path, manifest = workspace.folder / "full.zip", workspace.folder / MANIFEST
        entries = list(_entries(work, workspace, nova, datasets))
        told = _manifest(work.store, nova, datasets)
        files = write_bundle(path, entries, told)
        listed = [{"name": each.name, "bytes": each.bytes, "sha256": each.sha256} for each in files]
        digest = sha256_of(path)
        whole = {**told, "files": listed, "sha256": digest}
        manifest.write_text(json.dumps(whole, indent=1, sort_keys=True, default=str) + "\n", encoding="utf-8")
        bundle_key, manifest_key = (pattern.key(nova_id=nova.nova_id) for pattern in (BUNDLE, BUNDLE_MANIFEST))
        stored = workspace.store(path, bundle_key)
        workspace.store(manifest, manifest_key)
    now = work.store.clock.now()
    bundle = NovaBundle(
        nova_id=nova.nova_id,
        contents=contents,
        bundle_key=bundle_key,
        manifest_key=manifest_key,
        sha256=digest,
        byte_length=stored.size,
        etag=stored.etag,
        files=len(files),
        made_at=now,
        created_at=now,
        updated_at=now,
    )
    with work.finish({"outcome": "MADE", "files": len(files)}, why="a bundle is made") as change:
        _keep(change, bundle)
    return None


def _keep(change: Change, bundle: NovaBundle) -> None:
    still_stands(change, bundle.nova_id)
    change.put(bundle)
    told: dict[str, Any] = {"sha256": bundle.sha256, "files": bundle.files, "byte_length": bundle.byte_length}
    change.emit("bundle.made", bundle, nova_id=str(bundle.nova_id), **told)


def _entries(work: TaskContext, workspace: Workspace, nova: Nova, datasets: list[Dataset]) -> Iterator[Any]:
    """The file that each dataset was made of, its products, and the light curve of all its photometry."""
    from penstock.astronomy.products.product_bundle import BundleEntry

    folders = folders_of(datasets)
    for dataset in datasets:
        folder, known = folders[dataset.dataset_id], _checksums(work.store, dataset)
        for key, name in names_within(dataset).items():
            work.check()
            yield BundleEntry(f"{folder}/{name}", workspace.fetch(key), known.get(key))
        if dataset.ticket is not None:
            yield BundleEntry(f"{folder}/raw/{TICKET}", _ticket(workspace, dataset))
    for path in _light_curve(workspace, nova, [d for d in datasets if d.dataset_type is DatasetType.PHOTOMETRY]):
        yield BundleEntry(path.name, path)


def _checksums(store: Store, dataset: Dataset) -> dict[str, str]:
    files = store.find(FileObject.of_dataset(nova_id=dataset.nova_id, dataset_id=dataset.dataset_id))
    return {each.s3_key: each.sha256 for each in files if each.sha256 is not None}


def _ticket(workspace: Workspace, dataset: Dataset) -> Path:
    """What describes the columns of a table, as a file."""
    path = workspace.folder / f"ticket-{dataset.dataset_id}.txt"
    path.write_text(dataset.ticket or "", encoding="utf-8")
    return path


def _light_curve(workspace: Workspace, nova: Nova, datasets: list[Dataset]) -> list[Path]:
    """The light curve of a nova, of all its photometry, drawn and as a table; nothing where there is none."""
    if not datasets:
        return []
    from penstock.domains.novae.nova_light_curve import joined_light_curve, write_light_curve

    curve = joined_light_curve(workspace, datasets)
    return write_light_curve(curve, workspace.folder, nova) if curve.measurements else []


def _manifest(store: Store, nova: Nova, datasets: list[Dataset]) -> dict[str, Any]:
    folders = folders_of(datasets)
    return {
        "nova_id": str(nova.nova_id),
        "name": nova.preferred_name,
        "aliases": sorted(nova.aliases),
        "discovery_date": None if nova.discovery_date is None else shown_date(nova.discovery_date),
        "discovery_source": None if nova.discovery_source is None else nova.discovery_source.value,
        "discovered": discovery_words(nova),
        "position": None if nova.ra_deg is None else {"ra_deg": nova.ra_deg, "dec_deg": nova.dec_deg},
        "datasets": [
            {**_described(each), "folder": folders[each.dataset_id]}
            for each in sorted(datasets, key=lambda one: str(one.dataset_id))
        ],
        "references": [each.told() for each in cross_references(store, nova.nova_id)],
    }


def _described(dataset: Dataset) -> dict[str, Any]:
    return {
        "dataset_id": str(dataset.dataset_id),
        "type": dataset.dataset_type.value,
        "provider": dataset.provider,
        "provider_identity": dataset.provider_identity,
        "file_name": dataset.file_name,
        "said": dataset.said,
        "bibcode": dataset.bibcode,
        "sha256": dataset.sha256,
        "summary": dataset.summary,
        "profile": (dataset.profile_selection or {}).get("chosen"),
    }
