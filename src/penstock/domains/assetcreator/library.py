"""The library: assets and the versions of each, with the files that were delivered."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.errors import NoSuchPlace
from penstock.domains.assetcreator.model import ArchivedVersion, Asset, AssetPlace, AssetVersion, Job, Project
from penstock.domains.assetcreator.orders import request_of
from penstock.domains.assetcreator.project_quotas import keep_version, limit_of
from penstock.errors import Conflict, Misconfigured
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.kernel.unchanged import unchanged
from penstock.lifecycle.archived_file import bring_back
from penstock.lifecycle.bundle import find_record

_NAMED = 80
"Characters of a prompt that name an asset."
RESTORED = timedelta(days=30)
"So long a version that was brought back is not archived again."


def next_version(store: Store, job: Job) -> int:
    """The number that the next version of a job's asset gets, if no other job is quicker."""
    asset = store.lookup(Asset.at(project_id=job.project_id, asset_id=job.asset_id or ""))
    return _last_number(asset) + 1


def _last_number(asset: Asset | None) -> int:
    """The highest number that a version of it ever had."""
    return 0 if asset is None else max(asset.latest_version, asset.last_number or 0)


def index_version(
    change: Change,
    job: Job,
    number: int,
    checksums: Mapping[str, str],
    provenance: dict[str, Any],
    metrics: dict[str, Any],
    *,
    size: int,
) -> None:
    """Put a version into the library; Conflict if another has got its number meanwhile."""
    now, asset_id = change.store.clock.now(), job.asset_id or ""
    asset = change.store.lookup(Asset.at(project_id=job.project_id, asset_id=asset_id))
    if asset is not None and number <= _last_number(asset):
        raise Conflict(f"asset {asset_id} has got a version {number} meanwhile; this one gets the next number")
    if asset is None:
        asset = Asset(
            project_id=job.project_id,
            asset_id=asset_id,
            type=job.asset_type.kind,
            asset_type=job.asset_type,
            name=request_of(job).prompt.core_concept[:_NAMED],
            latest_version=number,
            last_number=number,
            created_at=now,
        )
        change.create(asset)
        change.create(AssetPlace(asset_id=asset_id, project_id=job.project_id))
    else:
        change.track(asset)
        asset.latest_version = asset.last_number = number
        change.save(asset)
    version = AssetVersion(
        project_id=job.project_id,
        asset_id=asset_id,
        version=number,
        type=job.asset_type.kind,
        files=list(checksums),
        metadata={"provenance": provenance, "metrics": metrics, "checksums": dict(checksums)},
        cdn_url=_shown_first(checksums),
        job_id=job.job_id,
        bytes=size,
        created_at=now,
    )
    change.create(version)
    keep_version(change, version)
    change.emit("AssetIndexed", version, files=version.files, metrics=metrics)


def find_asset(store: Store, asset_id: str) -> Asset:
    """An asset by its id alone; NoSuchPlace where there is none."""
    place = store.lookup(AssetPlace.at(asset_id=asset_id))
    asset = None if place is None else store.lookup(Asset.at(project_id=place.project_id, asset_id=asset_id))
    if asset is None:
        raise NoSuchPlace(f"there is no asset {asset_id}")
    return asset


def find_version(store: Store, asset_id: str, number: int) -> AssetVersion:
    """One version of an asset; NoSuchPlace where there is none."""
    asset = find_asset(store, asset_id)
    version = store.lookup(AssetVersion.at(project_id=asset.project_id, asset_id=asset_id, version=number))
    if version is None:
        gone = store.lookup(ArchivedVersion.at(project_id=asset.project_id, asset_id=asset_id, version=number))
        if gone is not None:
            raise NoSuchPlace(f"version {number} of asset {asset_id} is in the archive; have it restored first")
        raise NoSuchPlace(f"asset {asset_id} has no version {number}; its latest is {asset.latest_version}")
    return version


def restore_version(studio: AssetStudio, asset_id: str, number: int, *, by: str) -> AssetVersion:
    """Bring a version back from the archive with its files, each checked; it stays for a month at least.

    Its bytes count again, QuotaExceeded if there is no room. One that is in the library already is left as it is.
    """
    store, asset = studio.store, find_asset(studio.store, asset_id)
    whose, ref = asset.project_id, AssetVersion.at(project_id=asset.project_id, asset_id=asset_id, version=number)
    gone = store.lookup(ArchivedVersion.at(project_id=whose, asset_id=asset_id, version=number))
    if gone is None:
        return find_version(store, asset_id, number)
    if studio.archive is None:
        raise Misconfigured("there is no archive to bring it back from; set PENSTOCK_ARCHIVE")
    version, files = find_record(studio.archive, gone.bundle, ref, AssetVersion)
    project = store.get(Project.at(project_id=whose))
    for file in files:
        bring_back(studio.archive, studio.objects, file)
    version.kept_until = store.clock.now() + RESTORED
    try:
        with store.change(by=by, once=studio.once) as change:
            change.create(version)
            change.delete(gone.ref, when=unchanged(gone))
            keep_version(change, version, limit=limit_of(project, "storage_bytes"))
            asset = change.get(asset.ref)
            asset.latest_version = max(asset.latest_version, number)
            change.save(asset)
            change.emit("AssetVersionRestored", version)
            change.result = {"asset_id": asset_id, "version": number}
    except Conflict:
        if (there := store.lookup(ref)) is None:
            raise
        return there  # somebody else has just brought it back
    for file in files:
        bring_back(studio.archive, studio.objects, file)  # a sweep that saw no record may just have taken one away
    return version


_FIRST = ("asset.glb", "sprites.png", "background.png")


def _shown_first(keys: Mapping[str, str]) -> str | None:
    """The file that people mean when they speak of the asset."""
    by_name = {key.rpartition("/")[2]: key for key in keys}
    return next((by_name[name] for name in _FIRST if name in by_name), None)
