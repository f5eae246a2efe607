"""Exports, imports, copies and backups, as a user asks for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock import Store
from penstock.auth.api_keys import create_key
from penstock.schema.role import Role
from tests.cli.conftest import Penstock


@pytest.fixture
def named(store: Store) -> Store:
    create_key(store, name="ann", role=Role.EDITOR, by="tests")
    return store


def test_an_export_is_told_and_imported_elsewhere(named: Store, penstock: Penstock) -> None:
    told = penstock("export", "out", "--json").json
    assert told["records"] >= 2
    assert {row["entity"] for row in told["entities"]} >= {"penstock.ApiKey", "penstock.SystemAudit"}
    there = ("--store", "sqlite:///b/store.db", "--objects", "files:///b/files")
    assert penstock("import", "out", *there, "--json").json == {"records": told["records"], "files": 0, "written": True}
    assert penstock("export", "again", *there, "--json").json["entities"] == told["entities"]
    refused = penstock("import", "out", *there)
    assert refused.code == 2
    assert "not empty" in refused.err


def test_what_cannot_be_done_is_said_in_a_sentence(named: Store, penstock: Penstock, folder: Path) -> None:
    for words, said in (
        (("export", "out", "--only", "vidoes"), "there is no domain 'vidoes'; there are"),
        (("export", "out", "--format", "csv"), "jsonl or parquet, not 'csv'"),
        (("import", "nowhere"), "manifest.json is not there"),
        (("backup", "b", "--store", "postgresql://u:secret@h/db"), "postgresql://u@h/db is no embedded store"),
        (("copy", "--to", "sqlite:///.penstock/penstock.db"), "cannot be copied to itself"),
        (("restore", "nowhere", "--store", "sqlite:///new.db"), "this is no backup"),
    ):
        refused = penstock(*words)
        assert refused.code == 2, words
        assert said in " ".join(refused.err.split())
    assert not (folder / "out").exists()


def test_a_copy_is_refused_writes_to_and_abandoned(named: Store, penstock: Penstock) -> None:
    done = penstock("copy", "--to", "sqlite:///b/store.db", "--objects-to", "files:///b/files", "--json").json
    assert sum(done["records"].values()) >= 2
    assert "it is moved to sqlite:///b/store.db" in penstock("keys", "create", "bob").err
    assert json.loads(penstock("keys", "list", "--json", "--store", "sqlite:///b/store.db").out)
    assert penstock("copy", "--to", "sqlite:///b/store.db", "--abandon").code == 0
    assert penstock("keys", "create", "bob").code == 0
    assert "not empty" in penstock("copy", "--to", "sqlite:///b/store.db").err, "changes were made that nobody logged"


def test_a_backup_is_restored(named: Store, penstock: Penstock) -> None:
    assert penstock("backup", "monday", "--json").json["objects"] == 0
    there = ("--store", "sqlite:///b/store.db", "--objects", "files:///b/files")
    assert penstock("restore", "monday", *there, "--json").json["missing"] == []
    keys = [penstock("keys", "list", "--json", *words).json for words in ((), there[:2])]
    assert keys[0] == keys[1]
