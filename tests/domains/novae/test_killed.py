"""Killed between any two writes, of records or of files, and asked again: one nova, and nothing half done."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from typing import Any
from uuid import UUID

import pytest

from penstock.astronomy.sky_position import Position
from penstock.domains.novae import initializing, merging
from penstock.domains.novae.errors import NotMergeable
from penstock.domains.novae.model import JobRun, NameRun, Nova, NovaEntry, NovaStatus, Reference
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.positions import around
from penstock.domains.novae.providers.provider import Paper
from penstock.domains.novae.runs import attempts_of
from penstock.work import Task, TaskStatus
from tests.domains.novae.known_sky import KnownSky, nova_object
from tests.domains.novae.lives import kill_at_every_write
from tests.domains.novae.story import aliases_of, owner, work_through
from tests.domains.novae.test_merge import assert_merged, two

pytestmark = pytest.mark.every_engine

SELDOM = pytest.mark.long
_number = count()


@pytest.fixture
def every_write(request: pytest.FixtureRequest) -> int:
    """Every write is tried where that is quick, every third elsewhere."""
    return 1 if "sqlite" in request.node.name else 5


def test_killed_at_every_write_of_an_initialization(anywhere: NovaCatalogue, sky: KnownSky, every_write: int) -> None:
    """NC-8, NC-9, NC-36, F-NC-2: one nova with its names and its place, one run, and its papers."""
    sky.papers.held = [Paper(f"paper-{n}", date="2012-06-01") for n in range(3)]
    store = anywhere.store

    def prepare() -> str:
        name = f"Nova {next(_number)}"
        sky.names.objects = [nova_object(name, f"{name} alias", at=(next(_number) * 0.1, 10.0))]
        return name

    def act(here: NovaCatalogue, name: str) -> None:
        initializing.initialize(here, name, by="ann")
        work_through(here)

    def check(name: str) -> None:
        normalized = name.lower()
        (run,) = store.find(NameRun.of_name(normalized_name=normalized))
        assert (run.status.value, run.outcome) == ("SUCCEEDED", "CREATED_AND_LAUNCHED")
        (nova_id,) = aliases_of(store, normalized)
        assert {owner(store, n) for n in (normalized, f"{normalized} alias")} == {nova_id}
        nova = store.get(Nova.at(nova_id=nova_id))
        assert (run.nova_id, nova.aliases) == (nova_id, [f"{name} alias"])
        assert nova.ra_deg is not None
        assert nova.dec_deg is not None
        near = around(store, Position(nova.ra_deg, nova.dec_deg)).neighbours
        assert [each.nova_id for each in near] == [nova_id]
        named = [e for e in store.find(NovaEntry.by_status(status=NovaStatus.ACTIVE)) if e.preferred_name == name]
        assert [e.nova_id for e in named] == [nova_id]
        children = {r.workflow_name: r.outcome for r in store.find(JobRun.of_nova(nova_id=nova_id))}
        assert (children["ingest_new_nova"], children["refresh_references"]) == ("LAUNCHED", "REFRESHED")
        assert len(list(store.find(JobRun.of_nova(nova_id=nova_id)))) == len(children), "each was launched once"
        assert len(list(store.find(Reference.of_nova(nova_id=nova_id)))) == 3
        assert nova.discovery_date == "2012-06-01"
        assert nova.last_ingest_at is not None
        assert_attempts_add_up(anywhere, run)

    kill_at_every_write(anywhere, prepare, act, check, every=every_write, least=20)


def assert_attempts_add_up(catalogue: NovaCatalogue, run: Any) -> None:
    """NC-25, NC-36: of each task one invocation succeeded, and every other was lost with its worker."""
    tried: dict[str, list[bool]] = {}
    for each in catalogue.store.find(attempts_of(run)):
        tried.setdefault(each.task, []).append(each.succeeded)
    assert {sum(done) for done in tried.values()} == {1}
    assert list(catalogue.store.find(Task.by_status(status=TaskStatus.FAILED))) == []


def test_killed_at_every_write_of_a_merge(anywhere: NovaCatalogue, every_write: int) -> None:
    """NC-10, NC-36: it goes on with what is left, and nothing is there twice or lost."""

    def act(here: NovaCatalogue, pair: tuple[UUID, UUID]) -> None:
        with suppress(NotMergeable):  # it is merged already, and its rows follow
            merging.merge(here, *pair, by="ann")
        work_through(here)

    def check(pair: tuple[UUID, UUID]) -> None:
        assert_merged(anywhere, *pair)
        runs = [r for r in anywhere.store.find(JobRun.of_nova(nova_id=pair[1])) if r.workflow_name == "merge_novae"]
        assert [r.outcome for r in runs] == ["MERGED"]

    kill_at_every_write(anywhere, lambda: two(anywhere), act, check, every=every_write, least=15)
