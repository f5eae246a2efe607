"""Penstock, the state layer for asset pipelines: the public names, nothing else."""

from penstock.app import open_store
from penstock.clock import FrozenClock, SystemClock
from penstock.declare import *  # noqa: F403 - the language is the public face
from penstock.declare import __all__ as _language
from penstock.ops import Query, Ref
from penstock.store import Listing, Store

__all__ = ["FrozenClock", "Listing", "Query", "Ref", "Store", "SystemClock", "open_store", *_language]
