"""The voices of the wheel; loaded once for all tests, as a service does."""

from __future__ import annotations

import pytest

from penstock.media.speech.voices import Voices, installed_voices


@pytest.fixture(scope="session")
def voices() -> Voices:
    return installed_voices()
