"""Penstock, the state layer for asset pipelines: the public names, nothing else."""

from penstock.declare import *  # noqa: F403 - the language is the public face
from penstock.declare import __all__ as _language
from penstock.kernel.store import Counted, Listing, Store
from penstock.operations.reads import Query, Ref, Unreadable
from penstock.ports.clock import FrozenClock, SystemClock
from penstock.runtime.composition import open_objects, open_store
from penstock.runtime.presigned import generate_presigned_url
from penstock.schema.object_key import ObjectFolder, ObjectKey, validate_s3_key

__all__ = [
    "Counted",
    "FrozenClock",
    "Listing",
    "ObjectFolder",
    "ObjectKey",
    "Query",
    "Ref",
    "Store",
    "SystemClock",
    "Unreadable",
    "generate_presigned_url",
    "open_objects",
    "open_store",
    "validate_s3_key",
    *_language,
]
