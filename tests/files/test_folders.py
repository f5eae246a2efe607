"""A record holds a folder: it points there only where it may, and whichever way it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock import Store, the
from penstock.errors import ForeignFile, InvalidValue
from penstock.operations.file_access import files_of, folders_of, own_files
from tests.files.streams import CUT, DOMAIN, STREAM, Cut, Film

MINE = STREAM.text.replace("{film}", "mine")


def test_a_record_holds_folders_wherever_it_may_hold_keys(store: Store) -> None:
    store.ensure(DOMAIN)
    film = Film(
        film="mine",
        stream=MINE,
        more=[MINE, "shared/new/"],
        named={"low": "shared/new/low/"},
        poster="shared/new/a.png",
    )
    store.put(film)
    found = store.get(film.ref)
    assert found == film
    assert folders_of(Film.__shape__, found.__dict__) == [MINE, MINE, "shared/new/", "shared/new/low/"]
    assert files_of(Film.__shape__, found.__dict__) == ["shared/new/a.png"]
    assert list(own_files(Film.__shape__, found.__dict__)) == [MINE], "what lies elsewhere is others' as well"
    store.patch(film.ref, the(Film.stream).remove(), the(Film.more).set(["shared/new/b/"]))
    assert folders_of(Film.__shape__, store.get(film.ref).__dict__) == ["shared/new/b/", "shared/new/low/"]


WRONG = {
    "another film's": "films/other/stream/",
    "more than mine": "films/mine/",
    "almost mine": "films/mine/streams/",
    "within mine": "films/mine/stream/more/",
    "a pattern of files": "films/mine/stream/cover/",
    "outside": "private/",
    "a bit more than shared": "shared/newer/",
    "in capitals": MINE.upper(),
}


def test_no_write_points_a_record_at_another_folder(store: Store) -> None:
    store.ensure(DOMAIN)
    mine = Film(film="mine")
    store.create(mine)
    for whose, folder in WRONG.items():
        for write in writes_of(store, folder):
            with pytest.raises(ForeignFile, match="may not point at"):
                write()
            assert store.get(mine.ref) == mine, whose


def writes_of(store: Store, folder: str) -> list[Callable[[], Any]]:
    """Every way to write a folder into a record."""
    ref, wrong = Film.at(film="mine"), Film(film="mine", stream=folder)
    return [
        lambda: store.create(wrong),
        lambda: store.put(wrong),
        lambda: store.put_many([wrong]),
        lambda: store.put(Film(film="mine", named={"x": folder})),
        lambda: store.patch(ref, the(Film.stream).set(folder)),
        lambda: store.patch(ref, the(Film.stream).set_if_absent(folder)),
        lambda: store.patch(ref, the(Film.more).append(folder)),
        lambda: save(store, folder),
    ]


def save(store: Store, folder: str) -> None:
    with store.change(by="editor") as change:
        found = change.get(Film.at(film="mine"))
        found.stream = folder
        change.save(found)


@pytest.mark.parametrize("folder", ["uploads/", "trash/", "archive/x/"])
def test_no_record_holds_what_the_kernel_keeps(folder: str, anywhere: Store) -> None:
    with pytest.raises(ForeignFile, match="kernel keeps objects of its own"):
        anywhere.put(Film(film="mine", stream=folder))


def test_a_folder_in_place_of_a_file_is_refused_also_past_the_checks_of_its_field(anywhere: Store) -> None:
    """A list can be changed in place; nobody comes to hold a folder that way, nor a file as if it were one."""
    film = Film(film="mine", more=["shared/new/"])
    film.more.append("shared/new/a.png")
    with pytest.raises(InvalidValue, match="does not end with '/'"):
        anywhere.put(film)
    film = Film(film="mine")
    film.__dict__["poster"] = "shared/new/"
    with pytest.raises(InvalidValue, match="ends with '/'"):
        anywhere.put(film)


def test_a_cut_holds_a_folder_within_that_of_its_film(anywhere: Store) -> None:
    cut = Cut(movie="mine", cut="1", folder="films/mine/stream/cuts/1/", still="films/mine/stream/cuts/1/still.png")
    anywhere.put(cut)
    assert list(own_files(Cut.__shape__, cut.__dict__)) == [cut.still, cut.folder]
    assert CUT.key_of(cut) == cut.folder
