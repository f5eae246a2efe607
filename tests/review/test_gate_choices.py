"""A pipeline's gate in the review room, for a record that the pipeline's job is about; as `penstock new` writes one."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from penstock import SYSTEM, Domain, Entity, Move, Role, Store, Table, key, move
from penstock.kernel.change import Change
from penstock.plugin import DomainPlugin
from penstock.review.gate_choices import gate_choices
from penstock.review.reviewable import Reviewable
from penstock.work import JobStatus, Pipeline, PipelineJob, PipelineStep, StepContext, StepResult, StepRun
from penstock.work.context import TaskContext
from penstock.work.registry import Tasks
from penstock.workers.manual import ManualWorkers
from tests.web.service import Service


class State(StrEnum):
    DRAFT = "draft"
    MADE = "made"
    DROPPED = "dropped"


class Kite(Entity, table=Table("ReviewedKites", partition="PK", sort="SK"), relation="kites"):
    """Something that is made and looked at."""

    title: str
    state: State = State.DRAFT
    content: str | None = None
    job_id: str | None = None

    @key("KITE#{title}", "KITE")
    def at(self, *, title: str) -> None: ...

    @move(State.DRAFT, State.MADE, to=State.MADE, by=SYSTEM)
    def make(self, *, content: str) -> None:
        self.content = content

    drop = Move(State.MADE, to=State.DROPPED, by=SYSTEM)


TASKS = Tasks("kites")


def _make(work: TaskContext, step: StepContext[PipelineJob, StepRun]) -> StepResult:
    ref = Kite.at(title=step.input["title"])
    content = f"version {step.round}"

    def keep(change: Change) -> None:
        change.save(change.get(ref).make(content=content))

    return StepResult(change=keep)


MAKING = Pipeline(TASKS, "making", [PipelineStep("make", _make, review=True)])
CHOICES = gate_choices(
    MAKING,
    job=lambda kite: kite.job_id,
    when=lambda kite: kite.state is State.MADE,
    given_up=lambda kite: kite.drop(),
)
PLUGIN = DomainPlugin(
    Domain("kites", Kite), tasks=TASKS, pipelines=[MAKING], reviews=[Reviewable(Kite, choices=CHOICES)]
)
RECORD = {"record": "/api/kites/kites/red"}


@pytest.fixture
def service(tmp_path: Path, anywhere: Store) -> Service:
    made = Service(tmp_path, installed=(PLUGIN,), store=anywhere, clock=anywhere.clock)  # type: ignore[arg-type]
    with anywhere.change(by="tests") as change:
        job = MAKING.start(change, {"title": "red"})
        change.create(Kite(title="red", job_id=job.job_id))
    ManualWorkers(anywhere, [TASKS]).drain()
    return made


def decided(service: Service, kind: str) -> dict[str, Any]:
    """Made by the route that the item names."""
    editor = service.client(Role.EDITOR)
    item = editor.get("/api/review/items", params=RECORD).json()
    choice = next(each for each in item["decisions"] if each["decision"] == kind)
    answer = editor.request(choice["method"], choice["path"], json={**choice["body"], choice["reason_field"]: "so"})
    assert answer.status_code == 200, answer.text
    ManualWorkers(service.store, [TASKS]).drain()
    told: dict[str, Any] = answer.json()
    return told


def job(service: Service) -> PipelineJob:
    kite = service.store.get(Kite.at(title="red"))
    assert kite.job_id is not None
    return service.store.get(PipelineJob.at(job_id=kite.job_id))


def test_it_is_made_again_and_then_approved(service: Service) -> None:
    assert job(service).status is JobStatus.PAUSED
    decided(service, "request_changes")
    assert (job(service).status, service.store.get(Kite.at(title="red")).content) == (JobStatus.PAUSED, "version 2")
    decided(service, "approve")
    assert job(service).status is JobStatus.DONE
    answer = service.client(Role.EDITOR).get("/api/review/items", params=RECORD).json()
    body = {"decision": "approve", "mark": answer["mark"]}
    again = service.client(Role.EDITOR).post("/api/review/decisions", params=RECORD, json=body)
    assert again.status_code == 409, again.text


def test_it_is_given_up(service: Service) -> None:
    decided(service, "reject")
    assert job(service).status is JobStatus.CANCELLED
    assert service.store.get(Kite.at(title="red")).state is State.DROPPED
    assert service.client(Role.EDITOR).get("/api/review/items", params=RECORD).json()["decisions"] == []
