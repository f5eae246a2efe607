"""What can go wrong with a review.

PenstockError
├── InvalidValue
│   ├── NotAnItem        what was named is no record that can be looked at, or no file of it
│   └── NotPlotted       a file has nothing that could be drawn as a curve
├── NotPermitted
│   └── NotYours         a note is somebody else's
└── Conflict
    ├── StaleNote        a note was changed since it was read
    ├── StaleReview      what was decided about is not what stands there now
    ├── NoSuchChoice     the decision cannot be made about this, or not now
    └── TooManyNotes     a record or a thread has as many as it can
"""

from __future__ import annotations

from penstock.errors import Conflict, InvalidValue, NotPermitted


class NotAnItem(InvalidValue):
    """What was named is no record that can be looked at, or no file of it."""

    slug = "not-an-item"
    hint = "Give the path of a record as its own routes have it, and a file by the name that its review item shows."


class NotPlotted(InvalidValue):
    """The file has nothing that could be drawn as a curve."""

    slug = "not-plotted"
    hint = (
        "Ask only for files whose viewer is `spectrum` or `light_curve`; what the detail says is wrong with this one."
    )


class NotYours(NotPermitted):
    """The note is somebody else's: they may edit it, and they or an administrator may delete it."""

    slug = "not-yours"
    hint = "Reply to the note instead, or ask an administrator to delete it."


class StaleNote(Conflict):
    """The note was changed since it was read."""

    slug = "stale-note"
    hint = "Read the note again, look at what has changed, and send the version that it has now."


class StaleReview(Conflict):
    """What was decided about is not what stands there now: a file is another, or somebody has moved it on."""

    slug = "stale-review"
    hint = "Read the review item again, look at its files, and decide with its new `mark`."


class NoSuchChoice(Conflict):
    """The decision cannot be made about this record, or not in the state it is in."""

    slug = "no-such-choice"
    hint = "Make one of the decisions that the review item lists."


class TooManyNotes(Conflict):
    """The record, or the thread, has as many notes as it can."""

    slug = "too-many-notes"
    hint = "Delete what is not needed any more, or begin another thread."
