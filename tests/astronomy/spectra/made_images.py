"""Made files whose spectra lie in images with an axis in their cards."""

from __future__ import annotations

import gzip
from typing import Any

import numpy as np

from tests.astronomy.spectra.fits_bytes import (
    FLAM,
    FLAM_TOLD,
    POINTS,
    CardValue,
    MadeSpectrum,
    fluxes,
    image,
    wat,
)

_IRAF: dict[str, CardValue] = {"ORIGIN": "NOAO-IRAF FITS Image Kernel July 2003", "WCSDIM": 1}

_LINE: dict[str, CardValue] = {"CRVAL1": 4000.0, "CRPIX1": 1.0, "CD1_1": 2.0, "CDELT1": 2.0}

_WAT1: dict[str, CardValue] = {"WAT1_001": "wtype=linear label=Wavelength units=angstroms"}

_EQUI: dict[str, CardValue] = {**_IRAF, "WAT0_001": "system=equispec", **_WAT1, "CTYPE1": "LINEAR", "DC-FLAG": 0}

_END = 4000.0 + 2.0 * (POINTS - 1)


def equispec() -> MadeSpectrum:
    """IRAF, linear."""
    data = image(fluxes().astype("f4"), {**_EQUI, **_LINE, "BUNIT": FLAM_TOLD, "OBJECT": "V1324 Sco"})
    return MadeSpectrum("iraf_equispec", data, 4000.0, _END, flux_unit=FLAM)


def equispec_log() -> MadeSpectrum:
    """IRAF, in logarithms."""
    axis: dict[str, CardValue] = {
        **_EQUI,
        "DC-FLAG": 1,
        "CRVAL1": 3.6,
        "CRPIX1": 1.0,
        "CD1_1": 1e-4,
        "BUNIT": FLAM_TOLD,
    }
    last = 10 ** (3.6 + 1e-4 * (POINTS - 1))
    return MadeSpectrum("iraf_equispec_log", image(fluxes(), axis), 10**3.6, last, flux_unit=FLAM)


def equispec_bands() -> MadeSpectrum:
    """IRAF, three axes, of whose bands the fourth is sigma."""
    bands = np.stack([fluxes(seed=seed) for seed in range(1, 5)])[:, np.newaxis, :]
    names = (
        "spectrum - background fit",
        "raw - background fit",
        "background - background fit",
        "sigma - background fit",
    )
    told: dict[str, Any] = {f"BANDID{number}": name for number, name in enumerate(names, 1)}
    data = image(bands, {**_EQUI, **_LINE, **told, "BUNIT": "ADU"})
    return MadeSpectrum("iraf_equispec", data, 4000.0, _END, flux_unit="adu", uncertainty=True)


def equispec_apertures() -> MadeSpectrum:
    """IRAF, two apertures that share an axis, one of them turned round."""
    rows = np.stack([fluxes(seed=1), fluxes(seed=2)])
    cards: dict[str, CardValue] = {
        **_EQUI,
        **_LINE,
        "CRVAL1": 9000.0,
        "CD1_1": -2.0,
        "CDELT1": -2.0,
        "APNUM1": "1 1 2.0 3.0",
        "APNUM2": "2 2 4.0 5.0",
    }
    labels = ("aperture 1", "aperture 2")
    first = 9000.0 - 2.0 * (POINTS - 1)
    assumed = frozenset({"rows", "flux_unit"})
    return MadeSpectrum("iraf_equispec", image(rows, cards), first, 9000.0, count=2, labels=labels, assumed=assumed)


def _multispec(
    profile_text: str, first: float, last: float, *, rows: int = 1, labels: tuple[str, ...] = ("",)
) -> MadeSpectrum:
    cards: dict[str, CardValue] = {
        **_IRAF,
        "WAT0_001": "system=multispec",
        "WAT1_001": "wtype=multispec label=Wavelength units=angstroms",
    }
    cards |= {"CTYPE1": "MULTISPE", "CTYPE2": "MULTISPE", "CD1_1": 1.0, "LTM1_1": 1.0, "LTV1": 0.0, "BUNIT": FLAM_TOLD}
    cards |= wat(2, f"wtype=multispec {profile_text}")
    data = image(np.stack([fluxes(seed=row) for row in range(rows)]), cards)
    return MadeSpectrum("iraf_multispec", data, first, last, count=rows, flux_unit=FLAM, labels=labels)


def multispec_linear() -> MadeSpectrum:
    """Two apertures of types 0 and 1, the second with a redshift taken out."""
    text = f'spec1 = "1 11 0 4000. 2. {POINTS} 0. 1. 2." spec2 = "7 12 1 3.6 0.0001 {POINTS} 0.01 3. 4."'
    return _multispec(text, 4000.0, _END, rows=2, labels=("aperture 1", "aperture 7"))


def multispec_chebyshev() -> MadeSpectrum:
    """5000 + 1000 x + 10 T2(x): at the ends 4010 and 6010."""
    text = f'spec1 = "1 1 2 4000. 2. {POINTS} 0. 1. 2. 1. 0. 1 3 1. {POINTS}. 5000. 1000. 10."'
    return _multispec(text, 4010.0, 6010.0)


def multispec_legendre() -> MadeSpectrum:
    """5000 + 1000 x + 10 P2(x), shifted by 5: at the ends 4015 and 6015."""
    text = f'spec1 = "1 1 2 4000. 2. {POINTS} 0. 1. 2. 1. 5. 2 3 1. {POINTS}. 5000. 1000. 10."'
    return _multispec(text, 4015.0, 6015.0)


def multispec_cubic() -> MadeSpectrum:
    """A cubic spline of two pieces with coefficients on a line is that line: six times c(1) … c(3)."""
    text = f'spec1 = "1 1 2 4000. 2. {POINTS} 0. 1. 2. 1. 0. 3 2 1. {POINTS}. 500. 700. 900. 1100. 1300."'
    return _multispec(text, 4200.0, 6600.0)


def multispec_spline() -> MadeSpectrum:
    """A linear spline of two pieces, and half of a Chebyshev line beside half of it."""
    text = f'spec1 = "1 1 2 4000. 2. {POINTS} 0. 1. 2. 0.5 0. 4 2 1. {POINTS}. 4000. 5000. 6500. '
    text += f'0.5 0. 1 2 1. {POINTS}. 5250. 1250."'
    return _multispec(text, 4000.0, 6500.0)


def floyds() -> MadeSpectrum:
    """Las Cumbres: IRAF with CUNIT1 left over from the raw image."""
    cards: dict[str, CardValue] = {
        **_EQUI,
        **_LINE,
        "CRPIX1": -25.0,
        "INSTRUME": "en12",
        "TELESCOP": "2m0-01",
        "CUNIT1": "deg",
        "BUNIT": FLAM_TOLD,
    }
    first = 4000.0 + 26 * 2.0
    assumed = frozenset({"wavelength_unit", "medium"})
    last = first + 2.0 * (POINTS - 1)
    return MadeSpectrum("floyds", image(fluxes(), cards), first, last, flux_unit=FLAM, medium="air", assumed=assumed)


def bare() -> MadeSpectrum:
    """Nothing but CRVAL1 and CDELT1."""
    data = image(fluxes(), {"CRVAL1": 3282.0, "CDELT1": 2.0})
    assumed = frozenset({"wavelength_unit", "flux_unit", "reference_pixel"})
    return MadeSpectrum("plain_image", data, 3282.0, 3282.0 + 2.0 * (POINTS - 1), assumed=assumed)


def extension_image() -> MadeSpectrum:
    """Gemini's way: an empty first HDU, then SCI and VAR; air wavelengths by CTYPE1, in nanometres by CUNIT1."""
    axis: dict[str, CardValue] = {"CTYPE1": "AWAV", "CUNIT1": "nm", "CRVAL1": 500.0, "CRPIX1": 1.0, "CD1_1": 0.1}
    parts = [
        image(None, {"INSTRUME": "GMOS-S"}),
        image(fluxes(), {**axis, "EXTNAME": "SCI", "BUNIT": "electron"}, extension=True),
    ]
    parts.append(image(fluxes(), {"EXTNAME": "VAR"}, extension=True))
    last = 5000.0 + (POINTS - 1)
    return MadeSpectrum("plain_image", b"".join(parts), 5000.0, last, flux_unit="count", medium="air", uncertainty=True)


def frequency() -> MadeSpectrum:
    """An axis of frequencies, which turns round."""
    axis: dict[str, CardValue] = {
        "CTYPE1": "FREQ",
        "CUNIT1": "THz",
        "CRVAL1": 500.0,
        "CRPIX1": 1.0,
        "CDELT1": 1.0,
        "BUNIT": "Jy",
    }
    last, first = 299792458.0 / 500e12 * 1e10, 299792458.0 / (500e12 + (POINTS - 1) * 1e12) * 1e10
    return MadeSpectrum("plain_image", image(fluxes(), axis), first, last, flux_unit="Jy")


def velocity() -> MadeSpectrum:
    """Optical velocities about H alpha."""
    axis: dict[str, CardValue] = {"CTYPE1": "VOPT", "CUNIT1": "km/s", "CRVAL1": -300.0, "CRPIX1": 1.0, "CDELT1": 10.0}
    data = image(fluxes(), {**axis, "RESTWAV": 6.5628e-7, "BUNIT": "counts"})
    first, last = (6562.8 * (1 + speed / 299792.458) for speed in (-300.0, -300.0 + 10.0 * (POINTS - 1)))
    return MadeSpectrum("plain_image", data, first, last, flux_unit="count")


def drs() -> MadeSpectrum:
    """HARPS."""
    cards: dict[str, CardValue] = {
        "CTYPE1": "Angstrom",
        "BUNIT": "Relative Flux",
        "ESO DRS BERV": 15.5,
        "INSTRUME": "HARPS",
    }
    data = image(fluxes().astype("f4"), {**cards, "CRVAL1": 3783.0, "CRPIX1": 1.0, "CDELT1": 0.01})
    told: dict[str, Any] = {"medium": "air", "frame": "barycentric"}
    last = 3783.0 + 0.01 * (POINTS - 1)
    return MadeSpectrum("eso_drs_s1d", data, 3783.0, last, assumed=frozenset({"medium", "frame"}), **told)


def uves() -> MadeSpectrum:
    """UVES as its pipeline writes it."""
    cards: dict[str, CardValue] = {"CTYPE1": "WAVELENGTH [Ang]", "BUNIT": "ADU", "ORIGIN": "ESO", "INSTRUME": "UVES"}
    data = image(fluxes(), {**cards, "CRVAL1": 3732.0, "CRPIX1": 1.0, "CDELT1": 0.03})
    told: dict[str, Any] = {"medium": "air", "frame": "observed", "flux_unit": "adu"}
    assumed = frozenset({"medium", "frame"})
    return MadeSpectrum("uves_pipeline", data, 3732.0, 3732.0 + 0.03 * (POINTS - 1), assumed=assumed, **told)


def feros() -> MadeSpectrum:
    """FEROS, whose unit is not told."""
    cards: dict[str, CardValue] = {"ORIGIN": "ESO", "INSTRUME": "FEROS", "CTYPE1": "LAMBDA"}
    data = image(fluxes(), {**cards, "CRVAL1": 3527.0, "CRPIX1": 1.0, "CDELT1": 0.03})
    told: dict[str, Any] = {"medium": "air", "frame": "barycentric"}
    assumed = frozenset({"medium", "frame", "wavelength_unit", "flux_unit"})
    return MadeSpectrum("feros", data, 3527.0, 3527.0 + 0.03 * (POINTS - 1), assumed=assumed, **told)


def xshooter() -> MadeSpectrum:
    """An X-shooter pipeline product: nanometres, errors in the next HDU."""
    cards: dict[str, CardValue] = {
        "ORIGIN": "ESO",
        "INSTRUME": "XSHOOTER",
        "CTYPE1": "LINEAR",
        "CUNIT1": "nm",
        "BUNIT": FLAM_TOLD,
    }
    data = image(fluxes(), {**cards, "CRVAL1": 533.66, "CRPIX1": 1.0, "CDELT1": 0.02})
    data += image(fluxes(), {"EXTNAME": "ERRS"}, extension=True)
    last = (533.66 + 0.02 * (POINTS - 1)) * 10
    return MadeSpectrum("eso_pipeline", data, 5336.6, last, flux_unit=FLAM, uncertainty=True)


def packed() -> MadeSpectrum:
    """An IRAF spectrum, packed by gzip."""
    made = equispec()
    return MadeSpectrum(made.profile, gzip.compress(made.data), made.first, made.last, flux_unit=made.flux_unit)


def scaled() -> MadeSpectrum:
    """Whole numbers with BSCALE, BZERO and BLANK."""
    numbers = np.round(fluxes() * 1000).astype("i2")
    data = image(numbers, {**_EQUI, **_LINE, "BSCALE": 0.001, "BZERO": 5.0, "BLANK": -32768, "BUNIT": "counts"})
    return MadeSpectrum("iraf_equispec", data, 4000.0, _END, flux_unit="count")
