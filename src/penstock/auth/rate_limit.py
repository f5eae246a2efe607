"""Rate limits that many processes share: a token bucket in the store.

A bucket is one number: the moment up to which its tokens are used. Taking a token moves it on by the time one token
takes to come back; it may lie at most a minute ahead. So a full bucket holds a minute's tokens, and the usual take is a
single addition on a condition, which any number of processes can make at once without getting in each other's way.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from penstock.declare.entity import Entity
from penstock.declare.key import key
from penstock.declare.lifetime import Expires
from penstock.declare.units import Count, EpochSeconds
from penstock.errors import Conflict
from penstock.kernel.store import Store
from penstock.kernel.system import SYSTEM
from penstock.operations.conditions import Compare
from penstock.operations.reads import Ref
from penstock.operations.updates import Add, Set

_MINUTE = 60_000_000
_TRIES = 10
_FORGOTTEN = 120
"Seconds after which an unused bucket is full again in any case."


class RateBucket(Entity, table=SYSTEM, relation="rate_buckets", lifetimes=(Expires("ttl"),)):
    """How much of a rate somebody has used."""

    __moved_by_work__ = True

    name: str
    used_until: Count
    "In microseconds since 1970."
    ttl: EpochSeconds

    @key("RATE#{name}", "RATE")
    def at(self, *, name: str) -> None: ...


def take_token(store: Store, name: str, *, per_minute: int) -> timedelta | None:
    """Take one of so many tokens a minute; None when there was one, else how long until the next."""
    step = _MINUTE // per_minute
    ref = RateBucket.at(name=name)
    for _ in range(_TRIES):
        now = store.clock.now()
        moment = int(now.timestamp() * 1_000_000)
        latest = moment + _MINUTE - step
        ttl = int(now.timestamp()) + _FORGOTTEN
        try:
            _use(store, ref, step, moment, latest, ttl)
            return None
        except Conflict as refused:
            used = (refused.found or {}).get("used_until")
        if used is not None and latest < used <= moment + 2 * _MINUTE:
            return timedelta(microseconds=used - latest)
        # Absent, or full again; or so far ahead that a clock must have been wrong.
        bucket = RateBucket(name=name, used_until=moment + step, ttl=ttl)
        try:
            if used is None:
                store.create(bucket)
            else:
                store.put(bucket, when=Compare("used_until", "=", used))
            return None
        except Conflict:
            continue  # somebody else has just filled it
    return timedelta(microseconds=step)  # so many are at it that it cannot be long before it is empty


def _use(store: Store, ref: Ref[Any], step: int, moment: int, latest: int, ttl: int) -> None:
    in_use = Compare("used_until", ">=", moment) & Compare("used_until", "<=", latest)
    # An answer that is lost may count twice, which a limit can bear.
    store.patch(ref, Add("used_until", step), Set("ttl", ttl), when=in_use, exact=False)
