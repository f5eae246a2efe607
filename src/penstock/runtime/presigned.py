"""Signed URLs by the documents' own name, on the object store that the environment chooses."""

from __future__ import annotations

from datetime import timedelta
from functools import cache

from penstock.ports.object_store import ObjectStore, Presigner
from penstock.runtime.composition import open_objects
from penstock.runtime.settings import read_settings


def generate_presigned_url(key: str, expiry: int = 3600, *, objects: Presigner | None = None) -> str:
    """A URL that downloads an object for ``expiry`` seconds, seven days at most. It is never stored.

    It asks no database whether the key may be seen: sign what a record holds, not what a request says.
    """
    return (objects or _configured()).download_url(key, expires=timedelta(seconds=expiry)).url


@cache
def _configured() -> ObjectStore:
    settings = read_settings(())
    return open_objects(settings.objects, settings=settings)
