"""The routes that ours are measured against do what ours do: nothing is left out to be quick, or to be slow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient

from bench.handwritten import KEY, PROBLEM, AuditLine, build, make_key, open_database
from bench.service import READ, getting_path, listing_path, paper

PATH = "/references"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    sessions = open_database(f"{tmp_path}/papers.db")
    headers = {KEY: make_key(sessions), "content-type": "application/json"}
    with TestClient(build(sessions), headers=headers) as opened:
        for number in range(60):
            assert opened.post(PATH, content=paper(READ, number)).status_code == 201
        yield opened


def test_a_record_is_got_with_an_etag_that_spares_the_next_answer(client: TestClient) -> None:
    got = client.get(getting_path(PATH))
    assert got.json()["details"] == json.loads(paper(READ, 7))["details"]
    made = client.post(PATH, content=paper(READ, 99)).headers
    assert client.get(made["location"]).headers["etag"] == made["etag"]
    again = client.get(getting_path(PATH), headers={"if-none-match": got.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(f"{PATH}/{READ}/none").status_code == 404


def test_a_page_has_so_many_and_tells_where_the_next_begins(client: TestClient) -> None:
    first = client.get(listing_path(PATH)).json()
    rest = client.get(listing_path(PATH), params={"nova_id": READ, "cursor": first["next"]}).json()
    assert (len(first["items"]), len(rest["items"]), rest["next"]) == (50, 10, None)


def test_a_creation_is_checked_and_leaves_one_line_in_the_audit_trail(client: TestClient) -> None:
    assert client.post(PATH, content=paper(READ, 7)).status_code == 409
    assert client.post(PATH, json={**json.loads(paper(READ, 99)), "surplus": 1}).status_code == 422
    assert client.post(PATH, json={**json.loads(paper(READ, 99)), "date": "soon"}).status_code == 422
    with client.app.state.sessions() as session:  # type: ignore[attr-defined]
        assert session.scalar(select(func.count()).select_from(AuditLine)) == 60


@pytest.mark.parametrize("key", ["", "pk_unknown_secret", "nonsense"])
def test_nobody_comes_in_without_a_key(client: TestClient, key: str) -> None:
    refused = client.get(getting_path(PATH), headers={KEY: key})
    assert (refused.status_code, refused.headers["content-type"]) == (401, PROBLEM)


def test_a_key_that_was_altered_opens_nothing(client: TestClient) -> None:
    assert client.get(getting_path(PATH), headers={KEY: client.headers[KEY][:-1] + "?"}).status_code == 401
