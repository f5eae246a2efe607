"""A bulk question: which records are meant by "all that match", and what is to become of them."""

from __future__ import annotations

import base64
import hmac
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

import msgspec
from annotated_types import MaxLen
from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from penstock.errors import InvalidValue, NotPermitted
from penstock.kernel.store import Store

BulkWhat = Literal["tasks", "messages", "feed_letters", "jobs"]
BulkAction = Literal["retry", "cancel", "replay", "dismiss"]
_Text = Annotated[str, MaxLen(200)]

ALLOWED: dict[str, dict[str, tuple[str, ...]]] = {
    "tasks": {"retry": ("failed", "quarantined"), "cancel": ("failed", "quarantined", "waiting", "running")},
    "messages": {"replay": ("dead",), "dismiss": ("dead",)},
    "feed_letters": {"replay": ("dead",)},
    "jobs": {"retry": ("failed",), "cancel": ("failed", "paused", "running")},
}
"What may be done with all records of a kind, and in which states they may be."
GOOD_FOR = timedelta(hours=1)
"So long after it was looked at a question may be carried out."


class BulkQuestion(BaseModel):
    """All records of a kind and a state for which everything that is given holds, and what to do with them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    what: BulkWhat
    action: BulkAction
    status: _Text | None = None
    "The first state in which that can be done, if it is not said."
    name: _Text | None = None
    """The name of a task, the type of a message, or the handler of a change; of a job how the name of its pipeline
    begins, as in the list of jobs."""
    error_class: _Text | None = None
    "Of tasks: only those that ended with this error."
    project: _Text | None = None

    def checked(self) -> BulkQuestion:
        """The question with its state; InvalidValue when that cannot be done with such records."""
        actions = ALLOWED[self.what]
        if self.action not in actions:
            raise InvalidValue(f"{self.what} cannot be {_done(self.action)}; one can {' or '.join(actions)} them")
        states = actions[self.action]
        if self.status not in (None, *states):
            raise InvalidValue(
                f"{self.what} that are {self.status!r} cannot be {_done(self.action)}; those can that are "
                f"{' or '.join(states)}"
            )
        if self.error_class is not None and self.what != "tasks":
            raise InvalidValue(f"only tasks are chosen by error_class, and not {self.what}; leave it out")
        if self.project is not None and self.what == "feed_letters":
            raise InvalidValue("changes that a feed could not deal with are of no project; leave project out")
        return self.model_copy(update={"status": self.status or states[0]})

    @property
    def scope(self) -> str | None:
        """The project that is meant; None for all."""
        return self.project


class BulkToken(BaseModel):
    """A question, and when it was looked at: what comes later is not meant."""

    question: BulkQuestion
    as_of: AwareDatetime
    expected: int
    "How many there were, as far as they were counted."
    more: bool
    by: str

    def signed(self, store: Store) -> str:
        """As it is handed out: nobody can make one, and nobody can change it."""
        payload = self.model_dump_json().encode()
        signature = store.mark("bulk", payload.decode())
        return base64.urlsafe_b64encode(msgspec.json.encode([signature, payload.decode()])).rstrip(b"=").decode()


def opened_token(store: Store, text: str, *, by: str, now: datetime) -> BulkToken:
    """What a token says; InvalidValue if it is none of ours or too old, NotPermitted if another's."""
    try:
        signature, payload = msgspec.json.decode(
            base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=tuple[str, str]
        )
        token = BulkToken.model_validate_json(payload)
    except (ValueError, msgspec.MsgspecError, ValidationError):
        raise _no_token() from None
    if not hmac.compare_digest(signature, store.mark("bulk", payload)):
        raise _no_token()
    if token.by != by:
        raise NotPermitted("the token is another's: what somebody has looked at, they have done; ask for a preview")
    if not timedelta(0) <= now - token.as_of <= GOOD_FOR:
        raise InvalidValue("the token is more than an hour old, and much may have changed; ask for a preview again")
    return token


def shown_question(question: BulkQuestion) -> dict[str, Any]:
    """A question as records keep it."""
    return question.model_dump(exclude_none=True)


def _no_token() -> InvalidValue:
    return InvalidValue("the token is none that a preview has given you; ask for a preview, and send its token")


def _done(action: str) -> str:
    return {"retry": "retried", "cancel": "cancelled", "replay": "replayed", "dismiss": "dismissed"}[action]
