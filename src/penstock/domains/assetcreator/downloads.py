"""Downloads of a version: each leaves a line in the audit trail, and tells others."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.library import find_version
from penstock.domains.assetcreator.model import AssetVersion
from penstock.files.object_reads import fetch
from penstock.files.scratch import scratch_folder

_PIECE = 256 * 1024
_FIXED = (1980, 1, 1, 0, 0, 0)
"The time of every file in a zip: the same version gives the same bytes."


def export_version(studio: AssetStudio, asset_id: str, number: int, *, how: str, by: str) -> AssetVersion:
    """A version for somebody who takes it away."""
    version = find_version(studio.store, asset_id, number)
    with studio.store.change(by=by, why=f"export as {how}") as change:
        change.emit("AssetExported", version, how=how)
    return version


def zipped(studio: AssetStudio, version: AssetVersion) -> Iterator[bytes]:
    """All files of a version as one zip, piece by piece; on this machine for as long as that takes."""
    with scratch_folder("zip") as folder:
        path = Path(folder, "asset.zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as packed:
            for key in version.files:
                _add(studio, packed, key, Path(folder))
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece


def _add(studio: AssetStudio, packed: zipfile.ZipFile, key: str, folder: Path) -> None:
    file = fetch(studio.objects, key, folder)
    entry = zipfile.ZipInfo(key.rpartition("/")[2], _FIXED)
    entry.external_attr = 0o644 << 16
    with packed.open(entry, "w", force_zip64=True) as into, file.open("rb") as source:
        while piece := source.read(_PIECE):
            into.write(piece)
    file.unlink()
