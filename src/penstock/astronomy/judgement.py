"""What a file proved to be: a verdict with its reason, never an exception for what is wrong with the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class FileVerdict(StrEnum):
    """Whether a file can be used."""

    VALID = "VALID"
    QUARANTINED = "QUARANTINED"
    "A person must look at it: something cannot be known from the file."
    TERMINAL_INVALID = "TERMINAL_INVALID"
    "It will never be readable: it is broken, or nothing of the kind."
    RETRYABLE_ERROR = "RETRYABLE_ERROR"
    "The file could not be judged for a reason of this machine, such as a disk that is full."


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something that the file does not say and a profile's rule supplies."""

    about: str
    "Such as wavelength_unit, reference_pixel."
    value: str
    why: str


@dataclass(frozen=True, slots=True)
class FileFinding:
    """Why a file is not valid."""

    code: str
    "A word of capitals that programs compare, such as UNKNOWN_UNIT."
    message: str
    "A sentence for people: what was wrong, with which value, and what to do."
    details: dict[str, Any] = field(default_factory=dict)
    "What JSON can say: the card, the value, the row."
