"""Files that claim more than they are, take more than they give, or meet a machine that fails."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import os
import resource
import struct
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest

from penstock.astronomy.judgement import Verdict
from penstock.astronomy.spectra import SpectrumJudgement, judge_spectrum
from tests.astronomy.spectra.fits_bytes import CardValue, Column, card, fluxes, header, image, padded, table, waves
from tests.astronomy.spectra.made_spectra import MADE


def judged(tmp_path: Path, data: bytes, **more: Any) -> SpectrumJudgement:
    """The judgement of a file of these bytes."""
    path = tmp_path / "primary.fits"
    path.write_bytes(data)
    return judge_spectrum(path, **more)


def code(found: SpectrumJudgement) -> tuple[str, str]:
    """The verdict and the code."""
    assert found.finding is not None, found
    return found.verdict, found.finding.code


def claiming(*axes: int, bitpix: int = -64) -> bytes:
    """A header that claims an image."""
    told = [card("SIMPLE", True), card("BITPIX", bitpix), card("NAXIS", len(axes))]
    told += [card(f"NAXIS{number}", length) for number, length in enumerate(axes, 1)]
    return header([*told, card("CRVAL1", 4000.0), card("CDELT1", 1.0)])


@pytest.mark.parametrize("axes", [(10**15,), (10**9, 10**9, 10**9), (2**63,), (10**30,)])
def test_a_header_that_claims_terabytes_costs_nothing(axes: tuple[int, ...], tmp_path: Path) -> None:
    begun = process_time()
    assert code(judged(tmp_path, claiming(*axes) + b"\0" * 2880)) == ("TERMINAL_INVALID", "TRUNCATED")
    assert process_time() - begun < 0.5


@pytest.mark.parametrize("axes", [(-5,), (60, -60)])
def test_an_axis_of_less_than_nothing_is_no_axis(axes: tuple[int, ...], tmp_path: Path) -> None:
    assert code(judged(tmp_path, claiming(*axes))) == ("TERMINAL_INVALID", "MALFORMED")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_bomb_is_unpacked_no_further_than_allowed(pack: Any, tmp_path: Path) -> None:
    packed = pack(MADE["equispec"]().data + b"\0" * 60_000_000)
    assert len(packed) < 100_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert code(judged(tmp_path, packed, most_bytes=1_000_000)) == ("QUARANTINED", "TOO_LARGE")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000


def test_members_of_a_packed_file_are_put_together_and_a_cut_one_is_refused(tmp_path: Path) -> None:
    whole = MADE["equispec"]().data
    parts = gzip.compress(whole[:5000]) + gzip.compress(whole[5000:])
    assert judged(tmp_path, parts).verdict is Verdict.VALID
    assert judged(tmp_path, bz2.compress(whole)).verdict is Verdict.VALID
    assert code(judged(tmp_path, parts[:-20])) == ("TERMINAL_INVALID", "TRUNCATED")
    damaged = bytearray(gzip.compress(whole))
    damaged[40:60] = b"\xff" * 20
    assert code(judged(tmp_path, bytes(damaged)))[1] in ("MALFORMED", "TRUNCATED")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    assert code(judged(tmp_path, MADE["equispec"]().data, most_bytes=1000)) == ("QUARANTINED", "TOO_LARGE")


@pytest.mark.parametrize("start", [b"\x1f\x9d\x90", b"PK\x03\x04", b"\xfd7zXZ\0"])
def test_other_packings_are_named(start: bytes, tmp_path: Path) -> None:
    assert code(judged(tmp_path, start + b"x" * 100)) == ("QUARANTINED", "UNSUPPORTED_COMPRESSION")


def test_a_table_of_a_billion_rows_without_width_is_refused(tmp_path: Path) -> None:
    cards = [card("XTENSION", "BINTABLE"), card("BITPIX", 8), card("NAXIS", 2), card("NAXIS1", 0)]
    cards += [card("NAXIS2", 10**9), card("PCOUNT", 0), card("GCOUNT", 1), card("TFIELDS", 1), card("TFORM1", "0D")]
    begun = process_time()
    assert code(judged(tmp_path, image(None, {}) + header(cards))) == ("TERMINAL_INVALID", "NO_DATA")
    assert process_time() - begun < 0.5


def test_a_thousand_and_more_hdus_are_too_many(tmp_path: Path) -> None:
    one = image(np.ones(1), {}, extension=True)
    assert code(judged(tmp_path, image(None, {}) + one * 1100)) == ("QUARANTINED", "TOO_LARGE")


def test_a_header_without_an_end_ends(tmp_path: Path) -> None:
    start = header([card("SIMPLE", True)]).replace(b"END", b"   ")
    assert code(judged(tmp_path, start)) == ("TERMINAL_INVALID", "TRUNCATED")
    begun = process_time()
    assert code(judged(tmp_path, start + b"COMMENT x".ljust(80) * 60_000)) == ("TERMINAL_INVALID", "MALFORMED")
    assert process_time() - begun < 2.0


def test_a_header_whose_end_is_damaged_does_not_borrow_the_next_one(tmp_path: Path) -> None:
    """Without BITPIX, NAXIS and END the first header would take those of the extension, and be read as one image."""
    whole = MADE["extension_image"]().data
    for gone in (b"BITPIX", b"NAXIS ", b"END   "):
        at = whole.index(gone)
        whole = whole[:at] + b"COMMENT gone".ljust(80) + whole[at + 80 :]
    assert code(judged(tmp_path, whole)) == ("TERMINAL_INVALID", "MALFORMED")


def test_a_packed_image_that_claims_much_is_not_unpacked(tmp_path: Path) -> None:
    columns = [Column("COMPRESSED_DATA", [1.0, 2.0])]
    cards: dict[str, CardValue] = {"ZIMAGE": True, "ZBITPIX": -64, "ZNAXIS": 1, "ZNAXIS1": 10**15, "ZCMPTYPE": "GZIP_1"}
    found = judged(tmp_path, image(None, {}) + table(columns, cards))
    assert code(found) == ("QUARANTINED", "UNSUPPORTED_COMPRESSION")


def varying(rows: int, count: int, offset: int, heap: bytes) -> bytes:
    """A table of two columns of arrays that vary in length."""
    cards = [
        card("XTENSION", "BINTABLE"),
        card("BITPIX", 8),
        card("NAXIS", 2),
        card("NAXIS1", 16),
        card("NAXIS2", rows),
    ]
    cards += [card("PCOUNT", len(heap)), card("GCOUNT", 1), card("TFIELDS", 2)]
    for number, name in enumerate(("WAVELENGTH", "FLUX"), 1):
        cards += [card(f"TTYPE{number}", name), card(f"TFORM{number}", "1PD(60)")]
    cards += [card("TUNIT1", "Angstrom")]
    row = struct.pack(">iiii", count, 0, count, offset)
    return image(None, {}) + header(cards) + padded(row * rows + heap)


def test_arrays_of_varying_length_are_read_and_absurd_ones_refused(tmp_path: Path) -> None:
    heap = waves(4000.0, 5000.0).astype(">f8").tobytes() + fluxes().astype(">f8").tobytes()
    found = judged(tmp_path, varying(1, 60, 480, heap))
    assert found.verdict is Verdict.VALID, found.finding
    assert found.spectra[0].wavelength[-1] == 5000.0
    begun = process_time()
    assert judged(tmp_path, varying(1, 2**31 - 1, 480, heap)).verdict is not Verdict.VALID
    assert judged(tmp_path, varying(1, 60, 2**30, heap)).verdict is not Verdict.VALID
    assert judged(tmp_path, varying(1, -60, 480, heap)).verdict is not Verdict.VALID
    assert judged(tmp_path, varying(200_000, 60, 480, heap)).verdict is not Verdict.VALID
    assert process_time() - begun < 5.0


def test_numbers_that_never_end_are_looked_at_for_no_time(tmp_path: Path) -> None:
    begun = process_time()
    for value in ("1" * 60, "1." + "0" * 60, "'" * 60, "1E" + "9" * 50, "-" * 60):
        data = image(fluxes(), {"CRVAL1": 4000.0, "CDELT1": 1.0}).replace(
            b"CRVAL1  =               4000.0", f"CRVAL1  = {value}"[:30].encode()
        )
        assert judged(tmp_path, data).verdict is not Verdict.RETRYABLE_ERROR
    assert process_time() - begun < 2.0


def test_a_text_of_brackets_and_quotes_takes_no_longer_than_it_is(tmp_path: Path) -> None:
    begun = process_time()
    for text in ("(" * 60, "units=" * 10, '"' * 60, "erg/" * 15, "[[[[" * 15, "10**" * 15):
        judged(
            tmp_path,
            image(fluxes(), {"CRVAL1": 4000.0, "CDELT1": 1.0, "BUNIT": text, "WAT1_001": text, "CTYPE1": text}),
        )
    assert process_time() - begun < 2.0


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.ENOENT, errno.EMFILE])
def test_what_fails_on_this_machine_is_tried_again(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NC-27: the file may be good, and is not judged."""

    def fail(*_: object, **__: object) -> io.BytesIO:
        raise OSError(number, os.strerror(number))

    path = tmp_path / "primary.fits"
    path.write_bytes(MADE["equispec"]().data)
    monkeypatch.setattr(Path, "open", fail)
    assert code(judge_spectrum(path)) == ("RETRYABLE_ERROR", "MACHINE_FAILURE")


def test_a_file_that_has_vanished_is_tried_again(tmp_path: Path) -> None:
    assert code(judge_spectrum(tmp_path / "gone.fits")) == ("RETRYABLE_ERROR", "MACHINE_FAILURE")


def with_sums(data: bytes) -> bytes:
    """The file with a DATASUM that fits, at the place of its BUNIT card."""
    at = data.index(b"BUNIT")
    total = sum(struct.unpack(f">{(len(data) - 2880) // 4}I", data[2880:]))
    while total >> 32:
        total = (total & 0xFFFFFFFF) + (total >> 32)
    return data[:at] + card("DATASUM", str(total)) + data[at + 80 :]


def test_a_checksum_is_verified_and_a_wrong_one_waits_for_a_person(tmp_path: Path) -> None:
    """NC-26"""
    good = with_sums(MADE["uves"]().data)
    found = judged(tmp_path, good)
    assert found.verdict is Verdict.VALID, found.finding
    assert (found.fits_checksum or "").isdigit()
    bad = good[:3000] + bytes([good[3000] ^ 1]) + good[3001:]
    assert code(judged(tmp_path, bad)) == ("QUARANTINED", "CHECKSUM_MISMATCH")
    by_iraf = with_sums(MADE["equispec"]().data)
    by_iraf = by_iraf[:3000] + bytes([by_iraf[3000] ^ 1]) + by_iraf[3001:]
    assert "checksum" in {one.about for one in judged(tmp_path, by_iraf).spectra[0].assumptions}


def test_headers_are_kept_as_evidence_and_not_all_of_them(tmp_path: Path) -> None:
    data = image(fluxes(), {"CRVAL1": 4000.0, "CDELT1": 1.0, **{f"KEY{number}": number for number in range(900)}})
    found = judged(tmp_path, data)
    assert found.headers[0].startswith("SIMPLE  =")
    assert len(found.headers) == 200
    assert judged(tmp_path, b"4000,1\n4001,2\n4002,1\n").headers == ("4000,1", "4001,2", "4002,1")


def test_random_groups_hold_no_spectrum(tmp_path: Path) -> None:
    cards = [card("SIMPLE", True), card("BITPIX", -32), card("NAXIS", 2), card("NAXIS1", 0), card("NAXIS2", 60)]
    cards += [card("GROUPS", True), card("PCOUNT", 0), card("GCOUNT", 1)]
    found = judged(tmp_path, header(cards) + padded(fluxes().astype(">f4").tobytes()))
    assert code(found) == ("QUARANTINED", "UNKNOWN_PROFILE")


def test_two_thousand_files_leave_no_memory_behind(tmp_path: Path) -> None:
    path = tmp_path / "primary.fits"
    path.write_bytes(MADE["equispec"]().data)
    for _ in range(200):
        judge_spectrum(path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(2000):
        judge_spectrum(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8_000
