"""Limits that all processes share, and where a client comes from."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import Headers

from penstock import FrozenClock, Store, open_store
from penstock.auth import rate_limit
from penstock.auth.caller import network_of
from penstock.auth.rate_limit import RateBucket, take_token
from penstock.errors import Misconfigured
from penstock.kernel.audit import EVERYWHERE, SystemAudit
from penstock.kernel.idempotency import once_key
from penstock.web.client import Clients
from tests.web.service import STRANGER, Service


def test_a_bucket_holds_a_minute_and_fills_as_time_passes(anywhere: Store, clock: FrozenClock) -> None:
    store = anywhere
    store.ensure()
    assert [take_token(store, "a", per_minute=3) for _ in range(3)] == [None] * 3
    assert take_token(store, "a", per_minute=3) == timedelta(seconds=20)
    assert take_token(store, "b", per_minute=3) is None, "another bucket"
    clock.advance(timedelta(seconds=20))
    assert take_token(store, "a", per_minute=3) is None
    assert take_token(store, "a", per_minute=3) == timedelta(seconds=20)
    clock.advance(timedelta(seconds=110))
    assert store.lookup(RateBucket.at(name="a")) is not None
    assert [take_token(store, "a", per_minute=3) for _ in range(4)] == [None, None, None, timedelta(seconds=20)]
    clock.advance(timedelta(minutes=5))
    assert store.lookup(RateBucket.at(name="a")) is None, "one that is not used is forgotten"
    assert [take_token(store, "a", per_minute=3) for _ in range(4)] == [None, None, None, timedelta(seconds=20)]
    ahead = int((clock.now() + timedelta(hours=1)).timestamp())
    store.put(RateBucket(name="a", used_until=ahead * 1_000_000, ttl=ahead))
    assert take_token(store, "a", per_minute=3) is None, "a clock that was wrong locks nobody out"


def test_whoever_comes_second_to_a_new_bucket_takes_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(f"sqlite:///{tmp_path}/rate.db", clock=FrozenClock())
    store.ensure()
    use = rate_limit._use

    def meanwhile(*given: Any) -> None:
        monkeypatch.setattr(rate_limit, "_use", use)
        try:
            use(*given)
        finally:
            assert take_token(store, "a", per_minute=3) is None, "another fills it"

    monkeypatch.setattr(rate_limit, "_use", meanwhile)
    assert take_token(store, "a", per_minute=3) is None
    assert take_token(store, "a", per_minute=3) is None
    assert take_token(store, "a", per_minute=3) == timedelta(seconds=20), "three are gone"


def test_whoever_comes_second_to_a_bucket_that_is_full_again_takes_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FrozenClock()
    store = open_store(f"sqlite:///{tmp_path}/rate.db", clock=clock)
    store.ensure()
    assert take_token(store, "a", per_minute=3) is None
    clock.advance(timedelta(seconds=90))
    put = store.put

    def meanwhile(*given: Any, **named: Any) -> Any:
        monkeypatch.setattr(store, "put", put)
        assert take_token(store, "a", per_minute=3) is None, "another fills it"
        return put(*given, **named)

    monkeypatch.setattr(store, "put", meanwhile)
    assert [take_token(store, "a", per_minute=3) for _ in range(3)] == [None, None, timedelta(seconds=20)]


def test_many_at_once_get_no_more_than_there_are(tmp_path: Path) -> None:
    clock = FrozenClock()
    stores = [open_store(f"sqlite:///{tmp_path}/rate.db", clock=clock) for _ in range(4)]
    stores[0].ensure()

    def take(number: int) -> bool:
        return take_token(stores[number % 4], "a", per_minute=30) is None

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(take, range(100))) == 30


def test_two_processes_share_a_limit(tmp_path: Path) -> None:
    clock = FrozenClock()
    one = Service(tmp_path, clock=clock)
    other = Service(tmp_path, clock=clock, store=open_store(f"sqlite:///{tmp_path}/web.db", clock=clock, settings=None))
    answers = [s.client().get("/cinema/guests") for s in (one, other, one, other)]
    assert [a.status_code for a in answers] == [200, 200, 200, 429]
    assert answers[3].headers["retry-after"] == "20"
    assert answers[3].json()["type"] == "rate-limited"
    assert other.client(address=("198.51.100.7", 1)).get("/cinema/guests").status_code == 200
    clock.advance(timedelta(seconds=20))
    assert one.client().get("/cinema/guests").status_code == 200


def test_the_limit_is_of_the_client_not_of_the_proxy(tmp_path: Path) -> None:
    service = Service(tmp_path, trusted_proxies=("10.0.0.0/8",))
    through = service.client(address=("10.0.0.1", 1))

    def ask(forwarded: str) -> int:
        return through.get("/cinema/guests", headers={"X-Forwarded-For": forwarded}).status_code

    assert [ask("203.0.113.1") for _ in range(4)] == [200, 200, 200, 429]
    assert ask("203.0.113.2") == 200
    assert ask("203.0.113.77, 203.0.113.1") == 429, "what the client itself wrote is not believed"
    outside = service.client(address=("203.0.113.1", 1))
    refused = outside.get("/cinema/guests", headers={"X-Forwarded-For": "192.0.2.1"})
    assert refused.status_code == 429, "nor is somebody who is no proxy"


def test_a_header_line_of_the_clients_own_chooses_no_address(tmp_path: Path) -> None:
    """A proxy may add a line of its own below what the client sent, instead of an address at its end."""
    service = Service(tmp_path, trusted_proxies=("10.0.0.0/8",))
    through = service.client(address=("10.0.0.1", 1))

    def ask(pretended: str) -> int:
        told = [("X-Forwarded-For", pretended), ("X-Forwarded-For", "203.0.113.1")]
        return through.get("/cinema/guests", headers=told).status_code

    assert [ask(f"192.0.2.{number}") for number in range(4)] == [200, 200, 200, 429]


def test_what_is_kept_of_an_address_cannot_be_found_by_trying_all(tmp_path: Path) -> None:
    """There are few enough addresses to hash each of them, so that takes the secret as well."""
    service = Service(tmp_path)
    for _ in range(4):
        service.client().get("/cinema/guests")
    guessed = once_key("rate", "/cinema/guests", STRANGER[0])
    assert service.store.lookup(RateBucket.at(name=guessed)) is None
    (refused,) = service.store.find(SystemAudit.of_project(project_id=EVERYWHERE))
    assert refused.actor != f"stranger:{once_key('stranger', STRANGER[0])[:12]}"


@pytest.mark.parametrize(
    ("peer", "forwarded", "found"),
    [
        ("203.0.113.1", "", "203.0.113.1"),
        ("203.0.113.1", "192.0.2.1", "203.0.113.1"),
        ("10.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("10.0.0.1", "192.0.2.9, 192.0.2.1, 10.0.0.2", "192.0.2.1"),
        ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("10.0.0.1", "192.0.2.9, nonsense", "10.0.0.1"),
        ("10.0.0.1", "10.0.0.5", "10.0.0.5"),
        ("::ffff:10.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("testclient", "192.0.2.1", "None"),
    ],
)
def test_the_clients_address_is_what_the_last_trusted_proxy_saw(peer: str, forwarded: str, found: str) -> None:
    clients = Clients(("10.0.0.0/8",))
    assert str(clients.address({"client": (peer, 1)}, Headers({"x-forwarded-for": forwarded}))) == found


def test_an_ipv6_client_is_its_network() -> None:
    address = Clients().address({"client": ("2001:db8::1:2", 1)}, Headers())
    assert network_of(address) == "2001:db8::/64"
    assert network_of(None) == "unknown"


def test_a_proxy_that_is_no_address_is_refused() -> None:
    with pytest.raises(Misconfigured, match="address or a network"):
        Clients(("proxy.example",))
