"""What comes in a zip archive is written into its folder, within its limits, or not at all."""

from __future__ import annotations

import io
import os
import random
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.domains.novae.providers.file_contents import FileContent
from penstock.domains.novae.providers.provider import UnusableAnswer
from penstock.domains.novae.providers.zip_archive import ZipLimits, unpack
from tests.domains.novae.providers.made_zips import (
    claiming,
    fits,
    linked,
    long_listing,
    renamed,
    twice,
    with_password,
    zipped,
)


def _unpacked(content: bytes, folder: Path, **limits: int) -> list[str]:
    archive = folder / "archive.zip"
    archive.write_bytes(content)
    return [each.name for each in unpack(archive, folder / "out", limits=ZipLimits(**limits))]


def test_good_members_are_written_under_plain_names(tmp_path: Path) -> None:
    names = {"data/spéc 1.fits": fits("one"), "data/.hidden": b"a,b\n", "README": b"read me\n", "empty/": b""}
    (tmp_path / "a.zip").write_bytes(zipped(names))
    members = unpack(tmp_path / "a.zip", tmp_path / "out")
    assert [each.name for each in members] == ["data/spéc 1.fits", "data/.hidden", "README"]
    assert [each.path.name for each in members] == ["000_sp_c_1.fits", "001_hidden", "002_README"]
    assert [each.content for each in members] == [FileContent.FITS, FileContent.TEXT, FileContent.TEXT]
    assert members[0].path.read_bytes() == fits("one")
    assert members[0].byte_length == len(fits("one"))


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (renamed(b"../../evil"), "ARCHIVE_UNSAFE"),
        (renamed(b"/etc/cron.d/evil"), "ARCHIVE_UNSAFE"),
        (renamed(b"a/../../evil"), "ARCHIVE_UNSAFE"),
        (renamed(b"..\\..\\evil"), "ARCHIVE_UNSAFE"),
        (renamed(b"C:/evil"), "ARCHIVE_UNSAFE"),
        (renamed(b"new\nline"), "ARCHIVE_UNSAFE"),
        (zipped({"x" * 501: b""}), "ARCHIVE_UNSAFE"),
        (linked("spectrum.fits", "/etc/passwd"), "ARCHIVE_UNSAFE"),
        (twice("spectrum"), "ARCHIVE_UNSAFE"),
        (zipped({"A.fits": b"1", "a.FITS": b"2"}), "ARCHIVE_UNSAFE"),
        (with_password({"a.fits": fits()}), "ARCHIVE_ENCRYPTED"),
        (zipped({"a.fits": fits()}, packing=zipfile.ZIP_LZMA), "ARCHIVE_UNKNOWN_PACKING"),
        (zipped({"a.fits": fits()}, packing=zipfile.ZIP_BZIP2), "ARCHIVE_UNKNOWN_PACKING"),
        (zipped({"inner.zip": b"", "a.fits": fits()}), "ARCHIVE_NESTED"),
        (zipped({"inner.dat": zipped({"a": b"b"})}), "ARCHIVE_NESTED"),
        (zipped({f"{n}.txt": b"x" for n in range(501)}), "ARCHIVE_TOO_LARGE"),
        (zipped({"zeros.fits": b"\0" * 20_000_000}), "ARCHIVE_IS_A_BOMB"),
        (claiming({"a.fits": fits()}, size=0xFFFFFFF0), "ARCHIVE_TOO_LARGE"),
        (claiming({"a.fits": fits(blocks=3)}, size=10), "ARCHIVE_DAMAGED"),
        (long_listing(3_000_000), "ARCHIVE_TOO_LARGE"),
        (zipped({"a.fits": fits()})[:-30], "ARCHIVE_DAMAGED"),
        (zipped({"a.fits": fits()}).replace(b"PK\x01\x02", b"PK\x09\x09"), "ARCHIVE_DAMAGED"),
        (b"PK\x03\x04", "ARCHIVE_DAMAGED"),
    ],
)
def test_a_bad_archive_is_refused_with_its_reason(tmp_path: Path, content: bytes, code: str) -> None:
    with pytest.raises(UnusableAnswer) as raised:
        _unpacked(content, tmp_path)
    assert raised.value.code == code
    assert {each.name for each in tmp_path.iterdir()} <= {"archive.zip", "out"}


@pytest.mark.parametrize("content", [renamed(b"../evil"), zipped({"a": b"1" * 2000, "b": b"2" * 2000})])
def test_nothing_is_written_before_all_of_it_was_looked_at(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UnusableAnswer):
        _unpacked(content, tmp_path, bytes=3000)
    assert list((tmp_path / "out").iterdir()) == []


def test_flipped_bits_are_noticed_or_do_no_harm(tmp_path: Path) -> None:
    good = zipped({"a.fits": fits("x", blocks=3), "b/c.txt": b"hello" * 100})
    chance = random.Random(19)
    for number in range(300):
        folder = tmp_path / str(number)
        folder.mkdir()
        body = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            body[chance.randrange(len(body))] ^= 1 << chance.randrange(8)
        with suppress(UnusableAnswer):
            _unpacked(bytes(body), folder)


_NAMES = st.text(alphabet="ab./\\: \0é~-%", min_size=1, max_size=30) | st.sampled_from(
    ["../x", "/x", "a/../../x", "~/x", "C:x", "a//b", "./x", "x/.", "..", "...", "a\\..\\x"]
)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(members=st.lists(st.tuples(_NAMES, st.binary(max_size=400)), max_size=8), most=st.integers(0, 1200))
def test_whatever_an_archive_holds_nothing_is_written_outside_or_beyond_the_limit(
    tmp_path_factory: pytest.TempPathFactory, members: list[tuple[str, bytes]], most: int
) -> None:
    folder = tmp_path_factory.mktemp("zip")
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            info = zipfile.ZipInfo("x")
            info.filename = name
            archive.writestr(info, content)
    with suppress(UnusableAnswer):
        _unpacked(made.getvalue(), folder, bytes=most)
    written = [Path(root) / name for root, _, names in os.walk(folder) for name in names]
    outside = [path for path in written if path.name != "archive.zip" and path.parent != folder / "out"]
    assert outside == []
    assert sum(path.stat().st_size for path in written if path.name != "archive.zip") <= most
