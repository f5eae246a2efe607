"""Time scales: kept as they are told, and flagged where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.astronomy.photometry.time_reading import named_time
from tests.astronomy.photometry.made import code, curve, flagged


def table(name: str) -> str:
    return f"{name},Vmag\n2455000.5,12.30\n2455001.5,12.40\n"


@pytest.mark.parametrize(
    ("name", "system"),
    [("BJD_TDB", "BJD_TDB"), ("BJD-TDB", "BJD_TDB"), ("BJD (TDB)", "BJD_TDB"), ("HJD_UTC", "HJD_UTC"),
     ("JD_TT", "JD_TT")],
)  # fmt: skip
def test_a_scale_that_is_told_is_part_of_the_system(tmp_path: Path, name: str, system: str) -> None:
    found = curve(tmp_path, table(name))
    assert found.time_system == system
    assert flagged(found) == []
    assert found.source["time_scale"] == system.partition("_")[2]


@pytest.mark.parametrize("name", ["HJD", "BJD"])
def test_a_time_of_another_centre_without_a_scale_is_flagged(tmp_path: Path, name: str) -> None:
    found = curve(tmp_path, table(name))
    assert found.time_system == name
    assert flagged(found) == [("time_scale", "unknown")]
    assert "69 s" in found.assumptions[0].why
    assert flagged(curve(tmp_path, table("JD"))) == []


def test_an_offset_is_still_an_offset_and_no_scale() -> None:
    found = named_time("JD-2450000")
    assert found is not None
    assert (found.origin, found.scale, found.name) == (2450000.0, "", "JD")


@pytest.mark.parametrize("magic", [b"\x1f\x9d\x90", b"BZh9", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"])
def test_a_file_that_is_packed_otherwise_waits_and_is_not_refused_for_good(tmp_path: Path, magic: bytes) -> None:
    assert code(tmp_path, magic + b"\0" * 50) == ("QUARANTINED", "UNSUPPORTED_COMPRESSION")
