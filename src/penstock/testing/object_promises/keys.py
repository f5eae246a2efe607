"""Keys: any that is one names an object of its own; what is none is refused everywhere."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from penstock.errors import InvalidKey
from penstock.files.object_reads import every
from penstock.ports.object_store import ObjectStore
from penstock.ports.stored_object import ListedObject
from penstock.testing.object_promises.promise import ObjectPromise

ODD = [
    "plain.txt",
    "no-extension",
    "with space/and more .txt",
    "a+b&c=d;e@f,g$h!i~j*k'l(m)n#o.txt",
    "100%.txt",
    "%41.txt",
    "A.txt",
    "a.txt",
    unicodedata.normalize("NFC", "café.txt"),
    unicodedata.normalize("NFD", "café.txt"),
    "ｆｕｌｌ．．ｗｉｄｔｈ/．．/x",
    "日本語/ファイル.wav",
    "🎬.mp4",
    "trailing./dot.",
    ".hidden/.file",
    "a.b.c",
    "con",
    "folder.with.dot/file",
    "folder/file",
    "folder",
    "/".join(["p" * 100] * 10),
]
WRONG = [
    "",
    "/a",
    "a/",
    "a//b",
    "../a",
    "a/../b",
    "a/./b",
    ".",
    "..",
    "a\\b",
    "a\0b",
    "a\nb",
    "a?b",
    "https://a/b",
    "s3://a/b",
    "a%2fb",
    "a%2E%2E/b",
    "é" * 513,
    "a\ud800",
]


class KeyPromises(ObjectPromise):
    """What every verb takes for a key."""

    def test_each_key_names_an_object_of_its_own(self, objects: ObjectStore) -> None:
        for key in ODD:
            objects.put(key, key.encode())
        for key in ODD:
            assert objects.get(key).read() == key.encode()
        assert {found.key for found in every(objects)} == set(ODD)
        for key in ODD[::2]:
            objects.delete([key])
        assert {found.key for found in every(objects)} == set(ODD[1::2])

    @pytest.mark.parametrize("key", WRONG)
    def test_what_is_no_key_is_refused_by_every_verb(self, objects: ObjectStore, key: str) -> None:
        """F-MV-6: before anything is done."""
        objects.put("right", b"")
        found = objects.head("right")
        wrong = ListedObject(key, 0, found.etag, found.modified_at)
        uses: list[Callable[[], Any]] = [
            lambda: objects.put(key, b""),
            lambda: objects.get(key),
            lambda: objects.head(key),
            lambda: objects.delete([key]),
            lambda: objects.delete_unchanged(wrong),
            lambda: objects.copy(key, "b"),
            lambda: objects.copy("right", key),
            lambda: objects.begin_parts(key, content_type="audio/wav"),
            lambda: objects.parts(key, "0" * 32),
            lambda: objects.finish_parts(key, "0" * 32, []),
            lambda: objects.drop_parts(key, "0" * 32),
            lambda: objects.download_url(key),
            lambda: objects.upload_url(key, size=1, content_type="audio/wav"),
            lambda: objects.part_url(key, "0" * 32, 1, size=1),
        ]
        for use in uses:
            with pytest.raises(InvalidKey, match="must be an S3 key"):
                use()
        assert [found.key for found in every(objects)] == ["right"]
