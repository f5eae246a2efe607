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
    rank: int = 3
    "1 for the lines that nearly all novae show, 2 for those of many, 3 for others."

    @property
    def words(self) -> str:
        """Such as ``Hα 6563``."""
        return f"{self.name} {self.wavelength:.0f}"


LINES = tuple(
    SpectralLine(name, wavelength, rank)
    for name, wavelength, rank in (
        ("Lyα", 1215.67, 2), ("N V", 1240.8, 1), ("O I", 1304.5, 3), ("C II", 1335.3, 3), ("Si IV", 1397.8, 2),
        ("N IV]", 1486.5, 2), ("C IV", 1549.5, 1), ("He II", 1640.4, 1), ("O III]", 1663.5, 3), ("N III]", 1750.0, 2),
        ("C III]", 1908.7, 1), ("C II]", 2325.5, 3), ("[Ne IV]", 2423.0, 3), ("Fe II", 2599.4, 3),
        ("Mg II", 2797.9, 1), ("O III", 3132.8, 3),
        ("He II", 3203.1, 3), ("[Ne V]", 3345.8, 3), ("[Ne V]", 3425.9, 2), ("[Fe VII]", 3586.3, 3),
        ("[O II]", 3727.4, 3), ("[Fe VII]", 3758.9, 3), ("O VI", 3811.4, 3), ("[Ne III]", 3868.8, 2),
        ("Ca II K", 3933.66, 2), ("[Ne III]", 3967.5, 3), ("Hε", 3970.07, 2), ("Hδ", 4101.74, 1), ("Hγ", 4340.47, 1),
        ("[O III]", 4363.21, 2), ("He I", 4471.50, 2), ("Fe II", 4583.83, 3), ("N III", 4640.6, 2),
        ("He II", 4685.68, 1), ("[Ne IV]", 4721.0, 3), ("Hβ", 4861.33, 1), ("Fe II", 4923.92, 2),
        ("[Fe VII]", 4942.5, 3), ("[O III]", 4958.91, 2), ("[O III]", 5006.84, 1), ("Fe II", 5018.44, 2),
        ("[Fe VI]", 5145.8, 3), ("Fe II", 5169.03, 1), ("[Fe VI]", 5176.0, 3), ("O VI", 5290.6, 3),
        ("[Fe XIV]", 5302.9, 2), ("[Ca V]", 5309.1, 3), ("Fe II", 5316.6, 3), ("He II", 5411.5, 3),
        ("sky [O I]", 5577.34, 2), ("N II", 5679.56, 2), ("[Fe VII]", 5720.7, 2), ("[N II]", 5754.64, 1),
        ("He I", 5875.64, 1), ("Na I D", 5892.9, 2), ("[Fe VII]", 6087.0, 2), ("O VI", 6200.0, 3),
        ("[O I]", 6300.30, 1), ("[O I]", 6363.78, 2), ("[Fe X]", 6374.51, 2), ("Hα", 6562.80, 1), ("He I", 6678.15, 2),
        ("He I", 7065.19, 2), ("[Ar III]", 7135.8, 3), ("[O II]", 7325.0, 2), ("C IV", 7726.2, 3), ("O I", 7773.4, 1),
        ("[Fe XI]", 7891.8, 3), ("O I", 8446.4, 1), ("Ca II", 8498.02, 3), ("Ca II", 8542.09, 2), ("Ca II", 8662.14, 3),
        ("[S III]", 9068.6, 3), ("[S III]", 9530.6, 3), ("He I", 10830.3, 1), ("Paγ", 10938.1, 2), ("O I", 11286.9, 2),
        ("Paβ", 12818.1, 1), ("Brγ", 21655.3, 1),
    )
)  # fmt: skip
"In order of wavelength."


def lines_within(spectrum: Spectrum, low: float, high: float) -> tuple[SpectralLine, ...]:
    """The lines between two wavelengths, told in the spectrum's own medium."""
    told = (_told(line, spectrum) for line in LINES)
    return tuple(line for line in told if low < line.wavelength < high)


def _told(line: SpectralLine, spectrum: Spectrum) -> SpectralLine:
    if spectrum.medium is not Medium.VACUUM:
        return line
    return SpectralLine(line.name, in_vacuum(line.wavelength), line.rank)


def lines_permitted(spectrum: Spectrum) -> bool:
    """Whether lines would lie near their laboratory wavelengths: the object does not race away from us."""
    redshift = spectrum.metadata.get("redshift")
    near = not isinstance(redshift, int | float) or abs(redshift) <= FURTHEST
    return near or spectrum.frame is Frame.REST


def in_vacuum(air: float) -> float:
    """A wavelength in vacuum, from one in air, by the IAU's standard (Morton 1991); below 2000 Å they are one."""
    if air < 2000:
        return air
    square = (1e4 / air) ** 2
    return air * (1.0 + 6.4328e-5 + 2.94981e-2 / (146.0 - square) + 2.5540e-4 / (41.0 - square))
