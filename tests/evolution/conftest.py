"""Stores on one engine, each of which could be a process of its own."""

from __future__ import annotations

from tests.kernel.layouts.conftest import another, furniture, store

__all__ = ["another", "furniture", "store"]
