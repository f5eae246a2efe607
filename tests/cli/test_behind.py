"""Lists of the command line that may come from a replica."""

from __future__ import annotations

import pytest

from penstock import open_store
from penstock.domains.assetcreator.model import DOMAIN
from tests.cli.conftest import Penstock
from tests.servers import Postgres, PostgresReplica


def test_a_list_says_that_it_may_be_behind(
    penstock: Penstock,
    followed_server: Postgres,
    replica_server: PostgresReplica,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replica_server.start()
    url = followed_server.create_database("listed")
    monkeypatch.setenv("PENSTOCK_STORE", url)
    monkeypatch.setenv("PENSTOCK_READ_URL", replica_server.url_of(url.rpartition("/")[2]))
    store = open_store(url)
    store.ensure(DOMAIN)
    store.close()
    replica_server.catch_up()
    asked = ("ls", "assetcreator.Job.of_project", "project_id=p1")
    said = penstock(*asked, "--behind-ok")
    assert "may be missing" in said.out + said.err
    assert penstock(*asked, "--behind-ok", "--json").json["behind"] is True
    assert "behind" not in penstock(*asked, "--json").json
    there = penstock(*asked, "--behind-ok", "--json", "--store", url).json
    assert "behind" not in there, "a replica follows the store of the settings, and no other"
