"""S3: where URLs lead, whose credentials sign them, and what its refusals mean."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

import pytest
from botocore.awsrequest import AWSResponse

from penstock import FrozenClock, generate_presigned_url, open_objects
from penstock.errors import Conflict, Misconfigured, Unavailable
from penstock.files.object_reads import every
from penstock.objects.s3 import S3Connection, S3Objects, s3_client, s3_objects
from penstock.ports.stored_object import ListedObject
from penstock.runtime.probing import probe_objects
from penstock.runtime.settings import Settings
from penstock.testing.object_promises.promise import MEGABYTE, PNG, WAV, send
from tests.servers import free_port
from tests.servers.seaweedfs import ACCESS_KEY, SECRET_KEY, SeaweedFS


@pytest.fixture(autouse=True)
def no_credentials_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only what a test gives: no profile, no role, no endpoint."""
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


@cache
def amazon(region: str, bucket: str = "bucket") -> S3Objects:
    """Amazon's own S3, which is never asked: signing needs no connection."""
    return S3Objects(S3Connection(bucket, region=region, access_key="AKIDEXAMPLE", secret_key="secret"))


# Where URLs lead


def test_a_url_is_as_the_documents_show_it() -> None:
    """MV-61: https://{bucket}.s3.amazonaws.com/{key}?…X-Amz-Signature=…, for an hour."""
    url = generate_presigned_url("mv/projects/123/character.png", objects=amazon("us-east-1"))
    parts = urlsplit(url)
    assert (parts.scheme, parts.netloc, parts.path) == (
        "https",
        "bucket.s3.amazonaws.com",
        "/mv/projects/123/character.png",
    )
    said = parse_qs(parts.query)
    assert (said["X-Amz-Expires"], len(said["X-Amz-Signature"][0])) == (["3600"], 64)


def test_another_expiry_may_be_asked_for() -> None:
    """MV-59, F-MV-12: 3,600 seconds unless told otherwise, seven days at most."""
    for expiry, told in ((60, "60"), (86400, "86400"), (10**9, "604800")):
        url = generate_presigned_url("a", expiry=expiry, objects=amazon("us-east-1"))
        assert parse_qs(urlsplit(url).query)["X-Amz-Expires"] == [told]


@pytest.mark.parametrize(
    ("region", "bucket", "host"),
    [
        ("eu-central-1", "bucket", "bucket.s3.eu-central-1.amazonaws.com"),
        ("cn-north-1", "bucket", "bucket.s3.cn-north-1.amazonaws.com.cn"),
        ("eu-central-1", "dotted.name", "s3.eu-central-1.amazonaws.com"),
    ],
)
def test_a_url_leads_to_the_bucket_s_own_region(region: str, bucket: str, host: str) -> None:
    """The common host would send clients on to where the signature no longer fits."""
    assert urlsplit(amazon(region, bucket).download_url("a").url).netloc == host


def test_a_prefix_is_of_the_store_not_of_the_key(s3_connection: S3Connection) -> None:
    films, songs = S3Objects(s3_connection, prefix="/films/"), S3Objects(s3_connection, prefix="songs")
    films.put("a", b"film")
    songs.put("a", b"song")
    assert send(films.download_url("a")).body == b"film"
    assert [found.key for found in every(films)] == ["a"]
    assert S3Objects(s3_connection).get("films/a").read() == b"film"
    films.delete(["a"])
    assert songs.get("a").read() == b"song"


# Whose credentials sign


def write_profile(folder: Path, *, ends: datetime) -> None:
    """A profile whose credentials are temporary, as those of a role are."""
    told = {
        "Version": 1,
        "AccessKeyId": "ASIAEXAMPLE",
        "SecretAccessKey": "secret",
        "SessionToken": "token",
        "Expiration": ends.isoformat(),
    }
    (folder / "told.json").write_text(json.dumps(told))
    (folder / "config").write_text(f"[profile role]\nregion = eu-west-1\ncredential_process = cat {folder}/told.json\n")


def test_a_url_ends_with_the_credentials_that_signed_it(tmp_path: Path) -> None:
    """F-MV-12: temporary credentials die sooner than the hour, and the answer says so."""
    ends = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=25)
    write_profile(tmp_path, ends=ends)
    objects = S3Objects(S3Connection("bucket", profile="role"))
    url = objects.download_url("a")
    assert abs(url.expires_at - ends) <= timedelta(seconds=1)
    said = parse_qs(urlsplit(url.url).query)
    assert 1490 <= int(said["X-Amz-Expires"][0]) <= 1500
    assert (said["X-Amz-Security-Token"], urlsplit(url.url).netloc) == (["token"], "bucket.s3.eu-west-1.amazonaws.com")
    short = objects.download_url("a", expires=timedelta(minutes=5))
    assert abs(short.expires_at - datetime.now(UTC) - timedelta(minutes=5)) < timedelta(seconds=5)


def test_credentials_that_are_about_to_end_are_renewed_before_they_sign(tmp_path: Path) -> None:
    """Else a URL would say that it ends in a few minutes, although its signature holds."""
    write_profile(tmp_path, ends=datetime.now(UTC) + timedelta(minutes=5))
    objects = S3Objects(S3Connection("bucket", profile="role"))
    assert objects._client is not None, "the credentials are read with the client"
    write_profile(tmp_path, ends=datetime.now(UTC) + timedelta(hours=9))
    url = objects.download_url("a")
    assert abs(url.expires_at - datetime.now(UTC) - timedelta(hours=1)) < timedelta(minutes=1)


def test_a_url_lasts_for_a_whole_second_at_least_and_says_so(tmp_path: Path) -> None:
    """By our clock the credentials are over; whether they are, S3 says."""
    ends = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=9)
    write_profile(tmp_path, ends=ends)
    clock = FrozenClock(ends + timedelta(minutes=5, milliseconds=300))
    url = S3Objects(S3Connection("bucket", profile="role"), clock=clock).download_url("a")
    assert parse_qs(urlsplit(url.url).query)["X-Amz-Expires"] == ["1"]
    assert (url.expires_at, url.headers) == (ends + timedelta(minutes=5, seconds=1), {})


def test_credentials_that_cannot_be_renewed_are_said(tmp_path: Path) -> None:
    write_profile(tmp_path, ends=datetime.now(UTC) + timedelta(minutes=1))
    objects = S3Objects(S3Connection("bucket", profile="role"))
    assert objects._client is not None, "the credentials are read with the client"
    (tmp_path / "told.json").unlink()
    with pytest.raises(Unavailable, match="S3 could not be asked for a"):
        objects.download_url("a")


def test_signing_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """MV-60: two reads give two URLs without any write, or any request at all."""
    import socket

    def refuse(*args: object) -> None:
        raise AssertionError("somebody was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    objects = amazon("us-east-1")
    for url in (
        objects.download_url("a", filename="a.wav"),
        objects.upload_url("a", size=1, content_type="audio/wav"),
        objects.part_url("a", "upload", 1, size=1),
    ):
        assert "X-Amz-Signature=" in url.url


def test_the_environment_chooses_endpoint_and_credentials(
    seaweedfs_server: SeaweedFS, s3_connection: S3Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", seaweedfs_server.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    objects = open_objects(f"s3://{s3_connection.bucket}/from the environment")
    objects.put("a.wav", WAV)
    assert send(objects.download_url("a.wav")).body == WAV
    assert S3Objects(s3_connection).get("from the environment/a.wav").read() == WAV
    objects.close()


# What refusals mean


def test_wrong_credentials_are_said_without_being_shown(
    seaweedfs_server: SeaweedFS, s3_connection: S3Connection, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="penstock")
    for access_key, secret_key in ((ACCESS_KEY, "a wrong secret"), ("nobody", "a wrong secret")):
        wrong = S3Connection(
            s3_connection.bucket,
            region="us-east-1",
            endpoint=seaweedfs_server.url,
            access_key=access_key,
            secret_key=secret_key,
        )
        objects = S3Objects(wrong)
        uses: list[Callable[[], object]] = [partial(objects.put, "a", b""), partial(objects.head, "a"), objects.list]
        for use in uses:
            with pytest.raises(Misconfigured, match="what the credentials may do") as refused:
                use()
            assert secret_key not in str(refused.value) + caplog.text
        wrong.close()


def test_a_bucket_that_is_not_there_is_said(seaweedfs_server: SeaweedFS) -> None:
    absent = S3Connection(
        "absent", region="us-east-1", endpoint=seaweedfs_server.url, access_key=ACCESS_KEY, secret_key=SECRET_KEY
    )
    with pytest.raises(Misconfigured, match="NoSuchBucket"):
        S3Objects(absent).put("a", b"")
    with pytest.raises(Misconfigured, match="there is no bucket absent"):
        probe_objects(S3Objects(absent))  # which /readyz and the doctor do
    absent.close()


def test_a_bucket_that_is_there_is_reached(s3: S3Objects) -> None:
    probe_objects(s3)


def test_urls_are_signed_for_the_address_at_which_others_reach_the_bucket(
    seaweedfs_server: SeaweedFS, s3_connection: S3Connection
) -> None:
    """The service asks one address, and browsers another: a signature holds for one host alone."""
    elsewhere = seaweedfs_server.url.replace("127.0.0.1", "localhost")
    settings = Settings(objects_url=elsewhere, aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY)
    url = f"s3://{s3_connection.bucket}/public?region=us-east-1&endpoint={seaweedfs_server.url}"
    objects = open_objects(url, settings=settings)
    objects.put("a.txt", b"reached")
    signed = objects.download_url("a.txt").url
    assert urlsplit(signed).netloc == urlsplit(elsewhere).netloc
    with urlopen(signed, timeout=30) as answer:
        assert answer.read() == b"reached"
    sent = objects.upload_url("b.txt", size=4, content_type="text/plain")
    with urlopen(Request(sent.url, b"sent", dict(sent.headers), method="PUT"), timeout=30):
        assert objects.head("b.txt").size == 4


def test_a_store_that_does_not_answer_is_unavailable() -> None:
    nobody = S3Connection(
        "bucket",
        region="us-east-1",
        endpoint=f"http://127.0.0.1:{free_port()}",
        access_key="a",
        secret_key="b",
        timeout=timedelta(seconds=1),
    )
    with pytest.raises(Unavailable, match="could not be asked"):
        S3Objects(nobody).head("a")
    for ask in ASKED:
        with pytest.raises(Unavailable):
            ask(S3Objects(nobody))
    nobody.close()


ASKED: tuple[Callable[[S3Objects], object], ...] = (
    lambda objects: objects.put("a", b"bytes"),
    lambda objects: objects.get("a"),
    lambda objects: objects.list(),
    lambda objects: objects.delete(["a"]),
    lambda objects: objects.delete_unchanged(ListedObject("a", 1, "etag", datetime(2026, 1, 1, tzinfo=UTC))),
    lambda objects: objects.copy("a", "b"),
    lambda objects: objects.begin_parts("a", content_type="text/plain"),
    lambda objects: objects.put_part("a", "upload", 1, b"bytes"),
    lambda objects: objects.parts("a", "upload"),
    lambda objects: objects.finish_parts("a", "upload", []),
    lambda objects: objects.drop_parts("a", "upload"),
    lambda objects: objects.drop_unfinished(before=datetime(2026, 1, 1, tzinfo=UTC)),
)
"Whatever else can be asked of it."


def test_no_credentials_at_all_are_said() -> None:
    objects = S3Objects(S3Connection("bucket", region="us-east-1"))
    with pytest.raises(Misconfigured, match="no credentials"):
        objects.head("a")
    with pytest.raises(Misconfigured, match="no credentials"):
        objects.download_url("a")


def test_a_large_object_is_copied_in_parts(s3: S3Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3_objects, "_COPIED_AT_ONCE", 6 * MEGABYTE)
    monkeypatch.setattr(s3_objects, "_COPIED_PART", 5 * MEGABYTE)
    content = PNG + bytes(11 * MEGABYTE) + b"the end"
    put = s3.put("large", content)
    copied = s3.copy("large", "copy", etag=put.etag)
    assert (copied.size, copied.content_type) == (len(content), "image/png")
    assert s3.head("copy").size == len(content)
    assert s3.get("copy", start=len(content) - 7).read() == b"the end"
    assert s3.drop_unfinished(before=datetime.now(UTC) + timedelta(days=1)) == 0


@pytest.mark.parametrize("size", [10, 6 * MEGABYTE], ids=["at once", "in parts"])
def test_what_is_replaced_while_it_is_copied_is_not_copied(
    s3_connection: S3Connection, s3: S3Objects, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Its content type was found, and compared with what the caller has seen, before it was replaced."""
    monkeypatch.setattr(s3_objects, "_COPIED_AT_ONCE", 5 * MEGABYTE)

    class Meanwhile(S3Objects):
        def get(self, key: str, **options: Any) -> Any:
            found = super().get(key, **options)
            s3.put(key, WAV)
            return found

    stored = s3.put("a", PNG + bytes(size))
    with pytest.raises(Conflict):
        Meanwhile(s3_connection, prefix=s3._prefix).copy("a", "copy", etag=stored.etag)
    assert [found.key for found in every(s3)] == ["a"]


@contextmanager
def met_at_a_key(s3: S3Objects, times: int) -> Iterator[list[str]]:
    """Another writes at the same moment, so many times; S3 answers both so."""
    refused: list[str] = []

    def met(**_: Any) -> Any:
        if len(refused) < times:
            refused.append("met")
            return AWSResponse("", 409, {}, None), {"Error": {"Code": "ConditionalRequestConflict"}}
        return None

    events = s3._client.meta.events
    events.register("before-call.s3.PutObject", met)
    try:
        yield refused
    finally:
        events.unregister("before-call.s3.PutObject", met)


@pytest.mark.parametrize("meetings", [1, 2])
def test_two_who_meet_at_a_key_are_both_refused_and_one_of_them_tries_again(s3: S3Objects, meetings: int) -> None:
    """If neither tried again, nobody would have written."""
    with met_at_a_key(s3, meetings) as refused:
        s3.put("a", b"ours", absent=True)
    assert len(refused) == meetings
    assert s3.get("a").read() == b"ours"


def test_whoever_meets_others_again_and_again_is_refused_in_the_end(s3: S3Objects) -> None:
    with met_at_a_key(s3, 100) as refused, pytest.raises(Conflict, match="there is an object a already"):
        s3.put("a", b"ours", absent=True)
    assert len(refused) == 5


def test_the_largest_object_is_copied_in_no_more_parts_than_there_may_be() -> None:
    largest = 5 * 1024**4
    assert -(-largest // s3_objects.copied_part(largest)) <= 10_000
    assert s3_objects.copied_part(6 * 1024**3) == 512 * MEGABYTE


def test_the_url_says_what_opens(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r'No object store "file"\. Did you mean "files"'):
        open_objects("file:///folder")
    with pytest.raises(Misconfigured, match="no bucket"):
        open_objects("s3:///prefix")
    with pytest.raises(Misconfigured, match="not colour"):
        open_objects("s3://bucket?colour=red")
    with pytest.raises(Misconfigured, match="no folder"):
        open_objects("files://")
    local = open_objects(f"files:///{tmp_path}/deep/folder", clock=FrozenClock())
    local.put("a", b"content")
    assert (tmp_path / "deep" / "folder" / "objects" / "a+").read_bytes() == b"content"
    url = local.download_url("a")
    assert url.url.startswith("http://127.0.0.1:8000/objects/a?")
    assert url.expires_at == datetime(2037, 1, 1, 1, tzinfo=UTC)


def test_a_missing_driver_is_answered_with_the_line_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> ModuleSpec | None:
        return None

    monkeypatch.setattr(s3_client, "find_spec", absent)
    with pytest.raises(Misconfigured, match=r"pip install 'penstock\[s3\]'"):
        S3Connection("bucket")
    monkeypatch.setattr("penstock.runtime.composition.find_spec", absent)
    with pytest.raises(Misconfigured, match=r"pip install 'penstock\[s3\]'"):
        open_objects("s3://bucket")


def test_importing_the_object_stores_imports_no_driver() -> None:
    probe = "import json, sys, penstock.objects.s3, penstock.files.uploads; print(json.dumps(list(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout
    imported = {name.partition(".")[0] for name in json.loads(told)}
    assert "penstock" in imported
    assert not imported & {"boto3", "botocore", "starlette", "uvicorn", "anyio"}
