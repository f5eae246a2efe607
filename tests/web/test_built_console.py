"""The console's files: one page for all of its paths, files that are good for ever, and a word where there are none."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path

import pytest
from starlette.requests import Request

from penstock.web.built_console import BuiltConsole
from penstock.web.errors import NoSuchRoute
from penstock.web.page_policy import PagePolicy, page_policy
from tests.web.service import Service


def asked(**headers: str) -> Request:
    return Request(
        {"type": "http", "headers": [(n.replace("_", "-").encode(), v.encode()) for n, v in headers.items()]}
    )


@pytest.fixture
def built(tmp_path: Path) -> BuiltConsole:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>Penstock</title>")
    (tmp_path / "assets" / "index-AbC_12-x.js").write_text("let a = 1;" * 200)
    (tmp_path / "secret.txt").write_text("swordfish")
    return BuiltConsole(tmp_path)


def test_the_page_is_asked_for_each_time_and_answered_in_a_word_if_it_is_the_same(built: BuiltConsole) -> None:
    answer = built.page(asked(), policy="default-src 'none'")
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["content-security-policy"] == "default-src 'none'"
    again = built.page(asked(if_none_match=answer.headers["etag"]), policy="default-src 'none'")
    assert (again.status_code, again.body) == (304, b"")
    assert again.headers["content-security-policy"] == "default-src 'none'"


def test_an_asset_is_good_for_ever_and_comes_packed(built: BuiltConsole) -> None:
    plain = built.asset(asked(), "index-AbC_12-x.js")
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert plain.headers["content-type"] == "text/javascript; charset=utf-8"
    packed = built.asset(asked(accept_encoding="gzip, br"), "index-AbC_12-x.js")
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(bytes(packed.body)) == plain.body
    assert packed.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("name", ["nope.js", "../secret.txt", "..", ".", "", "a/b", "a" * 500, "x\0y", "é.js"])
def test_nothing_but_assets_is_served(built: BuiltConsole, name: str) -> None:
    with pytest.raises(NoSuchRoute):
        built.asset(asked(), name)


def test_where_nothing_was_built_the_page_says_how(tmp_path: Path) -> None:
    answer = BuiltConsole(tmp_path / "nowhere").page(asked(), policy="")
    assert answer.status_code == 503
    assert b"python hatch_build.py" in answer.body


def test_whoever_has_a_link_is_given_the_same_page_or_else_none(built: BuiltConsole, tmp_path: Path) -> None:
    page = built.guest_page(asked(), policy="default-src 'none'")
    assert page is not None
    assert (page.status_code, page.body) == (200, built.page(asked(), policy="").body)
    assert built.guest_page(asked(if_none_match=page.headers["etag"]), policy="") is not None
    unbuilt = BuiltConsole(tmp_path / "nowhere")
    assert unbuilt.guest_page(asked(), policy="") is None, "how to build it is nothing to a guest"


def test_every_path_of_the_console_is_the_same_page_and_no_other_is(service: Service) -> None:
    client = service.client()
    first = client.get("/")
    for path in ("/console", "/console/", "/console/d/films/films?pattern=by_status", "/console/d/a%2Fb"):
        answer = client.get(path)
        assert (answer.status_code, answer.text) == (first.status_code, first.text), path
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    for path in ("/consoles", "/nope", "/assets/nope.js", "/assets/../index.html"):
        assert client.get(path).json()["type"] == "no-such-route", path


def test_pages_and_assets_are_not_counted(service: Service) -> None:
    client = service.client()
    assert {client.get("/").status_code for _ in range(130)} <= {200, 503}


def test_files_of_another_origin_may_be_shown_and_fetched_and_nothing_else() -> None:
    policy = dict(part.split(" ", 1) for part in page_policy("https://films.s3.example:9000").split("; "))
    for kind in ("img-src", "media-src", "connect-src"):
        assert policy[kind].endswith(" https://films.s3.example:9000")
    for kind in ("script-src", "style-src", "worker-src", "form-action"):
        assert policy[kind] == "'self'"
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in str(policy)


def test_the_page_of_the_api_alone_has_the_policy_that_its_reader_takes(service: Service) -> None:
    client, usual = service.client(), page_policy("http://127.0.0.1")
    ours = {p: client.get(p).headers["content-security-policy"] for p in ("/", "/console/apis", "/console/parts")}
    assert client.get("/").status_code == 503 or set(ours.values()) == {usual}
    there = page_policy("http://127.0.0.1", reader=True)
    changed = set(there.split("; ")) - set(usual.split("; "))
    assert changed == {"worker-src 'none'", "trusted-types svelte-trusted-html dompurify"}
    assert "unsafe" not in there
    for path in ("/console/api", "/console/api/", "/docs"):
        answer = client.get(path)
        assert answer.status_code == 503 or answer.headers["content-security-policy"] == there, path


def test_the_document_is_sent_once_to_whoever_keeps_it(service: Service) -> None:
    first = service.client().get("/openapi.json")
    assert (first.headers["content-encoding"], first.headers["content-type"]) == ("gzip", "application/json")
    assert first.json() == service.app.openapi()
    again = service.client().get("/openapi.json", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_policy_names_where_signed_urls_lead(service: Service) -> None:
    assert asyncio.run(PagePolicy(service.objects).text()) == page_policy("http://127.0.0.1")
    service.objects.signer = None
    assert asyncio.run(PagePolicy(service.objects).text()) == page_policy()
