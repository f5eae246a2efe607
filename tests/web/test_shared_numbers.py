"""Several processes of one service count together, and each tells the numbers of all."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client import values

from penstock import Store
from penstock.web.metrics import Metrics
from penstock.web.requests import SeenRequest
from penstock.web.shared_numbers import SharedNumbers

SEEN = SeenRequest("1", "GET", "/api/films", "/api/films", 200, 0.02, "ann")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "numbers"  # of nobody else: the library takes every file there for its own
    made.mkdir()
    return made


@pytest.fixture
def shared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> SharedNumbers:
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)  # which is changed for good otherwise
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")
    return SharedNumbers(folder)


def requests(metrics: Metrics) -> list[str]:
    return [line for line in metrics.text().decode().splitlines() if line.startswith("penstock_requests_total{")]


def test_a_process_that_only_begins_to_count_takes_nothing_from_the_others(
    store: Store, shared: SharedNumbers, folder: Path
) -> None:
    metrics = Metrics(store, [], [], shared=shared)
    shared.count_as("server-1")
    metrics.count(SEEN)
    for kind in ("counter", "histogram"):  # as the library makes them: a moment later each has its room
        (folder / f"{kind}_server-2.db").touch()
    assert requests(metrics) == ['penstock_requests_total{method="GET",route="/api/films",status="200"} 1.0']


def test_a_number_is_what_all_have_counted_whoever_is_asked(store: Store, shared: SharedNumbers) -> None:
    metrics = Metrics(store, [], [], shared=shared)
    for part in ("server-1", "server-2"):
        shared.count_as(part)
        metrics.count(SEEN)
        metrics.count(SEEN)
    assert requests(metrics) == ['penstock_requests_total{method="GET",route="/api/films",status="200"} 4.0']
