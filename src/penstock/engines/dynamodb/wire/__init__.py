"""The fast way to DynamoDB: signed HTTP requests over kept-alive connections, repeated where sensible.

Importing this package imports neither pycurl nor botocore; both wait for the first call.
"""

from penstock.engines.dynamodb.wire.errors import Unconfigured, Unreachable, WireError, WireFault, WireThrottled
from penstock.engines.dynamodb.wire.failure import transient_cancellation
from penstock.engines.dynamodb.wire.wire import Reply, Wire

__all__ = [
    "Reply",
    "Unconfigured",
    "Unreachable",
    "Wire",
    "WireError",
    "WireFault",
    "WireThrottled",
    "transient_cancellation",
]
