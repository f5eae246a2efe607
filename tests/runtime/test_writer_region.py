"""Of several regions one does the work; workers elsewhere refuse to start."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.errors import Misconfigured
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings
from tests.cli.conftest import Penstock
from tests.cli.conftest import folder as folder
from tests.cli.conftest import penstock as penstock
from tests.servers import Dynoxide
from tests.web.films import INSTALLED as FILMS

Refused = Callable[[Service], object]


def _service(tmp_path: Path, store: str, **chosen: str) -> Service:
    settings = Settings(
        store=store,
        objects=f"files:///{tmp_path}/objects",
        archive=str(tmp_path / "archive"),
        writer_region="us-east-1",
        table_names={"penstock_system": f"w{os.getpid()}_system"},
        **chosen,  # type: ignore[arg-type]
    )
    return Service(settings, (FILMS,))


@pytest.mark.parametrize(
    "begin",
    [
        lambda service: service.start(),
        lambda service: service.start_workers(),
        lambda service: service.celery(),
        lambda service: service.start_relays(),
        lambda service: service.relay(service.outboxes()[0]),
        lambda service: service.sweep(),
    ],
    ids=["all", "workers", "celery", "relays", "relay", "sweep"],
)
def test_whoever_works_elsewhere_refuses_to_start(tmp_path: Path, begin: Refused) -> None:
    """AC-48, F-AC-13: before anything is connected, with what to do instead."""
    service = _service(tmp_path, "dynamodb://eu-west-1?endpoint=http://127.0.0.1:1")
    with pytest.raises(Misconfigured, match=r"work is done in us-east-1 alone .* this store is in eu-west-1"):
        begin(service)
    service.stop()


def test_elsewhere_the_service_serves_and_does_nothing_in_the_background(
    tmp_path: Path, dynoxide_server: Dynoxide, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AC-48: who reads is served in every region."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    service = _service(tmp_path, f"dynamodb://eu-west-1?endpoint={dynoxide_server.url}", workers="none")
    service.start()
    assert service._threads == []
    service.stop()


@pytest.mark.parametrize("store", ["dynamodb://us-east-1?endpoint=http://127.0.0.1:1", "sqlite:///{}/s.db"])
def test_who_is_where_work_is_done_is_not_refused(tmp_path: Path, store: str) -> None:
    service = _service(tmp_path, store.format(tmp_path))
    assert service.sweep() is not None
    service.stop()


def test_a_worker_that_does_not_know_where_it_is_is_told_to_say(tmp_path: Path) -> None:
    service = _service(tmp_path, "dynamodb://?endpoint=http://127.0.0.1:1")
    with pytest.raises(Misconfigured, match="say which this is"):
        service.start_workers()


def test_the_command_says_so_in_a_sentence(penstock: Penstock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_WRITER_REGION", "us-east-1")
    for words in (("worker",), ("relay", "--once"), ("sweep", "--dry-run")):
        said = penstock(*words, "--store", "dynamodb://eu-west-1?endpoint=http://127.0.0.1:1")
        assert said.code == 2
        assert "work is done in us-east-1 alone" in said.err
