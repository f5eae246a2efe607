"""The page about production names what there is: settings, commands, numbers, files."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import typer

from penstock.cli import app
from penstock.runtime.settings import SETTINGS
from penstock.web import metrics

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "production.md").read_text()


def test_every_setting_is_one() -> None:
    named = set(re.findall(r"PENSTOCK_\w+", PAGE))
    assert named <= {setting.variable for setting in SETTINGS}
    assert {"PENSTOCK_OBJECTS_URL", "PENSTOCK_START_WAIT", "PENSTOCK_SECRET"} <= named


def test_every_command_is_one() -> None:
    for words in re.findall(r"`penstock ([^`]+)`", PAGE):
        found: Any = typer.main.get_command(app)
        for word in words.split():
            if word.startswith("--"):
                assert any(word in parameter.opts for parameter in found.params), words
            elif hasattr(found, "commands"):
                assert word in found.commands, words
                found = found.commands[word]


def test_every_number_is_one() -> None:
    told = inspect.getsource(metrics)
    assert [name for name in re.findall(r"penstock_\w+", PAGE) if f'"{name}"' not in told] == []


def test_every_part_that_may_die_is_in_the_table() -> None:
    table = PAGE.split("## What happens when a part dies")[1]
    for part in ("worker", "API", "PostgreSQL", "connection", "DynamoDB", "files", "broker", "sink", "disk"):
        assert part in table
    assert (ROOT / "deploy").is_dir()
