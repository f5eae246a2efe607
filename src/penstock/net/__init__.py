"""The one way out: every HTTP request to a webhook, a service or a file elsewhere is made by one client.

| what | how it is bounded |
|---|---|
| schemes | https; http only for an origin that the operator has configured |
| ports | 443 and 8443; any other only for such an origin |
| addresses | resolved once, all of them public, and the connection goes to one that was checked |
| redirects | followed only when asked for; each is checked like a first request, never from https to http |
| credentials | stay with the origin they are for |
| answers | so many bytes, as long as promised, not compressed, of a type that was asked for, by one moment |
| words of theirs | an excerpt, for the log |

No proxy is taken from the environment.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from penstock.errors import Misconfigured

if TYPE_CHECKING:
    import ssl

    from penstock.net.client import Client
    from penstock.net.policy import Resolver

MISSING = "httpcore2 is not installed; run: pip install 'penstock[http]'"


def open_client(
    *,
    trusted: Iterable[str],
    tls: ssl.SSLContext | None = None,
    connections: int = 16,
    resolve: Resolver | None = None,
) -> Client:
    """A client that may speak to everybody in public, and to the origins of these URLs wherever they are.

    ``trusted`` are URLs that the operator has configured; ``tls`` is used with them alone.
    """
    if find_spec("httpcore2") is None:
        raise Misconfigured(MISSING)
    from penstock.net.client import Client
    from penstock.net.policy import Policy, system_resolver

    return Client(Policy(trusted, resolve=resolve or system_resolver), tls=tls, connections=connections)
