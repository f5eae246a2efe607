"""Files that tests make: spectra of a nova in FITS, broken and odd ones among them, and tables of its light curve."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from astropy.io import fits


def spectrum_fits(*, seed: int = 1, points: int = 200, unit: str | None = "Angstrom", **cards: Any) -> bytes:
    """A linear spectrum from 4000 to 5990 Å, with an emission line; ``cards`` change what its header says."""
    noise = np.random.default_rng(seed).normal(0, 0.02, points)
    place = np.arange(points)
    flux = 1 + 3 * np.exp(-(((place - 86) / 3.0) ** 2)) + noise
    hdu = fits.PrimaryHDU(flux.astype(">f4"))
    told = {"CRVAL1": 4000.0, "CRPIX1": 1.0, "CDELT1": 10.0, "CTYPE1": "WAVE", "OBJECT": "V1324 Sco"}
    told |= {"DATE-OBS": "2012-06-09T01:02:03", "TELESCOP": "1m", "INSTRUME": "BOSS", "BUNIT": "erg/cm2/s/Angstrom"}
    for name, value in (told | ({} if unit is None else {"CUNIT1": unit}) | cards).items():
        if value is not None:
            hdu.header[name.replace("_", "-")] = value
    return _bytes(hdu)


def pixels_fits() -> bytes:
    """A file whose axis is pixels: it says no unit, and no wavelength lies there."""
    return spectrum_fits(unit=None, CRVAL1=1.0, CDELT1=1.0, CTYPE1=None)


def in_strange_unit() -> bytes:
    """A spectrum whose axis is in a unit that nobody knows."""
    return spectrum_fits(unit="furlong")


def cut(data: bytes) -> bytes:
    """A file that ends before its headers say."""
    return data[: len(data) - 2880]


def _bytes(hdu: Any) -> bytes:
    into = io.BytesIO()
    hdu.writeto(into)
    return into.getvalue()


def light_curve_csv(rows: int = 12, *, bad: int = 0, first: float = 2456080.5) -> bytes:
    """A table as the Open Nova Catalog has it; ``bad`` of its rows cannot be read."""
    lines = ["#Nova,JD,T,o_Vmag,Mag,e_Mag,Band"]
    lines += [f"V1324 Sco,{first + day},{day},,{10 + day / 4:.2f},0.05,V" for day in range(rows)]
    lines += [f"V1324 Sco,{first + rows + day},{rows + day},,faint?,0.05,V" for day in range(bad)]
    return ("\n".join(lines) + "\n").encode()


def unknown_table() -> bytes:
    """Numbers of which nobody says what they are."""
    return b"\n".join(b"%d;%d;%d" % (row, row * 3, row * 7 % 11) for row in range(20))
