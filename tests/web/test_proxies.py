"""Behind a proxy nobody is taken for somebody they are not, whatever headers it sends or leaves out."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from penstock.domains import INSTALLED
from penstock.schema.role import Role
from penstock.web.refusals import WINDOW
from tests.web.films import INSTALLED as FILMS
from tests.web.routes import doors
from tests.web.service import HERE, Service
from tests.web.serving import serving
from tests.web.test_access import PROJECT

PUBLIC = "penstock.example.com"
VISITOR = "203.0.113.7"

BARE = {"Host": "127.0.0.1:8000", "Connection": "close"}
"nginx, with nothing but proxy_pass: as if the request had been made here."
PROXIES: dict[str, dict[str, str]] = {
    "nginx, bare proxy_pass": BARE,
    "nginx, as its documentation advises": {
        "Host": PUBLIC,
        "X-Real-IP": VISITOR,
        "Connection": "close",
        "X-Forwarded-For": VISITOR,
        "X-Forwarded-Proto": "https",
    },
    "nginx, with the Host kept": {"Host": PUBLIC, "Connection": "close"},
    "Traefik": {
        "Host": PUBLIC,
        "X-Forwarded-For": VISITOR,
        "X-Forwarded-Host": PUBLIC,
        "X-Forwarded-Port": "443",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Server": "traefik-7d9",
        "X-Real-Ip": VISITOR,
    },
    "Caddy": {
        "Host": PUBLIC,
        "X-Forwarded-For": VISITOR,
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": PUBLIC,
        "Via": "1.1 Caddy",
    },
    "Envoy": {
        "Host": PUBLIC,
        "X-Forwarded-Proto": "https",
        "X-Request-Id": "5f2b",
        "X-Forwarded-For": VISITOR,
        "X-Envoy-External-Address": VISITOR,
        "X-Envoy-Expected-Rq-Timeout-Ms": "15000",
    },
    "CloudFront": {
        "Host": "origin.example.com",
        "X-Forwarded-For": VISITOR,
        "User-Agent": "Amazon CloudFront",
        "X-Amz-Cf-Id": "4Yx=",
        "Via": "2.0 0123.cloudfront.net (CloudFront)",
    },
    "Apache": {
        "Host": "127.0.0.1:8000",
        "X-Forwarded-For": VISITOR,
        "X-Forwarded-Host": PUBLIC,
        "X-Forwarded-Server": PUBLIC,
    },
    "HAProxy, bare": {"Host": PUBLIC},
    "a visitor who says to be here": {**BARE, "X-Forwarded-For": "127.0.0.1", "Forwarded": "for=127.0.0.1"},
}
OPEN = {"/", "/docs", "/openapi.json", "/healthz", "/readyz"}


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return Service(tmp_path_factory.mktemp("proxies"), installed=(*INSTALLED, FILMS), streams=0)


@pytest.fixture(scope="module")
def visitor(everything: Service) -> Iterator[Any]:
    """Somebody without a key, whose requests a proxy on this machine hands on."""
    with ExitStack() as stack:
        yield stack.enter_context(everything.client(address=HERE))


@pytest.mark.parametrize("proxy", PROXIES)
def test_no_proxy_opens_a_door(everything: Service, visitor: Any, proxy: str) -> None:
    for door in doors(everything.app):
        everything.clock.advance(WINDOW)  # public routes have their limits
        answer = visitor.request(**door.request(PROJECT), headers=PROXIES[proxy])
        if door.access.role is None:
            assert answer.status_code not in (401, 403), f"{proxy} at {door}: {answer.text}"
        else:
            assert answer.json()["type"] == "unauthenticated", f"{proxy} at {door}: {answer.text}"


@pytest.mark.parametrize("proxy", PROXIES)
def test_whoever_has_a_key_comes_in_through_any_proxy(everything: Service, proxy: str) -> None:
    admin = everything.client(Role.ADMIN, address=HERE)
    assert admin.get("/api/ops/keys", headers=PROXIES[proxy]).status_code == 200
    for path in sorted(OPEN):
        assert admin.get(path, headers=PROXIES[proxy]).status_code == 200, path


# With keys turned off, for development


@pytest.fixture
def keyless(tmp_path: Path) -> Service:
    return Service(tmp_path, authentication=False)


@pytest.mark.parametrize("proxy", [name for name in PROXIES if PROXIES[name] is not BARE])
def test_a_service_without_keys_serves_no_proxy_that_can_be_told(keyless: Service, proxy: str) -> None:
    here = keyless.client(address=HERE)
    assert here.get("/api/ops/keys").status_code == 200, "as a program on this machine asks"
    for path in ("/api/ops/keys", "/metrics", "/api/session"):
        assert here.get(path, headers=PROXIES[proxy]).json()["type"] == "foreign-page", path
    assert here.get("/healthz", headers=PROXIES[proxy]).status_code == 200, "anybody may probe"


def test_a_bare_proxy_of_the_old_kind_is_told_by_its_http(keyless: Service) -> None:
    """nginx speaks HTTP/1.0 to whom it hands requests on, unless it is told otherwise; browsers and curl never do."""
    with serving(keyless.app) as port:
        answers = {}
        for version in ("1.0", "1.1"):
            with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                asked = f"GET /api/ops/keys HTTP/{version}\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
                connection.sendall(asked.encode())
                answers[version] = connection.makefile("rb").readline().split()[1]
    assert answers == {"1.0": b"403", "1.1": b"200"}


def test_a_service_without_keys_serves_no_other_machine(keyless: Service) -> None:
    assert keyless.client().get("/api/ops/keys").json()["type"] == "foreign-page"
    assert keyless.client(Role.ADMIN).get("/api/ops/keys").status_code == 200, "a key is a key"
    wrong = keyless.client(key="pk_000000000000_wrong", address=HERE)
    assert wrong.get("/api/ops/keys").json()["type"] == "unauthenticated", "and a wrong one is a wrong one"
