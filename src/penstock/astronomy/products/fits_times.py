"""Times and positions in headers of products, as the FITS standard has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from astropy.io import fits

_CENTRES = {"HJD": "HELIOCENTER", "BJD": "BARYCENTER"}
_MJD_ZERO = 2_400_000.5


def put_moment(header: fits.Header, metadata: Mapping[str, Any]) -> None:
    """When it was observed: DATE-OBS and MJD-OBS, or DATE-AVG and MJD-AVG where the middle is what is told."""
    moment, mjd = metadata.get("observed_at"), metadata.get("observed_mjd")
    jd = metadata.get("observed_jd")
    if mjd is None and isinstance(jd, float) and "observed_jd_precision_days" not in metadata:
        mjd = jd - _MJD_ZERO
    part, words = ("AVG", "middle") if metadata.get("observed_at_is") == "middle" else ("OBS", "start")
    told = words if metadata.get("observed_at_is") else "time"
    if isinstance(moment, str) and moment.isascii():
        header[f"DATE-{part}"] = (moment.removesuffix("Z")[:40], f"{told} of the observation")
    if isinstance(mjd, float):
        header[f"MJD-{part}"] = (mjd, f"[d] {told} of the observation")
    if isinstance(moment, str) or isinstance(mjd, float):
        header["TIMESYS"] = ("UTC", "time scale")
        header["TREFPOS"] = (str(metadata.get("time_reference", "TOPOCENTER")), "where the time is told for")


def put_place(header: fits.Header, metadata: Mapping[str, Any]) -> None:
    """Where it was observed, in degrees of J2000."""
    ra, dec = metadata.get("right_ascension"), metadata.get("declination")
    if isinstance(ra, float) and isinstance(dec, float):
        header["RA"] = (ra, "[deg] right ascension, J2000")
        header["DEC"] = (dec, "[deg] declination, J2000")
        header["EQUINOX"] = (2000.0, "[yr] of RA and DEC")
        header["RADESYS"] = ("FK5", "of RA and DEC")


def put_time_system(header: fits.Header, system: str) -> None:
    """What the column TIME of a light curve is: Julian dates of a scale, at a place. Nothing, if rows differ in it."""
    name, _, scale = system.partition("_")
    if name not in ("JD", "HJD", "BJD"):
        header["COMMENT"] = "TIME is a Julian date in the system that the column TIMESYST has for each row"
        return
    assumed = "as the source tells it" if scale else "assumed: the source tells none"
    header["TIMESYS"] = (scale or "UTC", f"time scale, {assumed}")
    header["JDREF"] = (0.0, "[d] TIME is a Julian date itself")
    header["TIMEUNIT"] = ("d", "unit of TIME")
    if name in _CENTRES:
        header["TREFPOS"] = (_CENTRES[name], f"where the time is told for: {name}")
