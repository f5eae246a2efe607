"""Marks of what is not kept in clear: nobody makes one, or guesses what it is of, without the store's secret."""

from __future__ import annotations

from penstock import Store


def mark(store: Store, secret: bytes | None) -> str:
    return Store(store.engine, secret=secret).mark("speech", "10.0.0.1")


def test_a_mark_is_the_same_for_all_who_share_a_secret_and_for_nobody_else(store: Store) -> None:
    assert mark(store, b"one") == mark(store, b"one")
    assert len({mark(store, secret) for secret in (b"one", b"other", None, None)}) == 4


def test_a_mark_tells_its_parts_apart(store: Store) -> None:
    assert store.mark("a", "bc") != store.mark("ab", "c")


def test_what_a_project_signs_no_other_does(store: Store) -> None:
    assert len({each.mark("a") for each in (store, store.scoped("p1"), store.scoped("p2"))}) == 3
