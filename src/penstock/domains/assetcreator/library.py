"""The library: assets and the versions of each, with the files that were delivered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.domains.assetcreator.errors import NoSuchPlace
from penstock.domains.assetcreator.model import Asset, AssetPlace, AssetVersion, Job
from penstock.domains.assetcreator.orders import request_of
from penstock.domains.assetcreator.project_quotas import keep_version
from penstock.kernel.change import Change
from penstock.kernel.store import Store

_NAMED = 80
"Characters of a prompt that name an asset."


def next_version(store: Store, job: Job) -> int:
    """The number that the next version of a job's asset gets, if no other job is quicker."""
    asset = store.lookup(Asset.at(project_id=job.project_id, asset_id=job.asset_id or ""))
    return 1 if asset is None else max(asset.latest_version, asset.last_number or 0) + 1


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
        raise NoSuchPlace(f"asset {asset_id} has no version {number}; its latest is {asset.latest_version}")
    return version


_FIRST = ("asset.glb", "sprites.png", "background.png")


def _shown_first(keys: Mapping[str, str]) -> str | None:
    """The file that people mean when they speak of the asset."""
    by_name = {key.rpartition("/")[2]: key for key in keys}
    return next((by_name[name] for name in _FIRST if name in by_name), None)
