"""Spectra in files: which profile a file has, what its axis is, and whether it can be trusted."""

from penstock.astronomy.spectra.codes import CODES
from penstock.astronomy.spectra.description import (
    SpectraTicket,
    SpectrumDescription,
    parse_descriptions,
    parse_spectra_ticket,
)
from penstock.astronomy.spectra.judgements import SpectrumJudgement, judge_spectrum
from penstock.astronomy.spectra.profile import ProfileSelection, replay, select_profile, spectrum_profiles
from penstock.astronomy.spectra.spectrum_hints import NO_HINTS, SpectrumHints

__all__ = [
    "CODES",
    "NO_HINTS",
    "ProfileSelection",
    "SpectraTicket",
    "SpectrumDescription",
    "SpectrumHints",
    "SpectrumJudgement",
    "judge_spectrum",
    "parse_descriptions",
    "parse_spectra_ticket",
    "replay",
    "select_profile",
    "spectrum_profiles",
]
