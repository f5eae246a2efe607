"""Opening the package imports no driver, opens no connection and reads no environment."""

from __future__ import annotations

import json
import subprocess
import sys

PROBE = """
import json, os, socket, sys

opened, read = [], []

class Watched(type(os.environ)):
    def __getitem__(self, key):
        note(key)
        return super().__getitem__(key)

def note(key):
    frame, depth = sys._getframe(2), 0
    while frame is not None and depth < 4:
        if frame.f_globals.get("__name__", "").startswith("penstock"):
            read.append(key)
        frame, depth = frame.f_back, depth + 1

os.environ.__class__ = Watched
real = socket.socket.connect
socket.socket.connect = lambda self, address: opened.append(address)

import penstock
import penstock.domains
import penstock.cli

drivers = {"psycopg", "sqlite3", "pycurl", "botocore", "boto3", "sqlalchemy", "celery", "fastapi"}
print(json.dumps({"drivers": sorted(drivers & set(sys.modules)), "opened": opened, "read": read}))
"""


def test_opening_the_package_has_no_effect() -> None:
    told = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True).stdout
    assert json.loads(told) == {"drivers": [], "opened": [], "read": []}


def test_the_probe_would_notice_a_driver() -> None:
    probe = PROBE.replace("import penstock.cli", "import penstock.engines.sql.sqlite")
    told = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout
    assert "sqlite3" in json.loads(told)["drivers"]
