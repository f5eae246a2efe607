"""What only a link for guests can be refused with.

PenstockError
└── NotFound
    └── NoSuchLink       a link has ended, was revoked, or never was: which of these, nobody is told
"""

from __future__ import annotations

from penstock.errors import NotFound


class NoSuchLink(NotFound):
    """The link leads nowhere: it has ended, was revoked, or never was."""

    slug = "no-such-link"
    hint = "Ask whoever sent the link for a new one."
