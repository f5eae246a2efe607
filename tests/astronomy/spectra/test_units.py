"""Units by all their names: known ones become what they are, others are not known."""

from __future__ import annotations

import numpy as np
import pytest
from astropy import units

from penstock.astronomy.spectra.flux_units import flux_unit
from penstock.astronomy.spectra.spectral_units import is_not_spectral, spectral_unit, to_angstrom

LENGTHS = {
    1.0: ["Angstrom", "ANGSTROMS", "angstroms", "Å", "A", "Ang", "AA", "[Angstrom]", "angstroem", "Ångström"],
    10.0: ["nm", "NM", "nanometers", "nanometre", "millimicrons"],
    1e4: ["um", "µm", "μm", "MICRON", "microns", "micrometer"],
    1e10: ["m", "meters"],
}
FLUXES = {
    "erg Angstrom-1 s-1 cm-2": [
        "erg/cm2/s/A", "ERG/CM2/S/A", "ERGS/CM**2/S/A", "erg/s/cm**2/Angstrom", "Angstrom-1 cm-2 erg s-1", "FLAM",
        "ergs s-1 cm-2 A-1", "erg sec^-1 cm^-2 Ang^-1", "erg.cm**(-2).s**(-1).angstrom**(-1)", "erg/(s cm2 Angstrom)",
        "erg cm^-2 s^-1 A^-1", "Flux (erg/s/cm2/A)", "erg s**(-1) cm**(-2) Angstrom**(-1)",
    ],
    "10**-17 erg Angstrom-1 s-1 cm-2": [
        "1E-17 erg/cm^2/s/Ang", "10**-17 erg/(s cm2 Angstrom)", "10^-17 erg/s/cm^2/Ang", "10-17 erg cm-2 s-1 A-1",
        "Flux (10^-17 erg/s/cm^2/Ang)", "1.0E-17 erg/s/cm2/A", "10^(-17) ergs/cm2/s/A", "1e-17erg/s/cm2/A",
        "E-17 erg/s/cm2/A",
    ],
    "erg nm-1 s-1 cm-2": ["erg s**(-1) cm**(-2) nm**(-1)"],
    "erg Hz-1 s-1 cm-2": ["erg/cm2/s/Hz", "FNU"],
    "W um-1 m-2": ["W/m2/um", "W m-2 um-1", "W/m^2/micron", "Watt/m2/um"],
    "erg s-1 cm-2": ["ergs/cm^2/sec"],
    "Jy": ["Jy", "JY"],
    "mJy": ["mJy"],
    "MJy sr-1": ["MJy/sr"],
    "count": ["counts", "COUNTS", "ct", "electron", "electrons", "e-"],
    "count s-1": ["counts/s", "electrons/s", "ct s-1"],
    "adu": ["ADU", "adu", "DN", "DU"],
    "adu pix-1": ["DU/PIXEL"],
    "": ["Relative Flux", "relative", "arbitrary units", "Normalized", "unknown", "none", "dimensionless", "FN"],
}  # fmt: skip


@pytest.mark.parametrize(("factor", "text"), [(factor, text) for factor, texts in LENGTHS.items() for text in texts])
def test_a_length_is_known_by_all_its_names(factor: float, text: str) -> None:
    found = spectral_unit(text)
    assert found is not None
    assert (found.kind, found.factor) == ("length", factor)


@pytest.mark.parametrize(("wanted", "text"), [(wanted, text) for wanted, texts in FLUXES.items() for text in texts])
def test_a_flux_unit_is_written_as_astropy_writes_it(wanted: str, text: str) -> None:
    found = flux_unit(text)
    assert found is not None
    assert found.text == wanted
    if wanted:
        assert units.Unit(wanted, format="fits").to_string("fits") == wanted


@pytest.mark.parametrize(
    "text",
    [
        "flubber/s",
        "erg/cm/s/Ang",
        "erg/cm2 s A",
        "MJY",
        "mag",
        "K",
        "erg",
        "cm2",
        "(((",
        "10**",
        "erg)",
        "erg/cm2/s/A/A",
    ],
)
def test_what_cannot_be_a_flux_is_not_known(text: str) -> None:
    assert flux_unit(text) is None


@pytest.mark.parametrize("text", ["flubber", "parsec", "", "1e3", "mev", "Angstrom/pixel"])
def test_what_cannot_be_a_spectral_axis_is_not_known(text: str) -> None:
    assert spectral_unit(text) is None


@pytest.mark.parametrize("text", ["pixel", "deg", "PIXELS", "arcsec", "s"])
def test_some_units_are_known_to_be_of_something_else(text: str) -> None:
    assert spectral_unit(text) is None
    assert is_not_spectral(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [("THz", 500.0), ("GHz", 1420.0), ("Hz", 5e14), ("eV", 2.0), ("keV", 6.4), ("cm-1", 2e4), ("1/um", 1.8)],
)
def test_other_axes_become_the_wavelengths_that_astropy_finds(text: str, value: float) -> None:
    unit = spectral_unit(text)
    assert unit is not None
    told = units.Quantity(value, unit.name).to(units.AA, equivalencies=units.spectral()).value
    assert to_angstrom(np.array([value]), unit)[0] == pytest.approx(told, rel=1e-14)


def test_a_logarithm_is_one_of_a_length() -> None:
    unit = spectral_unit("log10(Angstrom)")
    assert unit is not None
    assert to_angstrom(np.array([3.5]), unit)[0] == 10**3.5
    assert spectral_unit("log(nm)") != unit
    assert spectral_unit("log(Hz)") is None
