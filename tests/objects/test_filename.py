"""Every key has one path and every path one key, and no path leaves its folder."""

from __future__ import annotations

import os
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from penstock.errors import InvalidKey, NotFound, told
from penstock.files.object_reads import every
from penstock.objects import LocalObjects
from penstock.objects.filename import BREAK, part_of, path_of
from penstock.schema.object_key import validate_s3_key

# What attackers and file systems are fond of.
HARMLESS = [
    *(
        "．．",
        "／",
        "․․",
        "…",
        "\u202e",
        "\ufeff",
        "é",
        "e\u0301",
        "ﬁ",
        "K",
        "İ",
        "ß",
        "con",
        "nul",
        "aux.txt",
        "a:b",
        "~",
    ),
    *(
        "lock",
        "objects",
        "parts",
        "unfinished",
        "key",
        "A",
        "a",
        "a.",
        ".a",
        "+",
        ",",
        " ",
        "-",
        "%",
        "%4",
        "$HOME",
        "😀",
    ),
    *("x" * 199, "x" * 200, "x" * 201, "é" * 100),
]
HARMFUL = ["..", ".", "...", "//", "\\", "%2e%2e", "%2F", "%5c", "%00", "\0", "\n", "?", "s3://", "https:"]
CHARACTERS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)


def keys_of(*tokens: str) -> st.SearchStrategy[str]:
    """Texts with slashes, made of these tokens and of anything."""
    part = st.lists(st.sampled_from(tokens) | CHARACTERS, min_size=1, max_size=3).map(
        lambda some: "".join(some).strip("/")
    )
    return (
        st.lists(part.filter(bool), min_size=1, max_size=4).map("/".join).filter(lambda key: len(key.encode()) <= 1024)
    )


def is_key(text: str) -> bool:
    try:
        validate_s3_key(text)
    except ValueError:
        return False
    return True


KEYS = keys_of(*HARMLESS).filter(is_key)
ATTACKS = keys_of(*HARMLESS, *HARMFUL)


def key_of(path: tuple[str, ...]) -> str:
    """The key that the names of a path stand for."""
    parts: list[str] = []
    pieces: list[str] = []
    for at, name in enumerate(path):
        pieces.append(name)
        if not name.endswith(BREAK):
            part = part_of(pieces, folder=at < len(path) - 1)
            assert part is not None
            parts.append(part)
            pieces = []
    return "/".join(parts)


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("mv/projects/7/scenes/scene_001.mp4", "mv/projects/7/scenes/scene_001.mp4"),
        ("README", "%52%45%41%44%4d%45+"),
        ("voix/été.wav", "voix/%c3%a9t%c3%a9.wav"),
        ("v1.2/model.glb", "v1.2+/model.glb"),
        ("a", "a+"),
        ("a/b", "a/b+"),
        (".hidden", "%2ehidden+"),
        ("a.", "a%2e+"),
        ("a+", "a%2b+"),
    ],
)
def test_paths_are_readable_where_they_can_be(key: str, path: str) -> None:
    assert "/".join(path_of(key)) == path


def test_a_long_name_goes_on_in_the_next_folder() -> None:
    path = path_of("x" * 450)
    assert path == ("x" * 200 + ",", "," + "x" * 200 + ",", "," + "x" * 50 + "+")
    assert key_of(path) == "x" * 450


@given(ATTACKS)
@example("../../etc/passwd")
@example("x" * 199 + "/..")
@example("a" * 200 + "..")
@example("." * 1024)
@settings(max_examples=150)
def test_a_path_stays_inside_and_tells_its_key(text: str) -> None:
    """Whatever passes the check of keys, and even what does not."""
    assume(all(text.split("/")))
    path = path_of(text)
    for name in path:
        assert name not in ("", ".", "..")
        assert not name.startswith(".")
        assert name.isascii()
        assert not {"/", "\0", "\\"} & set(name)
        assert name == name.lower() == unicodedata.normalize("NFKD", name).casefold(), "one file on any file system"
        assert len(name) <= 255
    assert len("/".join(path)) < 3300, "a path has room on any system"
    assert key_of(path) == text


@given(KEYS, KEYS)
@example("a", "A")
@example("é", "e\u0301")
@example("x" * 200, "x" * 201)
@example("a+", "a")
@settings(max_examples=60)
def test_two_keys_never_share_a_path(one: str, other: str) -> None:
    assume(one != other)
    first, second = path_of(one), path_of(other)
    assert first != second
    shorter = min(len(first), len(second))
    assert first[:shorter] != second[:shorter], "a file is never where a folder must be"


@pytest.mark.parametrize(
    "name", ["", "A+", "a", "%41", "%4", "%c3+", "a++", ".a", "a.b+", "é+", ",a+", "a,", "..", "a b+"]
)
def test_a_name_that_no_key_has_stands_for_nothing(name: str) -> None:
    assert part_of([name], folder=False) is None


@given(st.lists(KEYS.filter(is_key), min_size=1, max_size=6, unique=True))
@settings(max_examples=20, deadline=None)
def test_objects_with_strange_keys_lie_inside_and_are_listed(
    tmp_path_factory: pytest.TempPathFactory, keys: list[str]
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    root = outside / "root"
    objects = LocalObjects(root)
    for key in keys:
        objects.put(key, key.encode())
    assert {found.key for found in every(objects)} == set(keys)
    assert all(objects.get(key).read() == key.encode() for key in keys)
    assert [entry.name for entry in outside.iterdir()] == ["root"]
    files = [path for path in (root / "objects").rglob("*") if path.is_file()]
    assert len(files) == len(keys)
    objects.delete(keys)
    assert list((root / "objects").iterdir()) == [], "empty folders go as well"


@given(text=ATTACKS)
@settings(max_examples=40, deadline=None)
def test_nothing_is_written_by_what_is_no_key(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    assume(not is_key(text))
    root = tmp_path_factory.getbasetemp() / "never made"
    objects = LocalObjects(root)
    for use in (lambda: objects.put(text, b""), lambda: objects.get(text), lambda: objects.delete([text])):
        with pytest.raises(InvalidKey):
            use()
    assert not root.exists()


# Links


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A folder outside, with something in it that nobody may see or lose."""
    folder = tmp_path / "secret"
    folder.mkdir()
    (folder / "b.txt").write_bytes(b"secret")
    return folder


def test_a_link_to_a_folder_outside_is_not_followed(tmp_path: Path, secret: Path) -> None:
    objects = LocalObjects(tmp_path / "root")
    objects.put("x.txt", b"")
    (tmp_path / "root" / "objects" / "a").symlink_to(secret)
    found = objects.head("x.txt")
    for use in (
        lambda: objects.put("a/b.txt", b"changed"),
        lambda: objects.put("a/new.txt", b"new"),
        lambda: objects.get("a/b.txt"),
        lambda: objects.head("a/b.txt"),
        lambda: objects.copy("a/b.txt", "c.txt"),
        lambda: objects.copy("x.txt", "a/b.txt"),
        lambda: objects.delete(["a/b.txt"]),
        lambda: objects.delete_unchanged(replace(found, key="a/b.txt")),
    ):
        with pytest.raises(InvalidKey, match="is a link") as refused:
            use()
        assert str(tmp_path) not in told(refused.value), "where files lie is nothing for strangers"
    assert [found.key for found in every(objects)] == ["x.txt"]
    assert [(p.name, p.read_bytes()) for p in secret.iterdir()] == [("b.txt", b"secret")]


def test_a_link_to_a_file_outside_is_not_followed(tmp_path: Path, secret: Path) -> None:
    objects = LocalObjects(tmp_path / "root")
    objects.put("x.txt", b"")
    (tmp_path / "root" / "objects" / "a.txt").symlink_to(secret / "b.txt")
    for use in (lambda: objects.get("a.txt"), lambda: objects.head("a.txt")):
        with pytest.raises(InvalidKey, match="is a link"):
            use()
    assert [found.key for found in every(objects)] == ["x.txt"]
    objects.put("a.txt", b"mine")  # takes the place of the link, not of what it leads to
    assert objects.get("a.txt").read() == b"mine"
    assert (secret / "b.txt").read_bytes() == b"secret"


@pytest.mark.parametrize("name", ["objects", "unfinished", "parts"])
def test_a_link_in_place_of_our_own_folders_is_not_followed(tmp_path: Path, secret: Path, name: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / name).symlink_to(secret)
    objects = LocalObjects(root)
    with pytest.raises(InvalidKey, match="is a link"):
        objects.begin_parts("a", content_type="audio/wav") if name == "parts" else objects.put("b.txt", b"changed")
    assert [(p.name, p.read_bytes()) for p in secret.iterdir()] == [("b.txt", b"secret")]


def test_what_is_no_plain_file_is_no_object(tmp_path: Path) -> None:
    objects = LocalObjects(tmp_path)
    objects.put("x.txt", b"")
    os.mkfifo(tmp_path / "objects" / "pipe.txt")
    (tmp_path / "objects" / "Foreign File.TXT").write_bytes(b"")
    with pytest.raises(NotFound):
        objects.get("pipe.txt")  # and it does not wait for somebody to write
    (tmp_path / "objects" / "pipe.txt").unlink()
    assert [found.key for found in every(objects)] == ["x.txt"]
