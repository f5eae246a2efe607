"""Signing in with a browser: a cookie stands for a key, and for nothing that the key does not stand for."""

from __future__ import annotations

import re
from datetime import timedelta
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from penstock import Store
from penstock.auth.api_keys import list_keys, revoke_key
from penstock.auth.browser_session import LONGEST, UNUSED, BrowserSession, find_session
from penstock.kernel.audit import EVERYWHERE, SystemAudit
from penstock.schema.role import Role
from tests.web.service import HERE, STRANGER, Service, film
from tests.web.serving import Listener, serving

LIST = "/api/films/films?pattern=by_status&status=draft"


class Browser:
    """Keeps cookies as a browser does, and sends what a page of ours would."""

    def __init__(self, service: Service, *, url: str = "http://127.0.0.1:8000", **headers: str) -> None:
        self.http: TestClient = service.client(address=HERE)
        self.http.base_url = url
        self.http.headers.update(headers)
        self.csrf = ""

    def sign_in(self, key: str, **headers: str) -> Any:
        answer = self.http.post("/api/session", json={"key": key}, headers=headers)
        if answer.status_code == 200:
            self.csrf = answer.json()["csrf"]
        return answer

    def post(self, path: str, *, csrf: str | None = None, **more: Any) -> Any:
        headers = {"X-CSRF-Token": self.csrf if csrf is None else csrf, **more.pop("headers", {})}
        return self.http.post(path, headers={n: v for n, v in headers.items() if v}, **more)

    @property
    def secret(self) -> str:
        (cookie,) = self.http.cookies.jar
        return cookie.value or ""


@pytest.fixture
def browser(service: Service) -> Browser:
    found = Browser(service)
    assert found.sign_in(service.key(Role.EDITOR)).status_code == 200
    return found


def kind(answer: Any) -> Any:
    return answer.json().get("type")


def trail(store: Store, project: str = EVERYWHERE) -> list[tuple[str, str]]:
    return [(line.actor, line.action) for line in store.find(SystemAudit.of_project(project_id=project))]


def test_whoever_signs_in_is_known_by_the_cookie_on_every_engine(anywhere: Store, tmp_path: Path) -> None:
    service = Service(tmp_path, store=anywhere)
    browser = Browser(service)
    told = browser.sign_in(service.key(Role.EDITOR, "p1")).json()
    assert told["name"].startswith("a editor#")
    assert (told["role"], told["project"]) == ("editor", "p1")
    assert told["expires_at"] == (service.clock.now() + UNUSED).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert browser.http.get("/api/session").json() == told
    assert browser.post("/api/films/films", json=film()).status_code == 201
    assert browser.http.get("/api/films/films/p1/Robot").status_code == 200
    assert browser.http.get("/api/films/films/p2/Robot").json()["type"] in ("not-found", "out-of-scope")
    assert browser.http.delete("/api/session", headers={"X-CSRF-Token": browser.csrf}).status_code == 204
    assert browser.http.get(LIST).status_code == 401


def test_the_cookie_is_for_no_script_and_no_other_site(service: Service) -> None:
    answer = Browser(service).sign_in(service.key(Role.VIEWER))
    (cookie,) = SimpleCookie(answer.headers["set-cookie"]).values()
    assert cookie.key == "penstock_session_8000"  # or a service on the next port would overwrite it
    assert (cookie["path"], cookie["samesite"].lower(), cookie["httponly"]) == ("/", "strict", True)
    assert not cookie["secure"]
    assert not cookie["domain"]
    assert int(cookie["max-age"]) == LONGEST.total_seconds()


def test_the_store_keeps_no_secret(service: Service, browser: Browser) -> None:
    held = find_session(service.store, browser.secret)
    assert held is not None
    random = browser.secret.partition(".")[2]
    assert len(random) == 43
    written = service.store.get(BrowserSession.at(hash=held.session.hash)).model_dump_json()
    assert random not in written
    assert browser.csrf not in written
    assert random not in repr(held)


def test_what_changes_something_takes_the_token_of_our_own_pages(service: Service, browser: Browser) -> None:
    other = Browser(service)
    other.sign_in(service.key(Role.EDITOR))
    for wrong in ("", "x", browser.csrf[:-1], other.csrf, "é"):
        answer = browser.http.post(
            "/api/films/films", json=film(), headers={b"X-CSRF-Token": wrong.encode()} if wrong else {}
        )
        assert (answer.status_code, kind(answer)) == (403, "forged-request"), wrong
        assert browser.http.delete("/api/session", headers={b"X-CSRF-Token": wrong.encode()}).status_code == 403
    assert browser.http.get(LIST).json()["items"] == []
    assert any(action == "refused: forged-request" for _, action in trail(service.store))
    assert browser.post("/api/films/films", json=film()).status_code == 201


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:8001", "null", "http://127.0.0.1:8000.evil.example"]
)
def test_a_page_of_another_site_can_do_nothing_even_with_the_token(
    service: Service, browser: Browser, origin: str
) -> None:
    answer = browser.post("/api/films/films", json=film(), headers={"Origin": origin})
    assert (answer.status_code, kind(answer)) == (403, "foreign-page")
    signing_in = browser.sign_in(service.key(Role.VIEWER), Origin=origin)
    assert (signing_in.status_code, kind(signing_in)) == (403, "foreign-page")
    assert "set-cookie" not in signing_in.headers
    assert browser.post("/api/films/films", json=film(), headers={"Origin": "http://127.0.0.1:8000"}).status_code == 201


def test_a_key_in_the_request_counts_and_not_the_cookie(service: Service, browser: Browser) -> None:
    viewer = {"Authorization": f"Bearer {service.key(Role.VIEWER)}"}
    assert browser.post("/api/films/films", json=film(), headers=viewer).status_code == 403
    assert browser.http.get("/api/session", headers=viewer).json()["role"] == "viewer"
    editor = {"X-API-Key": service.key(Role.EDITOR)}
    assert browser.post("/api/films/films", csrf="", json=film(), headers=editor).status_code == 201
    wrong = {"X-API-Key": "pk_no_such"}
    assert browser.http.get(LIST, headers=wrong).status_code == 401


def test_a_session_ends_when_it_is_not_used(service: Service, browser: Browser) -> None:
    service.clock.advance(UNUSED - timedelta(minutes=1))
    assert browser.http.get(LIST).status_code == 200  # which makes it last
    service.clock.advance(UNUSED - timedelta(minutes=1))
    assert browser.http.get(LIST).status_code == 200
    service.clock.advance(UNUSED)
    assert browser.http.get(LIST).status_code == 401
    assert browser.http.get("/api/session").json()["role"] is None
    assert browser.post("/api/films/films", json=film()).status_code == 401


def test_a_session_ends_for_good_however_it_is_used(service: Service, browser: Browser) -> None:
    for _ in range(int(LONGEST / timedelta(hours=6)) - 1):
        service.clock.advance(timedelta(hours=6))
        assert browser.http.get(LIST).status_code == 200
    service.clock.advance(timedelta(hours=6))
    assert browser.http.get(LIST).status_code == 401


def test_that_a_session_is_used_is_seldom_written_down(service: Service, browser: Browser) -> None:
    before = find_session(service.store, browser.secret)
    service.clock.advance(timedelta(minutes=59))
    assert find_session(service.store, browser.secret) == before
    service.clock.advance(timedelta(minutes=2))
    assert find_session(service.store, browser.secret) != before


def test_a_session_ends_with_its_key(service: Service, browser: Browser) -> None:
    (key,) = list_keys(service.store)
    revoke_key(service.store, key.key_id, by="tests")
    assert browser.http.get(LIST).status_code == 401
    assert kind(browser.sign_in("pk_abc_def")) == "sign-in-refused"


def test_whoever_signs_in_gets_a_secret_of_their_own(service: Service, browser: Browser) -> None:
    """Fixation: a secret that somebody else has put into the browser is never one that comes to hold."""
    chosen = "abc." + "A" * 43
    victim = Browser(service)
    victim.http.cookies.set("penstock_session_8000", chosen, domain="127.0.0.1", path="/")
    assert victim.sign_in(service.key(Role.ADMIN)).status_code == 200
    thief = Browser(service)
    thief.http.cookies.set("penstock_session_8000", chosen, domain="127.0.0.1", path="/")
    assert thief.http.get(LIST).status_code == 401
    before = browser.secret
    browser.http.cookies.clear()
    browser.http.cookies.set("penstock_session_8000", before, domain="127.0.0.1", path="/")
    browser.sign_in(service.key(Role.VIEWER))
    assert find_session(service.store, before) is None, "the former session is ended"


def test_a_cookie_of_another_deployment_is_worth_nothing(service: Service, browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Browser(Service(tmp_path / "other"))
    other.http.cookies.set("penstock_session_8000", browser.secret, domain="127.0.0.1", path="/")
    assert other.http.get(LIST).status_code == 401
    assert other.http.get("/api/session").json()["name"] == "public"


@pytest.mark.parametrize("secret", ["", "x", "a.b", "." * 60, "abc." + "A" * 43, "abc." + "A" * 150])
def test_a_cookie_that_is_none_is_as_good_as_absent(service: Service, secret: str) -> None:
    guest = service.client(address=HERE)
    for name in ("penstock_session", "__Host-penstock_session"):
        assert guest.get(LIST, headers={"Cookie": f"{name}={secret}; a=b"}).status_code == 401
        assert guest.get("/api/session", headers={"Cookie": f"{name}={secret}"}).json()["role"] is None


def test_a_wrong_key_is_refused_counted_and_written_down(service: Service) -> None:
    browser = Browser(service)
    wrong = service.key(Role.ADMIN)[:-4] + "AAAA"
    for _ in range(20):
        answer = browser.sign_in(wrong)
        assert (answer.status_code, kind(answer)) == (422, "sign-in-refused")
        assert wrong not in answer.text
    limited = browser.sign_in(service.key(Role.ADMIN))
    assert (limited.status_code, kind(limited)) == (429, "rate-limited")
    assert "refused: sign-in-refused" in [action for _, action in trail(service.store)]
    service.clock.advance(timedelta(minutes=1))
    assert browser.sign_in(service.key(Role.ADMIN)).status_code == 200


def test_signing_in_and_out_is_in_the_audit_trail(service: Service) -> None:
    browser = Browser(service)
    name = browser.sign_in(service.key(Role.EDITOR, "p1")).json()["name"]
    browser.http.delete("/api/session", headers={"X-CSRF-Token": browser.csrf})
    lines = [line for line in service.store.find(SystemAudit.of_project(project_id="p1")) if line.actor == name]
    assert sorted(line.details["why"] for line in lines) == ["signed in", "signed out"]


def test_a_session_is_begun_once_and_its_secret_is_not_kept_for_a_repetition(service: Service) -> None:
    browser = Browser(service)
    once = {"Idempotency-Key": "once"}
    key = service.key(Role.VIEWER)
    assert browser.sign_in(key, **once).status_code == 200
    again = service.client(address=HERE).post("/api/session", json={"key": key}, headers=once)
    assert (again.status_code, kind(again)) == (409, "answer-not-kept")
    assert "set-cookie" not in again.headers


@pytest.mark.parametrize("options", [{"trusted_proxies": ("127.0.0.1",)}, {"public_url": "https://films.example"}])
def test_behind_a_proxy_that_ends_https_the_cookie_is_for_https_alone(tmp_path: Path, options: Any) -> None:
    service = Service(tmp_path, **options)
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "films.example", "X-Forwarded-For": STRANGER[0]}
    proxied = service.client(address=HERE)
    own = {**forwarded, "Origin": "https://films.example"}
    answer = proxied.post("/api/session", json={"key": service.key(Role.EDITOR)}, headers=own)
    (cookie,) = SimpleCookie(answer.headers["set-cookie"]).values()
    assert cookie.key == "__Host-penstock_session"
    assert cookie["secure"]
    with_it = {**own, "Cookie": f"{cookie.key}={cookie.value}", "X-CSRF-Token": answer.json()["csrf"]}
    assert proxied.post("/api/films/films", json=film(), headers=with_it).status_code == 201
    plain = {"Cookie": f"penstock_session={cookie.value}", "X-Forwarded-Proto": "https"}
    assert proxied.get(LIST, headers=plain).status_code == 401


def test_a_client_cannot_pretend_to_be_a_proxy(service: Service) -> None:
    pretended = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "Origin": "https://evil.example"}
    answer = service.client(address=STRANGER).post(
        "/api/session", json={"key": service.key(Role.VIEWER)}, headers=pretended
    )
    assert kind(answer) == "foreign-page"


def test_without_keys_the_local_administrator_is_told(tmp_path: Path) -> None:
    service = Service(tmp_path, authentication=False)
    told = service.client(address=HERE).get("/api/session").json()
    assert told == {"name": "local", "role": "admin", "project": None, "expires_at": None, "csrf": None}


def test_an_event_stream_is_followed_by_cookie(service: Service) -> None:
    with serving(service.app) as port:
        browser = Browser(service, url=f"http://127.0.0.1:{port}")
        browser.sign_in(service.key(Role.VIEWER))
        listener = Listener(port, "/api/films/events", key=None, cookie=f"penstock_session_{port}={browser.secret}")
        assert listener.answer.status == 200
        assert listener.next().name == "ready"
        listener.close()


def test_no_cookie_but_ours_is_read(service: Service, browser: Browser) -> None:
    others = "; ".join(f"c{n}=v" for n in range(300))
    cookie = f'{others}; penstock_session_8000={browser.secret}; q="\\"'
    guest = service.client(address=HERE)
    guest.base_url = "http://127.0.0.1:8000"
    assert guest.get(LIST, headers={"Cookie": cookie}).status_code == 200


def test_the_documents_name_the_routes(service: Service) -> None:
    paths = service.app.openapi()["paths"]["/api/session"]
    assert set(paths) == {"get", "post", "delete"}
    assert re.match("Sign in", paths["post"]["description"])
