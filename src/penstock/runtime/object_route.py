"""The route of an object store that has no server of its own: what its signed URLs lead to."""

from __future__ import annotations

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from penstock.errors import PenstockError
from penstock.net.traffic import Traffic
from penstock.objects.local import LocalObjects
from penstock.objects.objects_route import objects_route
from penstock.ports.object_store import ObjectStore


def route_of(
    objects: ObjectStore, *, problem: Callable[[Request, PenstockError], Response], traffic: Traffic
) -> Starlette | None:
    """An application for a service to mount, or None where signed URLs lead elsewhere or there are none."""
    if not isinstance(objects, LocalObjects) or objects.signer is None:
        return None
    return objects_route(objects, problem=problem, traffic=traffic)
