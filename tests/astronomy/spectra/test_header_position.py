"""Where a header says that something is: by the conventions of its cards, and never hours for degrees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.astronomy.spectra import judge_spectrum
from penstock.astronomy.spectra.cards import HeaderCards
from penstock.astronomy.spectra.header_position import told_position

SAMPLES = Path(__file__).parents[4] / "shared" / "data" / "spectra_fits"


def header(*lines: str) -> HeaderCards:
    return HeaderCards("".join(line.ljust(80) for line in lines).encode("latin-1"))


def place(*lines: str) -> tuple[float, float] | None:
    told = told_position(header(*lines))
    return (told["right_ascension"], told["declination"]) if "right_ascension" in told else None


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("RA      = '14:32:34.380'", "DEC     = '-44:08:03.10'"), (218.14325, -44.1341944)),
        (("RA      = '01 13 36.78'", "DEC     = '-00 05 10.06'"), (18.40325, -0.0861278)),
        (("RA      = '11h25m48.54'", "DEC     = '-43:09:52.5'"), (171.45225, -43.1645833)),
        (("RA      =   3.5 / RA of catalog, float hours", "DEC     =  0.0568 / float degrees"), (52.5, 0.0568)),
        (("RA      =   3.5 / [deg] pointing", "DEC     =  0.0568 / [deg]"), (3.5, 0.0568)),
        (("RA      =   230.876 / pointing", "DEC     =  -38.4"), (230.876, -38.4)),
        (("RADEG   = '       356.17234'", "DECDEG  = '    -0.028182361'"), (356.17234, -0.0281824)),
        (("RA_TARG =   3.5", "DEC_TARG=  1.5"), (3.5, 1.5)),
        (("RA-RAD  = 0.9158725142478943 / right ascension (radiants as float)",
          "DEC-RAD = 0.001037860056385398 / declination (radiants as float)"), (52.4756296, 0.059465)),
    ],
)  # fmt: skip
def test_each_convention_gives_degrees(lines: tuple[str, ...], expected: tuple[float, float]) -> None:
    assert place(*lines) == pytest.approx(expected, abs=1e-6)


def test_a_number_that_may_be_hours_or_degrees_is_not_told_as_either() -> None:
    told = told_position(header("RA      =   1.228", "DEC     =  -0.10"))
    assert told == {"position_not_read": "RA = 1.228, DEC = -0.1: hours or degrees, nothing tells"}


def test_a_second_card_tells_whether_a_number_is_hours() -> None:
    hours = place("RA      =   1.228", "DEC     =  -0.10", "TELRA   = ' 01:13:36.78'", "TELDEC  = '-00:05:10.06'")
    assert hours == pytest.approx((18.42, -0.10))
    degrees = place("RA      =   18.42", "DEC     =  -0.10", "TELRA   = ' 01:13:36.78'", "TELDEC  = '-00:05:10.06'")
    assert degrees == pytest.approx((18.42, -0.10))


def test_two_cards_that_name_two_places_are_told_and_neither_is_taken() -> None:
    told = told_position(header("RA      = '01:00:00'", "DEC     = '10:00:00'", "CAT-RA  = '02:00:00'",
                                "CAT-DEC = '10:00:00'"))  # fmt: skip
    assert "right_ascension" not in told
    assert "two places" in told["position_not_read"]


def test_a_position_of_another_equinox_is_told_for_j2000() -> None:
    told = told_position(header("RA      = '01:00:33.40'", "DEC     = '+13:00:10.0'", "EQUINOX =  1950.0"))
    assert (told["right_ascension"], told["declination"]) == pytest.approx((15.7970, 13.2711), abs=3e-4)
    assert (told["equinox"], told["position_told"]) == (1950.0, "RA = 01:00:33.40, DEC = +13:00:10.0")


@pytest.mark.parametrize("line", ["RA      = 'UNKNOWN '", "RA      =   400.0", "RA      =  T", "RA      = '25:00:00'"])
def test_what_is_no_place_is_none(line: str) -> None:
    assert place(line, "DEC     =   1.0") is None


REAL: dict[str, tuple[float, float, str]] = {
    "iraf/sn17784-2093.fits": (52.4625, 0.0568, "RA, DEC"),
    "iraf/sn12897-719.fits": (18.421375, -0.1015833, "RA, DEC"),
    "sdss/spec-1325-52762-0133.fits": (213.35116, 53.09084, "PLUG_RA, PLUG_DEC"),
    "other/tom_test_spectrum.fits": (218.14325, -44.1341944, "CAT-RA, CAT-DEC"),
    "iraf/sn17218-1794.fits": (356.1723333, -0.0281806, "RA, DEC"),
    "iraf/sn10096-532.fits": (29.4291667, -0.1792056, "RA, DEC"),
    "iraf/sn12820-877.fits": (9.5872, -0.2917, "RA, DEC"),
    "uv_ir/IUE_lwp25637_mxlo.fits": (182.6358, 39.4054, "LTARGRA, LTARGDEC"),
    "eso/CORALIE_s1d.fits": (171.45225, -43.1645833, "ESO OBS ALPHACAT, ESO OBS DELTACAT"),
    "other/CRIRES_spec_wavecal.fits": (71.409028, -50.07734, "RA, DEC"),
}


@pytest.mark.realdata
@pytest.mark.parametrize("name", REAL)
def test_a_real_file_is_where_its_cards_say(name: str) -> None:
    if not SAMPLES.is_dir():
        pytest.skip("the folder of real sample files is not beside the repository")
    told: dict[str, Any] = judge_spectrum(SAMPLES / name).spectra[0].metadata
    ra, dec, cards = REAL[name]
    assert (told["right_ascension"], told["declination"]) == pytest.approx((ra, dec), abs=2e-4)
    assert told["position_from"] == cards
