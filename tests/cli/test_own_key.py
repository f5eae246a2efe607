"""The key that a machine makes for itself, and what happens without keys."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from penstock import Store, open_store
from penstock.auth.api_keys import KeyStatus, find_key, list_keys, revoke_key
from penstock.errors import Misconfigured
from penstock.runtime.own_key import own_key
from penstock.schema.role import Role
from tests.cli.conftest import Penstock


def test_a_machine_has_one_key_of_its_own_and_keeps_it(store: Store, folder: Path) -> None:
    token = own_key(store)
    assert own_key(store) == token
    (key,) = list_keys(store)
    assert (key.role, key.project, key.created_by) == (Role.ADMIN, None, "penstock up")
    kept = folder / ".penstock" / "key"
    assert kept.read_text() == f"Authorization: Bearer {token}\n", "as curl sends it"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_it_serves_every_store_of_the_machine(store: Store, folder: Path) -> None:
    other = open_store("sqlite:///other.db")
    other.ensure()
    token = own_key(store)
    assert own_key(other) == token
    assert own_key(store) == token
    assert find_key(other, token) is not None
    other.close()


def test_one_that_was_revoked_is_replaced(store: Store) -> None:
    token = own_key(store)
    (key,) = list_keys(store)
    revoke_key(store, key.key_id, by="tests")
    second = own_key(store)
    assert second != token
    assert find_key(store, token) is None
    assert find_key(store, second) is not None
    assert sorted(k.status for k in list_keys(store)) == [KeyStatus.ACTIVE, KeyStatus.REVOKED]


@pytest.mark.parametrize("content", ["", "nonsense", "Authorization: Bearer pk_x", "pk_ö_1", "\x00" * 1000])
def test_what_is_no_key_is_replaced(store: Store, folder: Path, content: str) -> None:
    (folder / ".penstock" / "key").write_text(content)
    assert find_key(store, own_key(store)) is not None


def test_the_key_of_another_with_the_same_id_is_not_taken_over(store: Store, folder: Path) -> None:
    token = own_key(store)
    forged = token[:-4] + "AAAA"
    (folder / ".penstock" / "key").write_text(f"Authorization: Bearer {forged}\n")
    assert own_key(store) not in (token, forged)
    assert find_key(store, forged) is None


def test_of_several_that_begin_at_once_all_have_the_same(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        tokens = set(pool.map(lambda _: own_key(store), range(8)))
    assert len(tokens) == 1
    assert len(list(list_keys(store))) == 1


def test_a_folder_that_cannot_be_written_is_told(store: Store, folder: Path) -> None:
    (folder / "file").write_text("")
    with pytest.raises(Misconfigured, match="cannot be kept in"):
        own_key(store, folder=folder / "file")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"PENSTOCK_HOST": "0.0.0.0"}, "is for this machine alone"),
        ({"PENSTOCK_PUBLIC_URL": "https://penstock.example.com"}, "leave it out"),
        ({"PENSTOCK_TRUSTED_PROXIES": "127.0.0.1"}, "leave it out"),
    ],
)
def test_keys_cannot_be_turned_off_where_others_come_in(
    penstock: Penstock, monkeypatch: pytest.MonkeyPatch, more: dict[str, str], told: str
) -> None:
    for name, value in {"PENSTOCK_REQUIRE_KEYS": "false", **more}.items():
        monkeypatch.setenv(name, value)
    said = penstock("up", "--port", "0")
    assert said.code == 2
    assert told in said.err
