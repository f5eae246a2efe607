"""What a task raises to say how its failure is to be taken. Any other error is worth another attempt."""

from __future__ import annotations

from datetime import timedelta

from penstock.errors import PenstockError, told

CANCELLED = "CANCELLED"
"The code of what somebody did not want any more."


class Terminal(Exception):
    """It will never succeed: no further attempt."""


class Quarantine(Exception):
    """A person must look at it before anything more is done."""


class RetryLater(Exception):
    """It could not be done now; another attempt after this time."""

    def __init__(self, message: str, *, after: timedelta) -> None:
        super().__init__(message)
        self.after = after


class PutOff(RetryLater):
    """It could not even be tried, through no fault of its own: another attempt later, and this one does not count."""


# What befalls a task without its saying so; `classes` of a task may take them otherwise than usual.


class TimeOver(Exception):
    """It took longer than it may: no further attempt."""


class WorkerLost(Exception):
    """Its worker died, or outlived its lease: another attempt."""


class InputMisfit(Quarantine):
    """Its input does not fit what the task takes now: a person must look at it."""


class Cancelled(Exception):
    """Somebody does not want it any more."""

    code = CANCELLED


def code_of(error: BaseException) -> str:
    """An error in a word that programs may compare: its ``code``, where it has one, else its class."""
    code = getattr(error, "code", None)
    return code if isinstance(code, str) else type(error).__name__


def told_failure(error: BaseException) -> str:
    """What people are told of a failure; only our own errors were written for them."""
    known = isinstance(error, PenstockError | Terminal | RetryLater)
    return told(error) if known else f"{type(error).__name__} while working on it; the attempts tell more"
