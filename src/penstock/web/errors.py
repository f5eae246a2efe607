"""The refusals that only a service knows; all others are in `penstock.errors`.

PenstockError
├── BadRequest           the request cannot be read
├── InvalidRequest       a parameter or the body does not fit, field by field
├── Unauthenticated      no key, or none that works
├── SignInRefused        the key that somebody wants to sign in with does not work
├── Forbidden            the key's role does not allow it
│   └── ForgedRequest    it came with a session, but not from a page of ours
├── ForeignPage          a page of another site, or a proxy, used a service without keys
├── NoSuchRoute          nothing is at this path
├── MethodNotAllowed     something is, but it cannot do that
├── PreconditionFailed   the record is not the one If-Match speaks of
├── BodyTooLarge         more bytes than the service takes
├── HeadTooLarge         more headers, or a longer query, than is read
├── AnswerNotKept        it was done, but the answer was too large to keep
├── RateLimited          too many requests from one address
├── TooManyStreams       this process follows as many streams as it can, or as it does for one caller
├── NotReady             the store or the files cannot be reached, or not be written to
├── OtherHttpError       any other status a route answers with
└── Unexpected           a mistake of ours
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.errors import Conflict, PenstockError, Unavailable


class BadRequest(PenstockError):
    """The request cannot be read."""

    slug, http_status = "bad-request", 400


class InvalidRequest(PenstockError):
    """A parameter or a field of the body does not fit."""

    slug, http_status = "invalid-request", 422

    def __init__(self, message: str, fields: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(message)
        self.fields = tuple(fields)


class Unauthenticated(PenstockError):
    """There is no key in the request, or none that works."""

    slug, http_status = "unauthenticated", 401


class SignInRefused(PenstockError):
    """The key that somebody wants to sign in with is unknown or was revoked."""

    slug, http_status = "sign-in-refused", 422


class Forbidden(PenstockError):
    """The key works, but its role does not allow this."""

    slug, http_status = "forbidden", 403


class ForgedRequest(Forbidden):
    """The request came with a session's cookie, but without the token that only our own pages know."""

    slug = "forged-request"


class ForeignPage(PenstockError):
    """A page of another site, another name for this machine, or a proxy was used to reach a service without keys."""

    slug, http_status = "foreign-page", 403


class NoSuchRoute(PenstockError):
    """Nothing is at this path."""

    slug, http_status = "no-such-route", 404


class MethodNotAllowed(PenstockError):
    """What is at this path cannot do that."""

    slug, http_status = "method-not-allowed", 405


class PreconditionFailed(PenstockError):
    """The record is no longer the one that If-Match speaks of; nothing was changed."""

    slug, http_status = "precondition-failed", 412


class BodyTooLarge(PenstockError):
    """The request has more bytes than the service takes."""

    slug, http_status = "body-too-large", 413


class HeadTooLarge(PenstockError):
    """The request has more headers, or a longer path and query, than is read."""

    slug, http_status = "head-too-large", 431


class AnswerNotKept(Conflict):
    """The request was carried out before, but its answer was too large to keep."""

    slug = "answer-not-kept"


class RateLimited(PenstockError):
    """Too many requests have come from one address."""

    slug, http_status = "rate-limited", 429

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooManyStreams(Unavailable):
    """This process follows as many event streams as it can, or as it does for one key or one address."""

    slug, tells = "too-many-streams", True
    part = None


class NotReady(Unavailable):
    """The store or the files cannot be reached, or not be written to."""

    slug, tells = "not-ready", True
    part = None


class OtherHttpError(PenstockError):
    """The route refused for a reason of its own."""

    slug, tells = "http-error", True

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class Unexpected(PenstockError):
    """A mistake of the service; its log has the details."""

    slug, tells = "unexpected", True
