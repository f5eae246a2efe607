"""The one way out: every HTTP request leaves by libcurl, over connections that are this process's own.

To a webhook, a service or a file elsewhere it is made by one client, which takes answers piece by piece:

| what | how it is bounded |
|---|---|
| schemes | https; http only for an origin that the operator has configured |
| ports | 443 and 8443; any other only for such an origin |
| addresses | resolved once, all of them public, and the connection goes to one that was checked |
| redirects | followed only when asked for; each is checked like a first request, never from https to http |
| credentials | stay with the origin they are for |
| answers | so many bytes, as long as promised, not compressed, of a type that was asked for, by one moment |
| words of theirs | an excerpt, for the log |

No proxy is taken from the environment. DynamoDB, whose URL is the operator's and whose answers are short, is spoken to
by `CurlTransport`, on the same handles without the table above: it is called thousands of times a second. S3 and
EventBridge are AWS's own library's.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from penstock.errors import Misconfigured
from penstock.net.exchange import HttpClient
from penstock.net.policy import Policy, Resolver, system_resolver

MISSING = "pycurl is not installed; run: pip install 'penstock[http]'"


def open_client(
    *,
    trusted: Iterable[str],
    ca_bundle: str | None = None,
    connections: int = 16,
    resolve: Resolver | None = None,
) -> HttpClient:
    """A client that may speak to everybody in public, and to the origins of these URLs wherever they are.

    ``trusted`` are URLs that the operator has configured; ``ca_bundle`` is a file of
    certificate authorities that are believed of them, and of nobody else.
    """
    if find_spec("pycurl") is None:
        raise Misconfigured(MISSING)
    from penstock.net.http_client import Client

    return Client(Policy(trusted, resolve=resolve or system_resolver), ca_bundle=ca_bundle, connections=connections)
