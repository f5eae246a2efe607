"""The files that a deleted record has left: announced whole, settled once, and waited for where they cannot go yet."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from penstock.files import deletion as module
from penstock.files.deletion import is_released, release_files, settle_released
from penstock.files.references import References
from penstock.files.released_file import Released, ReleasedStatus
from tests.files.streams import DOMAIN, Cut, Film, StreamWorld
from tests.objects.faults import Fate, Mortal
from tests.objects.world import CLIP, PROJECT, World

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


def test_a_file_that_can_never_go_keeps_none_behind_it_from_going(near: StreamWorld) -> None:
    """Its key is too long to be written behind a date."""
    long, last = STREAM + "/".join(["a" * 90] * 11), f"{STREAM}last.m4s"
    deleted(near, Film(film="mine", stream=STREAM), [long, last])
    assert settle(near) == 1
    assert (near.lying(), waiting(near)) == ([long], [])


def test_one_sweep_settles_every_release(near: StreamWorld) -> None:
    posters = [f"films/{name}/poster.png" for name in "abc"]
    for name, poster in zip("abc", posters, strict=True):
        deleted(near, Film(film=name, poster=poster), [poster])
    assert settle(near) == 3
    assert (near.trashed(), waiting(near)) == (posters, [])


def test_a_release_is_of_the_project_of_its_record_if_that_has_one(near: StreamWorld, here: World) -> None:
    deleted(near, Film(film="mine", poster=POSTER), [])
    with here.store.change() as change:
        release_files(change, here.scene, [CLIP])
    assert {released.project_id for released in waiting(near)} == {None, str(PROJECT)}


def test_a_released_file_is_known_as_one_until_it_is_gone(near: StreamWorld) -> None:
    film = Film(film="mine", poster=POSTER)
    near.store.create(film)
    near.put([POSTER])
    found = near.objects.head(POSTER)
    with near.store.change() as change:
        change.delete(film.ref)
        release_files(change, film, [POSTER], seen_at=found.modified_at)
    assert is_released(near.store, found), "the last that was seen goes as well"
    settle(near)
    assert not is_released(near.store, found)


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


def test_many_files_are_announced_in_as_many_lines_as_they_need_and_all_go(
    near: StreamWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ANNOUNCED", 3)
    film, covers = Film(film="mine"), [f"{STREAM}cover/{number}.png" for number in range(3)]
    near.store.create(film)
    folders = [STREAM, "films/other/stream/"]
    near.put([POSTER, *covers, *(f"{folder}0.m4s" for folder in folders)])
    near.clock.advance(timedelta(minutes=5))
    with near.store.change() as change:
        change.delete(film.ref)
        release_files(change, film, [POSTER, *covers, *folders])
    lines = waiting(near)
    assert sorted(key for line in lines for key in line.files) == sorted([POSTER, *covers])
    assert [line.folders for line in lines if line.folders] == [folders]
    assert (len(lines), {line.subject for line in lines}) == (2, {"Film(film=mine)"})
    assert settle(near) == 6
    assert (near.lying(), waiting(near)) == ([], [])


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


def test_a_file_stays_that_a_record_may_need_which_has_come_since_and_cannot_be_read(near: StreamWorld) -> None:
    """Its key tells which record that is, and nobody can tell what it points at."""
    deleted(near, Film(film="mine", poster=POSTER), [POSTER])
    near.store.create(Film(film="mine", poster=POSTER))
    connector: Any = near.store.engine.connector  # type: ignore[attr-defined]
    connector.run(f"update {Film.__shape__.domain}_{Film.__shape__.relation} set more = 'nonsense'", ())
    assert settle(near) == 0
    assert near.lying() == [POSTER]
