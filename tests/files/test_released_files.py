"""The files that a deleted record has left: announced whole, settled once, and waited for where they cannot go yet."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from penstock.files import deletion as module
from penstock.files.deletion import release_files, settle_released
from penstock.files.references import References
from penstock.files.released_file import Released, ReleasedStatus
from tests.files.streams import DOMAIN, Cut, Film, StreamWorld
from tests.objects.faults import Fate, Mortal

DAY = timedelta(days=1)
POSTER, STREAM = "films/mine/poster.png", "films/mine/stream/"


def waiting(world: StreamWorld) -> list[Released]:
    return list(world.store.find(Released.by_status(status=ReleasedStatus.WAITING)))


def settle(world: StreamWorld, references: References | None = None) -> int:
    known = references or References(world.store, [DOMAIN])
    return settle_released(world.store, world.objects, world.trash, known)


def deleted(world: StreamWorld, film: Film, files: list[str]) -> None:
    """A film that is gone, and its files that wait to go."""
    world.store.create(film)
    world.put(files)
    world.delete(film)


def test_what_cannot_go_today_goes_on_another_day(near: StreamWorld) -> None:
    """Today other bytes of that key went to the trash, where they can be had back for the whole window."""
    deleted(near, Film(film="mine", poster=POSTER, stream=STREAM), [POSTER, f"{STREAM}0.m4s"])
    near.objects.put(f"trash/{near.clock.now().date()}/{POSTER}", b"other bytes")
    assert settle(near) == 1
    assert (near.lying(), len(waiting(near))) == ([POSTER], 1)
    near.clock.advance(DAY)
    assert settle(near) == 1
    assert (near.lying(), waiting(near)) == ([], [])


def test_a_release_is_remembered_for_thirty_days_after_it_was_settled(near: StreamWorld) -> None:
    deleted(near, Film(film="mine", poster=POSTER), [POSTER])
    (released,) = waiting(near)
    near.clock.advance(40 * DAY)
    assert settle(near) == 1, "however late the sweep comes"
    near.clock.advance(29 * DAY)
    assert near.store.get(released.ref).status is ReleasedStatus.GONE
    near.clock.advance(2 * DAY)
    assert near.store.lookup(released.ref) is None


def test_two_who_settle_the_same_release_do_not_fail(near: StreamWorld) -> None:
    """Whoever is slower finds nothing left to do."""
    deleted(near, Film(film="mine", poster=POSTER), [POSTER])
    real = near.objects

    class Meanwhile(Mortal):
        def head(self, key: str) -> Any:
            assert settle(StreamWorld(near.store, real, near.clock)) == 1
            return real.head(key)

    near.objects = Meanwhile(real, Fate())
    assert settle(near) == 0
    assert waiting(near) == []


def test_many_files_are_announced_in_as_many_lines_as_they_need(
    near: StreamWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ANNOUNCED", 2)
    film = Film(film="mine")
    files = [POSTER, STREAM, "films/mine/stream/cover/1.png", "films/mine/stream/cover/2.png", "shared/new/a/"]
    near.store.create(film)
    with near.store.change() as change:
        change.delete(film.ref)
        release_files(change, film, files)
    lines = waiting(near)
    assert sorted(key for line in lines for key in (*line.files, *(line.folders or ()))) == sorted(files)
    assert (len(lines), {line.subject for line in lines}) == (3, {"Film(film=mine)"})
    assert all(not key.endswith("/") for line in lines for key in line.files)


def test_what_a_damaged_record_might_have_needed_goes_once_it_can_be_read(near: StreamWorld) -> None:
    """One who settles again and again asks anew each time which records cannot be read."""
    kept, references = f"{STREAM}cuts/1/0.m4s", References(near.store, [DOMAIN])
    near.store.create(Cut(movie="mine", cut="1", folder=f"{STREAM}cuts/1/"))
    connector: Any = near.store.engine.connector  # type: ignore[attr-defined]
    relation = f"{Cut.__shape__.domain}_{Cut.__shape__.relation}"
    connector.run(f"update {relation} set kind = 'nonsense'", ())
    deleted(near, Film(film="mine", stream=STREAM), [kept])
    assert settle(near, references) == 0
    near.store.put(Cut(movie="mine", cut="1"))
    deleted(near, Film(film="mine", stream=STREAM), [kept])
    assert settle(near, references) == 1
    assert (near.lying(), waiting(near)) == ([], [])
