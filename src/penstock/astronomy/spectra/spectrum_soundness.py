"""The checks that every spectrum passes before it is handed on, whatever profile read it."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.astronomy.fill_values import fill_values
from penstock.astronomy.judgement import Assumption
from penstock.astronomy.spectra.codes import UnusableSpectrum
from penstock.astronomy.spectra.flux_units import per_angstrom
from penstock.astronomy.spectra.profile import EVERYTHING, SpectrumProfile
from penstock.astronomy.spectra.quality_flags import QualityFlags
from penstock.astronomy.spectra.reading import SpectrumDraft
from penstock.astronomy.spectra.spectral_units import to_angstrom
from penstock.astronomy.spectrum import Floats, Spectrum

LEAST_POINTS = 2
LEAST_FINITE = 0.5
"The share of fluxes that must be numbers."
_ANY_ENERGY = (1e-3, 1e13)
"Ångström of an axis that is told as frequency or energy: from gamma rays to long waves."
_FAR_ULTRAVIOLET = 900.0


def sound_spectrum(draft: SpectrumDraft, profile: SpectrumProfile, assumptions: list[Assumption]) -> Spectrum:
    """A draft that passes all checks, in Ångström and ascending."""
    _same_lengths(draft)
    wavelengths = to_angstrom(draft.axis, draft.unit, rest=draft.rest)
    descending = _direction(wavelengths, draft.label) < 0
    _plausible(wavelengths, draft, profile)
    _meaningful(draft)
    turned = slice(None, None, -1) if descending else slice(None)
    unmeasured = int(np.count_nonzero(fill_values(draft.flux, draft.uncertainty)))
    flags = draft.quality if draft.quality is not None and len(draft.quality.flags) == len(draft.flux) else None
    return Spectrum(
        wavelength=np.ascontiguousarray(wavelengths[turned]),
        flux=np.ascontiguousarray(draft.flux[turned]),
        flux_unit=draft.flux_unit,
        uncertainty=_uncertainty(draft, turned),
        label=draft.label,
        medium=draft.medium,
        frame=draft.frame,
        wavelength_unit=f"log10({draft.unit.name})" if draft.unit.log10 else draft.unit.name,
        metadata=draft.metadata | _counted(unmeasured, flags),
        assumptions=(*draft.assumptions, *assumptions),
        quality=None if flags is None else np.ascontiguousarray(flags.flags[turned]),
        bad=None if flags is None else np.ascontiguousarray(flags.bad[turned]),
    )


def _counted(unmeasured: int, flags: QualityFlags | None) -> dict[str, Any]:
    told: dict[str, Any] = {"unmeasured_points": unmeasured} if unmeasured else {}
    if flags is None:
        return told
    return told | {"quality_rule": flags.rule, "bad_points": int(np.count_nonzero(flags.bad))}


def _uncertainty(draft: SpectrumDraft, turned: slice) -> Floats | None:
    """What is negative, or no number, is an uncertainty that is not known."""
    if draft.uncertainty is None:
        return None
    known = np.where(np.isfinite(draft.uncertainty) & (draft.uncertainty >= 0), draft.uncertainty, np.nan)
    return np.ascontiguousarray(known[turned])


def _same_lengths(draft: SpectrumDraft) -> None:
    lengths = {"wavelengths": len(draft.axis), "fluxes": len(draft.flux)}
    if draft.uncertainty is not None:
        lengths["uncertainties"] = len(draft.uncertainty)
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{count} {name}" for name, count in lengths.items())
        raise UnusableSpectrum("LENGTH_MISMATCH", f"there are {told}{_of(draft.label)}", **lengths)
    if len(draft.axis) < LEAST_POINTS:
        message = f"there are {len(draft.axis)} points{_of(draft.label)}, and at least {LEAST_POINTS} are needed"
        raise UnusableSpectrum("TOO_FEW_POINTS", message, points=len(draft.axis))


def _direction(wavelengths: Floats, label: str) -> int:
    """1 for ascending wavelengths, -1 for descending ones; all others are refused."""
    if not np.isfinite(wavelengths).all():
        at = int(np.argmin(np.isfinite(wavelengths)))
        message = f"the wavelength of point {at + 1} is no number{_of(label)}"
        raise UnusableSpectrum("NON_FINITE_WAVELENGTH", message, point=at + 1)
    if (lowest := float(wavelengths.min())) <= 0:
        message = f"wavelengths must be positive, and the lowest is {lowest:g} Å{_of(label)}"
        raise UnusableSpectrum("NON_POSITIVE_WAVELENGTH", message, lowest=lowest)
    steps = np.diff(wavelengths)
    if not steps.any():
        raise UnusableSpectrum("ZERO_DISPERSION", f"all wavelengths are {lowest:g} Å{_of(label)}", wavelength=lowest)
    for sign in (1, -1):
        if (steps * sign > 0).all():
            return sign
    at = int(np.argmax(steps * np.sign(steps.sum() or 1.0) <= 0))
    message = f"wavelengths go back after point {at + 1}, at {wavelengths[at]:g} Å{_of(label)}"
    raise UnusableSpectrum("NOT_MONOTONIC", message, point=at + 1)


def _plausible(wavelengths: Floats, draft: SpectrumDraft, profile: SpectrumProfile) -> None:
    low, high = _range(draft, profile)
    first, last = float(wavelengths.min()), float(wavelengths.max())
    if low <= first and last <= high:
        return
    taken = "taken for Ångström, since no unit is told, " if draft.unit_assumed else ""
    message = (
        f"the wavelengths reach from {first:g} to {last:g} Å{_of(draft.label)}, {taken}"
        f"and a {profile.name} spectrum lies between {low:g} and {high:g} Å: give the unit, or the profile, as a hint"
    )
    raise UnusableSpectrum("IMPLAUSIBLE_RANGE", message, first=first, last=last, profile=profile.name)


def _range(draft: SpectrumDraft, profile: SpectrumProfile) -> tuple[float, float]:
    if draft.unit_assumed and profile.assumed is not None:
        low, high = profile.assumed
        # A flux that is counted per Ångström speaks for wavelengths that are.
        low = min(low, _FAR_ULTRAVIOLET) if per_angstrom(draft.flux_unit) else low
        return max(low, profile.plausible[0]), min(high, profile.plausible[1])
    if draft.unit.kind in ("frequency", "energy", "wavenumber") and profile.plausible == EVERYTHING:
        return _ANY_ENERGY
    return profile.plausible


def _meaningful(draft: SpectrumDraft) -> None:
    finite = np.isfinite(draft.flux)
    share = float(finite.mean())
    if share < LEAST_FINITE:
        message = f"{share:.0%} of the fluxes are numbers{_of(draft.label)}, and at least {LEAST_FINITE:.0%} must be"
        raise UnusableSpectrum("NON_FINITE_FLUX", message, share=share)
    values = draft.flux[finite]
    if values.min() == values.max():
        message = f"all fluxes are {values[0]:g}{_of(draft.label)}: nothing was measured, or it was lost"
        raise UnusableSpectrum("CONSTANT_FLUX", message, flux=float(values[0]))


def _of(label: str) -> str:
    return f" in {label}" if label else ""
