"""One file being read by one profile: what it needs to ask, and what it has to assume."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.astronomy.judgement import Assumption
from penstock.astronomy.spectra.cards import HeaderCards
from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.fits_contents import FitsContents
from penstock.astronomy.spectra.flux_units import flux_unit
from penstock.astronomy.spectra.profile import SpectrumProfile
from penstock.astronomy.spectra.quality_flags import QualityFlags
from penstock.astronomy.spectra.spectral_units import ANGSTROM, SpectralUnit, is_not_spectral, spectral_unit
from penstock.astronomy.spectra.spectrum_hints import SpectrumHints
from penstock.astronomy.spectrum import Floats, Frame, Medium

MOST_SPECTRA = 300
"As many as are taken from one file."


@dataclass(slots=True)
class SpectrumDraft:
    """A spectrum as its file has it: its axis in the file's unit, nothing checked yet."""

    axis: Floats
    unit: SpectralUnit
    flux: Floats
    flux_unit: str
    uncertainty: Floats | None = None
    label: str = ""
    medium: Medium = Medium.UNKNOWN
    frame: Frame = Frame.UNKNOWN
    rest: float | None = None
    "The rest wavelength that velocities are told about, in Ångström."
    unit_assumed: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    assumptions: list[Assumption] = field(default_factory=list)
    quality: QualityFlags | None = None


@dataclass(slots=True, kw_only=True)
class ReadingNotes:
    """What a profile allows, what was said at the desk, and what had to be assumed on the way."""

    profile: SpectrumProfile
    hints: SpectrumHints
    name: str = ""
    "The file's own name."
    assumptions: list[Assumption] = field(default_factory=list)
    "What holds for all spectra of the file."

    def assume(self, about: str, value: str, why: str) -> None:
        """Note what the file does not say; once is enough."""
        told = Assumption(about, value[:200], why[:400])
        if told not in self.assumptions:
            self.assumptions.append(told)

    def axis_unit(self, *told: tuple[str, str | None]) -> tuple[SpectralUnit, bool]:
        """The unit of a spectral axis, out of all places where one is told, and whether it is an assumption.

        Places that say different things are refused; what is no spectral unit gives way to one that is.
        """
        stated = [(where, text) for where, text in told if text and text.strip()]
        known = [(where, unit) for where, text in stated if (unit := spectral_unit(text))]
        strange = [(where, text) for where, text in stated if spectral_unit(text) is None]
        if known:
            known = self._preferred(known)
            self._agreed(known, strange)
            return known[0][1], False
        if self.hints.unit is not None:
            return self._hinted_unit(self.hints.unit), False
        if strange:
            raise _strange(*strange[0])
        return self._assumed_unit(), True

    def _preferred(self, known: list[tuple[str, SpectralUnit]]) -> list[tuple[str, SpectralUnit]]:
        """What a person says decides between places that say different things."""
        hinted = spectral_unit(self.hints.unit) if self.hints.unit else None
        said = [(where, unit) for where, unit in known if unit == hinted]
        if not said or len(said) == len(known):
            return known
        self.assume("wavelength_unit", said[0][1].name, f"a person said so, as {said[0][0]} does; other cards differ")
        return said

    def _agreed(self, known: list[tuple[str, SpectralUnit]], strange: list[tuple[str, str]]) -> None:
        where, unit = known[0]
        for other, another in known[1:]:
            if another != unit and self.hints.unit is None:
                message = f"{where} says {unit.name} and {other} says {another.name}: say which it is with a hint"
                raise UnusableSpectrum("CONTRADICTORY_CARDS", message, cards=[where, other])
        for other, text in strange:
            if not is_not_spectral(text):
                raise _strange(other, text)
            self.assume("wavelength_unit", unit.name, f"{where} says so, though {other} says {text!r}")
        hinted = spectral_unit(self.hints.unit) if self.hints.unit else unit
        if hinted != unit:
            message = f"the hint says {self.hints.unit}, and {where} of the file says {unit.name}"
            raise UnusableSpectrum("HINT_CONTRADICTS", message, hint="unit")

    def _hinted_unit(self, text: str) -> SpectralUnit:
        unit = spectral_unit(text)
        if unit is None:
            message = f"the hint's unit {text!r} is not known: say Angstrom, nm, um, cm-1, GHz or eV"
            raise UnusableSpectrum("UNKNOWN_HINT", message, hint="unit", value=text[:80])
        self.assume("wavelength_unit", unit.name, "a person said so")
        return unit

    def _assumed_unit(self) -> SpectralUnit:
        if self.profile.assumed is None:
            message = f"the wavelengths have no unit, which {self.profile.name} requires: say it with the hint unit"
            raise UnusableSpectrum("MISSING_UNIT", message, of="wavelength")
        self.assume("wavelength_unit", ANGSTROM.name, "the file tells no unit, and most such files are in Ångström")
        return ANGSTROM

    def flux_unit(self, text: str | None, *, where: str) -> str:
        """The unit of fluxes as astropy's FITS format writes it."""
        unit = flux_unit(text) if text else None
        hinted = flux_unit(self.hints.flux_unit) if self.hints.flux_unit else None
        if self.hints.flux_unit and hinted is None:
            message = (
                f"the hint's flux unit {self.hints.flux_unit!r} is not known: say such as erg/s/cm2/Angstrom, Jy, "
                "counts, or relative"
            )
            raise UnusableSpectrum("UNKNOWN_HINT", message, hint="flux_unit", value=self.hints.flux_unit[:80])
        if unit is not None and not unit.relative:
            if hinted is not None and hinted != unit:
                message = f"the hint says {self.hints.flux_unit}, and {where} of the file says {text}"
                raise UnusableSpectrum("HINT_CONTRADICTS", message, hint="flux_unit")
            return unit.text
        return self._open_flux_unit(text, where, hinted.text if hinted else None, known=unit is not None)

    def _open_flux_unit(self, text: str | None, where: str, hinted: str | None, *, known: bool) -> str:
        if hinted is not None:
            self.assume("flux_unit", hinted, "a person said so")
            return hinted
        if text and not known:
            message = f"{where} says {text!r}, which is no unit of fluxes that is known: say it with the hint flux_unit"
            raise UnusableSpectrum("UNKNOWN_UNIT", message, of="flux", card=where, value=text[:80])
        if not text or text.strip().lower() in ("unknown", "none", "undefined", "flux", "n/a", "na"):
            self.assume("flux_unit", "", "the file tells none: the flux is taken to be relative")
        return ""


@dataclass(slots=True, kw_only=True)
class SpectrumReading(ReadingNotes):
    """A FITS file, and the profile that was chosen for it."""

    contents: FitsContents

    @property
    def primary(self) -> HeaderCards:
        """The cards of the first HDU."""
        return self.contents.blocks[0].cards

    def cards(self, index: int) -> HeaderCards:
        """The cards of an HDU."""
        return self.contents.blocks[index].cards

    def tables(self) -> list[int]:
        """The HDUs that are tables with something in them."""
        return [index for index in range(len(self.contents.blocks)) if self.contents.is_table(index)]

    def hdu_named(self, *names: str) -> int | None:
        """The first HDU with one of these names."""
        for index, block in enumerate(self.contents.blocks):
            if (block.cards.said("EXTNAME") or "").upper() in names:
                return index
        return None


def _strange(where: str, text: str) -> UnusableSpectrum:
    if is_not_spectral(text):
        message = f"{where} says {text!r}: the axis is not one of wavelengths; if it is, say so with the hint unit"
        return UnusableSpectrum("NO_WAVELENGTH", message, card=where, value=text[:80])
    message = f"{where} says {text!r}, which is no unit of wavelengths that is known: say it with the hint unit"
    return UnusableSpectrum("UNKNOWN_UNIT", message, of="wavelength", card=where, value=text[:80])
