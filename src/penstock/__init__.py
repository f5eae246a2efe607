"""Penstock, the state layer for asset pipelines: the public names, nothing else."""

from penstock.app import open_objects, open_store
from penstock.clock import FrozenClock, SystemClock
from penstock.declare import *  # noqa: F403 - the language is the public face
from penstock.declare import __all__ as _language
from penstock.objectkey import ObjectKey, validate_s3_key
from penstock.ops import Query, Ref
from penstock.presigned import generate_presigned_url
from penstock.store import Listing, Store

__all__ = [
    "FrozenClock",
    "Listing",
    "ObjectKey",
    "Query",
    "Ref",
    "Store",
    "SystemClock",
    "generate_presigned_url",
    "open_objects",
    "open_store",
    "validate_s3_key",
    *_language,
]
