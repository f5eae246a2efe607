"""Files whose cards and data were changed at random: VALID is only what the changed file's own cards still tell."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Sequence
from decimal import InvalidOperation
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from penstock.astronomy.judgement import FileVerdict
from penstock.astronomy.spectra import CODES, SpectrumJudgement, judge_spectrum
from tests.astronomy.spectra.made_spectra import MADE
from tests.astronomy.spectra.raw_reading import RawHdu, line, multispec, raw_parts

SAMPLES = Path(__file__).parents[4] / "shared" / "data" / "spectra_fits"
UNITS = {"angstroms": 1, "angstrom": 1, "nm": 10, "nanometers": 10, "um": 1e4, "micron": 1e4, "thz": None, "ang": 1}
NUMBERS: Sequence[object] = (
    0,
    -1,
    1,
    2,
    1.5,
    60,
    4500.0,
    3.65,
    1e-4,
    1e300,
    -1e300,
    1e-300,
    10**12,
    True,
    "'x'",
    "NaN",
    "1.2.3",
)
WORDS: Sequence[object] = (
    "nm",
    "Angstrom",
    "um",
    "flubber",
    "PIXEL",
    "LINEAR",
    "LOGLIN",
    "deg",
    "MULTISPE",
    "",
    5,
    7.5,
)
STRUCTURE = ("SIMPLE", "XTENSION", "END", "BITPIX", "NAXIS", "TFIELDS", "TFORM", "PCOUNT", "GCOUNT")

Told = tuple[list[float], set[str]]
"An axis in Ångström, and what has to be flagged about it."


class NotTold(Exception):
    """The cards of a file do not tell its axis."""


def of_cards(data: bytes) -> Told:
    """The axis of an image with a straight axis, by the text of its cards alone."""
    hdu = next((hdu for hdu in raw_parts(data) if hdu.data and hdu.decimal("NAXIS1")), None)
    if hdu is None:
        raise NotTold
    factor, flags = _factor(hdu)
    if "CRPIX1" not in hdu.cards:
        flags.add("reference_pixel")
    return [value * factor for value in line(hdu)], flags


def _factor(hdu: RawHdu) -> tuple[float, set[str]]:
    long = "".join((hdu.text(key) or "").ljust(68) for key in sorted(hdu.cards) if key.startswith("WAT1_"))
    told = re.search(r"units=(\w+)", long)
    bracket = re.search(r"\[(\w+)\]", hdu.text("CTYPE1") or "")
    words = [told[1] if told else "", hdu.text("CUNIT1") or "", bracket[1] if bracket else hdu.text("CTYPE1") or ""]
    for word in words:
        factor = UNITS.get(word.strip().lower())
        if factor is not None:
            return factor, set()
    return 1.0, {"wavelength_unit"}


def of_function(data: bytes) -> Told:
    """The axis of the first aperture of a multispec file."""
    hdu = raw_parts(data)[0]
    factor, flags = _factor(hdu)
    return [value * factor for value in multispec(hdu)], flags


def _names(table: RawHdu, number: int, name: str) -> bool:
    """Is this the column of wavelengths: by its name, or by the role or the kind that the IVOA has words for?"""
    told = (table.text(f"TTYPE{number}") or "").upper() == name
    role, kind = table.text(f"TUTYP{number}"), table.text(f"TUCD{number}") or ""
    return told or role == "spec:Data.SpectralAxis.Value" or kind.split(";")[0].lower() == "em.wl"


def of_column(hdu: int, name: str, *, log: bool = False) -> Callable[[bytes], Told]:
    """The axis in a column, unpacked cell by cell."""

    def read(data: bytes) -> Told:
        table = raw_parts(data)[hdu]
        number = next(n for n in range(1, 99) if _names(table, n, name))
        unit = (table.text(f"TUNIT{number}") or "").strip().lower()
        factor = UNITS.get(unit)
        if unit and factor is None:
            raise NotTold
        scale, zero = (table.decimal(f"{stem}{number}") for stem in ("TSCAL", "TZERO"))
        values = [value * float(1 if scale is None else scale) + float(zero or 0) for value in table.column(number)]
        flags = set() if unit or log else {"wavelength_unit"}
        return [math.pow(10.0, value) if log else value * (factor or 1.0) for value in values], flags

    return read


def of_sloan(data: bytes) -> Told:
    """The axis of the coadd; where no table is a whole one of Sloan's any more, of the first that has an axis and
    fluxes."""
    for number, table in enumerate(raw_parts(data)):
        names = {(table.text(f"TTYPE{n}") or "").upper() for n in range(1, 99)}
        if {"LOGLAM", "FLUX"} <= names:
            return of_column(number, "LOGLAM", log=True)(data)
    raise NotTold


def of_start_and_step(data: bytes) -> Told:
    """The axis of the first row of an IUE file."""
    table = raw_parts(data)[1]
    start, step, count = (table.column(name)[0] for name in ("WAVELENGTH", "DELTAW", "NPOINTS"))
    number = next(n for n in range(1, 99) if table.text(f"TTYPE{n}") == "WAVELENGTH")
    unit = (table.text(f"TUNIT{number}") or "").lower()
    factor = UNITS.get(unit)
    if unit and factor is None:
        raise NotTold
    flags = set() if unit else {"wavelength_unit"}
    return [(start + i * step) * (factor or 1.0) for i in range(int(count))], flags


MADE_BASES: dict[str, Callable[[bytes], Told]] = {
    "equispec": of_cards,
    "equispec_log": of_cards,
    "equispec_bands": of_cards,
    "floyds": of_cards,
    "bare": of_cards,
    "uves": of_cards,
    "feros": of_cards,
    "xshooter": of_cards,
    "extension_image": of_cards,
    "multispec_linear": of_function,
    "multispec_chebyshev": of_function,
    "multispec_cubic": of_function,
    "sdp": of_column(1, "WAVE"),
    "merged": of_column(1, "WAVELENGTH"),
    "plain_table": of_column(1, "WAVE"),
    "calspec": of_column(1, "WAVELENGTH"),
    "spec": of_sloan,
    "jwst": of_column(1, "WAVELENGTH"),
    "iue": of_start_and_step,
}
REAL_BASES: dict[str, Callable[[bytes], Told]] = {
    "iraf/sn10096-532.fits": of_cards,
    "iraf/sn10449-546.fits": of_cards,
    "iraf/sn12820-877.fits": of_cards,
    "iraf/sn12820-974.fits": of_cards,
    "iraf/sn17244-2083.fits": of_cards,
    "iraf/sn17784-2093.fits": of_function,
    "iraf/sn17218-1794.fits": of_function,
    "iraf/sn6304-444.fits": of_cards,
    "other/IndoUS_A0V_153808.fits": of_cards,
    "other/tom_test_spectrum.fits": of_cards,
    "uv_ir/hd229238_iue.fits": of_column(1, "WAVELENGTH"),
    "uv_ir/IUE_lwp25637_mxlo.fits": of_start_and_step,
}


def _places(data: bytes, hdu_at: int) -> list[int]:
    places, at = [], hdu_at
    while data[at : at + 8].rstrip() != b"END" and at < len(data):
        places.append(at)
        at += 80
    return places


def _about(data: bytes, at: int) -> bool:
    """Is this card one that an axis is told by?"""
    stems = (b"CRVAL", b"CRPIX", b"CD", b"CTYPE", b"CUNIT", b"WAT", b"DC-", b"LT", b"T", b"NAXIS", b"BUNIT", b"BITPIX")
    return data[at : at + 8].startswith(stems)


class Whole(bytes):
    """The bytes of a file, which nobody wants to see when a test fails."""

    def __repr__(self) -> str:
        return f"<{len(self)} bytes>"


@st.composite
def mutations(draw: st.DrawFn, whole: Whole) -> Whole:
    """A file with one to three changes, at last perhaps cut."""
    data = bytes(whole)
    for _ in range(draw(st.integers(1, 3))):
        starts = [0, *(found.start() for found in re.finditer(b"XTENSION= '", data) if found.start() % 2880 == 0)]
        places = _places(data, draw(st.sampled_from(starts)))
        told = [at for at in places if _about(data, at)]
        likely = draw(st.integers(0, 3)) > 0
        at = draw(st.sampled_from(told if told and likely else places))
        data = draw(st.sampled_from([_gone, _valued, _valued, _moved, _twice, _bytes]))(draw, data, at, places)
    return Whole(data[: draw(st.integers(1, len(data)))] if draw(st.integers(0, 7)) == 0 else data)


def _gone(draw: st.DrawFn, data: bytes, at: int, places: list[int]) -> bytes:
    return data[:at] + b"COMMENT gone".ljust(80) + data[at + 80 :]


def _valued(draw: st.DrawFn, data: bytes, at: int, places: list[int]) -> bytes:
    text = b"'" in data[at + 9 : at + 12]
    value: object = draw(st.sampled_from(WORDS if text and draw(st.booleans()) else NUMBERS))
    told = f"'{value}'" if isinstance(value, str) and value in WORDS else ("T" if value is True else str(value))
    return data[: at + 8] + f"= {told:>20}".encode("ascii").ljust(72)[:72] + data[at + 80 :]


def _moved(draw: st.DrawFn, data: bytes, at: int, places: list[int]) -> bytes:
    other = draw(st.sampled_from(places))
    one, another = data[at : at + 80], data[other : other + 80]
    data = data[:at] + another + data[at + 80 :]
    return data[:other] + one + data[other + 80 :]


def _twice(draw: st.DrawFn, data: bytes, at: int, places: list[int]) -> bytes:
    other = draw(st.sampled_from(places))
    value = draw(st.sampled_from(NUMBERS))
    return data[:other] + data[at : at + 8] + f"= {value!s:>20}".encode("ascii").ljust(72) + data[other + 80 :]


def _bytes(draw: st.DrawFn, data: bytes, at: int, places: list[int]) -> bytes:
    place = draw(st.integers(0, len(data) - 9))
    noise = draw(st.sampled_from([b"\xff" * 8, b"\x7f\xf8" + b"\0" * 6, b"\0" * 8, b"garbage!"]))
    return data[:place] + noise + data[place + 8 :]


def judge(data: bytes) -> SpectrumJudgement:
    """The judgement of these bytes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "primary.fits"
        path.write_bytes(data)
        return judge_spectrum(path)


def check(data: bytes, oracle: Callable[[bytes], Told]) -> None:
    """VALID is only what an independent reading finds too, with everything flagged that was assumed."""
    judged = judge(data)
    if judged.verdict is not FileVerdict.VALID:
        assert judged.finding is not None
        assert judged.verdict is CODES[judged.finding.code].verdict
        assert "not foreseen" not in judged.finding.message, judged.finding
        event(judged.finding.code)
        return
    event("VALID")
    try:
        axis, flags = oracle(data)
    except (
        NotTold,
        KeyError,
        StopIteration,
        AssertionError,
        InvalidOperation,
        ValueError,
        IndexError,
        struct.error,
    ) as error:
        raise AssertionError(f"VALID, though the cards do not tell its axis ({error!r})") from error
    spectrum = judged.spectra[0]
    assert len(spectrum.wavelength) == len(axis)
    assert spectrum.wavelength.tolist() == pytest.approx(sorted(axis), rel=1e-12)
    assert flags <= {assumption.about for assumption in spectrum.assumptions}


COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


@pytest.mark.parametrize("name", MADE_BASES)
@settings(max_examples=40, **COMMON)  # type: ignore[arg-type]
@given(draw=st.data())
def test_a_changed_file_is_valid_only_with_the_axis_of_its_own_cards(name: str, draw: st.DataObject) -> None:
    """NC-27"""
    check(draw.draw(mutations(Whole(MADE[name]().data))), MADE_BASES[name])


@pytest.mark.long
@pytest.mark.parametrize("name", MADE_BASES)
@settings(max_examples=1500, **(COMMON | {"derandomize": False}))  # type: ignore[arg-type]
@given(draw=st.data())
def test_a_file_changed_in_many_ways_is_valid_only_with_its_own_axis(name: str, draw: st.DataObject) -> None:
    """NC-27"""
    check(draw.draw(mutations(Whole(MADE[name]().data))), MADE_BASES[name])


@pytest.mark.realdata
@pytest.mark.parametrize("name", REAL_BASES)
@settings(max_examples=15, **COMMON)  # type: ignore[arg-type]
@given(draw=st.data())
def test_a_changed_real_file_is_valid_only_with_the_axis_of_its_own_cards(name: str, draw: st.DataObject) -> None:
    """NC-27"""
    if not SAMPLES.is_dir():
        pytest.skip("the folder of real sample files is not beside the repository")
    check(draw.draw(mutations(Whole((SAMPLES / name).read_bytes()))), REAL_BASES[name])


NEEDED = {
    "equispec": ("CRVAL1", "WAT1_001", "CRPIX1"),
    "equispec_log": ("CRVAL1", "CD1_1", "DC-FLAG", "WAT1_001", "CRPIX1"),
    "bare": ("CRVAL1", "CDELT1"),
    "multispec_chebyshev": ("WAT2_001", "WAT2_002", "WAT1_001", "LTM1_1", "LTV1"),
    "sdp": ("TUNIT1", "TTYPE1", "TUTYP1", "TFORM1"),
    "jwst": ("TUNIT1", "TTYPE1"),
    "merged": ("TUNIT1", "TTYPE1", "TTYPE2"),
    "iue": ("TUNIT3", "TTYPE4", "TTYPE2"),
    "xshooter": ("CUNIT1", "CDELT1"),
    "crires": ("CUNIT1",),
    "hdu_arrays": ("UNITS",),
    "array_rows": ("XUNITS",),
}


@pytest.mark.parametrize(("name", "key"), [(name, key) for name, keys in NEEDED.items() for key in keys])
def test_without_a_card_that_the_axis_needs_it_is_the_same_or_flagged_or_refused(name: str, key: str) -> None:
    """NC-27"""
    whole = MADE[name]().data
    at = card_at(whole, key)
    before, after = judge(whole), judge(whole[:at] + b"COMMENT gone".ljust(80) + whole[at + 80 :])
    if after.verdict is not FileVerdict.VALID:
        return
    one, other = before.spectra[0], after.spectra[0]
    same = other.wavelength.tolist() == one.wavelength.tolist()
    assert same or len(other.assumptions) > len(one.assumptions)


def card_at(whole: bytes, key: str) -> int:
    """Where the first card of a name begins."""
    return next(at for at in range(0, len(whole), 80) if whole[at : at + 8].decode("latin-1").rstrip() == key)


def test_a_unit_that_only_another_card_tells_is_not_passed_over() -> None:
    """NC-27: micrometres where an aperture is Ångström long are refused, not read as Ångström."""
    whole = MADE["multispec_chebyshev"]().data
    for key, told in {"WAT1_001": "COMMENT gone", "CTYPE1": "CTYPE1  = 'um      '"}.items():
        at = card_at(whole, key)
        whole = whole[:at] + told.encode("ascii").ljust(80) + whole[at + 80 :]
    assert judge(whole).verdict is FileVerdict.QUARANTINED


@settings(max_examples=200, **COMMON)  # type: ignore[arg-type]
@given(
    st.binary(max_size=6000), st.sampled_from([b"", b"SIMPLE  =                    T".ljust(80), b"\x1f\x8b", b"1,2\n"])
)
def test_any_bytes_get_a_verdict(noise: bytes, start: bytes) -> None:
    """NC-27"""
    judged = judge(start + noise)
    assert judged.verdict is FileVerdict.VALID or judged.finding is not None
    assert judged.finding is None or "not foreseen" not in judged.finding.message
