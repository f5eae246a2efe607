"""Keys, sessions and callers by themselves: what they promise wherever they are used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import FrozenClock, Store, open_store
from penstock.auth.access import bytes_taken, takes
from penstock.auth.api_keys import KeyStatus, adopt_key, create_key, find_key, list_keys, new_token, revoke_key
from penstock.auth.browser_session import LONGEST, UNUSED, find_session, sign_in
from penstock.auth.caller import Caller
from penstock.errors import DeclarationError, InvalidValue, NotFound, Unavailable
from penstock.kernel.idempotency import Claim, Replay, SystemOnce, begin
from penstock.schema.role import Role

HOUR = timedelta(hours=1)


@pytest.fixture
def store(tmp_path: Path, clock: FrozenClock) -> Iterator[Store]:
    with closing(open_store(f"sqlite:///{tmp_path}/keys.db", clock=clock)) as opened:
        opened.ensure()
        yield opened


def made(store: Store, **given: Any) -> Any:
    return create_key(store, **{"name": "studio", "role": Role.EDITOR, "by": "ann", **given})


def claimed(store: Store, owner: str) -> Claim | Replay:
    """The claim of a request."""
    now = store.clock.now()
    mark = SystemOnce(idempotency_key="k", created_at=now, ttl=int(now.timestamp()) + 3600)
    return begin(store, mark, owner=owner, period=HOUR)


@pytest.mark.parametrize("name", ["", "x" * 101, "two\nlines"])
def test_a_name_that_cannot_be_shown_is_refused(store: Store, name: str) -> None:
    with pytest.raises(InvalidValue, match="a key's name has 1 to 100 printable characters"):
        made(store, name=name)
    assert list(list_keys(store)) == []
    assert made(store, name="x" * 100).record.name == "x" * 100


def test_a_key_is_found_by_its_whole_token_while_it_works(store: Store) -> None:
    key, other = made(store), made(store)
    found = find_key(store, key.token)
    assert found is not None
    assert found.key_id == key.record.key_id
    swapped = f"{key.token.rpartition('_')[0]}_{other.token.rpartition('_')[2]}"
    assert [find_key(store, token) for token in (swapped, new_token(), "pk_", key.token[:-1])] == [None] * 4
    revoke_key(store, key.record.key_id, by="ann")
    assert find_key(store, key.token) is None
    assert find_key(store, other.token) is not None


def test_of_a_token_nothing_is_stored_but_what_may_be_seen(store: Store, tmp_path: Path) -> None:
    """Neither with the claim of the request that made it, nor in the trail."""
    key = made(store, once=claimed(store, "first"))
    store.close()
    secret = key.token.split("_", 2)[2].encode()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert key.record.key_id.encode() in kept
    assert secret not in kept


def test_a_token_that_is_longer_than_any_is_not_looked_for(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """No store has a key of so many characters."""

    def asked(ref: Any) -> Any:
        raise AssertionError("it was looked for")

    monkeypatch.setattr(store, "lookup", asked)
    assert find_key(store, f"pk_{'a' * 100_000}_x") is None


def test_a_token_is_adopted_once_whoever_else_does_so_at_the_same_moment(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, lookup = new_token(), store.lookup
    adopt = {"name": "first", "role": Role.ADMIN, "by": "setup"}

    def late(ref: Any) -> Any:
        found = lookup(ref)
        monkeypatch.setattr(store, "lookup", lookup)
        assert adopt_key(store, token, **adopt)  # type: ignore[arg-type]
        return found

    monkeypatch.setattr(store, "lookup", late)
    assert adopt_key(store, token, **adopt)  # type: ignore[arg-type]
    (key,) = list_keys(store)
    revoke_key(store, key.key_id, by="ann")
    assert not adopt_key(store, token, **adopt), "what was revoked stays so"  # type: ignore[arg-type]


def test_all_keys_are_listed_those_that_work_first(store: Store) -> None:
    ended, works, elsewhere = made(store), made(store), made(store, project="p")
    revoke_key(store, ended.record.key_id, by="ann")
    assert [key.status for key in list_keys(store)] == [KeyStatus.ACTIVE, KeyStatus.ACTIVE, KeyStatus.REVOKED]
    assert [key.key_id for key in list_keys(store, project="p")] == [elsewhere.record.key_id]
    with pytest.raises(NotFound):
        revoke_key(store, works.record.key_id, by="ann", project="p")
    assert find_key(store, works.token) is not None


def test_a_session_lasts_longer_for_being_used_and_that_is_written_once_an_hour(
    store: Store, clock: FrozenClock
) -> None:
    begun = sign_in(store, made(store).record, by="ann")
    ends = []
    for _ in range(3):
        clock.advance(HOUR / 2)
        found = find_session(store, begun.secret)
        assert found is not None
        ends.append(found.session.expires_at - begun.session.begun_at)
    assert ends == [UNUSED, UNUSED + HOUR, UNUSED + HOUR]
    clock.advance(UNUSED)
    assert find_session(store, begun.secret) is None


def test_a_session_that_is_always_used_ends_all_the_same(store: Store, clock: FrozenClock) -> None:
    begun = sign_in(store, made(store).record, by="ann")
    while (found := find_session(store, begun.secret)) is not None:
        clock.advance(UNUSED - HOUR)
        last = found.session.expires_at
    assert last == begun.session.begun_at + LONGEST


def test_a_session_holds_also_where_its_use_cannot_be_written_down(
    store: Store, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever only reads is let in by a store that takes no writes."""
    signed_in = sign_in(store, made(store).record, by="ann")
    clock.advance(2 * HOUR)

    def full(*given: Any, **named: Any) -> Any:
        raise Unavailable("the disk is full")

    monkeypatch.setattr(store, "patch", full)
    found = find_session(store, signed_in.secret)
    assert found is not None
    assert found.session == signed_in.session


def test_a_session_ends_with_its_key(store: Store) -> None:
    key = made(store)
    begun = sign_in(store, key.record, by="ann")
    revoke_key(store, key.record.key_id, by="ann")
    assert find_session(store, begun.secret) is None


@pytest.mark.parametrize(
    ("role", "begun_by", "may"),
    [
        (None, None, False),
        (Role.VIEWER, None, False),
        (Role.VIEWER, "ann", False),
        (Role.EDITOR, None, True),
        (Role.EDITOR, "ann", True),
        (Role.EDITOR, "bob", False),
        (Role.ADMIN, "bob", True),
    ],
)
def test_a_file_is_sent_by_whoever_announced_it_or_an_admin(
    store: Store, role: Role | None, begun_by: str | None, may: bool
) -> None:
    assert Caller("ann", role, None, store).may_send(begun_by) is may


def test_a_change_by_a_caller_says_what_the_request_is_answered_with(store: Store) -> None:
    caller = Caller("ann", Role.EDITOR, None, store, keeping=lambda view: {"view": view})
    with pytest.raises(DeclarationError, match="was not told what their request is answered with"), caller.change():
        pass
    with caller.change() as change:
        assert change.answer("done") == "done"
    with caller.change() as change:
        change.result = {"kept": "by hand"}
    with Caller("ann", Role.EDITOR, None, store).change():
        pass


def test_a_change_by_a_caller_ends_the_claim_of_their_request(store: Store) -> None:
    claim = claimed(store, "first")
    assert isinstance(claim, Claim)
    with Caller("ann", Role.EDITOR, None, store, claim=claim, keeping=lambda view: {"kept": view}).change() as change:
        change.answer("done")
    assert claimed(store, "second") == Replay({"kept": "done"})


def test_a_route_takes_as_much_as_the_service_or_more() -> None:
    @takes(kilobytes=5)
    def endpoint() -> None: ...

    assert [bytes_taken(endpoint, usual) for usual in (1, 5000, 6000)] == [5000, 5000, 6000]
    assert bytes_taken(len, 7) == 7
