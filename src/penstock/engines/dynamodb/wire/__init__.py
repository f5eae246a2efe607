"""The fast way to DynamoDB: signed HTTP requests over kept-alive connections, repeated where sensible.

Importing this package imports neither pycurl nor botocore; both wait for the first call.
"""

from penstock.engines.dynamodb.wire.client import Reply, Wire
from penstock.engines.dynamodb.wire.errors import Throttled, Unconfigured, Unreachable, WireError, WireFault
from penstock.engines.dynamodb.wire.failure import transient_cancellation

__all__ = [
    "Reply",
    "Throttled",
    "Unconfigured",
    "Unreachable",
    "Wire",
    "WireError",
    "WireFault",
    "transient_cancellation",
]
