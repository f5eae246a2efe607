"""What can go wrong with an asset, in words for whoever asked for it.

PenstockError
├── InvalidValue
│   ├── ImpossibleAsset    what was asked for cannot be made
│   ├── UnsafePrompt       the prompt has words that this project does not allow
│   └── BeyondQuota
│       └── BeyondProjectQuota   it takes more than the project may ever use
├── NotFound
│   └── NoSuchPlace        there is no job or asset of this id
├── Conflict
│   └── ReviewOver         somebody has decided already, or something else is to be decided by now
├── NotIdle                the job or the project is in no state for this
└── AssetNotMade           an asset could not be made
"""

from __future__ import annotations

from penstock.errors import Conflict, InvalidValue, NotFound, PenstockError
from penstock.kernel.quota import BeyondQuota, Share


class ImpossibleAsset(InvalidValue):
    """What was asked for cannot be made; the message says what about it."""

    slug, http_status = "impossible-asset", 422
    hint = "Ask for something that can be made; the message says what is wrong."


class UnsafePrompt(InvalidValue):
    """The prompt has words that are not allowed here."""

    slug, http_status = "unsafe-prompt", 422
    hint = "Say it in other words, or ask an administrator about the project's list."


class BeyondProjectQuota(BeyondQuota):
    """What was asked for takes more than the project's quotas allow at all."""

    slug, http_status = "beyond-project-quota", 429
    hint = "Ask an administrator for larger quotas of the project; waiting does not help."

    def __init__(self, share: Share, used: int) -> None:
        super().__init__(share)
        self.args = (f"{self}; {used:,} are in use",)


class NoSuchPlace(NotFound):
    """There is no job or asset of this id, or it is another project's."""

    slug = "no-such-place"
    hint = "Check the id; lists of jobs and assets tell those there are."


class ReviewOver(Conflict):
    """Somebody has decided already, or it is something else by now that waits for a decision."""

    slug = "review-over"
    hint = "Look at the job again, and decide about what it shows then."


class NotIdle(PenstockError):
    """The job, asset or project is in no state for this; the message says in which it is, and what to do first."""

    slug, http_status = "not-idle", 409
    hint = "Look at it, and ask again once it has come so far."


class AssetNotMade(PenstockError):
    """An asset could not be made; the message says what went wrong."""

    slug, tells = "asset-not-made", True
    hint = "Read what went wrong; resume the job from the step that failed, or ask for something else."
