"""What a deployment may choose about its service."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from penstock.net.pace import SILENCE
from penstock.web.shared_numbers import SharedNumbers


@dataclass(frozen=True, slots=True)
class WebOptions:
    """Given by whoever starts the service; `penstock up` takes them from the settings."""

    authentication: bool = True
    "False only for development: every caller without a key is an administrator then, unless it comes through a proxy."
    secret: bytes = field(default_factory=lambda: os.urandom(32), repr=False)
    """Signs the positions of event streams, and hides where guests come from; processes that share a store should share
    it, or each has limits and Idempotency-Keys of guests of its own."""
    public_url: str | None = None
    "Where people reach the service, if a proxy stands before it; its pages are known by it."
    trusted_proxies: tuple[str, ...] = ()
    "Addresses or networks whose X-Forwarded-For is believed."
    cors_origins: tuple[str, ...] = ()
    "Origins whose pages may use the API."
    hosts: tuple[str, ...] = ()
    "Names, besides those of this machine, under which a service without authentication may be reached."
    body_limit: int = 10_000_000
    "The most bytes a request may have; files go to their signed URLs and are not counted."
    guest_body_limit: int = 64_000
    "The most bytes a guest's request may have, but for routes that say more."
    body_memory: int = 128_000_000
    "The most bytes of requests that a process holds at once; one client may fill half of it."
    shared_numbers: SharedNumbers | None = None
    "Where processes of one service count requests together; None: each for itself."
    heavy_requests: int = 4
    "How many requests of each heavy kind, such as speaking, a process carries out at once."
    connections: int = 0
    "How many connections a process holds at once; 0 for as many as its limit of open files allows, up to 1000."
    silence: timedelta = SILENCE
    "How long a client may send nothing in the middle of a request; it may take nothing of its answer thrice as long."
    remember_answers: timedelta = timedelta(days=1)
    "How long the answer to an Idempotency-Key is kept."
    poll: timedelta = timedelta(milliseconds=250)
    "How often an event stream looks for changes,"
    costly_poll: timedelta = timedelta(seconds=1)
    "how often where looking takes calls that a store counts,"
    heartbeat: timedelta = timedelta(seconds=15)
    "and how often it says that it is alive, and asks whether its caller still may listen."
    streams: int = 100
    "How many event streams a process serves at once,"
    streams_each: int | None = None
    "and how many of them one key or one address may have; a tenth, but 10 if there are as many, if it is not said."
    strict_claims: bool = False
    """For tests: every POST is claimed, and one that succeeds without ending its claim with what it wrote is an error,
    so that no route is forgotten whose effect would happen twice if its process died."""
    told_parts: Mapping[str, Callable[[], object]] = field(default_factory=dict)
    "What else /readyz asks and tells of, though the service does its work without it: each raises if it is away."
    tracing: bool = False
    "Tell OpenTelemetry of every request; needs penstock[otel]."
