"""Opening the sinks imports no driver; a missing one is answered with the line to install it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.machinery import ModuleSpec
from typing import Any

import pytest

from penstock.errors import Misconfigured
from penstock.sinks import EventBridgeSink, KafkaSink, eventbridge, kafka

PROBE = """
import json, sys
import penstock.sinks
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_importing_the_sinks_imports_no_driver() -> None:
    told = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True).stdout
    imported = set(json.loads(told))
    assert "penstock" in imported
    assert not imported & {"boto3", "botocore", "confluent_kafka", "urllib3", "requests"}


@pytest.mark.parametrize(
    ("module", "make", "line"),
    [
        (eventbridge, lambda: EventBridgeSink(source="s", region="us-east-1"), "pip install 'penstock[eventbridge]'"),
        (kafka, lambda: KafkaSink("127.0.0.1:1", topic="t"), "pip install 'penstock[kafka]'"),
    ],
)
def test_a_missing_driver_is_answered_with_the_line_to_install_it(
    monkeypatch: pytest.MonkeyPatch, module: Any, make: Any, line: str
) -> None:
    def absent(name: str) -> ModuleSpec | None:
        return None

    monkeypatch.setattr(module, "find_spec", absent)
    with pytest.raises(Misconfigured, match="not installed") as refused:
        make()
    assert line in str(refused.value)
