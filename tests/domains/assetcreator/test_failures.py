"""What becomes of a job when whoever makes a part of it fails: for good, for a while, or after it was paid."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.domains.assetcreator import creative_projects, jobs, production
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.model import Job, Project
from penstock.domains.assetcreator.production import TASKS
from penstock.domains.assetcreator.stages import AssetType, Status, StepName
from penstock.errors import Unavailable
from penstock.generation.asset_steps import AssetOrder, Made, StepReporter
from penstock.generation.circuit_breaker import CircuitBreaker
from penstock.kernel.quota import QuotaExceeded
from penstock.work import Outcome, Task, TaskAttempt, TaskStatus, Terminal
from penstock.work.dead_letters import DeadLetters, retry, retry_all
from tests.domains.assetcreator.lives import (
    assert_files_stand,
    events,
    kill_at_every_write,
    messages,
    used,
)
from tests.domains.assetcreator.quick_makers import QuickMakers
from tests.domains.assetcreator.story import ANN, asked, finished, later, project, reject, runs, seen, work, workers

ROOT = "root"


class Indecent(Terminal):
    """With a code of its own."""

    code = "INDECENT"


def failing(step: str, *errors: BaseException) -> Callable[[str, AssetOrder], None]:
    """Fails so at each attempt at a step, one after the other, and is well after that."""
    left = list(errors)

    def meanwhile(at: str, order: AssetOrder) -> None:
        if at == step and left:
            raise left.pop(0)

    return meanwhile


def sprite(studio: AssetStudio, robots: Project | None = None) -> Job:
    return asked(studio, robots or project(studio, gates=[]), type=AssetType.SPRITE_2D)


def attempts(studio: AssetStudio, job: Job, step: StepName) -> list[TaskAttempt]:
    return list(production.ASSET.attempts(studio.store, job, step.value))


def waits(studio: AssetStudio) -> Task:
    (task,) = workers(studio).waiting()
    return task


def fill(studio: AssetStudio, robots: Project) -> Job:
    """A job that takes the only place of a project."""
    creative_projects.set_quotas(studio, robots.project_id, {"concurrent_jobs": 1}, by=ROOT)
    return asked(studio, robots, type=AssetType.SPRITE_2D)


# For good


@pytest.mark.parametrize(
    ("error", "code"), [(Terminal("it cannot be drawn"), "Terminal"), (Indecent("not that"), "INDECENT")]
)
def test_what_fails_for_good_is_told_with_its_code_and_reason(
    anywhere: AssetStudio, quick: QuickMakers, error: Terminal, code: str
) -> None:
    """AC-36, AC-51: by the job, by the step and by the event, in one commit that frees its place."""
    studio, start = anywhere, anywhere.store.clock.now()
    quick.meanwhile = failing("refine", error)
    job = sprite(studio)
    work(studio)
    there = seen(studio, job)
    said = {"code": code, "message": str(error)}
    assert (there.job.status, there.job.current_step, there.job.error) == (Status.FAILED, StepName.REFINE, said)
    assert [(s.status, s.error) for s in there.steps] == [(Status.DONE, None), (Status.FAILED, said)]
    (told,) = [m for m in messages(studio, start) if m.type == "StepFailed"]
    assert (told.payload["error_code"], told.payload["error_message"]) == (code, str(error))
    assert (told.project_id, told.payload["step_name"]) == (job.project_id, "refine")
    assert [a.outcome for a in attempts(studio, job, StepName.REFINE)] == [Outcome.TERMINAL]
    assert used(studio, _project(studio, job))[::2] == (0, 0)
    jobs.resume(studio, job.job_id, from_step=StepName.REFINE, by=ANN)
    work(studio)
    assert (seen(studio, job).job.status, seen(studio, job).job.error) == (Status.DONE, None)


# For a while


def test_what_fails_for_a_while_is_tried_again_ever_later(studio: AssetStudio, quick: QuickMakers) -> None:
    """Its place is kept meanwhile, nobody is told of a failure, and one run comes of it."""
    start = studio.store.clock.now()
    quick.meanwhile = failing("refine", *(RuntimeError(f"hiccup {n}") for n in range(3)))
    job = sprite(studio)
    work(studio)
    for failures, pause in enumerate((1, 2, 4), start=1):
        task = waits(studio)
        assert (task.attempts, task.due_at - studio.store.clock.now()) == (failures, timedelta(seconds=pause))
        later(studio, seconds=pause - 0.1)
        assert workers(studio).run_one() is None
        assert used(studio, _project(studio, job))[0] == 1
        later(studio, seconds=0.1)
        work(studio)
    assert runs(studio, job) == [(name, "done") for name in ("text-to-image", "refine", "export")]
    ended = [a.outcome for a in attempts(studio, job, StepName.REFINE)]
    assert ended == [Outcome.RETRYABLE] * 3 + [Outcome.DONE]
    told = events(studio, job, since=start)
    assert (told["StepFailed"], told["StepStarted"], told["StepCompleted"]) == (0, 3, 3)


def test_while_a_provider_is_left_alone_a_run_is_put_off_and_loses_no_attempt(
    studio: AssetStudio, quick: QuickMakers
) -> None:
    breaker = CircuitBreaker(failures=2, rest=timedelta(minutes=1), clock=studio.store.clock)
    away = [True]

    def ask(step: str, order: AssetOrder) -> None:
        if step == "refine":
            with breaker.guard("somewhere.example"):
                if away[0]:
                    raise Unavailable("it does not answer", part=None)

    quick.meanwhile = ask
    job = sprite(studio)
    work(studio)
    later(studio, seconds=1)
    work(studio)  # the second failure: it is left alone from now on
    counted = waits(studio).attempts
    assert counted == 2
    for _ in range(10):
        later(studio, seconds=2)
        work(studio)
        assert waits(studio).attempts == counted
    later(studio, minutes=2)
    work(studio)  # one call sees that it is still away
    away[0] = False
    later(studio, minutes=5)
    work(studio)
    assert seen(studio, job).job.status is Status.DONE
    outcomes = [a.outcome for a in attempts(studio, job, StepName.REFINE)]
    assert outcomes.count(Outcome.RETRYABLE) <= 3
    assert Outcome.HANDED_BACK in outcomes
    assert used(studio, _project(studio, job))[0] == 0


# Dead letters


def dead(studio: AssetStudio, quick: QuickMakers, robots: Project) -> tuple[Job, Task]:
    """A job whose drawing was tried as often as it may be, and the task that is a dead letter since."""
    quick.meanwhile = failing("draw", *(RuntimeError(f"hiccup {n}") for n in range(5)))
    job = sprite(studio, robots)
    for _ in range(5):
        work(studio)
        later(studio, minutes=6)
    (letter,) = DeadLetters().find(studio.store)
    assert (seen(studio, job).job.status, letter.attempts) == (Status.FAILED, 5)
    return job, letter


def test_a_dead_letter_that_is_tried_again_takes_its_place_again(anywhere: AssetStudio, quick: QuickMakers) -> None:
    """AC-51: refused where there is none, with the figures; what failed stays readable."""
    studio = anywhere
    robots = project(studio, gates=[])
    job, letter = dead(studio, quick, robots)
    assert used(studio, robots)[0] == 0
    other = fill(studio, robots)
    with pytest.raises(QuotaExceeded, match="1 of 1 unfinished jobs are in use") as refused:
        retry(studio.store, [TASKS], letter.task_id, by=ROOT)
    assert (refused.value.used, refused.value.limit) == (1, 1)
    assert retry_all(studio.store, [TASKS], DeadLetters(), by=ROOT).done == []
    there = seen(studio, job)
    assert (there.job.status, len(there.steps)) == (Status.FAILED, 1)
    assert studio.store.get(letter.ref) == letter

    jobs.cancel(studio, other.job_id, by=ANN)
    assert retry_all(studio.store, [TASKS], DeadLetters(), by=ROOT).done == [letter.task_id]
    assert (used(studio, robots)[0], seen(studio, job).job.status) == (1, Status.RUNNING)
    work(studio)
    expected = [("text-to-image", "failed"), *((n, "done") for n in ("text-to-image", "refine", "export"))]
    assert runs(studio, job) == expected
    assert (seen(studio, job).job.version, used(studio, robots)[0]) == (1, 0)


def test_who_takes_it_up_elsewhere_leaves_no_dead_letter(studio: AssetStudio, quick: QuickMakers) -> None:
    """AC-51: resumed, cancelled or tried again: one of them, and one place."""
    robots = project(studio, gates=[])
    job, letter = dead(studio, quick, robots)
    jobs.resume(studio, job.job_id, from_step=StepName.TEXT_TO_IMAGE, by=ANN)
    assert list(DeadLetters().find(studio.store)) == []
    assert studio.store.get(letter.ref).status is TaskStatus.CANCELLED
    assert used(studio, robots)[0] == 1
    finished(studio, job)
    assert (seen(studio, job).job.version, used(studio, robots)[0]) == (1, 0)


# What it costs


class Elsewhere:
    """A service that charges for each order once, whoever asks again by the same name or by what it was told."""

    def __init__(self, draw: Callable[..., Made], *, price: float, honours_names: bool = True) -> None:
        self._draw, self._price, self._honours = draw, price, honours_names
        self.charged: list[str] = []
        self.begun: dict[str, str] = {}
        self.fails: list[Exception] = []
        "What goes wrong before it is asked, one after the other."
        self._ids = count(1)

    def draw(self, order: AssetOrder, into: Any, reporter: StepReporter) -> Made:
        if self.fails:
            raise self.fails.pop(0)
        known = order.job if order.job in self.begun.values() else None
        job = known or self._begin(order)
        if known is None:
            reporter.remember(job)
        made = self._draw(order, into, reporter)
        return Made(cost=self._price, metrics=made.metrics)

    def _begin(self, order: AssetOrder) -> str:
        if order.order in self.begun and self._honours:
            return self.begun[order.order]
        self.charged.append(order.order)
        self.begun[order.order] = f"remote-{next(self._ids)}"
        return self.begun[order.order]


def elsewhere(quick: QuickMakers, monkeypatch: pytest.MonkeyPatch, **how: Any) -> Elsewhere:
    """Pictures are drawn by a service elsewhere."""
    service = Elsewhere(quick.draw, price=0.04, **how)
    monkeypatch.setattr(quick, "draw", service.draw)
    return service


def test_what_it_costs_is_kept_with_each_run_and_summed_with_the_job(anywhere: AssetStudio, quick: QuickMakers) -> None:
    """Rejected runs were paid for as well; nobody charges for what is made here."""
    studio = anywhere
    quick.cost = {"draw": 0.04, "model": 0.35}
    job = asked(studio, project(studio, gates=[StepName.REFINE]))
    work(studio)
    step = seen(studio, job).current()
    assert step is not None
    reject(studio, job, back_to=StepName.TEXT_TO_IMAGE)
    there = finished(studio, job)
    costs = [(s.step_name.value, s.cost) for s in there.steps if s.cost is not None]
    assert costs == [("text-to-image", 0.04), ("text-to-image", 0.04), ("3D", 0.35)]
    assert there.job.cost == pytest.approx(0.43)
    jobs.resume(studio, job.job_id, from_step=StepName.MESH, by=ANN)
    assert finished(studio, job).job.cost == pytest.approx(0.78)
    free = sprite(studio)
    quick.cost = {}
    work(studio)
    assert seen(studio, free).job.cost is None


def test_a_job_that_ends_badly_tells_what_it_has_cost(studio: AssetStudio, quick: QuickMakers) -> None:
    quick.cost = {"draw": 0.04}
    quick.meanwhile = failing("refine", Terminal("no"))
    failed, cancelled = sprite(studio), sprite(studio, project(studio, gates=[StepName.REFINE]))
    work(studio)
    jobs.cancel(studio, cancelled.job_id, by=ANN)
    assert [seen(studio, job).job.cost for job in (failed, cancelled)] == [0.04, 0.04]


def test_killed_at_every_write_it_is_charged_once(
    studio: AssetStudio, quick: QuickMakers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was begun elsewhere is remembered, or found by its name; the job tells what was charged."""
    service = elsewhere(quick, monkeypatch)

    def check(job: Job) -> None:
        work(studio)
        there = seen(studio, job)
        assert (there.job.status, there.job.cost, there.steps[0].cost) == (Status.DONE, 0.04, 0.04)
        assert len(service.charged) == len(set(service.charged))
        assert there.steps[0].remote_job == service.begun[f"{job.project_id}/{job.job_id}/text-to-image/1"]
        assert_files_stand(studio, there.steps, [])

    kill_at_every_write(studio, lambda: sprite(studio), lambda s, job: workers(s).run_one(), check, least=5)


@pytest.mark.parametrize("again", ["another attempt", "a dead letter that is tried again"])
def test_an_attempt_that_dies_after_paying_is_gone_on_with(
    studio: AssetStudio, quick: QuickMakers, monkeypatch: pytest.MonkeyPatch, again: str
) -> None:
    """Also where the service knows no names: what it is doing is remembered before anything else can go wrong."""
    service = elsewhere(quick, monkeypatch, honours_names=False)
    robots = project(studio, gates=[])
    if again == "another attempt":
        quick.meanwhile = failing("draw", RuntimeError("after it was paid"))
        job = sprite(studio, robots)
        work(studio)
        later(studio, minutes=1)
    else:
        job, letter = dead(studio, quick, robots)
        retry(studio.store, [TASKS], letter.task_id, by=ROOT)
    work(studio)
    there = seen(studio, job)
    assert (there.job.status, there.job.cost) == (Status.DONE, 0.04)
    assert len(service.charged) == 1


def test_what_is_drawn_anew_is_begun_anew_however_often_it_is_tried(
    studio: AssetStudio, quick: QuickMakers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the rejected run had begun elsewhere is not gone on with: it would be the rejected picture again."""
    service = elsewhere(quick, monkeypatch, honours_names=False)
    job = sprite(studio, project(studio, gates=[StepName.REFINE]))
    work(studio)
    reject(studio, job, back_to=StepName.TEXT_TO_IMAGE)
    service.fails = [RuntimeError("before anything was begun")]
    work(studio)
    later(studio, minutes=1)
    work(studio)
    first, second = (s.remote_job for s in seen(studio, job).steps if s.step_name is StepName.TEXT_TO_IMAGE)
    assert (first, second) == ("remote-1", "remote-2")
    assert [name.rpartition("/")[2] for name in service.charged] == ["1", "2"]


# How long it takes


def test_what_is_taken_up_again_counts_the_time_it_takes_and_no_more(
    studio: AssetStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AC-51: what was counted when it ended first is not counted a second time."""
    seconds = count(0, 10)
    monkeypatch.setattr(production, "time", SimpleNamespace(perf_counter=lambda: float(next(seconds))))
    robots = project(studio, gates=[])
    job = sprite(studio, robots)
    work(studio)
    assert used(studio, robots)[1] == 30
    jobs.resume(studio, job.job_id, from_step=StepName.EXPORT, by=ANN)
    work(studio)
    assert used(studio, robots)[1] == 40
    jobs.resume(studio, job.job_id, from_step=StepName.REFINE, by=ANN)
    jobs.cancel(studio, job.job_id, by=ANN)
    assert used(studio, robots)[1] == 40


def test_the_seed_after_the_last_is_the_first(studio: AssetStudio) -> None:
    """Made again, whatever its seed was."""
    robots = project(studio, gates=[])
    job = asked(studio, robots, type=AssetType.SPRITE_2D, seed=2**31 - 1)
    work(studio)
    again = jobs.make_again(studio, job.job_id, by=ANN)
    work(studio)
    there = seen(studio, again).job
    assert (there.status, (there.request or {})["seed"]) == (Status.DONE, 0)


def _project(studio: AssetStudio, job: Job) -> Project:
    return studio.store.get(Project.at(project_id=job.project_id))
