"""Made files whose wavelengths lie in tables, rows or HDUs, and those of the surveys."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.astronomy.spectra.fits_bytes import (
    FLAM,
    POINTS,
    Cards,
    CardValue,
    Column,
    MadeSpectrum,
    fluxes,
    image,
    table,
    waves,
)


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
    first: Cards = {
        "ORIGIN": "ESO",
        "INSTRUME": "UVES",
        "PRODCATG": "SCIENCE.SPECTRUM",
        "OBJECT": "V906 Car",
        "SPECSYS": "TOPOCENT",
    }
    data = image(None, first) + table(columns, {"VOCLASS": "SPECTRUM V1.0", "EXTNAME": "SPECTRUM"})
    medium: dict[str, Any] = {"medium": "air", "frame": "observed"}
    return MadeSpectrum("eso_sdp", data, 3000.0, 5500.0, flux_unit=FLAM, uncertainty=True, **medium)


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
    told: dict[str, Any] = {"uncertainty": True, "labels": labels, "count": 2}
    return MadeSpectrum("cr2res", data, 21000.0, 21200.0, assumed=frozenset({"wavelength_unit", "flux_unit"}), **told)


def spec() -> MadeSpectrum:
    """SDSS with a coadd and one exposure."""
    loglam = np.linspace(3.58, 3.96, POINTS)
    columns = [Column("flux", list(fluxes())), Column("loglam", list(loglam)), Column("ivar", list(fluxes()))]
    data = image(None, {"TELESCOP": "SDSS 2.5-M", "VACUUM": True, "BUNIT": "1E-17 erg/cm^2/s/Ang"})
    data += table(columns, {"EXTNAME": "COADD"}) + table(columns, {"EXTNAME": "B1-00020717"})
    told: dict[str, Any] = {
        "medium": "vacuum",
        "frame": "heliocentric",
        "flux_unit": f"10**-17 {FLAM}",
        "uncertainty": True,
    }
    return MadeSpectrum("sdss_spec", data, 10**3.58, 10**3.96, assumed=frozenset({"frame"}), **told)


def spspec() -> MadeSpectrum:
    """The old SDSS: rows, and a unit with a slip."""
    cards: dict[str, CardValue] = {"TELESCOP": "SDSS 2.5-M", "COEFF0": 3.58, "COEFF1": 1e-4, "DC-FLAG": 1}
    cards |= {"BUNIT": "1.0E-17 erg/cm/s/Ang", "WAT1_001": "wtype=linear label=Wavelength units=Angstroms"}
    data = image(np.stack([fluxes(seed=seed) for seed in range(1, 6)]), cards)
    told: dict[str, Any] = {
        "medium": "vacuum",
        "frame": "heliocentric",
        "flux_unit": f"10**-17 {FLAM}",
        "uncertainty": True,
    }
    assumed = frozenset({"medium", "frame", "flux_unit", "rows"})
    return MadeSpectrum("sdss_spspec", data, 10**3.58, 10 ** (3.58 + 1e-4 * (POINTS - 1)), assumed=assumed, **told)


def apogee() -> MadeSpectrum:
    """An apStar: log-linear, combined spectrum first."""
    cards: dict[str, CardValue] = {"CTYPE1": "LOG-LINEAR", "CRVAL1": 4.179, "CRPIX1": 1.0, "CDELT1": 6e-6, "DC-FLAG": 1}
    cards |= {"BUNIT": "Flux (10^-17 erg/s/cm^2/Ang)"}
    rows = np.stack([fluxes(), fluxes(seed=2)])
    data = image(None, {}) + image(rows, cards, extension=True) + image(rows, cards, extension=True)
    told: dict[str, Any] = {"medium": "vacuum", "frame": "rest", "flux_unit": f"10**-17 {FLAM}", "uncertainty": True}
    assumed = frozenset({"medium", "frame", "wavelength_unit", "rows", "uncertainty"})
    return MadeSpectrum("apogee", data, 10**4.179, 10 ** (4.179 + 6e-6 * (POINTS - 1)), assumed=assumed, **told)


def lamost() -> MadeSpectrum:
    """LAMOST's first releases: rows that cards name, the third of them wavelengths."""
    axis = 10 ** (3.57 + 1e-4 * np.arange(POINTS))
    names = {"ARRAY1": "Flux", "ARRAY2": "Inverse Variance", "ARRAY3": "WaveLength", "ARRAY4": "Andmask"}
    cards: dict[str, CardValue] = {
        **names,
        "COEFF0": 3.57,
        "COEFF1": 1e-4,
        "DC-FLAG": 1,
        "VACUUM": True,
        "TELESCOP": "LAMOST",
    }
    data = image(np.stack([fluxes(), fluxes(), axis, np.zeros(POINTS)]), cards)
    assumed = frozenset({"wavelength_unit", "flux_unit"})
    told: dict[str, Any] = {"medium": "vacuum", "uncertainty": True}
    return MadeSpectrum("labelled_rows", data, float(axis[0]), float(axis[-1]), assumed=assumed, **told)


def popler() -> MadeSpectrum:
    """UVES_popler."""
    cards: dict[str, CardValue] = {"CTYPE1": "LOGLIN", "DC-FLAG": 1, "CRVAL1": 3.5, "CRPIX1": 1, "CD1_1": 1e-5}
    cards |= {"UP_WLSRT": 3162.3, "UP_ARR01": "Normalized flux spectrum", "UP_ARR02": "Normalized error"}
    data = image(np.stack([fluxes(), fluxes(), fluxes()]), cards)
    told: dict[str, Any] = {"medium": "vacuum", "frame": "heliocentric", "uncertainty": True}
    assumed = frozenset({"medium", "frame", "wavelength_unit", "flux_unit"})
    return MadeSpectrum("uves_popler", data, 10**3.5, 10 ** (3.5 + 1e-5 * (POINTS - 1)), assumed=assumed, **told)


def iue() -> MadeSpectrum:
    """IUE, both apertures."""
    columns = [Column("APERTURE", ["LARGE", "SMALL"]), Column("NPOINTS", [POINTS, POINTS - 10], kind="i2")]
    columns += [
        Column("WAVELENGTH", [1750.0, 1800.0], "ANGSTROM", "f4"),
        Column("DELTAW", [2.5, 2.5], "ANGSTROM", "f4"),
    ]
    columns += [Column("SIGMA", [fluxes(), fluxes()], "ERG/CM2/S/A", "f4")]
    columns += [Column("FLUX", [fluxes(), fluxes(seed=3)], "ERG/CM2/S/A", "f4")]
    data = image(None, {"TELESCOP": "IUE"}) + table(columns, {"EXTNAME": "MELO"})
    told: dict[str, Any] = {
        "count": 2,
        "labels": ("aperture LARGE", "aperture SMALL"),
        "uncertainty": True,
        "flux_unit": FLAM,
    }
    return MadeSpectrum("iue_mx", data, 1750.0, 1750.0 + 2.5 * (POINTS - 1), **told)


def x1d() -> MadeSpectrum:
    """STIS, two orders."""
    columns = [Column("SPORDER", [1, 2], kind="i2"), Column("NELEM", [POINTS, POINTS - 5], kind="i2")]
    columns += [Column("WAVELENGTH", [waves(1200.0, 1300.0), waves(1280.0, 1400.0)], "Angstroms")]
    columns += [Column(name, [fluxes(), fluxes(seed=4)], "erg/s/cm**2/Angstrom", "f4") for name in ("FLUX", "ERROR")]
    data = image(None, {"TELESCOP": "HST", "INSTRUME": "STIS"}) + table(columns, {"EXTNAME": "SCI"})
    told: dict[str, Any] = {"medium": "vacuum", "frame": "heliocentric", "flux_unit": FLAM, "uncertainty": True}
    labels = ("sporder 1", "sporder 2")
    assumed = frozenset({"medium", "frame"})
    return MadeSpectrum("hst_x1d", data, 1200.0, 1300.0, count=2, labels=labels, assumed=assumed, **told)


def jwst() -> MadeSpectrum:
    """JWST in micrometres and jansky."""
    columns = [Column("WAVELENGTH", list(waves(1.0, 5.0)), "um"), Column("FLUX", list(fluxes()), "Jy")]
    columns += [Column("FLUX_ERROR", list(fluxes()), "Jy")]
    data = image(None, {"TELESCOP": "JWST", "INSTRUME": "NIRSPEC"}) + table(columns, {"EXTNAME": "EXTRACT1D"})
    told: dict[str, Any] = {"medium": "vacuum", "flux_unit": "Jy", "uncertainty": True}
    return MadeSpectrum("jwst_x1d", data, 10000.0, 50000.0, assumed=frozenset({"medium"}), **told)


def calspec() -> MadeSpectrum:
    """CALSPEC."""
    columns = [Column("WAVELENGTH", list(waves(1140.0, 24976.0)), "ANGSTROMS", "f4")]
    columns += [Column(name, list(fluxes()), "FLAM", "f4") for name in ("FLUX", "STATERROR", "SYSERROR")]
    data = image(None, {"TARGETID": "GRW+70D5824"}) + table(columns, {"EXTNAME": "SCI"})
    told: dict[str, Any] = {"medium": "vacuum", "flux_unit": FLAM, "uncertainty": True}
    return MadeSpectrum("calspec", data, 1140.0, 24976.0, assumed=frozenset({"medium"}), **told)


def fuse() -> MadeSpectrum:
    """FUSE, whose unit is not told."""
    columns = [
        Column("WAVE", list(waves(905.0, 1187.0))),
        Column("FLUX", list(fluxes())),
        Column("ERROR", list(fluxes())),
    ]
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
    told: dict[str, Any] = {"flux_unit": FLAM, "uncertainty": True, "count": 2, "labels": ("order 1", "order 2")}
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
    told: dict[str, Any] = {
        "medium": "vacuum",
        "frame": "heliocentric",
        "uncertainty": True,
        "flux_unit": f"10**-17 {FLAM}",
    }
    assumed = frozenset({"medium", "frame", "left_out"})
    return MadeSpectrum("desi", data, 3600.0, 5800.0, count=4, labels=labels, assumed=assumed, **told)
