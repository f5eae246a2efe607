"""The registry of profiles: which kinds of spectrum files there are, and which of them a file is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.astronomy.spectra.facts import SpectrumFacts

if TYPE_CHECKING:
    from penstock.astronomy.spectra.reading import SpectrumDraft, SpectrumReading

Recognises = Callable[[SpectrumFacts], list[str]]
"Why a file is of this profile; nothing: it is not."
Reads = Callable[["SpectrumReading"], list["SpectrumDraft"]]

_FAMILIES = ("eso", "iraf", "sdss", "hubble", "iue", "desi", "popler", "arrays", "named_columns", "plain")
"Modules of `profiles`, one for each family of instruments; the one that knows no instrument is last."


@dataclass(frozen=True, slots=True)
class SpectrumProfile:
    """One kind of spectrum file, and how it is read."""

    name: str
    version: int
    "Rises whenever the same file may be read in another way."
    priority: int
    recognises: Recognises
    reads: Reads
    plausible: tuple[float, float]
    "Ångström that its spectra can lie between."
    assumed: tuple[float, float] | None
    "The same where the unit is an assumption; None: no unit is assumed."
    providers: tuple[str, ...] = ()
    "Those that its files come from: a word of theirs counts as one more reason."


@dataclass(frozen=True, slots=True)
class ProfileCandidate:
    """A profile that recognised a file."""

    name: str
    version: int
    score: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProfileSelection:
    """What was chosen out of which candidates, and all that the choice rests on."""

    facts: SpectrumFacts
    candidates: tuple[ProfileCandidate, ...]
    "The best first."
    chosen: str | None
    version: int | None

    def to_json(self) -> dict[str, Any]:
        """What JSON can say, and `of` reads."""
        candidates = [
            {"name": one.name, "version": one.version, "score": one.score, "reasons": list(one.reasons)}
            for one in self.candidates
        ]
        return {
            "inputs": self.facts.to_json(),
            "candidates": candidates,
            "chosen": self.chosen,
            "version": self.version,
        }

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> ProfileSelection:
        """A selection that was stored."""
        candidates = tuple(
            ProfileCandidate(one["name"], one["version"], one["score"], tuple(one["reasons"]))
            for one in told["candidates"]
        )
        return cls(SpectrumFacts.of(told["inputs"]), candidates, told["chosen"], told["version"])


@dataclass
class _Registry:
    profiles: dict[str, SpectrumProfile] = field(default_factory=dict)


_REGISTRY = _Registry()
EVERYTHING = (1.0, 1e7)
OPTICAL = (2500.0, 30_000.0)


def spectrum_profile(
    name: str,
    *,
    version: int,
    priority: int,
    recognises: Recognises,
    plausible: tuple[float, float] = EVERYTHING,
    assumed: tuple[float, float] | None = OPTICAL,
    providers: tuple[str, ...] = (),
) -> Callable[[Reads], Reads]:
    """Register the function below as the reader of a profile."""

    def register(reads: Reads) -> Reads:
        if name in _REGISTRY.profiles:
            raise ValueError(f"the profile {name!r} is registered twice")
        _REGISTRY.profiles[name] = SpectrumProfile(
            name, version, priority, recognises, reads, plausible, assumed, providers
        )
        return reads

    return register


@cache
def spectrum_profiles() -> Mapping[str, SpectrumProfile]:
    """All profiles by name."""
    for family in _FAMILIES:
        import_module(f"penstock.astronomy.spectra.profiles.{family}")
    return dict(_REGISTRY.profiles)


def select_profile(facts: SpectrumFacts) -> ProfileSelection:
    """The same facts select the same profile: the most certain candidate, and by name among equals."""
    found = [one for profile in spectrum_profiles().values() if (one := _candidate(profile, facts))]
    found.sort(key=lambda one: (-one.score, one.name))
    if wanted := facts.hints.profile:
        found = [one for one in found if one.name == wanted]
    best = found[0] if found else None
    if best is None:
        return ProfileSelection(facts, (), None, None)
    return ProfileSelection(facts, tuple(found), best.name, best.version)


def replay(selection: ProfileSelection) -> ProfileSelection:
    """The choice that the stored inputs lead to today."""
    return select_profile(selection.facts)


def _candidate(profile: SpectrumProfile, facts: SpectrumFacts) -> ProfileCandidate | None:
    reasons = profile.recognises(facts)
    if not reasons:
        return None
    if facts.provider and facts.provider.lower() in profile.providers:
        reasons = [*reasons, f"it comes from {facts.provider.lower()}"]
    return ProfileCandidate(profile.name, profile.version, profile.priority + len(reasons), tuple(reasons))
