"""Spectra of a made nova as the FITS files of several observatories have them, good ones and two that are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import BytesIO

import numpy as np
from astropy.io import fits

from penstock.astronomy.products.plots.nova_lines import in_vacuum
from penstock.astronomy.spectrum import Floats
from penstock.astronomy.synthetic.synthetic_nova import SyntheticNova
from penstock.astronomy.synthetic.synthetic_spectrum import TELLURIC, synthetic_flux, with_noise

_UNIX_JD = 2440587.5
_FLUX_UNIT = "erg/cm2/s/A"


@dataclass(frozen=True, slots=True)
class SyntheticObservation:
    """One observation of a made nova: when, and by what chance its noise is."""

    nova: SyntheticNova
    days: float
    "After maximum."
    profile: str

    @property
    def jd(self) -> float:
        """When it was."""
        return self.nova.peak_jd + self.days

    @property
    def when(self) -> str:
        """The same, as FITS writes it."""
        return jd_text(self.jd)

    def seen(self, wavelength: Floats, *, part: int = 0) -> tuple[Floats, Floats]:
        """Flux and its uncertainty over these wavelengths."""
        chance = self.nova.random(f"spectrum {self.profile} {self.days} {part}")
        flux = synthetic_flux(self.nova, wavelength, self.days)
        return with_noise(flux, chance, signal_to_noise=max(12.0, 70.0 - self.days))

    def describe(self, header: fits.Header) -> None:
        """Write what every observatory writes, and that nobody observed this."""
        header["OBJECT"] = (
            self.nova.name[:60].encode("ascii", "replace").decode(),
            "name of a nova; the data are made",
        )
        header["ORIGIN"] = ("SYNTHETIC", "made by Penstock for demonstration")
        header["SYNTHETC"] = (True, "no telescope observed this")
        header["TELESCOP"] = ("SYNTHETIC-1M", "there is no such telescope")
        header["INSTRUME"] = ("SYNTHSPEC", "there is no such instrument")
        header["DATE-OBS"] = (self.when, "UTC, of the model")
        header["EXPTIME"] = (600.0, "[s]")
        header["RA"] = (self.nova.ra, "[deg]")
        header["DEC"] = (self.nova.dec, "[deg]")


def jd_text(jd: float) -> str:
    """A Julian date as FITS writes dates."""
    moment = datetime.fromtimestamp(0, UTC) + timedelta(days=jd - _UNIX_JD)
    return moment.isoformat(timespec="seconds").removesuffix("+00:00")


def iraf_linear(seen: SyntheticObservation) -> bytes:
    """A line of pixels with IRAF's linear scale."""
    wavelength = _even(3800.0, 1.5, 3000)
    hdu = fits.PrimaryHDU(seen.seen(wavelength)[0].astype(np.float32))
    _put_iraf(hdu.header, start=3800.0, step=1.5, logarithmic=False)
    hdu.header["BUNIT"] = _FLUX_UNIT
    return _saved(seen, hdu)


def iraf_logarithmic(seen: SyntheticObservation) -> bytes:
    """A line of pixels, evenly apart in the logarithm of the wavelength."""
    start, step = float(np.log10(4000.0)), 1.2e-4
    wavelength = np.power(10.0, _even(start, step, 2700))
    hdu = fits.PrimaryHDU(seen.seen(wavelength)[0].astype(np.float32))
    _put_iraf(hdu.header, start=start, step=step, logarithmic=True)
    hdu.header["BUNIT"] = _FLUX_UNIT
    return _saved(seen, hdu)


def iraf_multispec(seen: SyntheticObservation) -> bytes:
    """Three orders, each a row of its own with its own wavelengths: one linear, two by Chebyshev polynomials."""
    pixels = np.arange(1, 1001)
    scaled = (2 * pixels - 1001) / 999
    orders = [(4300.0, 400.0, 0.0), (5100.0, 450.0, 6.0), (6500.0, 520.0, 9.0)]
    rows = [seen.seen(a + b * scaled + c * (2 * scaled**2 - 1), part=i)[0] for i, (a, b, c) in enumerate(orders)]
    hdu = fits.PrimaryHDU(np.array(rows, dtype=np.float32))
    _put_multispec(hdu.header, [_order(number, *order) for number, order in enumerate(orders, 1)])
    hdu.header["BUNIT"] = _FLUX_UNIT
    return _saved(seen, hdu)


def science_product(seen: SyntheticObservation) -> bytes:
    """One row of a table that has whole arrays, in nm, with errors and a gap where the air of the Earth is opaque."""
    wavelength = np.arange(3600.0, 9200.0, 1.0)
    flux, error = seen.seen(wavelength)
    gap = (wavelength > TELLURIC[0]) & (wavelength < TELLURIC[1])
    flux, error = np.where(gap, np.nan, flux), np.where(gap, np.nan, error)
    unit = "erg cm**(-2) s**(-1) angstrom**(-1)"
    columns = [("WAVE", wavelength / 10, "nm"), ("FLUX", flux, unit), ("ERR", error, unit)]
    form = f"{wavelength.size}D"
    table = fits.BinTableHDU.from_columns(
        [fits.Column(name=name, format=form, unit=unit, array=values[None, :]) for name, values, unit in columns],
        name="SPECTRUM",
    )
    _put_science_cards(table.header, wavelength.size)
    primary = fits.PrimaryHDU()
    primary.header["PRODCATG"] = ("SCIENCE.SPECTRUM", "data product category")
    primary.header["SPECSYS"] = ("BARYCENT", "frame of the wavelengths")
    return _saved(seen, primary, table)


def calibration_table(seen: SyntheticObservation) -> bytes:
    """A table with a row a point, in vacuum, and units spelled as the library of standard stars spells them."""
    air = np.arange(3500.0, 9800.0, 2.0)
    flux, error = seen.seen(air)
    vacuum = np.array([in_vacuum(one) for one in air.tolist()])
    columns = [("WAVELENGTH", vacuum, "ANGSTROMS"), ("FLUX", flux, "FLAM"), ("STATERROR", error, "FLAM")]
    table = fits.BinTableHDU.from_columns(
        [fits.Column(name=name, format="D", unit=unit, array=values) for name, values, unit in columns]
    )
    return _saved(seen, fits.PrimaryHDU(), table)


def without_units(seen: SyntheticObservation) -> bytes:
    """A line of pixels with a scale, and no word on what it counts."""
    wavelength = _even(4000.0, 2.0, 1800)
    hdu = fits.PrimaryHDU(seen.seen(wavelength)[0].astype(np.float32))
    hdu.header["CRVAL1"], hdu.header["CDELT1"] = 4000.0, 2.0
    return _saved(seen, hdu)


def unknown_unit(seen: SyntheticObservation) -> bytes:
    """A flux in a unit that nobody knows: a person must say what was meant."""
    wavelength = _even(3800.0, 2.0, 2000)
    hdu = fits.PrimaryHDU(seen.seen(wavelength)[0].astype(np.float32))
    _put_iraf(hdu.header, start=3800.0, step=2.0, logarithmic=False)
    hdu.header["BUNIT"] = "furlong/fortnight"
    return _saved(seen, hdu)


def cut_short(seen: SyntheticObservation) -> bytes:
    """A file whose end was lost on the way."""
    whole = iraf_linear(seen)
    return whole[: len(whole) // 2 // 2880 * 2880 + 1000]


PROFILES: dict[str, Callable[[SyntheticObservation], bytes]] = {
    "iraf-linear": iraf_linear,
    "iraf-log": iraf_logarithmic,
    "iraf-multispec": iraf_multispec,
    "eso-sdp": science_product,
    "calspec": calibration_table,
    "no-units": without_units,
    "unknown-unit": unknown_unit,
    "cut-short": cut_short,
}
"Each kind of file that is made, by its name."


def _even(start: float, step: float, count: int) -> Floats:
    return start + step * np.arange(count, dtype=np.float64)


def _put_iraf(header: fits.Header, *, start: float, step: float, logarithmic: bool) -> None:
    header["WCSDIM"], header["CTYPE1"] = 1, "LINEAR"
    header["CRVAL1"], header["CDELT1"], header["CD1_1"], header["CRPIX1"] = start, step, step, 1.0
    header["DC-FLAG"] = int(logarithmic)
    header["WAT0_001"] = "system=equispec"
    header["WAT1_001"] = "wtype=linear label=Wavelength units=angstroms"
    header["APNUM1"] = "1 1 1.0 10.0"


def _order(number: int, middle: float, half: float, bend: float) -> str:
    """One order as IRAF writes it: linear, or the coefficients of a Chebyshev polynomial."""
    step = 2 * half / 999
    kind = 2 if bend else 0
    head = f"{number} {110 + number} {kind} {middle - half + bend!r} {step!r} 1000 0. 10.0 20.0"
    tail = f" 1. 0. 1 3 1. 1000. {middle!r} {half!r} {bend!r}" if bend else ""
    return f'spec{number} = "{head}{tail}"'


def _put_multispec(header: fits.Header, orders: list[str]) -> None:
    header["WCSDIM"], header["CTYPE1"], header["CTYPE2"] = 2, "MULTISPE", "MULTISPE"
    header["CD1_1"], header["CD2_2"], header["LTM1_1"], header["LTM2_2"] = 1.0, 1.0, 1.0, 1.0
    header["WAT0_001"] = "system=multispec"
    header["WAT1_001"] = "wtype=multispec label=Wavelength units=angstroms"
    text = "wtype=multispec " + " ".join(orders)
    for number, start in enumerate(range(0, len(text), 68), 1):
        header[f"WAT2_{number:03}"] = text[start : start + 68]
    for number in range(1, len(orders) + 1):
        header[f"APNUM{number}"] = f"{number} {110 + number} 10.0 20.0"


def _put_science_cards(header: fits.Header, points: int) -> None:
    header["VOCLASS"], header["NELEM"] = "SPECTRUM V2.0", points
    kinds = ("em.wl;obs.atmos", "phot.flux.density;em.wl", "stat.error;phot.flux.density;em.wl")
    types = ("SpectralAxis.Value", "FluxAxis.Value", "FluxAxis.Accuracy.StatError")
    for number, (kind, type_) in enumerate(zip(kinds, types, strict=True), 1):
        header[f"TUCD{number}"], header[f"TUTYP{number}"] = kind, f"spec:Spectrum.Data.{type_}"


def _saved(seen: SyntheticObservation, primary: fits.PrimaryHDU, *others: fits.BinTableHDU) -> bytes:
    seen.describe(primary.header)
    buffer = BytesIO()
    fits.HDUList([primary, *others]).writeto(buffer)
    return buffer.getvalue()
