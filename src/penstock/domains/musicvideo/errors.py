"""What can go wrong with a music video, in the words of the documents where they have some.

PenstockError
├── InvalidValue
│   └── IncompleteOrder         what was asked for is not complete, or cannot be
├── NotFound
│   ├── NoFinalVideo       there is none yet
│   └── NoSuchPicture      there is no character reference of this id
├── NotNow                 the project or the scene is in no state for this
│   └── LipsOutOfStep      a cut would show lips that do not move to what is heard
├── EditedMeanwhile        somebody else has edited it since it was read
└── NotMade                a video could not be made
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from penstock.errors import InvalidValue, NotFound, PenstockError

_MOST_TOLD = 3
"Scenes whose reasons fit in one message."


class IncompleteOrder(InvalidValue):
    """What was asked for is not complete, or cannot be."""

    slug, http_status = "incomplete-order", 400
    hint = "Send what is missing, or ask for something that can be made."


class NotNow(PenstockError):
    """The project or the scene is in no state for this; the message says in which it is, and what to wait for."""

    slug, http_status = "not-now", 409
    hint = "Look at the project, and ask again once it has come so far."


class LipsOutOfStep(NotNow):
    """Lips of some scenes were made for another part of the track, or for another one; the message says which."""

    slug = "lips-out-of-step"
    hint = "Have the lips of these scenes moved again, or ask for a cut with staleLips."

    def __init__(self, project_id: UUID, stale: Mapping[int, str]) -> None:
        which = ", ".join(map(str, stale))
        why = "; ".join(f"scene {sequence}: {why}" for sequence, why in list(stale.items())[:_MOST_TOLD])
        super().__init__(
            f"Cannot compose video: lips are out of step with the track. Stale: {which} ({why}). "
            f"Have them moved again by POST /api/mv/projects/{project_id}/lipsync, or ask for a cut with staleLips"
        )


class EditedMeanwhile(PenstockError):
    """The project or the scene has been edited since it was read; nothing was changed."""

    slug, http_status = "edited-meanwhile", 412
    hint = "Read it again, look at what has changed, and send its new ETag."


class NoFinalVideo(NotFound):
    """There is no final video yet."""

    slug = "no-final-video"
    hint = "Compose it, and wait until the project is completed."

    def __init__(self) -> None:
        super().__init__("Final video not yet available")


class NoSuchPicture(NotFound):
    """There is no character reference of this id."""

    slug = "no-such-picture"
    hint = "Upload or generate a character reference, and use its id."


class NotMade(PenstockError):
    """A video could not be made; the message says what went wrong."""

    slug, tells = "not-made", True
    hint = "Read what went wrong; regenerate the scenes that failed, and compose again."
