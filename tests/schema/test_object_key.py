"""Object keys are keys, never URLs."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from penstock.schema.object_key import ObjectFolder, ObjectKey, folders_above, validate_folder, validate_s3_key


@pytest.mark.parametrize(
    "key",
    [
        "mv/projects/123/file.png",
        "temp-audio/2025-12-08/550e8400-e29b-41d4-a716-446655440000.wav",
        "a",
        "voix/été & automne (1).wav",
        "takes/12:30.png",
        ".hidden/100%.png",
        "v1.2/trailing.",
        "é" * 512,
    ],
)
def test_a_plain_key_is_returned_unchanged(key: str) -> None:
    """MV-46: validate returns the key it was given."""
    assert validate_s3_key(key) == key


def test_none_passes() -> None:
    """MV-49: no key is not a wrong key."""
    assert validate_s3_key(None) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://bucket.s3.amazonaws.com/file.png",
        "https://bucket.s3.amazonaws.com/file.png",
        "https://bucket.s3.amazonaws.com/file.png?X-Amz-Signature=abc",
        "s3://bucket/file.png",
        "HTTPS://bucket/file.png",
        "S3://bucket/file.png",
        "ftp://host/file.png",
        "gs://bucket/file.png",
        "//host/file.png",
        "data:image/png;base64,AAAA",
        "file:///etc/passwd",
        "https:/bucket/file.png",
        "HTTP:bucket/file.png",
        "c:/windows/file.png",
    ],
)
def test_a_url_is_refused_in_the_documents_words(url: str) -> None:
    """MV-47, F-MV-6: any scheme, in any case, also none before the slashes."""
    with pytest.raises(ValueError) as refusal:
        validate_s3_key(url)
    assert str(refusal.value) == "S3 key must be an S3 key, not a URL"


@pytest.mark.parametrize(
    "key",
    [
        "mv/projects/123/file.png?X-Amz-Signature=abc123",
        "mv/projects/123/file.png?versionId=1&x-amz-signature=abc123",
        "file.png?Expires=1&Signature=a&Key-Pair-Id=b",
        "file.png?GoogleAccessId=a&Expires=1",
        "file.png?X-Goog-Signature=a",
        "file.png?sv=2024&sig=a",
    ],
)
def test_a_presigned_url_is_refused_in_the_documents_words(key: str) -> None:
    """MV-48, F-MV-6: the signatures of AWS, and of the others."""
    with pytest.raises(ValueError) as refusal:
        validate_s3_key(key)
    assert str(refusal.value) == "S3 key must be an S3 key, not a presigned URL"


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("", "is empty"),
        ("/etc/passwd", "begins with '/'"),
        ("mv/../secret", "contains '..'"),
        ("mv//file.png", "contains '//'"),
        (" https://bucket/file.png", "contains '//'"),
        ("mv/file.png?download=1", "contains '?'"),
        ("mv/fi\nle.png", "has a control character"),
        ("mv/file.png\x00", "has a control character"),
        ("a" * 1025, "has more than 1024 bytes"),
        ("é" * 513, "has more than 1024 bytes"),
        ("mv/", "ends with '/'"),
        ("mv/./file.png", "has a part '.'"),
        (".", "has a part '.'"),
        ("./file.png", "has a part '.'"),
        ("mv\\file.png", r"contains '\\'"),
        ("mv%2ffile.png", "contains '%2f'"),
        ("%2E%2E/file.png", "contains '%2E'"),
        ("mv%5cfile.png", "contains '%5c'"),
        ("file%00.png", "contains '%00'"),
        ("mv/fi\u2028le.png", "has a control character"),
        ("mv/\ud800.png", "has half a character"),
        ("arn:aws:s3:::bucket/key", "not an ARN"),
        ("ARN:aws:s3:::bucket/key", "not an ARN"),
    ],
)
def test_what_is_no_plain_key_is_refused(key: str, problem: str) -> None:
    """F-MV-6: the rules the documents' check lacks."""
    with pytest.raises(ValueError, match=r"^S3 key must be an S3 key") as refusal:
        validate_s3_key(key)
    assert str(refusal.value).endswith(problem)


def test_the_message_names_the_field() -> None:
    """MV-47, MV-48: the field's name replaces the first "S3 key"."""
    with pytest.raises(ValueError, match=r"^characterImageS3Key must be an S3 key, not a URL$"):
        validate_s3_key("https://x", "characterImageS3Key")
    with pytest.raises(ValueError, match=r"^clip must be an S3 key, not a presigned URL$"):
        validate_s3_key("a?X-Amz-Signature=b", field="clip")


def test_a_field_of_the_type_is_checked_and_named() -> None:
    """MV-45: every field that holds a key, and every member of a list of keys."""

    class Shot(BaseModel):
        clip: ObjectKey
        stills: list[ObjectKey] = []
        sound: ObjectKey | None = None

    assert Shot(clip="a.mp4", stills=["b.png"]).model_dump() == {"clip": "a.mp4", "stills": ["b.png"], "sound": None}
    with pytest.raises(ValidationError, match="clip must be an S3 key, not a URL"):
        Shot(clip="s3://bucket/a.mp4")
    with pytest.raises(ValidationError, match="must be an S3 key, not a presigned URL"):
        Shot(clip="a.mp4", stills=["ok.png", "b.png?X-Amz-Signature=c"])
    with pytest.raises(ValidationError, match="S3 key must be an S3 key, not a URL"):
        TypeAdapter(ObjectKey).validate_python("http://a")


# Folders


@pytest.mark.parametrize("folder", ["streams/7/", "a/", "voix/été & automne (1)/", ".hidden/v1.2/", "é" * 511 + "/"])
def test_a_folder_is_a_key_that_goes_on(folder: str) -> None:
    assert validate_folder(folder) == folder
    assert TypeAdapter(ObjectFolder).validate_python(folder) == folder


@pytest.mark.parametrize(
    ("folder", "problem"),
    [
        ("", "must be a folder; this one does not end with '/'"),
        ("streams/7", "must be a folder; this one does not end with '/'"),
        ("/", "begins with '/'"),
        ("/etc/", "begins with '/'"),
        ("a//", "contains '//'"),
        ("../", "contains '..'"),
        ("a/./", "has a part '.'"),
        ("a?/", "contains '?'"),
        ("a\n/", "has a control character"),
        ("a%2f/", "contains '%2f'"),
        ("a\\/", r"contains '\\'"),
        ("\ud800/", "has half a character"),
        ("é" * 512 + "/", "has more than 1024 bytes"),
        ("a" * 1023 + "/", "has more than 1024 bytes"),
        ("s3://bucket/streams/", "not a URL"),
        ("https://", "not a URL"),
        ("data:/", "not a URL"),
        ("arn:aws:s3:::bucket/", "not an ARN"),
    ],
)
def test_a_folder_in_which_no_file_could_lie_is_refused(folder: str, problem: str) -> None:
    with pytest.raises(ValueError, match=r"^stream must be ") as refusal:
        validate_folder(folder, "stream")
    assert str(refusal.value).endswith(problem)


def test_a_file_is_no_folder_and_a_folder_no_file() -> None:
    class Film(BaseModel):
        poster: ObjectKey
        stream: ObjectFolder | None = None

    assert Film(poster="a.png", stream="s/").stream == "s/"
    with pytest.raises(ValidationError, match="poster must be an S3 key; this one ends with '/'"):
        Film(poster="s/")
    with pytest.raises(ValidationError, match="stream must be a folder; this one does not end with '/'"):
        Film(poster="a.png", stream="a.png")


def test_a_file_lies_in_every_folder_above_it_and_in_no_other() -> None:
    assert list(folders_above("a/b/c.png")) == ["a/", "a/b/"]
    assert list(folders_above("a/bc")) == ["a/"]
    assert list(folders_above("a")) == []
