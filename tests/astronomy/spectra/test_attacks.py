"""Small files that would take all memory, or hold a worker; and numbers, names and units that would be read wrongly."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.io import fits

from penstock.astronomy.judgement import FileVerdict
from penstock.astronomy.spectra.cards import HeaderCards
from penstock.astronomy.spectra.judgements import SpectrumJudgement, judge_spectrum

AXIS = {"CRVAL1": 5000.0, "CDELT1": 5.0, "CRPIX1": 1.0}
X = np.linspace(4000, 7000, 500)
F = 1 + np.random.default_rng(7).random(500)


def judged(folder: Path, data: bytes, name: str = "file.fits") -> SpectrumJudgement:
    path = folder / name
    path.write_bytes(data)
    return judge_spectrum(path)


def code(folder: Path, data: bytes, name: str = "file.fits") -> str:
    found = judged(folder, data, name)
    return found.finding.code if found.finding is not None else found.verdict.value


def written(*hdus: Any) -> bytes:
    file = io.BytesIO()
    fits.HDUList([*hdus]).writeto(file)
    return file.getvalue()


def table(*columns: fits.Column) -> bytes:
    return written(fits.PrimaryHDU(), fits.BinTableHDU.from_columns(list(columns)))


def image(cards: dict[str, Any], data: Any = None) -> bytes:
    hdu = fits.PrimaryHDU(F.astype("f4") if data is None else data)
    hdu.header.update(cards)
    return written(hdu)


def text(heading: str, x: Any = X) -> bytes:
    separator = "," if "," in heading else " "
    lines = (f"{a}{separator}{b}" + f"{separator}0.1" * (heading.count(",") > 1) for a, b in zip(x, F, strict=True))
    return "\n".join([heading, *lines]).encode()


def peak(folder: Path, data: bytes, name: str) -> tuple[str, int]:
    judged(folder, image(AXIS), "warm.fits")
    tracemalloc.start()
    try:
        return code(folder, data, name), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def header(*cards: str) -> bytes:
    block = b"".join(card.encode().ljust(80) for card in (*cards, "END"))
    return block.ljust(-(-len(block) // 2880) * 2880)


def varying(rows: int, length: int) -> bytes:
    """A table of which all rows point at the same numbers."""
    descriptors = np.zeros((rows, 4), ">i4")
    descriptors[:, (0, 2)] = length
    body = descriptors.tobytes() + b"\x01" * length
    cards = ["XTENSION= 'BINTABLE'", f"{'BITPIX':8}= {8:20}", f"{'NAXIS':8}= {2:20}", f"{'NAXIS1':8}= {16:20}"]
    cards += [
        f"{'NAXIS2':8}= {rows:20}",
        f"{'PCOUNT':8}= {length:20}",
        f"{'GCOUNT':8}= {1:20}",
        f"{'TFIELDS':8}= {2:20}",
    ]
    cards += ["TTYPE1  = 'WAVE'", "TFORM1  = '1PB'", "TTYPE2  = 'FLUX'", "TFORM2  = '1PB'"]
    first = header(f"{'SIMPLE':8}= {'T':>20}", f"{'BITPIX':8}= {8:20}", f"{'NAXIS':8}= {0:20}")
    return first + header(*cards) + body.ljust(-(-len(body) // 2880) * 2880, b"\0")


def test_rows_that_point_at_one_place_are_added_up_before_one_is_read(tmp_path: Path) -> None:
    told, most = peak(tmp_path, gzip.compress(varying(10_000, 400_000)), "varying.fits.gz")
    assert (told, most < 20_000_000) == ("TOO_LARGE", True), most


@pytest.mark.parametrize("content", [b"12\n" * 1_500_000, b"3000 1\n4000 2\n" * 600 + b"1 " * 2_000_000])
def test_lines_are_counted_and_measured_before_they_are_cut_out(tmp_path: Path, content: bytes) -> None:
    told, most = peak(tmp_path, gzip.compress(content), "lines.txt.gz")
    assert (told, most < 4 * len(content)) == ("TOO_LARGE", True), most


def test_a_row_of_iue_costs_no_more_than_the_row(tmp_path: Path) -> None:
    kinds = [("A", "S5"), ("NPOINTS", ">i2"), ("WAVELENGTH", ">f4"), ("DELTAW", ">f4")]
    rows = np.zeros(40, [*kinds, ("FLUX", ">f4", (20_000,)), ("SIGMA", ">f4", (20_000,))])
    rows["NPOINTS"], rows["WAVELENGTH"], rows["DELTAW"] = 500, 1100, 1
    rows["FLUX"][:, :500] = np.arange(500)
    data = written(fits.PrimaryHDU(), fits.BinTableHDU(rows))
    told, most = peak(tmp_path, gzip.compress(data, 1), "iue.fits.gz")
    assert (told, most < 6 * len(data)) == ("VALID", True), (most, len(data))


def test_a_card_that_comes_often_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    value = HeaderCards._value

    def counted(self: HeaderCards, at: int) -> Any:
        read.append(at)
        return value(self, at)

    monkeypatch.setattr(HeaderCards, "_value", counted)
    cards = HeaderCards(b"".join(b"EXTNAME = 'Q'".ljust(80) for _ in range(1000)))
    for _ in range(50):
        assert (cards.said("EXTNAME"), cards.text("EXTNAME")) == ("Q", "Q")
    assert len(read) <= 2000


def test_counts_without_a_sign_lose_no_digit(tmp_path: Path) -> None:
    counts = (np.arange(500) * 37 + 100_000).astype("u8")
    found = judged(tmp_path, image({**AXIS, "CUNIT1": "Angstrom"}, counts))
    assert found.spectra[0].flux.tolist() == counts.tolist()
    wave = fits.Column("WAVE", "D", unit="Angstrom", array=X)
    found = judged(tmp_path, table(wave, fits.Column("FLUX", "K", bzero=2**63, array=counts, unit="count")))
    assert found.spectra[0].flux.tolist() == counts.tolist()


@pytest.mark.parametrize("unit", ["mag", "%", "dB", "(erg/s/cm2/Angstrom)**2", "1/(erg/s/cm2/Angstrom)", "Jy"])
def test_errors_in_another_unit_are_left_out_and_told(tmp_path: Path, unit: str) -> None:
    wave = fits.Column("WAVE", "D", unit="Angstrom", array=X)
    flux = fits.Column("FLUX", "D", unit="erg/s/cm2/Angstrom", array=F)
    error = fits.Column("ERR", "D", unit=unit, array=F * 5)
    found = judged(tmp_path, table(wave, flux, error)).spectra[0]
    assert (found.uncertainty, "uncertainty" in [each.about for each in found.assumptions]) == (None, True)
    heading = f"wavelength (A),flux (erg/s/cm2/A),err ({unit})"
    if "(" not in unit:
        assert judged(tmp_path, text(heading), "file.txt").spectra[0].uncertainty is None


def test_errors_in_the_unit_of_the_flux_stay(tmp_path: Path) -> None:
    wave = fits.Column("WAVE", "D", unit="Angstrom", array=X)
    flux = fits.Column("FLUX", "D", unit="erg/s/cm2/Angstrom", array=F)
    error = fits.Column("ERR", "D", unit="erg s-1 cm-2 Angstrom-1", array=F * 5)
    assert judged(tmp_path, table(wave, flux, error)).spectra[0].uncertainty is not None


@pytest.mark.parametrize("ctype", ["AWAV-F2A", "WAVE-A2W", "WAVE-V2W", "AWAV-GRI", "WAVE-TAB", "WAVE-XYZ"])
def test_a_mapping_that_is_not_known_is_not_linear(tmp_path: Path, ctype: str) -> None:
    assert code(tmp_path, image({**AXIS, "CTYPE1": ctype, "CUNIT1": "Angstrom"})) == "NO_WAVELENGTH"
    speeds = {"CRVAL1": 0.0, "CDELT1": 1e5, "CRPIX1": 250.0, "CUNIT1": "m/s", "RESTWAV": 6.5628e-7}
    assert code(tmp_path, image({**speeds, "CTYPE1": "VELO-F2V"})) == "NO_WAVELENGTH"
    assert code(tmp_path, image({**speeds, "CTYPE1": "VOPT"})) == "VALID"


def test_a_logarithmic_axis_counts_what_its_unit_counts(tmp_path: Path) -> None:
    assert code(tmp_path, image({**AXIS, "CTYPE1": "FREQ-LOG", "CUNIT1": "Angstrom"})) == "CONTRADICTORY_CARDS"
    assert code(tmp_path, image({**AXIS, "CTYPE1": "WAVE-LOG", "CUNIT1": "Hz"})) == "CONTRADICTORY_CARDS"
    assert code(tmp_path, image({**AXIS, "CTYPE1": "WAVE-LOG", "CUNIT1": "Angstrom"})) == "VALID"


@pytest.mark.parametrize("name", ["FREQUENCY", "ENERGY", "VELOCITY", "WAVENUM", "ZOPT", "FREQ", "WAVN"])
def test_an_axis_that_is_called_something_else_is_not_in_angstrom(tmp_path: Path, name: str) -> None:
    assert code(tmp_path, image({**AXIS, "CTYPE1": name})) in ("UNKNOWN_UNIT", "NO_WAVELENGTH")


@pytest.mark.parametrize("name", ["FREQUENCY", "ENERGY", "WAVENUMBER", "NU"])
def test_a_column_that_is_called_something_else_is_not_in_angstrom(tmp_path: Path, name: str) -> None:
    data = table(fits.Column(name, "D", array=X), fits.Column("FLUX", "D", array=F))
    assert code(tmp_path, data) == "UNKNOWN_UNIT"
    assert code(tmp_path, text(f"{name},FLUX"), "file.txt") == "UNKNOWN_UNIT"


@pytest.mark.parametrize(
    "heading", ["pixel,counts", "HJD-2450000,Vmag,err", "# time_s counts", "Vmag,flux", "wave,flux,flux"]
)
def test_a_heading_that_says_that_it_is_no_spectrum_is_believed(tmp_path: Path, heading: str) -> None:
    assert judged(tmp_path, text(heading), "file.txt").verdict is not FileVerdict.VALID


@pytest.mark.parametrize(
    ("heading", "first"),
    [("wavelength_nm,flux", 40_000.0), ("# Wavenumber (cm-1)  Flux", 14285.714), ("wave (A),flux", 4000.0)],
)
def test_a_heading_that_tells_a_unit_is_believed(tmp_path: Path, heading: str, first: float) -> None:
    found = judged(tmp_path, text(heading, np.linspace(4000, 7000, 500)), "file.txt")
    assert found.verdict is FileVerdict.VALID, found.finding
    assert found.spectra[0].wavelength[0] == pytest.approx(first)


def test_headers_without_end_are_too_large(tmp_path: Path) -> None:
    cards = ["XTENSION= 'IMAGE'", f"{'BITPIX':8}= {8:20}", f"{'NAXIS':8}= {0:20}", *["EXTNAME = 'Q'"] * 35_000]
    assert code(tmp_path, gzip.compress(image(AXIS) + header(*cards) * 7, 1), "many.fits.gz") == "TOO_LARGE"


def test_a_number_is_written_without_lines_in_it(tmp_path: Path) -> None:
    assert code(tmp_path, b"1_0000 1\n2_0000 2\n", "file.txt") == "NOT_A_SPECTRUM_FILE"


def test_numbers_that_are_none_are_not_told_of_an_observation(tmp_path: Path) -> None:
    data = image({**AXIS, "CUNIT1": "Angstrom", "EXPTIME": 60.0, "AIRMASS": 1.1})
    data = data.replace(b"EXPTIME =                 60.0", b"EXPTIME =               1E+999")
    told = judged(tmp_path, data).spectra[0].metadata
    assert "1.1" in str(told.values())
    assert not [each for each in told.values() if isinstance(each, float) and abs(each) > 1e30]
