"""Flags that files keep beside their fluxes: kept as they are, and bad by the rules of their pipelines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from penstock.astronomy.judgement import FileVerdict
from penstock.astronomy.spectra import judge_spectrum
from penstock.astronomy.spectrum import Spectrum
from tests.astronomy.spectra.fits_bytes import POINTS, CardValue, Column, fluxes, image, table, waves

SAMPLES = Path(__file__).parents[4] / "shared" / "data" / "spectra_fits"
FLAGS = np.where(np.arange(POINTS) == 7, 4, np.where(np.arange(POINTS) == 9, 5, 0))


def judged(folder: Path, data: bytes) -> Spectrum:
    path = folder / "made.fits"
    path.write_bytes(data)
    found = judge_spectrum(path)
    assert found.verdict is FileVerdict.VALID, found.finding
    return found.spectra[0]


def jwst() -> bytes:
    columns = [Column("WAVELENGTH", [*waves(1.0, 2.0)], "um"), Column("FLUX", [*fluxes()], "Jy")]
    columns += [Column("DQ", [*FLAGS], kind="i4")]
    return image(None, {"TELESCOP": "JWST"}) + table(columns, {"EXTNAME": "EXTRACT1D"})


def stis(**cards: CardValue) -> bytes:
    columns = [Column("SPORDER", [1], kind="i2"), Column("NELEM", [POINTS - 5], kind="i2")]
    columns += [Column("WAVELENGTH", [waves(1200.0, 1300.0)], "Angstroms")]
    columns += [Column(name, [fluxes()], "erg/s/cm**2/Angstrom", "f4") for name in ("FLUX", "ERROR")]
    columns += [Column("DQ", [FLAGS], kind="i2")]
    return image(None, {"TELESCOP": "HST"}) + table(columns, {"EXTNAME": "SCI", **cards})


def unknown() -> bytes:
    columns = [Column("WAVELENGTH", [*waves(4000.0, 5000.0)], "Angstrom"), Column("FLUX", [*fluxes()], "Jy")]
    return image(None, {}) + table([*columns, Column("QUALITY", [*FLAGS], kind="i4")], {})


@pytest.mark.parametrize(
    ("data", "bad"),
    [(jwst(), [9]), (stis(), [7, 9]), (stis(SDQFLAGS=1), [9]), (stis(SDQFLAGS=8), []), (unknown(), [])],
)
def test_flags_are_kept_and_bad_by_their_own_rules(tmp_path: Path, data: bytes, bad: list[int]) -> None:
    found = judged(tmp_path, data)
    assert found.quality is not None
    assert found.bad is not None
    assert found.quality.tolist() == FLAGS[: found.flux.size].tolist()
    assert np.flatnonzero(found.bad).tolist() == bad
    assert found.metadata["bad_points"] == len(bad)
    assert found.metadata["quality_rule"]


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["uv_ir/IUE_lwp25637_mxlo.fits", "sdss/spec-1325-52762-0133.fits"])
def test_flags_of_a_real_file_are_its_own(name: str) -> None:
    if not SAMPLES.is_dir():
        pytest.skip("the folder of real sample files is not beside the repository")
    from astropy.io import fits

    column = "QUALITY" if "IUE" in name else "and_mask"
    told = np.ravel(fits.getdata(SAMPLES / name, 1)[column]).astype(np.int64)
    found = judge_spectrum(SAMPLES / name).spectra[0]
    assert found.quality is not None
    assert found.bad is not None
    assert found.quality.tolist() == told.tolist()
    assert found.bad.tolist() == (told != 0).tolist()
    assert found.bad.any()
