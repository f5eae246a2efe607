"""The deployment of a process that nobody has opened: a function which a cloud calls has nothing but its environment.

What puts systems together says here how one is opened, so that rooms below it can ask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.errors import Misconfigured

Opener = Callable[[Any], Any]
"Of the plugin of a domain, what the domain is given by a running system."
_openers: list[Opener] = []


def opens_deployments(opener: Opener) -> Opener:
    """Say how a deployment is opened."""
    _openers[:] = [opener]
    return opener


def open_deployment(plugin: Any) -> Any:
    """What the deployment of this process gives to a domain, by what the environment says."""
    if not _openers:
        raise Misconfigured("nothing here opens a deployment; import penstock first")
    return _openers[0](plugin)
