"""URLs as they may be shown, on a terminal and in a log: nothing in them opens anything."""

from __future__ import annotations

_DATABASES = ("sqlite", "postgres", "postgresql", "dynamodb", "files", "s3")
_BROKERS = ("redis", "rediss", "amqp", "amqps", "kafka", "eventbridge")
_NAMED = frozenset((*_DATABASES, *_BROKERS))
"Whose path names a file, a database, a bucket or a topic; of any other it may be a token."


def without_secrets(url: str) -> str:
    """A URL without password, parameters, and a path that may be a token; only the scheme where a sign leaves doubt.

    A webhook's path is often what proves that one may post to it.
    """
    scheme, separator, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    path = path.partition("?")[0].partition("#")[0]
    head, at, host = authority.rpartition("@")
    if "?" in head or (authority and "@" in path):
        return f"{scheme}{separator}…"
    host = host.partition("?")[0].partition("#")[0]
    if scheme.lower().partition("+")[0] not in _NAMED:
        # Nor who: services have tokens in the place of a name.
        return f"{scheme}{separator}{host}{slash}{'…' if path else ''}"
    return f"{scheme}{separator}{head.partition(':')[0]}{at}{host}{slash}{path}"
