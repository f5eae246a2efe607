"""Settings come from one place, and the documents' own variable names are honoured."""

from __future__ import annotations

import re
from pathlib import Path

from penstock.domains import DOMAINS
from penstock.settings import Settings, read_settings

SOURCE = Path(__file__).parents[2] / "src" / "penstock"


def test_tables_are_called_as_the_documents_say_unless_the_environment_says_otherwise() -> None:
    """MV-1: MVProjects unless DYNAMODB_TABLE_NAME is set."""
    assert read_settings(DOMAINS, {}).table_names == {}
    renamed = read_settings(DOMAINS, {"DYNAMODB_TABLE_NAME": "Mine", "DYNAMODB_TEMP_AUDIO_TABLE": "Audio"})
    assert renamed.table_names == {"MVProjects": "Mine", "tts_temp_audio": "Audio"}


def test_the_store_is_embedded_unless_told_otherwise() -> None:
    assert read_settings(DOMAINS, {}).store == Settings.store == "sqlite:///.penstock/penstock.db"
    assert read_settings(DOMAINS, {"PENSTOCK_STORE": "dynamodb://eu-west-1"}).store == "dynamodb://eu-west-1"


def test_only_settings_read_the_environment() -> None:
    readers = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(r"\bos\.(environ|getenv)\b", path.read_text())
    ]
    assert readers == ["settings.py"]
