"""Patterns of object keys: what they admit, what they tell, and which are refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from types import SimpleNamespace
from typing import Annotated, Any
from unittest.mock import patch
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from penstock import Domain, Entity, Table, key
from penstock.declare.keys_within import keys_within
from penstock.domains import DOMAINS
from penstock.errors import DeclarationError, InvalidKey, PenstockError
from penstock.operations.file_access import check_files, check_pointing
from penstock.schema import object_key as objectkey
from penstock.schema.file_pattern import FilePattern
from penstock.schema.kinds import FieldShape, Kind
from penstock.schema.object_key import HoldsFolder, HoldsKey, ObjectFolder, ObjectKey, validate_s3_key

FIELDS = {
    "project_id": FieldShape("project_id", "project_id", "project_id", Kind.IDENTIFIER, python=UUID),
    "sequence": FieldShape("sequence", "sequence", "sequence", Kind.INTEGER, python=int),
    "name": FieldShape("name", "name", "name", Kind.TEXT),
    "size": FieldShape("size", "size", "size", Kind.FLOAT, python=float),
}
ID = UUID("550e8400-e29b-41d4-a716-446655440000")


def read(pattern: str, key: str) -> dict[str, Any] | None:
    return FilePattern(pattern).read(key, FIELDS)


@pytest.mark.parametrize(
    ("pattern", "key", "told"),
    [
        ("a/{project_id}/b.png", f"a/{ID}/b.png", {"project_id": ID}),
        ("a/{project_id}/s_{sequence:03d}.mp4", f"a/{ID}/s_007.mp4", {"project_id": ID, "sequence": 7}),
        ("a/{sequence:03d}", "a/1234", {"sequence": 1234}),
        ("a/{name}/{name}.png", "a/x/x.png", {"name": "x"}),
        ("a/*.png", "a/x y.png", {}),
        ("a/{name}/**", "a/x/y/z", {"name": "x"}),
        ("**/{name}.wav", "any/where/x.wav", {"name": "x"}),
    ],
)
def test_a_key_of_a_pattern_tells_its_values(pattern: str, key: str, told: dict[str, Any]) -> None:
    assert read(pattern, key) == told


@pytest.mark.parametrize(
    ("pattern", "key"),
    [
        ("a/{project_id}/b.png", f"a/{ID}/c.png"),
        ("a/{project_id}/b.png", f"a/{str(ID).upper()}/b.png"),
        ("a/{project_id}/b.png", f"a/{ID.hex}/b.png"),
        ("a/{project_id}/b.png", "a/no-id/b.png"),
        ("a/{project_id}/b.png", f"x/a/{ID}/b.png"),
        ("a/{project_id}/b.png", f"a/{ID}/b.png/more"),
        ("a/{project_id}/b.png", f"a/{ID}/b.png\n"),
        ("a/{project_id}/b.png", f"a/{ID}/bxpng"),
        ("a/{sequence:03d}", "a/7"),
        ("a/{sequence:03d}", "a/0007"),
        ("a/{sequence:03d}", "a/٠٠٧"),
        ("a/{sequence:03d}", "a/+07"),
        ("a/{name}/{name}.png", "a/x/y.png"),
        ("a/{name}/c", "a/x/y/c"),
        ("a/*.png", "a/x/y.png"),
        ("a/*.png", "a/.png"),
        ("a/**", "a/"),
    ],
)
def test_another_key_is_not_of_the_pattern(pattern: str, key: str) -> None:
    assert read(pattern, key) is None


@given(st.uuids(), st.integers(0, 10**6), st.from_regex(r"[^/{}]{1,20}", fullmatch=True))
def test_what_is_written_by_a_pattern_is_read_by_it(project: UUID, sequence: int, name: str) -> None:
    key = f"a/{project}/{sequence:03d}/{name}.png"
    told = read("a/{project_id}/{sequence:03d}/{name}.png", key)
    assert told == {"project_id": project, "sequence": sequence, "name": name}


@given(st.uuids(), st.uuids(), st.text())
def test_no_key_is_of_two_projects(one: UUID, other: UUID, rest: str) -> None:
    told = read("a/{project_id}/**", f"a/{one}/{rest}")
    assert told is None or (told["project_id"] == other) == (one == other)


@pytest.mark.parametrize(
    ("pattern", "prefix"),
    [("a/b/{name}/c", "a/b"), ("a/b-{name}", "a"), ("a/b/*.png", "a/b"), ("**/x", ""), ("{name}/x", ""), ("a/b", "a")],
)
def test_a_pattern_owns_the_folders_it_begins_with(pattern: str, prefix: str) -> None:
    assert FilePattern(pattern).prefix == prefix


@pytest.mark.parametrize(
    "pattern", ["a/{project id}", "a/{}", "a/{name", "a/{sequence:3d}", "a/{name}{sequence:03d}", "a/{name}*"]
)
def test_what_cannot_be_read_is_refused(pattern: str) -> None:
    with pytest.raises(DeclarationError):
        FilePattern(pattern)


@pytest.mark.parametrize("pattern", ["a/{size}", "a/{sequence}", "a/{name:03d}"])
def test_a_field_that_has_no_place_in_a_key_is_refused(pattern: str) -> None:
    with pytest.raises(DeclarationError, match="in the file pattern"):
        FilePattern(pattern).check("Scene", FIELDS)


# Folders


@pytest.mark.parametrize(
    ("pattern", "folder", "told"),
    [
        ("a/{project_id}/stream/", f"a/{ID}/stream/", {"project_id": ID}),
        ("a/{project_id}/s_{sequence:03d}/", f"a/{ID}/s_007/", {"project_id": ID, "sequence": 7}),
        ("a/{name}/*/", "a/x/any/", {"name": "x"}),
        ("a/{name}/**/", "a/x/any/where/", {"name": "x"}),
        ("a/{name}/**", "a/x/", {"name": "x"}),
        ("a/{name}/**", "a/x/y/z/", {"name": "x"}),
        ("a/{name}/b**", "a/x/by/", {"name": "x"}),
        ("**", "any/where/", {}),
    ],
)
def test_a_folder_of_a_pattern_tells_its_values(pattern: str, folder: str, told: dict[str, Any]) -> None:
    assert FilePattern(pattern).read_folder(folder, FIELDS) == told


@pytest.mark.parametrize(
    ("pattern", "folder"),
    [
        ("a/{name}/stream/", "a/x/"),
        ("a/{name}/stream/", "a/x/stream/more/"),
        ("a/{name}/stream/", "a/x/streams/"),
        ("a/{name}/stream/", "a/x/stream"),
        ("a/{name}/*/", "a/x/y/z/"),
        ("a/{name}/**", "a/"),
        ("a/{name}/**", "a/x"),
        ("a/{name}/b**", "a/x/b/"),
        ("a/{name}/*", "a/x/"),
        ("a/{name}/*.png", "a/x/"),
        ("a/{name}/**/b", "a/x/y/"),
        ("a/{project_id}/", f"a/{str(ID).upper()}/"),
    ],
)
def test_a_folder_whose_files_are_not_all_of_the_pattern_is_not_either(pattern: str, folder: str) -> None:
    """Of a/x/b/ not every file is one of a/{name}/b**: none may be called b/ and nothing more."""
    assert FilePattern(pattern).read_folder(folder, FIELDS) is None


@given(st.text("ab/.x", max_size=8), st.text("ab/.x", min_size=1, max_size=8))
def test_every_file_of_an_admitted_folder_is_admitted_and_tells_the_same(folder: str, file: str) -> None:
    for pattern in ("a/{name}/**", "a/{name}/b**", "**", "a/**"):
        told = FilePattern(pattern).read_folder(f"a/{folder}/", FIELDS)
        assert told is None or FilePattern(pattern).read(f"a/{folder}/{file}", FIELDS) == told


def test_a_pattern_of_folders_admits_no_file() -> None:
    assert read("a/{name}/", "a/x/") is None
    assert read("a/{name}/", "a/x/y") is None


# Which fields hold keys


class Inner(BaseModel):
    picture: ObjectKey | None = None
    more: list[Inner] = []


@pytest.mark.parametrize(
    ("annotation", "value", "keys"),
    [
        (ObjectKey, "a", ["a"]),
        (ObjectKey | None, "a", ["a"]),
        (list[ObjectKey], ["a", "b"], ["a", "b"]),
        (list[ObjectKey] | None, ["a"], ["a"]),
        (dict[str, ObjectKey], {"x": "a"}, ["a"]),
        (dict[str, list[ObjectKey]], {"x": ["a", "b"], "y": []}, ["a", "b"]),
        (tuple[ObjectKey, ...], ("a",), ["a"]),
        (frozenset[ObjectKey], frozenset("a"), ["a"]),
        (Annotated[ObjectKey, Field(max_length=9)], "a", ["a"]),
        (Annotated[str, HoldsKey(lambda value: value.removeprefix("s3://b/"))], "s3://b/a", ["a"]),
        (Inner, Inner(picture="a"), ["a"]),
        (Inner, {"picture": "a"}, ["a"]),
        (list[Inner], [Inner(), Inner(picture="a")], ["a"]),
    ],
)
def test_keys_are_found_wherever_a_type_says_they_are(annotation: Any, value: Any, keys: list[str]) -> None:
    found = keys_within(annotation)
    assert found is not None
    assert list(found(value)) == keys


class Film(BaseModel):
    poster: ObjectKey
    stream: ObjectFolder


@pytest.mark.parametrize(
    ("annotation", "value", "keys", "folders"),
    [
        (ObjectFolder, "a/", None, ["a/"]),
        (list[ObjectFolder] | None, ["a/", "b/"], None, ["a/", "b/"]),
        (dict[str, ObjectFolder], {"x": "a/"}, None, ["a/"]),
        (list[ObjectKey | ObjectFolder], ["a", "b/"], ["a"], ["b/"]),
        (ObjectFolder | ObjectKey | None, "a/", [], ["a/"]),
        (Film, {"poster": "p", "stream": "s/"}, ["p"], ["s/"]),
        (Film | ObjectFolder, "s/", [], ["s/"]),
        (Film | Inner, Inner(picture="a"), ["a"], []),
        (list[ObjectKey] | ObjectKey, "a", ["a"], None),
        (Annotated[list[ObjectKey] | ObjectKey, Field()] | int, ["a"], ["a"], None),
        (ObjectKey | int, 7, [], None),
        (Annotated[str, HoldsFolder(lambda value: value.removeprefix("s3://b/"))], "s3://b/a/", None, ["a/"]),
    ],
)
def test_files_and_folders_are_told_apart_wherever_a_type_says_they_are(
    annotation: Any, value: Any, keys: list[str] | None, folders: list[str] | None
) -> None:
    for wanted, found in ((keys, keys_within(annotation)), (folders, keys_within(annotation, marked=HoldsFolder))):
        assert (None if found is None else list(found(value))) == wanted


@pytest.mark.parametrize("annotation", [str, list[str], dict[ObjectKey, str], int | None, BaseModel])
def test_other_types_hold_none(annotation: Any) -> None:
    assert keys_within(annotation) is None


def test_every_key_of_the_documents_is_known_for_one() -> None:
    """MV-45: each attribute that the documents call *S3Key(s), and the others that hold keys."""
    holding = {
        f"{shape.label}.{field.attribute}"
        for domain in DOMAINS
        for shape in domain.shapes
        for field in shape.file_fields
    }
    assert holding == {
        *(
            f"musicvideo.Project.{n}S3Key"
            for n in ("characterImage", "productImage", "audioBackingTrack", "finalOutput", "finalThumbnail")
        ),
        *(f"musicvideo.Scene.{n}S3Key" for n in ("audioClip", "videoClip", "lipSyncedVideoClip")),
        *(f"musicvideo.Scene.{n}S3Key" for n in ("workingVideoClip", "thumbnail", "incoming")),
        "musicvideo.CharacterReference.imageS3Key",
        *("musicvideo.Scene.referenceImageS3Keys", "speech.TempAudio.s3_key"),
        *(f"videos.Video.{n}S3Key" for n in ("thumbnail", "source", "stream", "scrub", "scrubTrack")),
        "videos.Video.resolutions",
        *("novae.Dataset.artifacts", "novae.Dataset.raw_key", "novae.FileObject.s3_key", "novae.Contribution.s3_key"),
        *(f"novae.DatasetVerdict.{n}" for n in ("artifacts", "raw_key", "evidence")),
        *("novae.NovaBundle.bundle_key", "novae.NovaBundle.manifest_key"),
        *("assetcreator.Step.artifacts", "assetcreator.AssetVersion.files", "assetcreator.AssetVersion.cdn_url"),
        "assetcreator.ReferencePicture.picture",
    }


# A quick look at the usual is enough, and says the same as a close one


class Folder(Entity, table=Table("Folders", partition="PK", sort="SK")):
    project: str
    number: int
    label: str | None = None
    owner: UUID | None = None
    file: ObjectKey

    @key("FOLDER#{project}", "{number:03d}")
    def at(self, *, project: str, number: int) -> None: ...


FOLDERS = Domain(
    "folders",
    Folder,
    files=(
        *("f/{project}/it", "f/{project}/{number:03d}.png", "f/{project}/{label}.x", "any/**"),
        *("f/{project}_{label}.y", "g/{project}:z", "h/%2{label}", "i/{owner}"),
    ),
)
_names = st.text("ab/.-_%é\n", min_size=0, max_size=6)
_files = st.one_of(
    st.builds("f/{}/it".format, _names),
    st.builds("f/{}/{:03d}.png".format, _names, st.integers(0, 1001)),
    st.builds("f/{}/{}.x".format, _names, _names),
    st.builds("any/{}".format, _names),
    st.builds("f/{}_{}.y".format, _names, _names),
    st.builds("g/{}:z".format, _names | st.just("data")),
    st.builds("h/%2{}".format, _names | st.just("e")),
    st.builds("i/{}".format, _names | st.just(ID)),
)


def _refusal(check: Callable[[], object]) -> str | None:
    try:
        check()
    except PenstockError as error:
        return str(error)
    return None


@given(_names, st.integers(0, 1001), st.none() | _names, st.none() | st.just(ID), _files)
@example("a/b", 1, None, None, "f/a/b/it")
@example("a", 1, "..", None, "f/a/...x")
@example("a", 1, "b", None, "f/a/b.x")
@example("a_b", 1, "a", None, "f/a_b_a.y")
@example("a", 1, "b_a", None, "f/a_b_a.y")
@example("a", 1, "e", None, "h/%2e")
@example("a", 1, "b", ID, f"i/{ID}")
@example("a", 1, "b", None, f"i/{ID}")
def test_a_record_may_point_where_a_pattern_lets_it_whichever_way_that_is_found(
    project: str, number: int, label: str | None, owner: UUID | None, file: str
) -> None:
    values = {"project": project, "number": number, "label": label, "owner": owner, "file": file}
    closely = _refusal(lambda: check_pointing(Folder.__shape__, values, file))
    assert _refusal(lambda: check_files(Folder.__shape__, values)) == closely
    if file == f"i/{owner}":
        assert closely is None


@given(
    st.text("ab0./:_-%?&\\ é\x00", max_size=12) | st.sampled_from(["a" * 1024, "a" * 1025, "arn:a", "S3:b", "data:c"])
)
def test_a_plain_key_is_one_that_every_check_lets_pass(key: str) -> None:
    def refusal() -> str | None:
        try:
            validate_s3_key(key)
        except ValueError as error:
            return str(error)
        return None

    quickly = refusal()
    with patch.object(objectkey, "_PLAIN", re.compile(r"(?!)")):
        assert refusal() == quickly


# Which patterns a domain may declare

TABLE = Table("Pictures", partition="PK", sort="SK")


class Picture(Entity, table=TABLE):
    name: str
    file: ObjectKey

    @key("PICTURE#{name}", "PICTURE")
    def at(self, *, name: str) -> None: ...


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        (["a/{project_id}/b"], "names a field it does not have"),
        (["a/{name}", "b/{project_id}"], "no entity can use"),
        (["uploads/{name}"], "kernel keeps objects of its own"),
        (["trash/{name}"], "kernel keeps objects of its own"),
        (["archive/{name}"], "kernel keeps objects of its own"),
        (["a/{file}"], None),
        (["a/{name:03d}"], "in the file pattern"),
    ],
)
def test_a_pattern_that_serves_nobody_is_refused(files: list[str], problem: str | None) -> None:
    if problem is None:
        Domain("pictures", Picture, files=files)
        return
    with pytest.raises(DeclarationError, match=problem):
        Domain("pictures", Picture, files=files)


class Stream(Entity, table=Table("Streams", partition="PK", sort="SK")):
    name: str
    parts: ObjectFolder

    @key("STREAM#{name}", "STREAM")
    def at(self, *, name: str) -> None: ...


@pytest.mark.parametrize(
    ("entity", "files", "problem"),
    [
        (Stream, ["s/{name}/"], None),
        (Stream, ["s/{name}/**"], None),
        (Stream, ["s/{name}/*"], "Stream holds folders, but no file pattern .* end a pattern in / or"),
        (Stream, ["s/{name}/", "t/{name}.png"], "no entity can use the file pattern t/{name}.png"),
        (Stream, ["trash/{name}/"], "kernel keeps objects of its own"),
        (Picture, ["s/{name}/"], "holds object keys, but"),
        (Picture, ["s/{name}/", "t/{name}.png"], "no entity can use the file pattern s/{name}/"),
    ],
)
def test_a_pattern_of_folders_serves_who_holds_folders(entity: Any, files: list[str], problem: str | None) -> None:
    if problem is None:
        Domain("pictures", entity, files=files)
        return
    with pytest.raises(DeclarationError, match=problem):
        Domain("pictures", entity, files=files)


# Making keys


def placed(pattern: FilePattern) -> FilePattern:
    """A pattern of a domain whose records have these fields."""
    pattern.check("Scene", {"day": DAY, "project_id": PROJECT, "sequence": SEQUENCE})
    return pattern


DAY = FieldShape("day", "day", "day", Kind.DAY)
PROJECT = FieldShape("project_id", "projectId", "project_id", Kind.TEXT)
SEQUENCE = FieldShape("sequence", "sequence", "sequence", Kind.INTEGER, python=int)
CLIP = placed(FilePattern("mv/{project_id}/scene_{sequence:03d}.mp4"))
ANY = placed(FilePattern("**/{day}/{sequence:02d}/*.mp4"))


def test_a_pattern_makes_the_keys_that_it_admits() -> None:
    key = CLIP.key(project_id="p1", sequence=7)
    assert key == "mv/p1/scene_007.mp4"
    assert CLIP.read(key, {"project_id": PROJECT, "sequence": SEQUENCE}) == {"project_id": "p1", "sequence": 7}


def test_a_pattern_of_folders_makes_folders() -> None:
    stream = placed(FilePattern("mv/{project_id}/*/"))
    assert stream.key("hls", project_id="p1") == "mv/p1/hls/"
    with pytest.raises(InvalidKey):
        stream.key("hls/more", project_id="p1")


def test_what_is_free_in_a_pattern_is_said_in_its_order() -> None:
    assert ANY.key("a/b", "cut", day=date(2025, 11, 17), sequence=3) == "a/b/2025-11-17/03/cut.mp4"


def test_a_key_is_made_of_a_records_own_values() -> None:
    scene = SimpleNamespace(project_id="p1", sequence=7, prompt="rain")
    assert CLIP.key_of(scene) == CLIP.key(project_id="p1", sequence=7)


@pytest.mark.parametrize(
    ("pattern", "free", "fields", "words"),
    [
        (CLIP, (), {"project_id": "p1"}, "sequence is missing"),
        (CLIP, (), {"project_id": "p1", "sequence": 1, "day": 2}, "day is no part of it"),
        (CLIP, (), {"project_id": "p1", "sequence": "1"}, "sequence = '1' is no int"),
        (CLIP, (), {"project_id": "p1/p2", "sequence": 1}, "'mv/p1/p2/scene_001.mp4' is none of it"),
        (CLIP, (), {"project_id": "..", "sequence": 1}, "contains '..'"),
        (CLIP, (), {"project_id": "", "sequence": 1}, "contains '//'"),
        (CLIP, ("more",), {"project_id": "p1", "sequence": 1}, "0 parts of it are free, not 1"),
        (ANY, ("a",), {"day": date(2025, 1, 1), "sequence": 1}, "2 parts of it are free, not 1"),
        (ANY, ("a", "b/c"), {"day": date(2025, 1, 1), "sequence": 1}, "is none of it"),
    ],
)
def test_a_key_that_the_pattern_would_not_admit_is_not_made(
    pattern: FilePattern, free: tuple[str, ...], fields: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidKey, match=re.escape(words)):
        pattern.key(*free, **fields)


def test_a_pattern_of_no_domain_makes_no_keys() -> None:
    with pytest.raises(DeclarationError, match="give it to a Domain"):
        FilePattern("mv/{project_id}/a.mp4").key(project_id="p1")
