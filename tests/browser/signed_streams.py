"""A stream in an object store, and playlists of it that name every file by a signed URL."""

from __future__ import annotations

import re
from pathlib import Path

from penstock.ports.object_store import ObjectStore, Presigner

_MAP = re.compile(r'(?<=URI=")[^"]+')


def keep(objects: ObjectStore, folder: Path, under: str = "") -> None:
    """Put every file of a folder into a store, under its path within the folder."""
    for path in sorted(found for found in folder.rglob("*") if found.is_file()):
        objects.put(under + path.relative_to(folder).as_posix(), path.read_bytes())


def signed_playlists(signer: Presigner, folder: Path, target: Path, under: str = "") -> Path:
    """Copies of the folder's playlists; segments are named by signed URLs, playlists as before. The master is told."""
    for path in folder.rglob("*.m3u8"):
        place = path.relative_to(folder)
        copy = target / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        lines = [_signed(signer, under, place.parent, line) for line in path.read_text().splitlines()]
        copy.write_text("\n".join(lines) + "\n")
    return target / "master.m3u8"


def _signed(signer: Presigner, under: str, place: Path, line: str) -> str:
    def url(name: str) -> str:
        return signer.download_url(under + (place / name).as_posix()).url

    if line.startswith("#"):
        return _MAP.sub(lambda found: url(found[0]), line)
    return url(line) if line and not line.endswith(".m3u8") else line
