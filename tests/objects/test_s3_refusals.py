"""What S3 says no with, in words of ours; and what a connection knows and leaves behind."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from hashlib import sha256
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import EndpointConnectionError

from penstock.errors import (
    OBJECTS,
    Conflict,
    InvalidKey,
    Misconfigured,
    NotFound,
    PenstockError,
    Throttled,
    TooLarge,
    Unavailable,
    WrongRange,
)
from penstock.objects.s3 import S3Connection, S3Objects, s3_objects


@cache
def _connection() -> S3Connection:
    """To Amazon's own S3, which is never asked; it is made once, as that takes longer than a test."""
    return S3Connection(
        "bucket",
        region="eu-west-1",
        public_endpoint="http://files.example",
        access_key="AKIDEXAMPLE",
        secret_key="secret",
    )


@pytest.fixture
def silent() -> Iterator[S3Objects]:
    """Objects of a store that says what a test lets it say."""
    connection = _connection()
    yield S3Objects(connection)
    connection.lookout.answered()


@contextmanager
def saying(objects: S3Objects, answer: Callable[[], Any]) -> Iterator[None]:
    """Nothing is sent meanwhile; this is the answer."""

    def said(**_: Any) -> Any:
        return answer()

    events = objects._client.meta.events
    events.register("before-call.s3", said)
    try:
        yield
    finally:
        events.unregister("before-call.s3", said)


def refusing(code: str, status: int = 400) -> Callable[[], Any]:
    return lambda: (AWSResponse("", status, {}, None), _refusal(code, status))


def _refusal(code: str, status: int) -> dict[str, Any]:
    return {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}


def unreachable() -> Any:
    raise EndpointConnectionError(endpoint_url="https://bucket.example")


@pytest.mark.parametrize(
    ("code", "status", "error", "said"),
    [
        ("NoSuchKey", 404, NotFound, "there is no films/a"),
        ("NoSuchUpload", 404, NotFound, "there is no films/a"),
        ("404", 404, NotFound, "there is no films/a"),
        ("PreconditionFailed", 412, Conflict, "PreconditionFailed of films/a"),
        ("ConditionalRequestConflict", 409, Conflict, "Conflict of films/a"),
        ("InvalidRange", 416, WrongRange, "films/a ends before the bytes"),
        ("KeyTooLongError", 400, InvalidKey, "the key of films/a is too long for S3"),
        ("SlowDown", 503, Throttled, "SlowDown of films/a"),
        ("AccessDenied", 403, Misconfigured, "AccessDenied of films/a; check the bucket's name"),
        ("ExpiredToken", 400, Misconfigured, "what the credentials may do"),
        ("PermanentRedirect", 301, Misconfigured, "its region"),
        ("SomethingNew", 403, Misconfigured, "SomethingNew of films/a; check"),
        ("InternalError", 500, Unavailable, "InternalError of films/a"),
        ("SomethingNew", 400, Unavailable, "SomethingNew of films/a"),
    ],
)
def test_each_refusal_is_an_error_of_ours_that_says_what_to_do(
    silent: S3Objects, code: str, status: int, error: type[PenstockError], said: str
) -> None:
    with saying(silent, refusing(code, status)), pytest.raises(PenstockError, match=said) as refused:
        silent.head("films/a")
    assert type(refused.value) is error
    if isinstance(refused.value, Unavailable):
        assert refused.value.part == OBJECTS, "who waits must know for what"


def test_who_does_not_answer_is_not_asked_by_everybody_and_whoever_answers_is_believed(
    silent: S3Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookout = silent.lookout
    with saying(silent, unreachable), pytest.raises(Unavailable, match="could not be asked for a"):
        silent.head("a")
    assert lookout.away
    monkeypatch.setattr(lookout, "turn", lambda: False)  # somebody else is at it
    with saying(silent, refusing("NoSuchKey")), pytest.raises(Unavailable, match="is asked again soon"):
        silent.head("a")
    monkeypatch.undo()
    lookout.answered()
    with saying(silent, refusing("InternalError", 500)), pytest.raises(Unavailable):
        silent.head("a")
    assert (lookout.doubted, lookout.away) == (True, False), "one answer that is none may be that of a single request"
    with saying(silent, refusing("NoSuchKey")), pytest.raises(NotFound):
        silent.head("a")
    assert not lookout.doubted, "a refusal is an answer"


def test_what_fails_elsewhere_while_it_is_sent_is_no_failure_of_s3(silent: S3Objects) -> None:
    """A body may come from another store, which is away."""

    def pieces() -> Iterator[bytes]:
        yield bytes(9 * 1024 * 1024)
        raise Unavailable("the database is away", part="the database")

    begun = (AWSResponse("", 200, {}, None), {"UploadId": "u", "ETag": "e", "ResponseMetadata": {}})
    with saying(silent, lambda: begun), pytest.raises(Unavailable, match="the database is away"):
        silent.put("a", pieces())
    assert not silent.lookout.doubted


def test_whoever_closes_a_connection_leaves_no_client_open(monkeypatch: pytest.MonkeyPatch) -> None:
    connection, closed = _connection(), list[str]()
    clients = {"asks": connection.client, "signs": connection.signing_client}
    for name, client in clients.items():
        monkeypatch.setattr(client, "close", partial(closed.append, name))
    connection.close()
    assert sorted(closed) == ["asks", "signs"]
    connection.close()
    assert len(closed) == 2, "each is closed once"
    assert connection.client not in clients.values(), "whoever asks again has another"


def test_what_was_not_deleted_is_said_though_the_answer_is_no_refusal(silent: S3Objects) -> None:
    """Of many objects some may stay; whoever believes they are gone never comes back for them."""

    def partly() -> Any:
        errors = [{"Key": "films/b", "Code": "InternalError"}]
        return AWSResponse("", 200, {}, None), {"Errors": errors, "ResponseMetadata": {"HTTPStatusCode": 200}}

    with saying(silent, partly), pytest.raises(Unavailable, match="did not delete 1 of 2 objects: InternalError"):
        silent.delete(["films/a", "films/b"])


def test_every_part_and_every_whole_is_sent_with_what_it_hashes_to(
    silent: S3Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3 then keeps nothing that was changed on the way; and of a body that is endless it is told in time."""
    monkeypatch.setattr(s3_objects, "_PART", 4)
    monkeypatch.setattr(s3_objects, "_MOST_PARTS", 2)
    asked: list[tuple[str, dict[str, Any]]] = []

    def answered(model: Any, params: dict[str, Any], **_: Any) -> Any:
        asked.append((model.name, params["headers"]))
        at = {"date": "Thu, 01 Jan 2037 00:00:00 GMT"}
        return AWSResponse("", 200, {}, None), {
            "UploadId": "u",
            "ETag": '"e"',
            "ResponseMetadata": {"HTTPStatusCode": 200, "HTTPHeaders": at},
        }

    events = silent._client.meta.events
    events.register("before-call.s3", answered)
    try:
        silent.put("a", b"abc")
        silent.put("a", b"abcdefgh")
        with pytest.raises(TooLarge, match="more than 8 bytes; upload it by signed URLs"):
            silent.put("a", b"abcdefghi")
    finally:
        events.unregister("before-call.s3", answered)
    sent = [headers.get("x-amz-checksum-sha256") for name, headers in asked if name in ("PutObject", "UploadPart")]
    assert sent == [b64encode(sha256(c).digest()).decode() for c in (b"abc", *(b"abcd", b"efgh") * 2)]
    assert [name for name, _ in asked][-1] == "AbortMultipartUpload"
