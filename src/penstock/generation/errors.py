"""What can go wrong with a generative step.

PenstockError
└── InvalidValue
    └── DirectorNotFound   there is no such director's configuration
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.errors import InvalidValue
from penstock.work import Terminal


class DirectorNotFound(InvalidValue):
    """There is no such director's configuration; the message names those there are."""

    slug, http_status = "director-not-found", 400


@contextmanager
def for_good() -> Iterator[None]:
    """What is wrong with what was given is as wrong next time: no further attempt is made."""
    try:
        yield
    except InvalidValue as wrong:
        raise Terminal(str(wrong)) from wrong
