"""A worker of Celery, as a person starts it, and where it finds everything."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.seaweedfs import ACCESS_KEY, SECRET_KEY, SeaweedFS
from tests.servers.valkey import Valkey


def surroundings(dynamo_url: str, files: SeaweedFS, broker: Valkey, *, bucket: str) -> dict[str, str]:
    """The settings of a system on a DynamoDB server, with files in a new bucket and an empty broker."""
    broker.flush()
    return {
        "PENSTOCK_STORE": f"dynamodb://us-east-1?endpoint={dynamo_url}",
        "PENSTOCK_OBJECTS": f"s3://{files.create_bucket(bucket)}/files?endpoint={files.url}&region=us-east-1",
        "PENSTOCK_BROKER": broker.url,
        "PENSTOCK_SECRET": "of the tests",
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
    }


@pytest.fixture
def worker(settings: dict[str, str], tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """``penstock worker --celery``, as a person starts it."""
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "penstock", "worker", "--celery"],
            cwd=tmp_path,
            env={**os.environ, **settings},
            stdout=log,
            stderr=log,
        )
        yield process
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        finally:
            process.kill()
            process.wait()
