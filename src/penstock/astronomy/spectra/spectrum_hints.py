"""What a person may say of a spectrum file that does not say it itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class SpectrumHints:
    """Said at the quarantine desk. A hint fills what the file leaves open; one that the file denies is refused."""

    unit: str | None = None
    "The unit of the wavelengths, such as nm."
    flux_unit: str | None = None
    profile: str | None = None
    "The name of the profile to read the file with."
    aperture: str | None = None
    "Which of several spectra: its label, or its number counted from 1."
    target: str | None = None
    "Which of several targets: its identity, or its number counted from 1."
    medium: str | None = None
    "air or vacuum."
    frame: str | None = None
    "observed, heliocentric, barycentric or rest."

    def to_json(self) -> dict[str, str]:
        """The hints that were given."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> SpectrumHints:
        """Hints from what `to_json` gave; words that are no hint are left out."""
        known = {name: str(told[name])[:_LONGEST] for name in cls.__slots__ if told.get(name) is not None}
        return cls(**known)


NO_HINTS = SpectrumHints()
