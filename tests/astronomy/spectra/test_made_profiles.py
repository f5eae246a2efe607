"""Every profile with a file that is made here, whose axis and unit are known because they were chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.astronomy.judgement import Verdict
from penstock.astronomy.spectra import judge_spectrum, spectrum_profiles
from tests.astronomy.spectra.fits_bytes import fluxes
from tests.astronomy.spectra.made_spectra import MADE


@pytest.mark.parametrize("name", MADE)
def test_a_made_file_is_read_by_its_profile(name: str, tmp_path: Path) -> None:
    """NC-27"""
    made = MADE[name]()
    path = tmp_path / "primary.fits"
    path.write_bytes(made.data)
    judged = judge_spectrum(path)
    assert judged.verdict is Verdict.VALID, judged.finding
    assert judged.selection is not None
    spectrum = judged.spectra[0]
    assert judged.selection.chosen == made.profile
    assert [one.label for one in judged.spectra] == list(made.labels)
    assert (len(judged.spectra), len(spectrum.wavelength)) == (made.count, made.points)
    assert spectrum.wavelength[0] == pytest.approx(made.first, rel=1e-12)
    assert spectrum.wavelength[-1] == pytest.approx(made.last, rel=1e-12)
    assert (spectrum.flux_unit, spectrum.medium, spectrum.frame) == (made.flux_unit, made.medium, made.frame)
    assert {assumption.about for assumption in spectrum.assumptions} == made.assumed
    assert (spectrum.uncertainty is not None) == made.uncertainty


def test_every_profile_has_a_file_that_is_made() -> None:
    """NC-37: text tables are no profile of FITS files and have their own tests."""
    assert {made().profile for made in MADE.values()} == set(spectrum_profiles())


def test_a_descending_axis_is_turned_round_with_its_fluxes_and_errors(tmp_path: Path) -> None:
    path = tmp_path / "turned.fits"
    path.write_bytes(MADE["row_arrays"]().data)
    spectrum = judge_spectrum(path).spectra[0]
    assert (spectrum.wavelength[1:] > spectrum.wavelength[:-1]).all()
    assert spectrum.flux.tolist() == fluxes()[::-1].tolist()
    assert spectrum.uncertainty is not None
    assert spectrum.uncertainty.tolist() == pytest.approx((1 / fluxes()[::-1] ** 0.5).tolist())


def test_scaled_whole_numbers_are_what_their_scale_makes_of_them(tmp_path: Path) -> None:
    path = tmp_path / "scaled.fits"
    path.write_bytes(MADE["scaled"]().data)
    wanted = 5.0 + 0.001 * (fluxes() * 1000).round()
    assert judge_spectrum(path).spectra[0].flux.tolist() == pytest.approx(wanted.tolist(), rel=1e-12)
