"""A bundle: the same files make the same bytes, and every change to one is found."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.astronomy.products.bundle_check import verify_bundle
from penstock.astronomy.products.bundle_name import what_is_wrong
from penstock.astronomy.products.product_bundle import MANIFEST, SUMS, BundleEntry, write_bundle
from penstock.errors import InvalidValue

FILES = {"spectra/a.ecsv": b"1,2\n" * 500, "plots/a.png": b"\x89PNG" + bytes(range(256)), "ünïcode.txt": b""}


def bundle(path: Path, files: dict[str, bytes] | None = None) -> Path:
    write_bundle(
        path, [BundleEntry(name, content) for name, content in (files or FILES).items()], {"nova": "V1324 Sco"}
    )
    return path


def members(path: Path) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        return [(info.filename, archive.read(info)) for info in archive.infolist()]


def repacked(path: Path, change: Callable[[list[tuple[str, bytes]]], list[tuple[str, bytes]]]) -> Path:
    """The same bundle after somebody unpacked it, changed it, and packed it again as Penstock would."""
    from penstock.astronomy.products.zip_form import member

    found = change(members(path))
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in found:
            with archive.open(member(name), "w", force_zip64=True) as target:
                target.write(content)
    return path


def test_a_bundle_has_its_files_a_manifest_and_checksums(tmp_path: Path) -> None:
    path = bundle(tmp_path / "a.zip")
    found = dict(members(path))
    assert [name for name, _ in members(path)] == [*sorted(FILES), MANIFEST, SUMS]
    assert {name: found[name] for name in FILES} == FILES
    manifest = json.loads(found[MANIFEST])
    assert manifest["nova"] == "V1324 Sco"
    assert manifest["files"][0] == {
        "name": "plots/a.png",
        "bytes": 260,
        "sha256": hashlib.sha256(FILES["plots/a.png"]).hexdigest(),
    }
    checked = verify_bundle(path)
    assert checked.whole
    assert checked.manifest == manifest


def test_other_programs_unpack_and_check_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle(tmp_path / "a.zip")) as archive:
        assert archive.testzip() is None
        assert {info.external_attr >> 16 for info in archive.infolist()} == {0o100644}
        archive.extractall(tmp_path / "out")
    subprocess.run(["sha256sum", "--check", "--strict", SUMS], cwd=tmp_path / "out", check=True, capture_output=True)


def test_the_same_files_make_the_same_bytes_however_they_are_given(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(FILES["spectra/a.ecsv"])
    ways: list[Any] = [FILES["spectra/a.ecsv"], tmp_path / "file", lambda: io.BytesIO(FILES["spectra/a.ecsv"])]
    others = [BundleEntry(name, content) for name, content in FILES.items() if name != "spectra/a.ecsv"]
    made = []
    for number, way in enumerate(ways):
        path = tmp_path / f"{number}.zip"
        write_bundle(path, [*others[:number], BundleEntry("spectra/a.ecsv", way), *others[number:]], {"b": 1, "a": 2})
        made.append(path.read_bytes())
    assert made[0] == made[1] == made[2]


def test_a_bundle_is_not_written_if_a_file_is_not_what_it_was(tmp_path: Path) -> None:
    entry = BundleEntry("a", b"changed", sha256=hashlib.sha256(b"as it was").hexdigest())
    with pytest.raises(InvalidValue, match="it was changed"):
        write_bundle(tmp_path / "a.zip", [entry], {})
    assert [*tmp_path.iterdir()] == []
    write_bundle(tmp_path / "a.zip", [BundleEntry("a", b"x", sha256=hashlib.sha256(b"x").hexdigest().upper())], {})
    assert verify_bundle(tmp_path / "a.zip").whole


def test_a_file_is_read_piece_by_piece(tmp_path: Path) -> None:
    asked: list[int] = []

    class Large(io.RawIOBase):
        left = 40

        def read(self, size: int = -1) -> bytes:
            asked.append(size)
            self.left -= 1
            return b"x" * size if self.left else b""

    write_bundle(tmp_path / "a.zip", [BundleEntry("a", lambda: Large())], {})  # type: ignore[arg-type,return-value]
    assert max(asked) == min(asked) == 1024 * 1024
    assert verify_bundle(tmp_path / "a.zip").whole


@pytest.mark.parametrize(
    "name",
    [
        "", "/a", "../a", "a/../b", "a//b", "a/", "./a", "a\\b", "C:a", "a\x00b", "a\nb", "nul", "aux.txt", "a.", " a",
        "a /b", "x" * 300, "a" * 500, "manifest.json", "sha256sums", "MANIFEST.JSON", "a?", "\u202egpj.exe",
    ],
)  # fmt: skip
def test_a_name_that_some_system_would_unpack_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidValue, match="name"):
        write_bundle(tmp_path / "a.zip", [BundleEntry(name, b"")], {})


@pytest.mark.parametrize("names", [("a", "a"), ("A", "a"), ("é", "e\u0301"), ("a", "a/b"), ("x/A/b", "x/a")])
def test_two_names_that_are_one_on_some_system_are_refused(tmp_path: Path, names: tuple[str, str]) -> None:
    with pytest.raises(InvalidValue):
        write_bundle(tmp_path / "a.zip", [BundleEntry(name, b"") for name in names], {})


def test_ordinary_names_are_safe() -> None:
    names = ["a", "spectra/V1324_Sco/day 2.fits", "ünï/日本.txt", "console.txt", "a.b.c", "x-1_(2)+3,4=5@6"]
    assert [what_is_wrong(name) for name in names] == [None] * len(names)


def lines(content: bytes, change: Callable[[list[str]], list[str]]) -> bytes:
    return "".join(f"{line}\n" for line in change(content.decode().splitlines())).encode()


def edited(name: str, edit: Callable[[bytes], bytes]) -> Callable[[list[tuple[str, bytes]]], list[tuple[str, bytes]]]:
    return lambda found: [(one, edit(content) if one == name else content) for one, content in found]


TAMPERED: dict[str, tuple[Any, str]] = {
    "a file's bytes": (edited("spectra/a.ecsv", lambda content: content.replace(b"1", b"7", 1)), "was changed"),
    "a file's end": (edited("spectra/a.ecsv", lambda content: content[:-1]), "was changed"),
    "a file that is gone": (lambda found: [one for one in found if one[0] != "plots/a.png"], "missing"),
    "a file more": (lambda found: [("extra", b"x"), *found], "not listed"),
    "a file with another name": (
        lambda found: [(name.replace("a.png", "b.png"), content) for name, content in found],
        "missing",
    ),
    "the manifest": (
        edited(MANIFEST, lambda content: content.replace(b"V1324", b"V9999")),
        "manifest.json was changed",
    ),
    "the manifest gone": (lambda found: [one for one in found if one[0] != MANIFEST], "missing"),
    "the manifest no JSON": (edited(MANIFEST, lambda _: b"{"), "not in the form"),
    "the checksums gone": (lambda found: [one for one in found if one[0] != SUMS], "missing"),
    "a checksum": (edited(SUMS, lambda content: b"0" * 64 + content[64:]), "was changed"),
    "a checksum gone": (
        edited(SUMS, lambda content: lines(content, lambda every: every[1:])),
        "not listed in SHA256SUMS",
    ),
    "no checksums": (edited(SUMS, lambda _: b"hello\n"), "not in the form"),
    "an unsafe name": (lambda found: [("../up", b"x"), *found], "no name of a file in a bundle"),
    "other order": (lambda found: found[::-1], ""),
}


@pytest.mark.parametrize(("change", "problem"), TAMPERED.values(), ids=TAMPERED)
def test_what_was_meddled_with_is_found(tmp_path: Path, change: Any, problem: str) -> None:
    checked = verify_bundle(repacked(bundle(tmp_path / "a.zip"), change))
    if problem:
        assert not checked.whole
        assert problem in " ".join(checked.problems)
    else:
        assert checked.whole


def test_a_file_and_its_checksum_changed_together_are_found_by_the_manifest(tmp_path: Path) -> None:
    path = bundle(tmp_path / "a.zip")

    def change(found: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
        new = {**dict(found), "spectra/a.ecsv": b"other"}
        was, now = (hashlib.sha256(dict(kind)["spectra/a.ecsv"]).hexdigest() for kind in (found, new.items()))
        new[SUMS] = new[SUMS].replace(was.encode(), now.encode())
        return [*new.items()]

    assert "is not what manifest.json says" in " ".join(verify_bundle(repacked(path, change)).problems)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_single_byte_that_changes_is_found_or_changes_no_file(tmp_path: Path, data: st.DataObject) -> None:
    """Deflate writes the same bytes in more than one way: a bundle is whole if all of its files are."""
    whole = bundle(tmp_path / "a.zip").read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    value = data.draw(st.integers(1, 255))
    (tmp_path / "b.zip").write_bytes(whole[:place] + bytes([whole[place] ^ value]) + whole[place + 1 :])
    assert not verify_bundle(tmp_path / "b.zip").whole or contents(tmp_path / "b.zip") == contents(tmp_path / "a.zip")


def contents(path: Path) -> dict[str, bytes]:
    """All files of a bundle."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize(
    "change",
    [
        lambda whole: b"",
        lambda whole: b"no zip",
        lambda whole: whole[:-1],
        lambda whole: whole[: len(whole) // 2],
        lambda whole: b"#!/bin/sh\n" + whole,
        lambda whole: whole + b"more",
        lambda whole: whole[:-2] + b"\x05\x00hello",
        lambda whole: whole[: whole.index(b"PK\1\2")] + b"between" + whole[whole.index(b"PK\1\2") :],
    ],
)
def test_what_is_cut_or_has_more_around_it_is_found(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    path = bundle(tmp_path / "a.zip")
    path.write_bytes(change(path.read_bytes()))
    assert not verify_bundle(path).whole


def test_a_link_in_place_of_a_file_is_found(tmp_path: Path) -> None:
    path = bundle(tmp_path / "a.zip")
    with zipfile.ZipFile(path) as archive:
        infos = [(info, archive.read(info)) for info in archive.infolist()]
    infos[0][0].external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "w") as archive:
        for info, content in infos:
            archive.writestr(info, content)
    assert not verify_bundle(path).whole


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = bundle(tmp_path / "a.zip", {"large": b"\0" * 5_000_000})
    assert "at most 1,000,000 are read" in " ".join(verify_bundle(path, largest=1_000_000).problems)


def test_a_bundle_that_is_not_there_has_a_problem(tmp_path: Path) -> None:
    assert not verify_bundle(tmp_path / "none.zip").whole
