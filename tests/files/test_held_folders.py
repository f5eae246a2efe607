"""Whoever holds a folder holds every file in it: what is held stays, and what nobody holds any more goes."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock import Domain, Entity, FrozenClock, IndexKey, ObjectKey, Table, key, open_store
from penstock.errors import InvalidKey
from penstock.files.deletion import is_released, release_files
from penstock.files.references import References
from penstock.files.released_file import Released, ReleasedStatus
from penstock.files.signed_view import UrlSigner
from penstock.files.sweep import Sweep
from penstock.objects import LocalObjects
from penstock.objects.s3 import S3Objects
from penstock.ports.stored_object import ListedObject, ObjectListing
from tests.files.streams import DOMAIN, Cut, Film, State, StreamWorld
from tests.objects.faults import OBJECT_STEPS, Death, Fate, Mortal

DAY = timedelta(days=1)
STREAM = "films/mine/stream/"
HELD = [f"{STREAM}{name}" for name in ("main.m3u8", "low/0.m4s", "low/1.m4s", "high/deep/er/0.m4s")]
BESIDE = ["films/mine/poster.png", "films/mine/stream", "films/mine/stream.png", "films/mine/streams/0.m4s"]
STRANGE = ("a", "a/b", "a b&c=(1) +100%.ts", "été/ñ.ts", "#frag;x", "A/B", "a/B", ".h/.d", "x" * 200, "e\u0301")
HOSTILE = [f"{STREAM}{name}" for name in STRANGE]


def waiting(world: StreamWorld) -> list[Released]:
    return list(world.store.find(Released.by_status(status=ReleasedStatus.WAITING)))


# What is held


def test_what_lies_in_a_held_folder_is_no_orphan_and_what_lies_beside_it_is(streams: StreamWorld) -> None:
    streams.store.create(Film(film="mine", stream=STREAM))
    streams.put([*HELD, *HOSTILE, *BESIDE])
    streams.clock.advance(2 * DAY)
    report = streams.reconciliation.run()
    assert sorted(found.key for found in report.orphans) == sorted(BESIDE)
    assert (report.missing, report.young, report.undecided) == ([], 0, 0)
    assert streams.lying() == sorted([*HELD, *HOSTILE])


def test_a_released_folder_takes_all_that_lay_in_it_and_nothing_beside_it(streams: StreamWorld) -> None:
    film = Film(film="mine", stream=STREAM)
    streams.store.create(film)
    streams.put([*HELD, *HOSTILE, *BESIDE])
    streams.delete(film)
    (released,) = waiting(streams)
    assert (released.files, released.folders) == ([], [STREAM])
    assert streams.lying() == sorted([*HELD, *HOSTILE, *BESIDE]), "the sweep does it, not the request"
    assert streams.sweep().released == len(HELD) + len(HOSTILE)
    assert streams.lying() == sorted(BESIDE)
    assert streams.trashed() == sorted([*HELD, *HOSTILE])
    assert waiting(streams) == []


def test_what_came_after_the_release_is_another_s_and_stays(near: StreamWorld) -> None:
    film = Film(film="mine", stream=STREAM)
    near.store.create(film)
    near.put(HELD[:2])
    near.clock.advance(timedelta(minutes=-10))
    near.delete(film)
    assert near.sweep().released == 0
    assert near.lying() == sorted(HELD[:2])
    near.clock.advance(2 * DAY)
    assert near.sweep().reconciled.discarded == 2, "nobody holds it, so it goes in the end"


@pytest.mark.parametrize(("place", "file"), [(STREAM, HELD[0]), (BESIDE[0], BESIDE[0])], ids=["folder", "file"])
def test_what_came_at_the_very_moment_of_the_release_goes_with_it(near: StreamWorld, place: str, file: str) -> None:
    """It is the last that was seen, when that is what the moment tells."""
    film = Film(film="mine")
    near.store.create(film)
    near.put([file])
    with near.store.change(by="editor") as change:
        change.delete(film.ref)
        release_files(change, film, [place], seen_at=near.objects.head(file).modified_at)
    assert near.sweep().released == 1
    assert near.lying() == []


def test_a_folder_within_a_folder_stays_while_another_record_holds_it(streams: StreamWorld) -> None:
    """Also one that no enumeration finds, by where it lies."""
    film, inner = Film(film="mine", stream=STREAM), f"{STREAM}cuts/1/"
    cut = Cut(movie="mine", cut="1", folder=inner)
    streams.store.put_many([film, cut])
    streams.put([*HELD, f"{inner}0.m4s", f"{inner}deep/1.m4s", f"{STREAM}cuts/10/0.m4s", f"{STREAM}cuts/1.png"])
    streams.delete(film)
    streams.sweep()
    assert streams.lying() == [f"{inner}0.m4s", f"{inner}deep/1.m4s"]
    streams.clock.advance(2 * DAY)
    assert streams.sweep().reconciled.orphans == []
    streams.delete(cut)
    streams.sweep()
    assert streams.lying() == []


def test_a_single_file_in_a_released_folder_stays_while_another_record_points_at_it(near: StreamWorld) -> None:
    film, still = Film(film="mine", stream=STREAM), f"{STREAM}cuts/1/still.png"
    near.store.put_many([film, Cut(movie="mine", cut="1", still=still)])
    near.put([*HELD, still, f"{still}.old"])
    near.delete(film)
    near.sweep()
    assert near.lying() == [still]


def test_a_released_file_stays_while_it_lies_in_a_folder_that_another_record_holds(near: StreamWorld) -> None:
    still = f"{STREAM}cuts/1/still.png"
    cut = Cut(movie="mine", cut="1", still=still)
    near.store.put_many([Film(film="mine", stream=STREAM), cut])
    near.put([still])
    near.delete(cut)
    assert near.sweep().released == 0
    assert near.lying() == [still]


def test_a_folder_that_several_records_hold_stays_until_the_last_is_gone(near: StreamWorld) -> None:
    one, other = Film(film="one", stream="shared/new/s/"), Film(film="other", more=["shared/new/"])
    near.store.put_many([one, other])
    near.put(["shared/new/s/0.m4s", "shared/new/t/0.m4s"])
    near.delete(one)
    near.clock.advance(2 * DAY)
    near.sweep()
    assert near.lying() == ["shared/new/s/0.m4s", "shared/new/t/0.m4s"]
    near.delete(other)
    assert near.sweep().reconciled.discarded == 2
    assert near.lying() == []


def test_a_released_folder_that_a_record_holds_again_stays(near: StreamWorld) -> None:
    film = Film(film="mine", stream=STREAM)
    near.store.create(film)
    near.put(HELD)
    near.delete(film)
    near.store.create(film)
    assert near.sweep().released == 0
    assert (near.lying(), waiting(near)) == (sorted(HELD), [])


def test_what_somebody_might_need_who_cannot_be_read_stays(near: StreamWorld) -> None:
    film = Film(film="mine", stream=STREAM)
    near.store.put_many([film, Cut(movie="mine", cut="1", folder=f"{STREAM}cuts/1/")])
    near.put([*HELD, f"{STREAM}cuts/1/0.m4s"])
    connector: Any = near.store.engine.connector  # type: ignore[attr-defined]
    relation = f"{Cut.__shape__.domain}_{Cut.__shape__.relation}"
    connector.run(f"update {relation} set kind = 'nonsense'", ())
    near.delete(film)
    near.sweep()
    assert f"{STREAM}cuts/1/0.m4s" in near.lying()


class Reissue(Entity, table=Table("Reissues", partition="PK", sort="SK")):
    """Where its files lie does not tell which it is, and its records cannot all be found."""

    name: str
    file: ObjectKey

    @key("REISSUE#{name}", "REISSUE")
    def at(self, *, name: str) -> None: ...


CATALOGUE = Table("Catalogue", partition="PK", sort="SK")


class Listed(Entity, table=CATALOGUE):
    """The same, but all of its records can be found."""

    name: str
    state: State = State.NEW
    file: ObjectKey

    @key("LISTED#{name}", "LISTED")
    def at(self, *, name: str) -> None: ...

    by_state = IndexKey(CATALOGUE.index("all", partition="P1", sort="S1"), "{state}", "{name}")


REISSUES, LISTED = Domain("reissues", Reissue, files=("films/**",)), Domain("listed", Listed, files=("films/**",))


@pytest.mark.parametrize(("domain", "goes"), [(REISSUES, False), (LISTED, True)], ids=["hidden", "listed"])
def test_what_a_record_might_need_that_no_place_tells_does_not_go_with_a_folder(
    near: StreamWorld, domain: Domain, goes: bool
) -> None:
    """Whether one does is known when all records are looked through, if they can be."""
    near.store.ensure(domain)
    film = Film(film="mine", stream=STREAM)
    near.store.put_many([film, domain.entities[0].model_validate({"name": "again", "file": HELD[0]})])
    near.put(HELD)
    near.delete(film)
    sweep = Sweep(near.store, near.objects, [DOMAIN, domain], owner="sweeper")
    swept = sweep.run()
    assert swept is not None
    assert (swept.released, swept.reconciled.restored, near.lying()) == (0, 0, sorted(HELD))
    near.clock.advance(2 * DAY)
    sweep.run()
    assert near.lying() == ([HELD[0]] if goes else sorted(HELD))


def test_a_file_tells_every_record_that_may_hold_a_folder_above_it(near: StreamWorld) -> None:
    near.store.put_many(
        [Film(film="mine", stream=STREAM), Cut(movie="other", cut="1", folder="films/other/stream/cuts/1/")]
    )
    told = References(near.store, [DOMAIN]).told(
        [*HELD, *BESIDE, "films/other/stream/cuts/1/0.m4s", "films/other/stream/cuts/10/0.m4s", "films/other/stream/0"]
    )
    assert told == {*HELD, "films/other/stream/cuts/1/0.m4s"}


# Empty folders, and what comes back


def test_an_empty_folder_misses_nothing(near: StreamWorld) -> None:
    near.store.create(Film(film="mine", stream=STREAM, named={"x": "shared/new/x/"}))
    assert near.reconciliation.run().missing == []


def test_a_deletion_of_a_folder_can_be_undone(streams: StreamWorld) -> None:
    film = Film(film="mine", stream=STREAM)
    hostile = HOSTILE[1:]  # where a/b lay SeaweedFS keeps a folder, and takes it for an object a
    streams.store.create(film)
    streams.put([*HELD, *hostile])
    streams.delete(film)
    streams.sweep()
    assert streams.lying() == []
    streams.store.create(film)
    report = streams.reconciliation.plan()
    assert sorted(missing.key for missing in report.missing) == sorted([*HELD, *hostile])
    assert {missing.record for missing in report.missing} == {"Film(film=mine)"}
    restored = streams.sweep().reconciled.restored
    assert (streams.lying(), streams.trashed()) == (sorted([*HELD, *hostile]), [])
    assert restored == len(HELD) + len(hostile)


def test_what_went_before_a_folder_was_held_again_comes_back_although_the_rest_stayed(near: StreamWorld) -> None:
    film = Film(film="mine", stream=STREAM)
    near.store.create(film)
    near.put(HELD)
    near.delete(film)
    assert near.trash.put(near.objects.head(HELD[0])), "then the sweep died"
    near.store.create(film)
    assert near.sweep().reconciled.restored == 1
    assert near.lying() == sorted(HELD)


def test_a_new_film_in_the_same_folder_does_not_get_the_old_one_s_files(near: StreamWorld) -> None:
    film = Film(film="mine", stream=STREAM)
    near.store.create(film)
    near.put(HELD)
    near.delete(film)
    near.sweep()
    near.store.create(film)
    near.put([f"{STREAM}new.m3u8"])
    report = near.sweep().reconciled
    assert (report.missing, report.restored) == ([], 0)
    assert near.lying() == [f"{STREAM}new.m3u8"]


def test_a_file_that_was_listed_is_not_asked_for_by_itself(near: StreamWorld) -> None:
    """Whether one lies in the trash as well or not: each question is a request, and there may be millions."""
    near.store.create(Film(film="mine", stream=STREAM, poster=BESIDE[0]))
    near.put([*HELD, BESIDE[0]])
    assert near.trash.put(near.objects.head(HELD[0]))
    near.put([HELD[0]])
    fate = Fate()
    near.objects = Mortal(near.objects, fate, "list", "head")
    assert near.reconciliation.plan().missing == []
    assert set(fate.steps) == {"list"}


# In pages, and again after a death


class InSmallPages(Mortal):
    """Objects whose listings come a few at a time."""

    def list(self, prefix: str = "", **more: Any) -> ObjectListing:
        listed: ObjectListing = self._real.list(prefix, **{**more, "limit": 3})
        return listed


def test_a_folder_of_many_pages_goes_whole_while_it_is_listed(streams: StreamWorld) -> None:
    film = Film(film="mine", stream=STREAM)
    streams.store.put_many([film, Cut(movie="mine", cut="1", folder=f"{STREAM}cuts/1/")])
    kept = streams.put(f"{STREAM}cuts/1/{number}" for number in range(7))
    streams.put(f"{STREAM}{number}" for number in range(20))
    streams.delete(film)
    streams.objects = InSmallPages(streams.objects, Fate())
    assert streams.sweep().released == 20
    assert streams.lying() == kept


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_sweep_that_dies_within_a_folder_is_ended_by_the_next(near: StreamWorld, after: bool) -> None:
    real, at, kept = near.objects, 0, f"{STREAM}cuts/1/0.m4s"
    film = Film(film="mine", stream=STREAM)
    near.store.create(Cut(movie="mine", cut="1", folder=f"{STREAM}cuts/1/"))
    while True:
        near.store.put(film)
        near.put([*HELD[:3], kept])
        near.delete(film)
        near.objects = InSmallPages(real, Fate(at, after=after), *OBJECT_STEPS)
        died = False
        try:
            near.sweep()
        except Death:
            died = True
        near.objects = real
        assert kept in near.lying()
        assert {*near.lying(), *near.trashed()} == {*HELD[:3], kept}, "nothing is lost, wherever it died"
        near.clock.advance(timedelta(hours=2))
        near.sweep()
        assert (near.lying(), set(near.trashed()), waiting(near)) == ([kept], set(HELD[:3]), [])
        real.delete(found.key for _, found in list(near.trash.files()))
        if not died:
            break
        at += 1
    assert at >= 6, "every step was one to die at"


@pytest.mark.long
def test_thousands_of_files_go_with_their_folder(streams: StreamWorld) -> None:
    film = Film(film="mine", stream=STREAM)
    streams.store.put_many([film, Cut(movie="mine", cut="1", folder=f"{STREAM}cuts/1/")])
    streams.put(f"{STREAM}{number % 7}/{number}.m4s" for number in range(3000))
    kept = streams.put(f"{STREAM}cuts/1/{number:04d}.m4s" for number in range(1100))
    streams.delete(film)
    assert streams.sweep().released == 3000
    assert streams.lying() == kept


# What others have stored


def test_names_that_are_no_keys_keep_no_folder_from_going(near: StreamWorld) -> None:
    """Other writers put them there; no call of ours reaches them, so they are told of and left alone."""
    real, at = near.objects, near.clock.now()
    strange = [f"{STREAM}{name}" for name in ("", "a//b", "../up", "new\nline", "q?x=1")]

    class WithStrangers(Mortal):
        def list(self, prefix: str = "", **more: Any) -> ObjectListing:
            listed = real.list(prefix, **more)
            more_of_them = [ListedObject(key, 0, "0", at) for key in strange if key.startswith(prefix)]
            return ObjectListing([*more_of_them, *listed.objects], listed.cursor)

    film = Film(film="mine", stream=STREAM)
    near.store.create(film)
    near.put(HELD)
    near.objects = WithStrangers(real, Fate())
    assert near.reconciliation.plan().orphans == []
    near.delete(film)
    assert near.sweep().released == len(HELD)
    assert waiting(near) == [], "what can never go keeps nobody waiting"
    near.clock.advance(2 * DAY)
    assert sorted(found.key for found in near.sweep().reconciled.orphans) == sorted(strange)


def test_the_folder_that_the_console_of_s3_makes_goes_unseen(
    s3: S3Objects, present: FrozenClock, near: StreamWorld
) -> None:
    """It is an empty object whose key is the folder itself."""
    world = StreamWorld(near.store, s3, present)
    s3._client.put_object(Bucket=s3._bucket, Key=f"{s3._prefix}{STREAM}", Body=b"")
    film = Film(film="mine", stream=STREAM)
    world.store.create(film)
    world.put(HELD)
    world.clock.advance(2 * DAY)
    assert world.reconciliation.plan().orphans == []
    world.delete(film)
    assert world.sweep().released == len(HELD)
    assert waiting(world) == []


def test_a_file_too_long_for_the_trash_keeps_no_release_waiting(near: StreamWorld) -> None:
    film, long = Film(film="mine", stream=STREAM), STREAM + "/".join(["x" * 90] * 11)
    near.store.create(film)
    near.put([*HELD, long])
    near.delete(film)
    assert near.sweep().released == len(HELD)
    assert (near.lying(), waiting(near)) == ([long], [])
    near.clock.advance(2 * DAY)
    assert [found.key for found in near.reconciliation.plan().orphans] == [long], "a person decides"


# Other doors


def test_a_file_of_a_released_folder_is_released(near: StreamWorld) -> None:
    film = Film(film="mine", stream=STREAM)
    near.store.create(film)
    near.put([*HELD, *BESIDE])
    assert not is_released(near.store, near.objects.head(HELD[0]))
    near.delete(film)
    assert [is_released(near.store, near.objects.head(key)) for key in (*HELD, *BESIDE)] == [True] * 4 + [False] * 4


def test_a_released_file_that_was_written_anew_is_not_released(near: StreamWorld) -> None:
    """What lies there is another's, though it has the key of what was left."""
    film = Film(film="mine", stream=STREAM)
    near.store.create(film)
    near.put(HELD[:2])
    near.clock.advance(timedelta(minutes=-10))
    near.delete(film)
    assert [is_released(near.store, near.objects.head(key)) for key in HELD[:2]] == [False, False]


def test_a_folder_is_never_signed_as_a_file(streams: StreamWorld) -> None:
    streams.put([HELD[0]])
    with pytest.raises(InvalidKey, match="is a folder"):
        UrlSigner(streams.objects.download_url).url(STREAM)
    with pytest.raises(InvalidKey, match="ends with '/'"):
        streams.objects.download_url(STREAM)
    with pytest.raises(InvalidKey, match="ends with '/'"):
        streams.objects.upload_url(STREAM, size=1, content_type="text/plain")


# Whatever is held stays, whatever is not goes

_films = st.sampled_from(["a", "ab"])
_files = st.builds(
    "{}{}".format,
    st.sampled_from(
        [
            *("films/a/stream/", "films/ab/stream/", "films/a/stream/cuts/a/", "films/a/stream/cuts/ab/"),
            *(
                "films/ab/stream/cuts/a/",
                "films/a/",
                "shared/new/",
                "shared/new/a/",
                "shared/new/ab/",
                "films/a/streams/",
            ),
        ]
    ),
    st.sampled_from(["0.m4s", "a/0.m4s", "still.png", "poster.png", "a"]),
)
_shared = st.sampled_from(["shared/new/", "shared/new/a/", "shared/new/ab/", "shared/new/a/a/"])
_film_records = st.builds(
    lambda film, own, more, poster: Film(
        film=film, stream=f"films/{film}/stream/" if own else None, more=more, poster=poster
    ),
    _films,
    st.booleans(),
    st.lists(_shared, max_size=2),
    st.none() | st.sampled_from(["shared/new/0.m4s", "shared/new/a/0.m4s"]),
)
_cuts = st.builds(
    lambda film, cut, own, still: Cut(
        movie=film,
        cut=cut,
        folder=f"films/{film}/stream/cuts/{cut}/" if own else None,
        still=f"films/{film}/stream/cuts/{cut}/still.png" if still else None,
    ),
    _films,
    _films,
    st.booleans(),
    st.booleans(),
)
_records = st.lists(st.tuples(_film_records | _cuts, st.booleans()), max_size=6, unique_by=lambda r: repr(r[0].ref))


def _is_held(key: str, records: list[Film | Cut]) -> bool:
    """As simply as it can be said."""
    for record in records:
        told = record.model_dump()
        folders = [told.get("stream"), told.get("folder"), *told.get("more", ())]
        if key in (told.get("poster"), told.get("still")) or any(f and key.startswith(f) for f in folders):
            return True
    return False


def _whatever_is_held_stays(
    folder: Path, present: FrozenClock, files: set[str], records: list[tuple[Film | Cut, bool]], death: int
) -> None:
    clock = FrozenClock(present.now())
    world = StreamWorld(open_store(f"sqlite:///{folder}/s.db", clock=clock), LocalObjects(folder / "o"), clock)
    world.store.ensure(DOMAIN)
    staying = [record for record, stays in records if stays]
    world.store.put_many([record for record, _ in records])
    world.put(sorted(files))
    for record, stays in records:
        if not stays:
            world.delete(record)
    mortal = StreamWorld(world.store, Mortal(world.objects, Fate(death), *OBJECT_STEPS), clock)
    held = sorted(key for key in files if _is_held(key, staying))
    for days in (0, 2, 1):
        clock.advance(timedelta(days=days, hours=2))
        with suppress(Death):
            (mortal if days == 0 else world).sweep()
        assert set(held) <= set(world.lying()), "whatever is held stays, all the time"
    assert world.lying() == held, "and whatever is not goes"
    assert set(world.trashed()) == files.difference(held), "where it can be had back"
    world.store.close()


_given = given(st.sets(_files, max_size=8), _records, st.integers(0, 8))
_unhurried = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@_given
@_unhurried
def test_whatever_is_held_stays_and_whatever_is_not_goes(
    tmp_path_factory: pytest.TempPathFactory, present: FrozenClock, files: Any, records: Any, death: int
) -> None:
    _whatever_is_held_stays(tmp_path_factory.mktemp("held"), present, files, records, death)


@pytest.mark.long
@_given
@settings(_unhurried, max_examples=300)
def test_whatever_is_held_stays_at_length(
    tmp_path_factory: pytest.TempPathFactory, present: FrozenClock, files: Any, records: Any, death: int
) -> None:
    _whatever_is_held_stays(tmp_path_factory.mktemp("held"), present, files, records, death)
