"""Spectrum files of every profile, made here byte by byte: their axes and units are known because they were chosen."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

CardValue = str | int | float | bool
Cards = Mapping[str, CardValue]
POINTS = 60
_TYPES = {"f4": (-32, "E"), "f8": (-64, "D"), "i2": (16, "I"), "i4": (32, "J"), "i8": (64, "K"), "u1": (8, "B")}


def card(key: str, value: CardValue) -> bytes:
    """One card of 80 bytes."""
    if isinstance(value, bool):
        told = f"{'T' if value else 'F':>20}"
    elif isinstance(value, str):
        quoted = value.replace("'", "''")
        told = f"'{quoted:8}'"
    else:
        told = f"{str(value).upper():>20}"
    head = f"HIERARCH {key} = {told}" if " " in key else f"{key:8}= {told}"
    return head.encode("latin-1").ljust(80)[:80]


def header(cards: Sequence[bytes]) -> bytes:
    """Cards with their END, padded to blocks."""
    text = b"".join([*cards, b"END".ljust(80)])
    return text + b" " * (-len(text) % 2880)


def padded(data: bytes) -> bytes:
    """Data, padded to blocks."""
    return data + b"\0" * (-len(data) % 2880)


def image(array: NDArray[np.generic] | None, cards: Cards, *, extension: bool = False) -> bytes:
    """An HDU with an image, or with none."""
    kind = "f4" if array is None else array.dtype.str[1:]
    shape = () if array is None else array.shape
    first = card("XTENSION", "IMAGE") if extension else card("SIMPLE", True)
    must = [first, card("BITPIX", _TYPES[kind][0]), card("NAXIS", len(shape))]
    must += [card(f"NAXIS{number}", length) for number, length in enumerate(reversed(shape), 1)]
    must += [card("PCOUNT", 0), card("GCOUNT", 1)] if extension else [card("EXTEND", True)]
    data = b"" if array is None else array.astype(f">{kind}").tobytes()
    return header([*must, *(card(key, value) for key, value in cards.items())]) + padded(data)


@dataclass(frozen=True)
class Column:
    """A column: for each row a number, an array of numbers, or a text."""

    name: str
    rows: Sequence[object]
    unit: str = ""
    kind: str = "f8"
    more: Cards = field(default_factory=dict)
    "Further cards, such as TUCD, without their number."


def table(columns: Sequence[Column], cards: Cards) -> bytes:
    """A binary table."""
    cells = [[_cell(column, row) for row in column.rows] for column in columns]
    rows = len(columns[0].rows)
    told: list[bytes] = []
    for number, column in enumerate(columns, 1):
        told += [card(f"TTYPE{number}", column.name), card(f"TFORM{number}", _form(column))]
        told += [card(f"TUNIT{number}", column.unit)] if column.unit else []
        told += [card(f"{stem}{number}", value) for stem, value in column.more.items()]
    width = sum(len(cell[0]) for cell in cells)
    must = [card("XTENSION", "BINTABLE"), card("BITPIX", 8), card("NAXIS", 2), card("NAXIS1", width)]
    must += [card("NAXIS2", rows), card("PCOUNT", 0), card("GCOUNT", 1), card("TFIELDS", len(columns))]
    data = b"".join(cell[row] for row in range(rows) for cell in cells)
    return header([*must, *told, *(card(key, value) for key, value in cards.items())]) + padded(data)


def _cell(column: Column, row: object) -> bytes:
    if isinstance(row, str):
        return row.encode("ascii").ljust(8)
    return np.atleast_1d(np.asarray(row)).astype(f">{column.kind}").tobytes()


def _form(column: Column) -> str:
    if isinstance(column.rows[0], str):
        return "8A"
    return f"{np.atleast_1d(np.asarray(column.rows[0])).size}{_TYPES[column.kind][1]}"


def fluxes(count: int = POINTS, *, seed: int = 1) -> NDArray[np.float64]:
    """A continuum with a line on it."""
    places = np.linspace(0.0, 1.0, count)
    return 1.0 + 0.3 * places + (2.0 + seed) * np.exp(-(((places - 0.6) / 0.05) ** 2))


def waves(first: float, last: float, count: int = POINTS) -> NDArray[np.float64]:
    """Evenly spaced wavelengths."""
    return np.linspace(first, last, count)


def wat(axis: int, text: str) -> dict[str, CardValue]:
    """A long text in WAT cards of 68 characters."""
    parts = [text[at : at + 68] for at in range(0, len(text), 68)]
    return {f"WAT{axis}_{number:03}": part for number, part in enumerate(parts, 1)}


@dataclass(frozen=True)
class MadeSpectrum:
    """A file, and what must be found in it."""

    profile: str
    data: bytes
    first: float
    last: float
    "Ångström of the first spectrum."
    points: int = POINTS
    count: int = 1
    flux_unit: str = ""
    medium: str = "unknown"
    frame: str = "unknown"
    assumed: frozenset[str] = frozenset()
    uncertainty: bool = False
    labels: tuple[str, ...] = ("",)


_FLAM = "erg/cm2/s/A"
FLAM = "erg Angstrom-1 s-1 cm-2"
_IRAF: dict[str, CardValue] = {"ORIGIN": "NOAO-IRAF FITS Image Kernel July 2003", "WCSDIM": 1}
_LINE: dict[str, CardValue] = {"CRVAL1": 4000.0, "CRPIX1": 1.0, "CD1_1": 2.0, "CDELT1": 2.0}
_WAT1: dict[str, CardValue] = {"WAT1_001": "wtype=linear label=Wavelength units=angstroms"}
_EQUI: dict[str, CardValue] = {**_IRAF, "WAT0_001": "system=equispec", **_WAT1, "CTYPE1": "LINEAR", "DC-FLAG": 0}
_END = 4000.0 + 2.0 * (POINTS - 1)


def equispec() -> MadeSpectrum:
    """IRAF, linear."""
    data = image(fluxes().astype("f4"), {**_EQUI, **_LINE, "BUNIT": _FLAM, "OBJECT": "V1324 Sco"})
    return MadeSpectrum("iraf_equispec", data, 4000.0, _END, flux_unit=FLAM)


def equispec_log() -> MadeSpectrum:
    """IRAF, in logarithms."""
    axis: dict[str, CardValue] = {**_EQUI, "DC-FLAG": 1, "CRVAL1": 3.6, "CRPIX1": 1.0, "CD1_1": 1e-4, "BUNIT": _FLAM}
    last = 10 ** (3.6 + 1e-4 * (POINTS - 1))
    return MadeSpectrum("iraf_equispec_log", image(fluxes(), axis), 10**3.6, last, flux_unit=FLAM)


def equispec_bands() -> MadeSpectrum:
    """IRAF, three axes, of whose bands the fourth is sigma."""
    bands = np.stack([fluxes(seed=seed) for seed in range(1, 5)])[:, np.newaxis, :]
    names = ("spectrum - background fit", "raw - background fit", "background - background fit", "sigma - background fit")
    told = {f"BANDID{number}": name for number, name in enumerate(names, 1)}
    data = image(bands, {**_EQUI, **_LINE, **told, "BUNIT": "ADU"})
    return MadeSpectrum("iraf_equispec", data, 4000.0, _END, flux_unit="adu", uncertainty=True)


def equispec_apertures() -> MadeSpectrum:
    """IRAF, two apertures that share an axis, one of them turned round."""
    rows = np.stack([fluxes(seed=1), fluxes(seed=2)])
    cards = {**_EQUI, **_LINE, "CRVAL1": 9000.0, "CD1_1": -2.0, "CDELT1": -2.0, "APNUM1": "1 1 2.0 3.0", "APNUM2": "2 2 4.0 5.0"}
    labels = ("aperture 1", "aperture 2")
    first = 9000.0 - 2.0 * (POINTS - 1)
    assumed = frozenset({"rows", "flux_unit"})
    return MadeSpectrum("iraf_equispec", image(rows, cards), first, 9000.0, count=2, labels=labels, assumed=assumed)


def _multispec(profile_text: str, first: float, last: float, *, rows: int = 1, labels: tuple[str, ...] = ("",)) -> MadeSpectrum:
    cards = {**_IRAF, "WAT0_001": "system=multispec", "WAT1_001": "wtype=multispec label=Wavelength units=angstroms"}
    cards |= {"CTYPE1": "MULTISPE", "CTYPE2": "MULTISPE", "CD1_1": 1.0, "LTM1_1": 1.0, "LTV1": 0.0, "BUNIT": _FLAM}
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
    cards = {**_EQUI, **_LINE, "CRPIX1": -25.0, "INSTRUME": "en12", "TELESCOP": "2m0-01", "CUNIT1": "deg", "BUNIT": _FLAM}
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
    parts = [image(None, {"INSTRUME": "GMOS-S"}), image(fluxes(), {**axis, "EXTNAME": "SCI", "BUNIT": "electron"}, extension=True)]
    parts.append(image(fluxes(), {"EXTNAME": "VAR"}, extension=True))
    last = 5000.0 + (POINTS - 1)
    return MadeSpectrum("plain_image", b"".join(parts), 5000.0, last, flux_unit="count", medium="air", uncertainty=True)


def frequency() -> MadeSpectrum:
    """An axis of frequencies, which turns round."""
    axis: dict[str, CardValue] = {"CTYPE1": "FREQ", "CUNIT1": "THz", "CRVAL1": 500.0, "CRPIX1": 1.0, "CDELT1": 1.0, "BUNIT": "Jy"}
    last, first = 299792458.0 / 500e12 * 1e10, 299792458.0 / (500e12 + (POINTS - 1) * 1e12) * 1e10
    return MadeSpectrum("plain_image", image(fluxes(), axis), first, last, flux_unit="Jy")


def velocity() -> MadeSpectrum:
    """Optical velocities about H alpha."""
    axis: dict[str, CardValue] = {"CTYPE1": "VOPT", "CUNIT1": "km/s", "CRVAL1": -300.0, "CRPIX1": 1.0, "CDELT1": 10.0}
    data = image(fluxes(), {**axis, "RESTWAV": 6.5628e-7, "BUNIT": "counts"})
    first, last = (6562.8 * (1 + speed / 299792.458) for speed in (-300.0, -300.0 + 10.0 * (POINTS - 1)))
    return MadeSpectrum("plain_image", data, first, last, flux_unit="count")


def sdp() -> MadeSpectrum:
    """ESO's science data product."""
    ucds = ("em.wl;obs.atmos", "phot.flux.density;em.wl;src.net;meta.main", "stat.error;phot.flux.density")
    types = ("spec:Data.SpectralAxis.Value", "spec:Data.FluxAxis.Value", "spec:Data.FluxAxis.Accuracy.StatError")
    unit = "erg.cm**(-2).s**(-1).angstrom**(-1)"
    arrays = (("WAVE", waves(300.0, 550.0), "nm"), ("FLUX", fluxes(), unit), ("ERR", fluxes(), unit))
    columns = [
        Column(name, [array], told, more={"TUCD": ucd, "TUTYP": utype})
        for (name, array, told), ucd, utype in zip(arrays, ucds, types, strict=True)
    ]
    first = {"ORIGIN": "ESO", "INSTRUME": "UVES", "PRODCATG": "SCIENCE.SPECTRUM", "OBJECT": "V906 Car", "SPECSYS": "TOPOCENT"}
    data = image(None, first) + table(columns, {"VOCLASS": "SPECTRUM V1.0", "EXTNAME": "SPECTRUM"})
    medium = {"medium": "air", "frame": "observed"}
    return MadeSpectrum("eso_sdp", data, 3000.0, 5500.0, flux_unit=FLAM, uncertainty=True, **medium)


def drs() -> MadeSpectrum:
    """HARPS."""
    cards: dict[str, CardValue] = {"CTYPE1": "Angstrom", "BUNIT": "Relative Flux", "ESO DRS BERV": 15.5, "INSTRUME": "HARPS"}
    data = image(fluxes().astype("f4"), {**cards, "CRVAL1": 3783.0, "CRPIX1": 1.0, "CDELT1": 0.01})
    told = {"medium": "air", "frame": "barycentric"}
    last = 3783.0 + 0.01 * (POINTS - 1)
    return MadeSpectrum("eso_drs_s1d", data, 3783.0, last, assumed=frozenset({"medium", "frame"}), **told)


def uves() -> MadeSpectrum:
    """UVES as its pipeline writes it."""
    cards: dict[str, CardValue] = {"CTYPE1": "WAVELENGTH [Ang]", "BUNIT": "ADU", "ORIGIN": "ESO", "INSTRUME": "UVES"}
    data = image(fluxes(), {**cards, "CRVAL1": 3732.0, "CRPIX1": 1.0, "CDELT1": 0.03})
    told = {"medium": "air", "frame": "observed", "flux_unit": "adu"}
    assumed = frozenset({"medium", "frame"})
    return MadeSpectrum("uves_pipeline", data, 3732.0, 3732.0 + 0.03 * (POINTS - 1), assumed=assumed, **told)


def feros() -> MadeSpectrum:
    """FEROS, whose unit is not told."""
    cards: dict[str, CardValue] = {"ORIGIN": "ESO", "INSTRUME": "FEROS", "CTYPE1": "LAMBDA"}
    data = image(fluxes(), {**cards, "CRVAL1": 3527.0, "CRPIX1": 1.0, "CDELT1": 0.03})
    told = {"medium": "air", "frame": "barycentric"}
    assumed = frozenset({"medium", "frame", "wavelength_unit", "flux_unit"})
    return MadeSpectrum("feros", data, 3527.0, 3527.0 + 0.03 * (POINTS - 1), assumed=assumed, **told)


def xshooter() -> MadeSpectrum:
    """An X-shooter pipeline product: nanometres, errors in the next HDU."""
    cards: dict[str, CardValue] = {"ORIGIN": "ESO", "INSTRUME": "XSHOOTER", "CTYPE1": "LINEAR", "CUNIT1": "nm", "BUNIT": _FLAM}
    data = image(fluxes(), {**cards, "CRVAL1": 533.66, "CRPIX1": 1.0, "CDELT1": 0.02})
    data += image(fluxes(), {"EXTNAME": "ERRS"}, extension=True)
    last = (533.66 + 0.02 * (POINTS - 1)) * 10
    return MadeSpectrum("eso_pipeline", data, 5336.6, last, flux_unit=FLAM, uncertainty=True)


def crires() -> MadeSpectrum:
    """CRIRES: no unit in the table, one in the header."""
    columns = [Column("Wavelength", list(waves(2111.0, 2123.0))), Column("Extracted_OPT", list(fluxes()))]
    data = image(None, {"INSTRUME": "CRIRES", "CUNIT1": "nm"}) + table(columns, {})
    return MadeSpectrum("crires_table", data, 21110.0, 21230.0, assumed=frozenset({"flux_unit"}))


def cr2res() -> MadeSpectrum:
    """CRIRES+: columns for each order."""
    columns = []
    for order, start in (("02_01", 2100.0), ("03_01", 2000.0)):
        columns += [Column(f"{order}_SPEC", list(fluxes())), Column(f"{order}_ERR", list(fluxes()))]
        columns += [Column(f"{order}_WL", list(waves(start, start + 20)))]
    data = image(None, {"INSTRUME": "CRIRES"}) + table(columns, {"EXTNAME": "CHIP1.INT1"})
    labels = ("CHIP1.INT1 order 02_01", "CHIP1.INT1 order 03_01")
    told = {"uncertainty": True, "labels": labels, "count": 2}
    return MadeSpectrum("cr2res", data, 21000.0, 21200.0, assumed=frozenset({"wavelength_unit", "flux_unit"}), **told)


def spec() -> MadeSpectrum:
    """SDSS with a coadd and one exposure."""
    loglam = np.linspace(3.58, 3.96, POINTS)
    columns = [Column("flux", list(fluxes())), Column("loglam", list(loglam)), Column("ivar", list(fluxes()))]
    data = image(None, {"TELESCOP": "SDSS 2.5-M", "VACUUM": True, "BUNIT": "1E-17 erg/cm^2/s/Ang"})
    data += table(columns, {"EXTNAME": "COADD"}) + table(columns, {"EXTNAME": "B1-00020717"})
    told = {"medium": "vacuum", "frame": "heliocentric", "flux_unit": f"10**-17 {FLAM}", "uncertainty": True}
    return MadeSpectrum("sdss_spec", data, 10**3.58, 10**3.96, assumed=frozenset({"frame"}), **told)


def spspec() -> MadeSpectrum:
    """The old SDSS: rows, and a unit with a slip."""
    cards: dict[str, CardValue] = {"TELESCOP": "SDSS 2.5-M", "COEFF0": 3.58, "COEFF1": 1e-4, "DC-FLAG": 1}
    cards |= {"BUNIT": "1.0E-17 erg/cm/s/Ang", "WAT1_001": "wtype=linear label=Wavelength units=Angstroms"}
    data = image(np.stack([fluxes(seed=seed) for seed in range(1, 6)]), cards)
    told = {"medium": "vacuum", "frame": "heliocentric", "flux_unit": f"10**-17 {FLAM}", "uncertainty": True}
    assumed = frozenset({"medium", "frame", "flux_unit", "rows"})
    return MadeSpectrum("sdss_spspec", data, 10**3.58, 10 ** (3.58 + 1e-4 * (POINTS - 1)), assumed=assumed, **told)


def apogee() -> MadeSpectrum:
    """An apStar: log-linear, combined spectrum first."""
    cards: dict[str, CardValue] = {"CTYPE1": "LOG-LINEAR", "CRVAL1": 4.179, "CRPIX1": 1.0, "CDELT1": 6e-6, "DC-FLAG": 1}
    cards |= {"BUNIT": "Flux (10^-17 erg/s/cm^2/Ang)"}
    rows = np.stack([fluxes(), fluxes(seed=2)])
    data = image(None, {}) + image(rows, cards, extension=True) + image(rows, cards, extension=True)
    told = {"medium": "vacuum", "frame": "rest", "flux_unit": f"10**-17 {FLAM}", "uncertainty": True}
    assumed = frozenset({"medium", "frame", "wavelength_unit", "rows", "uncertainty"})
    return MadeSpectrum("apogee", data, 10**4.179, 10 ** (4.179 + 6e-6 * (POINTS - 1)), assumed=assumed, **told)


def lamost() -> MadeSpectrum:
    """LAMOST's first releases: rows that cards name, the third of them wavelengths."""
    axis = 10 ** (3.57 + 1e-4 * np.arange(POINTS))
    names = {"ARRAY1": "Flux", "ARRAY2": "Inverse Variance", "ARRAY3": "WaveLength", "ARRAY4": "Andmask"}
    cards = {**names, "COEFF0": 3.57, "COEFF1": 1e-4, "DC-FLAG": 1, "VACUUM": True, "TELESCOP": "LAMOST"}
    data = image(np.stack([fluxes(), fluxes(), axis, np.zeros(POINTS)]), cards)
    assumed = frozenset({"wavelength_unit", "flux_unit"})
    told = {"medium": "vacuum", "uncertainty": True}
    return MadeSpectrum("labelled_rows", data, float(axis[0]), float(axis[-1]), assumed=assumed, **told)


def popler() -> MadeSpectrum:
    """UVES_popler."""
    cards: dict[str, CardValue] = {"CTYPE1": "LOGLIN", "DC-FLAG": 1, "CRVAL1": 3.5, "CRPIX1": 1, "CD1_1": 1e-5}
    cards |= {"UP_WLSRT": 3162.3, "UP_ARR01": "Normalized flux spectrum", "UP_ARR02": "Normalized error"}
    data = image(np.stack([fluxes(), fluxes(), fluxes()]), cards)
    told = {"medium": "vacuum", "frame": "heliocentric", "uncertainty": True}
    assumed = frozenset({"medium", "frame", "wavelength_unit", "flux_unit"})
    return MadeSpectrum("uves_popler", data, 10**3.5, 10 ** (3.5 + 1e-5 * (POINTS - 1)), assumed=assumed, **told)


def iue() -> MadeSpectrum:
    """IUE, both apertures."""
    columns = [Column("APERTURE", ["LARGE", "SMALL"]), Column("NPOINTS", [POINTS, POINTS - 10], kind="i2")]
    columns += [Column("WAVELENGTH", [1750.0, 1800.0], "ANGSTROM", "f4"), Column("DELTAW", [2.5, 2.5], "ANGSTROM", "f4")]
    columns += [Column("SIGMA", [fluxes(), fluxes()], "ERG/CM2/S/A", "f4")]
    columns += [Column("FLUX", [fluxes(), fluxes(seed=3)], "ERG/CM2/S/A", "f4")]
    data = image(None, {"TELESCOP": "IUE"}) + table(columns, {"EXTNAME": "MELO"})
    told = {"count": 2, "labels": ("aperture LARGE", "aperture SMALL"), "uncertainty": True, "flux_unit": FLAM}
    return MadeSpectrum("iue_mx", data, 1750.0, 1750.0 + 2.5 * (POINTS - 1), **told)


def x1d() -> MadeSpectrum:
    """STIS, two orders."""
    columns = [Column("SPORDER", [1, 2], kind="i2"), Column("NELEM", [POINTS, POINTS - 5], kind="i2")]
    columns += [Column("WAVELENGTH", [waves(1200.0, 1300.0), waves(1280.0, 1400.0)], "Angstroms")]
    columns += [Column(name, [fluxes(), fluxes(seed=4)], "erg/s/cm**2/Angstrom", "f4") for name in ("FLUX", "ERROR")]
    data = image(None, {"TELESCOP": "HST", "INSTRUME": "STIS"}) + table(columns, {"EXTNAME": "SCI"})
    told = {"medium": "vacuum", "frame": "heliocentric", "flux_unit": FLAM, "uncertainty": True}
    labels = ("sporder 1", "sporder 2")
    assumed = frozenset({"medium", "frame"})
    return MadeSpectrum("hst_x1d", data, 1200.0, 1300.0, count=2, labels=labels, assumed=assumed, **told)


def jwst() -> MadeSpectrum:
    """JWST in micrometres and jansky."""
    columns = [Column("WAVELENGTH", list(waves(1.0, 5.0)), "um"), Column("FLUX", list(fluxes()), "Jy")]
    columns += [Column("FLUX_ERROR", list(fluxes()), "Jy")]
    data = image(None, {"TELESCOP": "JWST", "INSTRUME": "NIRSPEC"}) + table(columns, {"EXTNAME": "EXTRACT1D"})
    told = {"medium": "vacuum", "flux_unit": "Jy", "uncertainty": True}
    return MadeSpectrum("jwst_x1d", data, 10000.0, 50000.0, assumed=frozenset({"medium"}), **told)


def calspec() -> MadeSpectrum:
    """CALSPEC."""
    columns = [Column("WAVELENGTH", list(waves(1140.0, 24976.0)), "ANGSTROMS", "f4")]
    columns += [Column(name, list(fluxes()), "FLAM", "f4") for name in ("FLUX", "STATERROR", "SYSERROR")]
    data = image(None, {"TARGETID": "GRW+70D5824"}) + table(columns, {"EXTNAME": "SCI"})
    told = {"medium": "vacuum", "flux_unit": FLAM, "uncertainty": True}
    return MadeSpectrum("calspec", data, 1140.0, 24976.0, assumed=frozenset({"medium"}), **told)


def fuse() -> MadeSpectrum:
    """FUSE, whose unit is not told."""
    columns = [Column("WAVE", list(waves(905.0, 1187.0))), Column("FLUX", list(fluxes())), Column("ERROR", list(fluxes()))]
    data = image(None, {"TELESCOP": "FUSE"}) + table(columns, {})
    assumed = frozenset({"medium", "wavelength_unit", "flux_unit"})
    return MadeSpectrum("fuse", data, 905.0, 1187.0, assumed=assumed, medium="vacuum", uncertainty=True)


def merged() -> MadeSpectrum:
    """A merged table in microns."""
    columns = [Column("WAVELENGTH", list(waves(0.8, 2.4)), "MICRON"), Column("FLUX", list(fluxes()), "W/m2/um")]
    columns += [Column("SIGMA", list(fluxes()), "W/m2/um"), Column("NPTS", list(range(POINTS)), kind="i4")]
    data = image(None, {}) + table(columns, {})
    return MadeSpectrum("merged_table", data, 8000.0, 24000.0, flux_unit="W um-1 m-2", uncertainty=True)


def row_arrays() -> MadeSpectrum:
    """Arrays in rows, descending, with inverse variances."""
    columns = [Column("lambda", [waves(9000.0, 5000.0)], "Angstrom"), Column("flux", [fluxes()], "counts")]
    columns += [Column("ivar", [fluxes()])]
    data = image(None, {}) + table(columns, {})
    return MadeSpectrum("row_arrays", data, 5000.0, 9000.0, flux_unit="count", uncertainty=True)


def plain_table() -> MadeSpectrum:
    """A table of a column of fluxes whose name nobody has heard, and of wavelengths as whole numbers with a scale."""
    axis = Column("wave", list(range(POINTS)), "Angstrom", "i4", more={"TSCAL": 0.5, "TZERO": 4000.0, "TNULL": -1})
    data = image(None, {}) + table([axis, Column("Flux_total", list(fluxes()), "mJy")], {})
    return MadeSpectrum("plain_table", data, 4000.0, 4000.0 + 0.5 * (POINTS - 1), flux_unit="mJy")


def array_rows() -> MadeSpectrum:
    """Rows of an image, by Spextool: two orders."""
    orders = np.stack([np.stack([waves(low, low + 0.4), fluxes(), fluxes()]) for low in (0.8, 1.2)])
    data = image(orders, {"INSTR": "SpeX", "XUNITS": "um", "YUNITS": "ergs s-1 cm-2 A-1"})
    told = {"flux_unit": FLAM, "uncertainty": True, "count": 2, "labels": ("order 1", "order 2")}
    return MadeSpectrum("array_rows", data, 8000.0, 12000.0, assumed=frozenset({"rows"}), **told)


def hdu_arrays() -> MadeSpectrum:
    """HDUs side by side, by linetools."""
    data = image(fluxes().astype("f4"), {"EXTNAME": "FLUX", "UNITS": '{"wave": "nm", "flux": "dimensionless_unit"}'})
    data += image(fluxes(), {"EXTNAME": "ERROR"}, extension=True)
    data += image(waves(172.0, 175.0), {"EXTNAME": "WAVELENGTH"}, extension=True)
    return MadeSpectrum("hdu_arrays", data, 1720.0, 1750.0, uncertainty=True)


def desi() -> MadeSpectrum:
    """DESI: three targets in two arms, the first of which has nothing."""
    rows = np.stack([np.zeros(POINTS), fluxes(), fluxes(seed=5)])
    data = image(None, {}) + table([Column("TARGETID", [39627, 39628, 39629], kind="i8")], {"EXTNAME": "FIBERMAP"})
    for arm, low, high in (("B", 3600.0, 5800.0), ("R", 5760.0, 7620.0)):
        data += image(waves(low, high), {"EXTNAME": f"{arm}_WAVELENGTH", "BUNIT": "Angstrom"}, extension=True)
        unit = "10**-17 erg/(s cm2 Angstrom)"
        data += image(rows.astype("f4"), {"EXTNAME": f"{arm}_FLUX", "BUNIT": unit}, extension=True)
        data += image(np.ones((3, POINTS)), {"EXTNAME": f"{arm}_IVAR"}, extension=True)
    labels = tuple(f"target {target} arm {arm}" for arm in "BR" for target in (39628, 39629))
    told = {"medium": "vacuum", "frame": "heliocentric", "uncertainty": True, "flux_unit": f"10**-17 {FLAM}"}
    assumed = frozenset({"medium", "frame", "left_out"})
    return MadeSpectrum("desi", data, 3600.0, 5800.0, count=4, labels=labels, assumed=assumed, **told)


def packed() -> MadeSpectrum:
    """An IRAF spectrum, packed by gzip."""
    made = equispec()
    return MadeSpectrum(made.profile, gzip.compress(made.data), made.first, made.last, flux_unit=made.flux_unit)


def scaled() -> MadeSpectrum:
    """Whole numbers with BSCALE, BZERO and BLANK."""
    numbers = np.round(fluxes() * 1000).astype("i2")
    data = image(numbers, {**_EQUI, **_LINE, "BSCALE": 0.001, "BZERO": 5.0, "BLANK": -32768, "BUNIT": "counts"})
    return MadeSpectrum("iraf_equispec", data, 4000.0, _END, flux_unit="count")


MADE: Mapping[str, Callable[[], MadeSpectrum]] = {
    maker.__name__: maker
    for maker in (
        equispec, equispec_log, equispec_bands, equispec_apertures, multispec_linear, multispec_chebyshev,
        multispec_legendre, multispec_cubic, multispec_spline, floyds, bare, extension_image, frequency, velocity, sdp,
        drs, uves, feros, xshooter, crires, cr2res, spec, spspec, apogee, lamost, popler, iue, x1d, jwst, calspec, fuse,
        merged, row_arrays, plain_table, array_rows, hdu_arrays, desi, packed, scaled,
    )
}  # fmt: skip
"Every file that is made here, by name."


def doubles(data: bytes, count: int) -> tuple[float, ...]:
    """Big-endian doubles, for those who look into a file."""
    return struct.unpack(f">{count}d", data[: 8 * count])
