"""The states of the catalogue: novae, datasets, runs, and what kind of error an attempt met."""

from __future__ import annotations

from enum import StrEnum


class NovaStatus(StrEnum):
    ACTIVE = "ACTIVE"
    MERGED = "MERGED"
    DEPRECATED = "DEPRECATED"


class DiscoverySource(StrEnum):
    """Where the date of a discovery comes from."""

    PAPER = "paper"
    INDEX = "index"
    OBSERVATION = "first observation"
    PERSON = "person"


class DatasetType(StrEnum):
    SPECTRA = "SPECTRA"
    PHOTOMETRY = "PHOTOMETRY"


class ProcessingStatus(StrEnum):
    READY = "READY"
    IN_PROGRESS = "IN_PROGRESS"
    FAILED_RETRYABLE = "FAILED_RETRYABLE"
    COMPLETED = "COMPLETED"
    QUARANTINED = "QUARANTINED"
    FAILED_TERMINAL = "FAILED_TERMINAL"


class ValidationStatus(StrEnum):
    VALID = "VALID"
    QUARANTINED = "QUARANTINED"
    TERMINAL_INVALID = "TERMINAL_INVALID"
    RETRYABLE_ERROR = "RETRYABLE_ERROR"


class Eligibility(StrEnum):
    DOWNLOAD = "DOWNLOAD"
    INGEST = "INGEST"
    NONE = "NONE"


class RunStatus(StrEnum):
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    QUARANTINED = "QUARANTINED"
    FAILED = "FAILED"


class ErrorClass(StrEnum):
    RETRYABLE = "RETRYABLE"
    TERMINAL = "TERMINAL"
    QUARANTINE = "QUARANTINE"
