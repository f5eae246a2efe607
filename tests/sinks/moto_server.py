"""moto: EventBridge and SQS in a process of their own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

from tests.servers.process import Process
from tests.servers.server import HttpServer, Unavailable


class Moto(HttpServer):
    """A moto server, in memory."""

    name: ClassVar[str] = "moto"

    def client(self, service: str) -> Any:
        import boto3

        return boto3.client(
            service,
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    def _launch(self, home: Path) -> Process:
        program = Path(sys.executable).parent / "moto_server"
        if not program.exists():
            raise Unavailable("moto: moto_server is not installed; run: pip install 'moto[server]'")
        return Process([str(program), "-H", "127.0.0.1", "-p", str(self.port)], home / "log")
