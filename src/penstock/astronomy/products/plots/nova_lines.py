"""The lines that novae show, for markers in a picture."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.astronomy.spectrum import Frame, Medium, Spectrum

FURTHEST = 0.01
"A redshift above this is no nova's of the Milky Way or its neighbours: markers would stand in the wrong place."


@dataclass(frozen=True, slots=True)
class SpectralLine:
    """A line and its wavelength in Ångström: in air, below 2000 Å in vacuum."""

    name: str
    wavelength: float


LINES = tuple(
    SpectralLine(name, wavelength)
    for name, wavelength in (
        ("N V", 1240.8), ("Si IV", 1397.8), ("C IV", 1549.5), ("He II", 1640.4), ("C III]", 1908.7),
        ("Mg II", 2797.9), ("Ca II K", 3933.66), ("Hδ", 4101.74), ("Hγ", 4340.47), ("[O III]", 4363.21),
        ("He I", 4471.50), ("N III", 4640.6), ("He II", 4685.68), ("Hβ", 4861.33), ("Fe II", 4923.92),
        ("[O III]", 4958.91), ("[O III]", 5006.84), ("Fe II", 5018.44), ("Fe II", 5169.03), ("N II", 5679.56),
        ("[N II]", 5754.64), ("He I", 5875.64), ("Na I D", 5892.9), ("[Fe VII]", 6086.3), ("[O I]", 6300.30),
        ("[O I]", 6363.78), ("Hα", 6562.80), ("He I", 6678.15), ("He I", 7065.19), ("[O II]", 7325.0),
        ("O I", 7773.4), ("O I", 8446.4), ("Ca II", 8498.02), ("Ca II", 8542.09), ("Ca II", 8662.14),
        ("He I", 10830.3), ("Paγ", 10938.1), ("O I", 11286.9), ("Paβ", 12818.1), ("Brγ", 21655.3),
    )
)  # fmt: skip
"In order of wavelength."


_MANY = 32
_STRONGEST = {1549.5, 1640.4, 2797.9, 4101.74, 4340.47, 4685.68, 4861.33, 5006.84, 5169.03, 5875.64, 6300.30, 6562.80,
              7773.4, 8446.4, 10830.3, 12818.1, 21655.3}  # fmt: skip
"Those that are left where all would be too many."


def lines_within(spectrum: Spectrum, low: float, high: float) -> tuple[SpectralLine, ...]:
    """The lines between two wavelengths, told in the spectrum's own medium; of very many, the strongest."""
    inside = [line for line in LINES if low < _told(line, spectrum).wavelength < high]
    if len(inside) > _MANY:
        inside = [line for line in inside if line.wavelength in _STRONGEST]
    return tuple(_told(line, spectrum) for line in inside)


def _told(line: SpectralLine, spectrum: Spectrum) -> SpectralLine:
    if spectrum.medium is not Medium.VACUUM:
        return line
    return SpectralLine(line.name, in_vacuum(line.wavelength))


def lines_permitted(spectrum: Spectrum) -> bool:
    """Whether it is known where lines would lie: the frame is told, and the object does not race away from us."""
    redshift = spectrum.metadata.get("redshift")
    near = not isinstance(redshift, int | float) or abs(redshift) <= FURTHEST
    return spectrum.frame is Frame.REST or (spectrum.frame is not Frame.UNKNOWN and near)


def in_vacuum(air: float) -> float:
    """A wavelength in vacuum, from one in air, by the IAU's standard (Morton 1991); below 2000 Å they are one."""
    if air < 2000:
        return air
    square = (1e4 / air) ** 2
    return air * (1.0 + 6.4328e-5 + 2.94981e-2 / (146.0 - square) + 2.5540e-4 / (41.0 - square))
