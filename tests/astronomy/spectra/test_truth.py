"""Every real FITS sample, one by one, against values that were derived without what is tested."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from penstock.astronomy.judgement import Verdict
from penstock.astronomy.spectra import judge_spectrum
from tests.astronomy.spectra.raw_reading import RawHdu, line, multispec, raw_hdus

SAMPLES = Path(__file__).parents[4] / "shared" / "data" / "spectra_fits"
FLAM = "erg Angstrom-1 s-1 cm-2"

pytestmark = pytest.mark.realdata

Axis = Callable[[list[RawHdu]], Sequence[float]]


def cards(hdus: list[RawHdu]) -> list[float]:
    """CRVAL1 + (pixel - CRPIX1) × CD1_1, in decimal arithmetic from the text of the cards; 10 to it where told so."""
    return line(hdus[0])


def function(hdus: list[RawHdu]) -> list[float]:
    """The multispec function of the first aperture, term by term, with cosines and basis splines."""
    return multispec(hdus[0])


def column(hdu: int, name: str, *, times: float = 1.0, log: bool = False) -> Axis:
    """A column, unpacked by struct from the bytes of the table."""

    def read(hdus: list[RawHdu]) -> list[float]:
        values = hdus[hdu].column(name)
        return [math.pow(10.0, value) if log else value * times for value in values]

    return read


def row(hdu: int) -> Axis:
    """The first row of an image, unpacked by struct."""
    return lambda hdus: hdus[hdu].numbers(hdus[hdu].whole("NAXIS1"))


def start_and_step(hdus: list[RawHdu]) -> list[float]:
    """WAVELENGTH + i × DELTAW of IUE, from the cells of the table."""
    table = hdus[1]
    start, step, count = (table.column(name)[0] for name in ("WAVELENGTH", "DELTAW", "NPOINTS"))
    return [start + number * step for number in range(int(count))]


# File: profile, points, first and last Ångström, flux unit, what was assumed, and how the axis was derived.
TRUTH: dict[str, tuple[str, int, float, float, str, set[str], Axis]] = {
    "eso/CORALIE_s1d.fits": ("eso_drs_s1d", 294757, 3872.75, 6820.31, "", {"medium", "frame"}, cards),
    "eso/r.UVES.2011-08-11T232352.266-A01_0000.fits": (
        "uves_pipeline", 42751, 3732.05623191818, 4999.738375912126, "adu", {"medium", "frame"}, cards,
    ),
    "eso/r.UVES.2011-08-13T022906.332-A01_0000.fits": (
        "uves_pipeline", 42751, 3732.05623191818, 4999.738375912126, "adu", {"medium", "frame"}, cards,
    ),
    "iraf/sn10028-489.fits": (
        "iraf_equispec", 6020, 3895.0166015625, 8896.81152343751, FLAM, {"wavelength_unit"}, cards,
    ),
    "iraf/sn10096-532.fits": (
        "iraf_equispec", 2477, 3600.0, 9595.484567837913, FLAM, {"reference_pixel", "dispersion_type"}, cards,
    ),
    "iraf/sn10449-546.fits": (
        "iraf_equispec", 3728, 3999.0869140625, 8996.33203125013, "adu", {"wavelength_unit", "rows"}, cards,
    ),
    "iraf/sn12820-877.fits": ("iraf_equispec", 1767, 3530.7023821291, 8433.84992906279, FLAM, set(), cards),
    "iraf/sn12820-974.fits": ("iraf_equispec", 1127, 3802.4281077076, 7250.690977554634, FLAM, set(), cards),
    "iraf/sn12897-719.fits": ("iraf_equispec", 3162, 3704.876953125, 6765.530273437509, FLAM, set(), cards),
    "iraf/sn1316-141.fits": (
        "iraf_equispec", 6068, 3871.1733398438, 8904.367187500027, FLAM, {"wavelength_unit"}, cards,
    ),
    "iraf/sn13934-1049.fits": ("iraf_equispec", 3812, 3600.0, 8996.436976, "adu", {"wavelength_unit", "band"}, cards),
    "iraf/sn17218-1794.fits": (
        "iraf_multispec", 1960, 3185.6443223815495, 9168.31743161519, FLAM, {"band", "physical_pixel"}, function,
    ),
    "iraf/sn17244-2083.fits": (
        "iraf_equispec", 4668, 3899.48828125, 10239.887695312367, "", {"wavelength_unit", "flux_unit"}, cards,
    ),
    "iraf/sn17340-2114.fits": ("iraf_equispec", 2675, 3850.0, 10000.000000000085, FLAM, set(), cards),
    "iraf/sn17784-2093.fits": (
        "iraf_multispec", 1440, 3752.8282716825715, 7709.707327689535, "", {"physical_pixel", "flux_unit"}, function,
    ),
    "iraf/sn6304-444.fits": ("iraf_equispec", 2980, 3282.0, 9240.0, "", {"wavelength_unit", "flux_unit"}, cards),
    "other/CRIRES_spec_wavecal.fits": (
        "crires_table", 1024, 21118.75732421875, 21235.859375, "", {"checksum", "flux_unit"},
        column(1, "Wavelength", times=10.0),
    ),
    "other/IndoUS_A0V_153808.fits": (
        "iraf_equispec", 15011, 3465.0, 9469.0, "", {"wavelength_unit", "flux_unit", "dispersion_type"}, cards,
    ),
    "other/PH957_e.fits": (
        "iraf_equispec_log", 21059, 3811.5108346595043, 10931.565948088512, FLAM, {"quantity"}, cards,
    ),
    "other/SDSSJ220248.31+123656.3.fits": (
        "sdss_spspec", 4646, 3553.857419860757, 10356.189770449862, f"10**-17 {FLAM}", {"frame"}, cards,
    ),
    "other/UM184_nE.fits": (
        "iraf_equispec_log", 16582, 3042.345159164254, 10271.883749848846, "adu pix-1",
        {"wavelength_unit", "quantity"}, cards,
    ),
    "other/XShooter_XQ100.fits.gz": (
        "eso_sdp", 9771, 9817.513427734375, 18234.99755859375, "erg nm-1 s-1 cm-2", set(),
        column(1, "WAVE", times=10.0),
    ),
    "other/popler_sample.fits": (
        "uves_popler", 10, 3045.487450681628, 3045.7160279908735, "",
        {"dispersion", "wavelength_unit", "flux_unit", "medium", "frame"}, cards,
    ),
    "other/sn2009ip_halpha.fits": ("array_rows", 746, 5799.78, 7498.09, "", {"rows", "flux_unit"}, row(0)),
    "other/specexample1.fits": ("hdu_arrays", 181, 1721.1311301909823, 1749.9059817400926, "", set(), row(2)),
    "other/tom_test_spectrum.fits": (
        "floyds", 3913, 3200.4479980468795, 10000.509579658508, FLAM, {"wavelength_unit", "medium"}, cards,
    ),
    "sdss/spec-1325-52762-0133.fits": (
        "sdss_spec", 3843, 3794.897318741264, 9191.785627112642, f"10**-17 {FLAM}", {"frame"},
        column(1, "loglam", log=True),
    ),
    "uv_ir/IUE_lwp25637_mxlo.fits": ("iue_mx", 640, 1750.0, 3451.528789997101, FLAM, set(), start_and_step),
    "uv_ir/grw_70d5824_stisnic_005.fits": (
        "calspec", 3991, 1140.5579833984375, 24976.708984375, FLAM, {"medium"}, column(1, "WAVELENGTH"),
    ),
    "uv_ir/hd229238_iue.fits": (
        "merged_table", 1223, 1000.5006103515625, 3398.29931640625, FLAM, set(), column(1, "WAVELENGTH"),
    ),
    "uv_ir/hd229238_sxd_spex.fits": (
        "merged_table", 2237, 8002.000914188252, 24481.62885441034, FLAM, set(), column(1, "WAVELENGTH"),
    ),
}  # fmt: skip

BROKEN = {
    "all_nan_iraf.fits": ("QUARANTINED", "NON_FINITE_FLUX"),
    "astropy_group_invalid.fits": ("TERMINAL_INVALID", "NO_DATA"),
    "astropy_lzw.fits.Z": ("QUARANTINED", "UNSUPPORTED_COMPRESSION"),
    "astropy_verify.fits": ("TERMINAL_INVALID", "NO_DATA"),
    "astropy_zerowidth.fits": ("QUARANTINED", "UNKNOWN_PROFILE"),
    "empty.fits": ("TERMINAL_INVALID", "EMPTY_FILE"),
    "fitsblender_FOSy19g0309t_c2f.fits": ("TERMINAL_INVALID", "NO_DATA"),
    "fitsblender_IUElwp25637mxlo.fits": ("TERMINAL_INVALID", "NO_DATA"),
    "html_error_page.fits": ("TERMINAL_INVALID", "NOT_A_SPECTRUM_FILE"),
    "sdp_length_mismatch_nonmonotonic.fits": ("QUARANTINED", "LENGTH_MISMATCH"),
    "trunc_data_iraf.fits": ("TERMINAL_INVALID", "TRUNCATED"),
    "trunc_gzip_sdp.fits.gz": ("TERMINAL_INVALID", "TRUNCATED"),
    "trunc_table_sdss.fits": ("TERMINAL_INVALID", "TRUNCATED"),
    "unknown_unit_iraf.fits": ("QUARANTINED", "UNKNOWN_UNIT"),
    "zero_dispersion_iraf.fits": ("QUARANTINED", "ZERO_DISPERSION"),
}


@pytest.fixture(autouse=True)
def samples() -> None:
    if not SAMPLES.is_dir():
        pytest.skip("the folder of real sample files is not beside the repository")


def test_the_table_has_every_sample_that_is_there() -> None:
    good = {f"{path.parent.name}/{path.name}" for path in SAMPLES.glob("*/*") if path.parent.name != "broken"}
    assert good == TRUTH.keys()
    assert {path.name for path in (SAMPLES / "broken").iterdir()} == BROKEN.keys()


@pytest.mark.parametrize("name", TRUTH)
def test_a_good_sample_is_valid_with_the_axis_that_its_own_bytes_tell(name: str) -> None:
    """NC-27: range, points and units are those of an independent reading, to the last digits of a float64."""
    profile, points, first, last, flux_unit, assumed, derive = TRUTH[name]
    judged = judge_spectrum(SAMPLES / name)
    assert judged.verdict is Verdict.VALID, judged.finding
    assert judged.selection is not None
    spectrum = judged.spectra[0]
    assert (judged.selection.chosen, len(spectrum.wavelength), spectrum.flux_unit) == (profile, points, flux_unit)
    assert spectrum.wavelength[0] == pytest.approx(first, rel=1e-14)
    assert spectrum.wavelength[-1] == pytest.approx(last, rel=1e-14)
    assert {assumption.about for assumption in spectrum.assumptions} == assumed
    assert len(spectrum.flux) == points
    derived = sorted(derive(raw_hdus(SAMPLES / name)))
    assert spectrum.wavelength.tolist() == pytest.approx(derived, rel=1e-14)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_sample_is_refused_with_its_reason(name: str) -> None:
    """NC-27"""
    judged = judge_spectrum(SAMPLES / "broken" / name)
    assert judged.finding is not None
    assert (judged.verdict, judged.finding.code) == BROKEN[name]
    assert judged.spectra == ()
    assert len(judged.finding.message) > 20


def test_the_fluxes_of_an_image_are_its_bytes() -> None:
    raw = raw_hdus(SAMPLES / "iraf/sn10028-489.fits")[0].numbers(6020)
    assert judge_spectrum(SAMPLES / "iraf/sn10028-489.fits").spectra[0].flux.tolist() == raw


def test_fluxes_turn_round_with_the_axis_and_a_file_that_holds_its_axis_confirms_it() -> None:
    """Band 5 of this file holds the wavelengths that another program computed from the same Chebyshev function."""
    raw = raw_hdus(SAMPLES / "iraf/sn17218-1794.fits")[0]
    spectrum = judge_spectrum(SAMPLES / "iraf/sn17218-1794.fits").spectra[0]
    assert spectrum.wavelength.tolist() == pytest.approx(raw.numbers(1960, skip=4 * 1960)[::-1], rel=1e-14)
    assert spectrum.flux.tolist() == raw.numbers(1960)[::-1]
    assert spectrum.uncertainty is not None
    assert spectrum.uncertainty.tolist() == raw.numbers(1960, skip=3 * 1960)[::-1]


def test_inverse_variances_become_deviations_and_none_where_nothing_is_known() -> None:
    raw = raw_hdus(SAMPLES / "sdss/spec-1325-52762-0133.fits")[1].column("ivar")
    found = judge_spectrum(SAMPLES / "sdss/spec-1325-52762-0133.fits").spectra[0].uncertainty
    assert found is not None
    for told, deviation in zip(raw, found.tolist(), strict=True):
        assert deviation == pytest.approx(1 / math.sqrt(told)) if told > 0 else math.isnan(deviation)


def test_every_sample_is_judged_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    for name in TRUTH:
        judge_spectrum(SAMPLES / name)
    assert [str(warning.message) for warning in recwarn] == []
