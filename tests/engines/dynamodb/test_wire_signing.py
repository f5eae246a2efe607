"""Signatures must be botocore's, byte for byte."""

from datetime import UTC, datetime

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from penstock.engines.dynamodb.wire.credentials import AccessKeys
from penstock.engines.dynamodb.wire.signing import RequestSigner

PLAIN = AccessKeys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
TEMPORARY = AccessKeys("ASIDEXAMPLE", "anotherSecret", "token/with+signs==")
LAST_SECOND = datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC)
GET = "DynamoDB_20120810.GetItem"
RECORDS = "DynamoDBStreams_20120810.GetRecords"


class Clock:
    def __init__(self, at: datetime) -> None:
        self.time = at.timestamp()

    def __call__(self) -> float:
        return self.time


def signed_by_botocore(
    monkeypatch: pytest.MonkeyPatch, keys: AccessKeys, at: float, url: str, target: str, body: bytes
) -> dict[str, str]:
    monkeypatch.setattr(
        "botocore.auth.get_current_datetime", lambda: datetime.fromtimestamp(at, UTC).replace(tzinfo=None)
    )
    headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": target}
    request = AWSRequest(method="POST", url=url, headers=headers, data=body)
    SigV4Auth(Credentials(*keys), "dynamodb", "eu-central-1").add_auth(request)
    return {name.lower(): value for name, value in request.headers.items()}


def as_mapping(lines: list[str]) -> dict[str, str]:
    pairs = (line.split(": ", 1) for line in lines)
    return {name.lower(): value for name, value in pairs}


def signer(
    clock: Clock, *keys: AccessKeys, host: str = "dynamodb.eu-central-1.amazonaws.com", path: str = "/"
) -> RequestSigner:
    supply = list(keys)

    def next_keys() -> AccessKeys:
        return supply.pop(0) if len(supply) > 1 else supply[0]

    return RequestSigner(host=host, path=path, region="eu-central-1", keys=next_keys, now=clock)


@pytest.mark.parametrize("keys", [PLAIN, TEMPORARY])
@pytest.mark.parametrize("target", [GET, RECORDS])
@pytest.mark.parametrize("body", [b"{}", b"", '{"Key":"ü"}'.encode(), b"x" * 100_000])
def test_equals_botocore(monkeypatch: pytest.MonkeyPatch, keys: AccessKeys, target: str, body: bytes) -> None:
    clock = Clock(LAST_SECOND)
    url = "https://dynamodb.eu-central-1.amazonaws.com/"
    expected = signed_by_botocore(monkeypatch, keys, clock.time, url, target, body)
    assert as_mapping(signer(clock, keys).headers(target, body)) == expected


@pytest.mark.parametrize("length", [59, 60, 61, 200])
def test_a_secret_may_be_as_long_as_a_block_of_the_digest_or_longer(
    monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    clock, keys = Clock(LAST_SECOND), AccessKeys("AKIDEXAMPLE", "s" * length)  # signed with behind four letters
    url = "https://dynamodb.eu-central-1.amazonaws.com/"
    expected = signed_by_botocore(monkeypatch, keys, clock.time, url, GET, b"{}")
    assert as_mapping(signer(clock, keys).headers(GET, b"{}")) == expected


@pytest.mark.parametrize(
    ("url", "host", "path"),
    [
        ("http://127.0.0.1:8000/", "127.0.0.1:8000", "/"),
        ("http://[::1]:8000/", "[::1]:8000", "/"),
        ("https://gateway/dynamo/", "gateway", "/dynamo/"),
    ],
)
def test_other_hosts_and_paths(monkeypatch: pytest.MonkeyPatch, url: str, host: str, path: str) -> None:
    clock = Clock(LAST_SECOND)
    expected = signed_by_botocore(monkeypatch, PLAIN, clock.time, url, GET, b"{}")
    assert as_mapping(signer(clock, PLAIN, host=host, path=path).headers(GET, b"{}")) == expected


def test_one_signer_through_seconds_targets_and_midnight(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(LAST_SECOND)
    subject = signer(clock, TEMPORARY)
    url = "https://dynamodb.eu-central-1.amazonaws.com/"
    for step in range(4):
        clock.time = LAST_SECOND.timestamp() + step * 0.6
        for target in (GET, RECORDS, GET):
            body = f'{{"n":{step}}}'.encode()
            expected = signed_by_botocore(monkeypatch, TEMPORARY, clock.time, url, target, body)
            assert as_mapping(subject.headers(target, body)) == expected


def test_new_keys_are_used_from_the_next_second_on() -> None:
    clock = Clock(LAST_SECOND)
    subject = signer(clock, PLAIN, TEMPORARY)
    assert "AKIDEXAMPLE/20251231" in subject.headers(GET, b"{}")[-1]
    assert "AKIDEXAMPLE/20251231" in subject.headers(GET, b"{}")[-1]
    clock.time += 1
    assert "ASIDEXAMPLE/20260101" in subject.headers(GET, b"{}")[-1]


def test_renew_asks_for_keys_within_the_same_second() -> None:
    subject = signer(Clock(LAST_SECOND), PLAIN, TEMPORARY)
    subject.headers(GET, b"{}")
    subject.renew()
    assert "ASIDEXAMPLE" in subject.headers(GET, b"{}")[-1]


def test_skew_moves_the_date() -> None:
    subject = signer(Clock(LAST_SECOND), PLAIN)
    subject.skew = 1.0
    assert "X-Amz-Date: 20260101T000000Z" in subject.headers(GET, b"{}")
