"""Previews: the files that a record points at, each with a URL that was signed just now for whoever looks at it.

What a browser can show without running anything is shown in place, as what its bytes were found to be; all else is
saved, pages and drawings that could hold a script among it. A file that is not there (yet, or any more) is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from penstock.declare.entity import Entity
from penstock.errors import NotFound
from penstock.media.content_type import SHOWN_INLINE
from penstock.ports.object_store import ObjectStore
from penstock.ports.stored_object import is_key
from penstock.schema.kinds import FieldShape
from penstock.schema.role import Role

MOST_FILES, MOST_IN_FOLDER = 50, 100
"So many files of one record are asked for, and so many of one folder are listed."
LASTING = timedelta(minutes=15)
"How long a URL of a preview leads to its file."
_BY_SUFFIX = {
    "mp4": "video/mp4",
    "webm": "video/webm",
    "mov": "video/quicktime",
    "m3u8": "application/vnd.apple.mpegurl",
    "ts": "video/mp2t",
    "vtt": "text/vtt",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "flac": "audio/flac",
    "ogg": "audio/ogg",
    "m4a": "audio/mp4",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "svg": "image/svg+xml",
    "glb": "model/gltf-binary",
    "gltf": "model/gltf+json",
    "obj": "model/obj",
    "fits": "application/fits",
    "csv": "text/csv",
    "ecsv": "text/csv",
    "json": "application/json",
    "yaml": "application/yaml",
    "txt": "text/plain",
    "zip": "application/zip",
    "pdf": "application/pdf",
}


@dataclass(frozen=True, slots=True)
class Preview:
    """A file of a record, and how to look at it."""

    field: str
    key: str
    size: int
    content_type: str | None
    "As the bytes were found to be; None where nobody looked, as in a folder."
    inline: bool
    "Does a browser show it in place?"
    url: str
    expires_at: datetime
    modified_at: datetime


@dataclass(frozen=True, slots=True)
class Previews:
    """The files of a record that somebody may open, and whether there are more than are told."""

    files: list[Preview]
    more: bool
    withheld: list[str]
    "The fields whose files this role may not open."


def likely_types(places: Iterable[str]) -> list[str]:
    """What files in some places usually are, by how the names there end; none where any name will do."""
    endings = [place.rpartition("/")[2].rpartition(".")[2].lower() for place in places]
    found = [_BY_SUFFIX.get(ending) for ending in endings]
    return [] if None in found else list(dict.fromkeys(t for t in found if t is not None))


def previews_of(record: Entity, objects: ObjectStore, *, role: Role | None) -> Previews:
    """The files of a record that a caller of this role may open, of those that are there."""
    shape = record.__shape__
    hidden = shape.hidden_from(role)
    shown: list[FieldShape] = []
    withheld: list[FieldShape] = []
    for field in (f for f in shape.fields.values() if f.name not in hidden):
        may = field.opened_by is None or (role is not None and role.includes(field.opened_by))
        (shown if may else withheld).append(field)
    files: list[Preview] = []
    more = False
    for name, key in _held(shown, record):
        if len(files) >= MOST_FILES:
            more = True
            break
        if (found := _preview(objects, name, key)) is not None:
            files.append(found)
    for field in shown:
        inside, others = _in_folders(objects, field, record)
        files, more = files + inside, more or others
    return Previews(files, more, [field.name for field in withheld])


def _held(fields: Iterable[FieldShape], record: Entity) -> Iterator[tuple[str, str]]:
    """Each key once, under the first field that has it."""
    seen: set[str] = set()
    for field, key in ((f.name, k) for f in fields if f.keys is not None for k in _within(f.keys, f, record)):
        if key not in seen and is_key(key):
            seen.add(key)
            yield field, key


def _within(read: Any, field: FieldShape, record: Entity) -> Iterable[str]:
    value = getattr(record, field.name)
    return () if value is None else read(value)


def _preview(objects: ObjectStore, field: str, key: str) -> Preview | None:
    try:
        stored = objects.head(key)
    except NotFound:
        return None
    inline = stored.content_type in SHOWN_INLINE
    signed = objects.download_url(
        key, expires=LASTING, filename=key.rpartition("/")[2], show_as=stored.content_type if inline else None
    )
    return Preview(
        field, key, stored.size, stored.content_type, inline, signed.url, signed.expires_at, stored.modified_at
    )


def _in_folders(objects: ObjectStore, field: FieldShape, record: Entity) -> tuple[list[Preview], bool]:
    """The first files of a field's folders. What each is would take a question for each, so it is saved, not shown."""
    if field.folders is None:
        return [], False
    found: list[Preview] = []
    more = False
    for folder in list(_within(field.folders, field, record))[:MOST_FILES]:
        page = objects.list(folder, limit=MOST_IN_FOLDER)
        more = more or page.cursor is not None
        for each in sorted((o for o in page.objects if is_key(o.key)), key=lambda o: o.key):
            signed = objects.download_url(each.key, expires=LASTING, filename=each.key.rpartition("/")[2])
            seen = (signed.url, signed.expires_at, each.modified_at)
            found.append(Preview(field.name, each.key, each.size, None, False, *seen))
    return found[:MOST_IN_FOLDER], more or len(found) > MOST_IN_FOLDER
