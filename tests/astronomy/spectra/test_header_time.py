"""When a header says that something was observed: the clock beside the date, the scale, the start or the middle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.astronomy.leap_seconds import in_utc, seconds_of_tai
from penstock.astronomy.spectra import judge_spectrum
from penstock.astronomy.spectra.cards import HeaderCards
from penstock.astronomy.spectra.header_time import told_time

SAMPLES = Path(__file__).parents[4] / "shared" / "data" / "spectra_fits"


def told(*lines: str) -> dict[str, Any]:
    return told_time(HeaderCards("".join(line.ljust(80) for line in lines).encode("latin-1")))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("DATE-OBS= '2005-11-10'",), "2005-11-10"),
        (("DATE-OBS= '2005-11-10T22:31:08.8'",), "2005-11-10T22:31:08.8Z"),
        (("DATE-OBS= '2005-11-10'", "UT-TIME = '09:06:47'"), "2005-11-10T09:06:47Z"),
        (("DATE-OBS= '2005-11-10'", "EXPSTART= '5:59:59'"), "2005-11-10T05:59:59Z"),
        (("DATE-OBS= '2005-11-10'", "UT      =  1.5 / hours"), "2005-11-10T01:30:00Z"),
        (("DATE-OBS= '2005-11-10'", "UTC     =  84223. / 23:23:43.000 UTC at start (sec)"), "2005-11-10T23:23:43Z"),
        (("LDATEOBS= '31/05/93'", "LTIMEOBS= '09:00:20'"), "1993-05-31T09:00:20Z"),
        (("JD      = '2454004.84787360  '",), "2006-09-26T08:20:56.28Z"),
        (("MJD     =  52762",), "2003-05-03"),
        (("MJD     =  54023.41077949",), "2006-10-15T09:51:31.35Z"),
        (("TUNIX   = '1077171741'",), "2004-02-19T06:22:21Z"),
        (("EXPSTART=  50987.25 / exposure start time (Modified Julian Date)",), "1998-06-23T06:00:00Z"),
        (("DATE-OBS= '2005-13-45'",), None),
        (("MJD-OBS =  2965661.58",), None),
        (("DATE-OBS= '2005-11-10'", "UT      = '29:99:00'"), "2005-11-10"),
    ],
)
def test_each_convention_gives_a_moment_in_universal_time(lines: tuple[str, ...], expected: str | None) -> None:
    assert told(*lines).get("observed_at") == expected


def test_another_clock_than_that_of_universal_time_is_set_to_it() -> None:
    atomic = told("TIMESYS = 'TAI'", "DATE-OBS= '2005-11-26T06:05:42.619'")
    assert (atomic["observed_at"], atomic["time_scale_told"]) == ("2005-11-26T06:05:10.62Z", "TAI")
    assert told("DATE-OBS= '2011-09-27T02:48:30' / TAI date at start")["observed_at"] == "2011-09-27T02:47:56Z"
    assert [seconds_of_tai(day) for day in (41316.9, 41317.0, 53735.9, 53736.0, 60000.0)] == [10, 10, 32, 33, 37]
    assert in_utc(57754.0, scale="TAI") == pytest.approx(57754.0 - 36 / 86400, abs=1e-9)


def test_start_and_middle_are_kept_apart() -> None:
    assert told("DATE-OBS= '2005-11-10'", "UTSTART = '01:00:00'")["observed_at_is"] == "start"
    assert told("DATE-OBS= '2005-11-10'", "UTMIDDLE= '01:00:00'")["observed_at_is"] == "middle"
    assert told("MJD-OBS =  55555.5 / mid-exposure")["observed_at_is"] == "middle"
    assert "observed_at_is" not in told("DATE-OBS= '2005-11-10T01:00:00'")


def test_a_time_at_the_sun_tells_the_day_and_says_where_it_is_told_for() -> None:
    found = told("HJD     =  2451696.8683001")
    assert (found["observed_at"], found["time_reference"], found["observed_mjd"]) == (
        "2000-06-01", "HELIOCENTER", pytest.approx(51696.3683001, abs=1e-9),
    )  # fmt: skip


def test_the_mean_of_several_nights_is_no_moment() -> None:
    found = told("MJD     =  52762", "MJDLIST = '52761 52762'", "TAI     =  4558640376.80")
    assert (found["observed_at"], found["observed_nights"]) == ("2003-05-03", "52761 52762")
    assert "observed_mjd" not in found


REAL = {
    "uv_ir/IUE_lwp25637_mxlo.fits": "1993-05-31T09:00:20Z",
    "sdss/spec-1325-52762-0133.fits": "2003-05-03",
    "other/IndoUS_A0V_153808.fits": "2000-06-01",
    "eso/CORALIE_s1d.fits": "2004-02-19T06:22:21Z",
    "iraf/sn17340-2114.fits": "2007-10-07T09:06:47Z",
    "other/UM184_nE.fits": "2012-07-12T08:33:49Z",
    "iraf/sn17784-2093.fits": "2007-10-07T05:59:59Z",
    "iraf/sn10096-532.fits": "2005-11-26T06:05:10.62Z",
    "other/XShooter_XQ100.fits.gz": "2012-10-15T00:15:33.20Z",
}


@pytest.mark.realdata
@pytest.mark.parametrize("name", REAL)
def test_a_real_file_was_observed_when_its_cards_say(name: str) -> None:
    if not SAMPLES.is_dir():
        pytest.skip("the folder of real sample files is not beside the repository")
    assert judge_spectrum(SAMPLES / name).spectra[0].metadata["observed_at"] == REAL[name]
