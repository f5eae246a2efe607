"""Nothing here leaves the machine."""

from __future__ import annotations

import pytest

from tests.net.loopback import stay_on_loopback


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    stay_on_loopback(monkeypatch)
