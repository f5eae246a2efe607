"""The wire's one door: `Wire.call`."""

import random as chance
import time
from collections.abc import Callable
from threading import Lock

import msgspec

from penstock.engines.dynamodb.wire import credentials, endpoints
from penstock.engines.dynamodb.wire.channel import Channel
from penstock.engines.dynamodb.wire.checksum import is_good
from penstock.engines.dynamodb.wire.credentials import Credentials
from penstock.engines.dynamodb.wire.endpoints import Endpoint
from penstock.engines.dynamodb.wire.retry import RetryPolicy
from penstock.engines.dynamodb.wire.retry_loop import RetryLoop
from penstock.engines.dynamodb.wire.signing import RequestSigner
from penstock.net.answer import Lost, PostAnswer
from penstock.net.per_process import watch

_STREAMS_OPERATIONS = frozenset({"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"})
_TARGETS = {endpoints.MAIN: "DynamoDB_20120810.", endpoints.STREAMS: "DynamoDBStreams_20120810."}


class Reply(msgspec.Struct, frozen=True, gc=False):
    """A successful answer's body.

    `ambiguous`: an earlier attempt of the same call may have been executed too. Whoever wrote something then
    has to reckon with having written it twice.
    """

    body: bytes
    ambiguous: bool


class Wire:
    """Calls DynamoDB operations by name with ready-made JSON bodies. Threads may share it; forks are safe.

    Whatever is not passed is found where AWS's tools find it, at the first call. `timeout` is per attempt.
    """

    def __init__(
        self,
        *,
        endpoint: str | None = None,
        region: str | None = None,
        access_key: str | None = None,
        secret_key: str | None = None,
        session_token: str | None = None,
        ca_bundle: str | None = None,
        timeout: float = 10.0,
        connect_timeout: float = 3.0,
        attempts: int = 5,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = chance.random,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._endpoint = endpoints.parse(endpoint) if endpoint else None
        self._region = region
        self._given_keys = (access_key, secret_key, session_token)
        self._ca_bundle = ca_bundle
        self._timeout = timeout
        self._connect_timeout = connect_timeout
        self._policy = RetryPolicy(attempts, sleep, random)
        self._now = now
        self._credentials: Credentials | None = None
        self._channels: dict[str, Channel] = {}
        self._routes: dict[str, tuple[Channel, str]] = {}
        self._opening = Lock()
        self._closed = False
        watch(self)

    def __repr__(self) -> str:
        where = self._endpoint.url if self._endpoint else "as AWS is configured"
        return f"<Wire {where}>"

    def call(self, operation: str, body: bytes) -> Reply:
        """Send one request, e.g. `call("GetItem", b'{"TableName": ...}')`, and repeat it where sensible.

        Raises WireError for a definite refusal, Throttled or Unreachable when repeating did not help, and
        Unconfigured when there are no credentials, no region or no such endpoint.
        """
        try:
            channel, target = self._routes[operation]
        except KeyError:
            channel, target = self._route(operation)
        outcome: PostAnswer | Lost
        self._policy.pace.wait()
        try:
            outcome = channel.send(target, body)
        except Lost as lost:
            outcome = lost
        else:
            if is_good(outcome):
                self._policy.reward()
                return Reply(outcome.body, outcome.resent)
        retry_loop = RetryLoop(channel, target, body, self._policy)
        good = retry_loop.follow(outcome)
        return Reply(good, retry_loop.ambiguous)

    def close(self) -> None:
        """Close all connections for good; calls under way still get their answers."""
        with self._opening:
            self._closed = True
            self._routes = {}
            for channel in self._channels.values():
                channel.close()

    def forked(self) -> None:
        # A thread of the parent may have held the lock.
        self._opening = Lock()

    def _route(self, operation: str) -> tuple[Channel, str]:
        """Where an operation goes and what it is called there; remembered from then on."""
        service = endpoints.STREAMS if operation in _STREAMS_OPERATIONS else endpoints.MAIN
        # Locked, so that a hundred threads at their first call do not all go looking for credentials.
        with self._opening:
            if self._closed:
                raise RuntimeError("This Wire is closed.")
            channel = self._channels.get(service)
            if channel is None:
                channel = self._channels[service] = self._open(service)
            route = self._routes[operation] = (channel, _TARGETS[service] + operation)
            return route

    def _open(self, service: str) -> Channel:
        from penstock.net.transport import CurlTransport

        if self._credentials is None:
            self._credentials = credentials.choose(*self._given_keys)
        region = self._region = self._region or endpoints.find_region()
        endpoint = self._endpoint or endpoints.find_endpoint(service, region)
        signer = RequestSigner(
            host=endpoint.host,
            path=endpoint.path,
            region=region,
            keys=self._credentials.current,
            now=self._now,
        )
        transport = CurlTransport(
            endpoint.url,
            timeout=self._timeout,
            connect_timeout=self._connect_timeout,
            ca_bundle=self._certificates(endpoint),
        )
        return Channel(signer, transport, self._credentials)

    def _certificates(self, endpoint: Endpoint) -> str | None:
        if endpoint.scheme == "http":
            return None
        return self._ca_bundle or endpoints.find_ca_bundle()
