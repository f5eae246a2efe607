"""Numbers in a spectrum that were never measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from penstock.astronomy.fill_values import fill_values
from penstock.astronomy.spectra import judge_spectrum
from penstock.astronomy.spectrum import Floats

REAL = Path(__file__).parents[3] / "shared" / "data" / "spectra_fits"


def test_zeros_at_both_ends_were_never_measured() -> None:
    assert fill_values(np.array([0, 0, 1.5, 0, 2.5, 0]), None).tolist() == [True, True, False, False, False, True]


def test_zeros_whose_error_is_not_known_were_never_measured() -> None:
    flux, error = np.array([1.5, 0, 2.5, 0, 0, 3.5]), np.array([0.1, np.nan, 0.1, 0, 0.2, 0.1])
    assert np.flatnonzero(fill_values(flux, error)).tolist() == [1, 3]
    assert not fill_values(flux, np.full(6, np.nan)).any()
    assert not fill_values(flux, np.zeros(6)).any()


def test_a_long_run_of_zeros_is_a_gap_of_a_detector() -> None:
    flux = np.linspace(1, 2.5, 40)
    flux[10:15] = 0
    flux[20:24] = 0
    assert np.flatnonzero(fill_values(flux, None)).tolist() == [10, 11, 12, 13, 14]


def test_counts_of_zero_are_counts() -> None:
    assert np.flatnonzero(fill_values(np.array([0.0, 3, 0, 0, 0, 0, 0, 0, 2]), np.zeros(9))).tolist() == [0]


@pytest.mark.parametrize("flux", [np.zeros(9), np.zeros(0), np.full(5, np.nan), np.arange(1.0, 9)])
def test_nothing_is_called_unmeasured_where_all_or_nothing_is_zero(
    flux: Floats,
) -> None:
    assert not fill_values(flux, None).any()


@pytest.mark.realdata
@pytest.mark.skipif(not REAL.is_dir(), reason="there is no folder of real files beside the repository")
@pytest.mark.parametrize(
    ("name", "count"),
    [("uv_ir/IUE_lwp25637_mxlo.fits", 77), ("uv_ir/hd229238_iue.fits", 273), ("iraf/sn1316-141.fits", 0)],
)
def test_the_reader_counts_what_was_never_measured_and_changes_no_number(name: str, count: int) -> None:
    spectrum = judge_spectrum(REAL / name).spectra[0]
    assert spectrum.metadata.get("unmeasured_points", 0) == count
    assert np.count_nonzero(spectrum.flux == 0) == count
