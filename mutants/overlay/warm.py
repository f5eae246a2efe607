"""A process that has libraries loaded, and forks one that runs pytest for each line of JSON it reads.

To load them takes longer than most tests. Of the tree that is tried nothing is loaded here but what is named.
"""

import importlib
import json
import os
import signal
import sys
import time
from typing import Any

_LIBRARIES = (
    *("pytest", "_pytest.assertion.rewrite", "xdist.plugin", "pytest_timeout", "hypothesis", "schemathesis.pytest"),
    *("anyio", "boto3", "botocore.session", "fastapi", "msgspec", "psycopg", "pydantic", "pycurl", "rich.console"),
    *("sqlalchemy", "starlette.testclient", "typer", "uvicorn", "httpx2", "cryptography.hazmat.primitives.hashes"),
)
_PATIENCE = 10.0


def main() -> None:
    """Until the last line."""
    sys.path.append("")  # the root of the tree
    for name in (*_LIBRARIES, *sys.argv[1:]):
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    for line in sys.stdin:
        print(json.dumps({"code": _ended(json.loads(line))}), flush=True)


def _ended(asked: dict[str, Any]) -> int | None:
    """How it ended; None if it took too long."""
    child = os.fork()
    if child == 0:
        _run(asked)
    return ended(child, seconds=float(asked["seconds"]))


def ended(child: int, *, seconds: float) -> int | None:
    """How a child that leads its own group ended; None if it took too long. Nothing of the group goes on."""
    code = _waited(child, seconds)
    _end_group(child, gone=code is not None)
    return code


def _run(asked: dict[str, Any]) -> None:
    """In the child: never returns."""
    os.setsid()
    os.environ.update(asked["variables"])
    os.chdir(asked["root"])
    told = os.open(asked["told"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(told, 1)
    os.dup2(told, 2)
    code = 3
    try:
        from sitecustomize import install  # type: ignore[import-not-found]  # beside this file

        install()
        import pytest

        code = int(pytest.main(asked["arguments"]))
    finally:
        sys.stdout.flush()
        os._exit(code)


def _waited(child: int, seconds: float) -> int | None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    return None


def _end_group(child: int, *, gone: bool) -> None:
    """End whatever the tests have started, too: kindly first, so that servers remove their files."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child, sign)
        except ProcessLookupError:
            break
        if not gone:
            gone = _waited(child, _PATIENCE) is not None
    if not gone:
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
