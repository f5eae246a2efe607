"""Sending a file of this machine: what is missing of it, and nothing of one that is not as it was announced."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from penstock.errors import InvalidValue
from penstock.files.sending import send_file
from penstock.testing.object_promises.promise import MEGABYTE
from tests.objects.world import MP4, World

LONG = MP4 + bytes(11 * MEGABYTE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "film.mp4"
    file.write_bytes(LONG)
    return file


@pytest.mark.parametrize("parts", [False, True])
def test_a_file_is_sent_and_it_is_told_how_far(here: World, path: Path, parts: bool) -> None:
    uploads = here.in_parts if parts else here.uploads
    upload = here.reserve(uploads, size=len(LONG))
    sent: list[int] = []
    send_file(uploads, here.objects, upload, path, sent=sent.append)
    assert sum(sent) == len(LONG)
    assert len(sent) > 10
    here.finalize(upload, uploads, sha256=sha256(LONG).hexdigest())


@pytest.mark.parametrize("parts", [False, True])
def test_what_has_arrived_is_not_sent_again(here: World, path: Path, parts: bool) -> None:
    uploads = here.in_parts if parts else here.uploads
    upload = here.reserve(uploads, size=len(LONG))
    send_file(uploads, here.objects, upload, path, sent=lambda size: None)
    sent: list[int] = []
    send_file(uploads, here.objects, upload, path, sent=sent.append)
    assert sent == [len(LONG)]


def test_half_of_a_file_is_not_taken_for_it(here: World, path: Path) -> None:
    upload = here.reserve(size=len(LONG))
    here.objects.put(upload.staging, LONG[:1000])
    send_file(here.uploads, here.objects, upload, path, sent=lambda size: None)
    here.finalize(upload, sha256=sha256(LONG).hexdigest())


def test_a_file_of_another_size_is_not_sent(here: World, path: Path) -> None:
    upload = here.reserve(size=len(LONG) + 1)
    with pytest.raises(InvalidValue, match=f"the file has {len(LONG)} bytes; {len(LONG) + 1} were announced"):
        send_file(here.uploads, here.objects, upload, path, sent=lambda size: None)


def test_a_file_that_becomes_shorter_while_it_is_sent_is_refused(here: World, path: Path) -> None:
    """Else one would wait for ever for what is gone."""

    def cut(size: int) -> None:
        path.write_bytes(b"")

    upload = here.reserve(size=len(LONG))
    with pytest.raises(InvalidValue, match="the file became shorter while it was sent"):
        send_file(here.uploads, here.objects, upload, path, sent=cut)
