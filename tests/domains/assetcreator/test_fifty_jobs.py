"""Fifty who ask at once where five may: five are let in, and the others as places become free, never one too many."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Barrier, Event, Thread
from typing import Any

import pytest

from penstock import Store, open_store
from penstock.domains.assetcreator import DOMAIN
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.errors import ReviewOver
from penstock.domains.assetcreator.jobs import UNFINISHED
from penstock.domains.assetcreator.model import AssetVersion, Job, Project, Step
from penstock.domains.assetcreator.production import TASKS
from penstock.domains.assetcreator.stages import AssetType, Status, StepName
from penstock.kernel.quota import QuotaExceeded
from penstock.objects import LocalObjects
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING
from penstock.workers.inline import InlineWorkers
from tests.conftest import furnished
from tests.domains.assetcreator.conftest import ENGINES
from tests.domains.assetcreator.lives import used
from tests.domains.assetcreator.quick_makers import QuickMakers
from tests.domains.assetcreator.story import approve, asked, project, work
from tests.servers import Dynoxide, Postgres, require
from tests.work.soon import soon

FIFTY, PLACES = 50, 5


@pytest.fixture(params=[pytest.param(n, marks=[pytest.mark.long] if n != "sqlite" else []) for n in ENGINES])
def busy(
    request: pytest.FixtureRequest, tmp_path: Path, local: LocalObjects, quick: QuickMakers
) -> Iterator[AssetStudio]:
    """A studio whose clock goes on by itself, as its workers do."""
    opener, cleanup = furnished(request.param, request, tmp_path, (DOMAIN, WORKING))
    store = Store(opener(), secret=b"of the tests", own=SYSTEM_RECORDS)
    yield AssetStudio(store, local, quick.makers())
    store.close()
    cleanup()


def ask(studio: AssetStudio, robots: Project, number: int) -> Job | QuotaExceeded:
    """A sprite, or why not."""
    try:
        return asked(studio, robots, f"robot {number}", type=AssetType.SPRITE_2D)
    except QuotaExceeded as refused:
        return refused


def all_at_once(studio: AssetStudio, robots: Project) -> list[Job | QuotaExceeded]:
    """Fifty threads ask at the very same moment."""
    barrier = Barrier(FIFTY)

    def one(number: int) -> Job | QuotaExceeded:
        barrier.wait(60)
        return ask(studio, robots, number)

    with ThreadPoolExecutor(FIFTY) as threads:
        return list(threads.map(one, range(FIFTY)))


def assert_five_were_let_in(results: list[Any], robots: Project) -> None:
    refused = [result for result in results if isinstance(result, QuotaExceeded)]
    assert len(refused) == FIFTY - PLACES
    for each in refused:
        assert (each.used, each.limit, each.amount) == (PLACES, PLACES, 1)
        assert f"5 of 5 unfinished jobs are in use of project {robots.project_id}" in str(each)


def unfinished(studio: AssetStudio, robots: Project) -> list[Job]:
    found = studio.store.find(Job.of_project(project_id=robots.project_id))
    return [job for job in found if job.status in UNFINISHED]


def test_fifty_are_asked_for_again_until_accepted(busy: AssetStudio) -> None:
    """AC-51: one that waits at a gate keeps its place, and only what has ended makes room for the next."""
    studio, robots = busy, project(busy, gates=[StepName.REFINE])
    results = all_at_once(studio, robots)
    assert_five_were_let_in(results, robots)
    left = [number for number, result in enumerate(results) if isinstance(result, QuotaExceeded)]
    begun = [result for result in results if isinstance(result, Job)]
    while begun:
        work(studio)
        if left:
            assert isinstance(ask(studio, robots, left[0]), QuotaExceeded), "all five wait"
        for job in begun:
            approve(studio, job)
        work(studio)
        begun = [job for job in (ask(studio, robots, number) for number in left) if isinstance(job, Job)]
        assert len(begun) == len(unfinished(studio, robots)) == used(studio, robots)[0] == min(PLACES, len(left))
        left = left[len(begun) :]
    assert_all_are_done(studio, robots)


@pytest.mark.long
@pytest.mark.parametrize("gates", [[], [StepName.REFINE]], ids=["no gates", "a gate"])
def test_fifty_are_asked_for_at_once_until_all_have_ended(busy: AssetStudio, gates: list[StepName]) -> None:
    """AC-51: 45 are refused with the figures; however often they are asked for, five at most are unfinished."""
    studio, robots = busy, project(busy, gates=gates)
    results = all_at_once(studio, robots)
    assert_five_were_let_in(results, robots)
    assert len(unfinished(studio, robots)) == PLACES
    left: SimpleQueue[int] = SimpleQueue()
    for number, result in enumerate(results):
        if isinstance(result, QuotaExceeded):
            left.put(number)
    over, ended = Event(), Event()
    most, wrong = [0], list[BaseException]()

    def watched(act: Callable[[], Any]) -> Thread:
        def keep_acting() -> None:
            try:
                while not over.wait(0.02):
                    act()
            except BaseException as error:
                wrong.append(error)

        thread = Thread(target=keep_acting)
        thread.start()
        return thread

    def ask_again() -> None:
        try:
            number = left.get_nowait()
        except Empty:
            return
        if isinstance(ask(studio, robots, number), QuotaExceeded):
            left.put(number)

    def look() -> None:
        found = list(studio.store.find(Job.of_project(project_id=robots.project_id)))
        going = sum(job.status in UNFINISHED for job in found)
        most[0] = max(most[0], going)
        if len(found) == FIFTY and not going:
            ended.set()

    def decide() -> None:
        for step in studio.store.find(Step.reviews_of_project(project_id=robots.project_id)):
            job = studio.store.get(Job.at(project_id=step.project_id, job_id=step.job_id))
            try:
                approve(studio, job)
            except (ReviewOver, AssertionError):
                continue  # the other one was quicker

    context = DomainContext(studio.store, studio.objects, lambda name: None)
    workers = InlineWorkers(studio.store, [TASKS], threads=3, context=context)
    workers.start()
    threads = [watched(act) for act in (ask_again, ask_again, look, *([decide, decide] if gates else []))]
    try:
        soon(lambda: bool(wrong) or ended.is_set(), seconds=240)
    finally:
        over.set()
        for thread in threads:
            thread.join()
        workers.stop()
    assert wrong == []
    assert most[0] <= PLACES
    assert_all_are_done(studio, robots)


def assert_all_are_done(studio: AssetStudio, robots: Project) -> None:
    """Each has its version, and no place is taken."""
    found = list(studio.store.find(Job.of_project(project_id=robots.project_id)))
    assert [(job.status, job.version) for job in found] == [(Status.DONE, 1)] * FIFTY
    kept = [v for job in found for v in studio.store.find(_versions(job))]
    assert used(studio, robots)[::2] == (0, sum(version.bytes or 0 for version in kept))
    assert len(kept) == FIFTY


def _versions(job: Job) -> Any:
    return AssetVersion.of_asset(project_id=job.project_id, asset_id=job.asset_id or "")


# Processes


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An empty store that other processes can open."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with ExitStack() as stack:
        if request.param == "sqlite":
            url = f"sqlite:///{tmp_path}/ac.db"
        elif request.param == "postgres":
            url = stack.enter_context(require(Postgres())).url
        else:
            url = f"dynamodb://us-east-1?endpoint={stack.enter_context(require(Dynoxide())).url}"
        yield url


@pytest.mark.long
def test_fifty_in_several_processes_ask_at_once(url: str, local: LocalObjects, quick: QuickMakers) -> None:
    """AC-51: of five processes with ten threads each."""
    store = open_store(url)
    store.ensure(DOMAIN, WORKING)
    studio = AssetStudio(store, local, quick.makers())
    robots = project(studio)
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, ProcessPoolExecutor(5, mp_context=context) as processes:
        barrier: Any = manager.Barrier(5)
        told = list(processes.map(ask_ten, [url] * 5, [robots.project_id] * 5, [barrier] * 5))
    figures = [each for ten in told for each in ten]
    assert sorted(figures, key=str) == sorted([(PLACES, PLACES)] * (FIFTY - PLACES) + [None] * PLACES, key=str)
    assert len(unfinished(studio, robots)) == used(studio, robots)[0] == PLACES
    store.close()


def ask_ten(url: str, project_id: str, barrier: Any) -> list[tuple[int, int] | None]:
    """In a process of its own: ten ask at once; the figures of those that were refused."""
    store = open_store(url)
    studio: Any = AssetStudio(store, None, None)  # type: ignore[arg-type]
    robots = store.get(Project.at(project_id=project_id))
    barrier.wait(120)
    with ThreadPoolExecutor(10) as threads:
        results = list(threads.map(lambda number: ask(studio, robots, number), range(10)))
    store.close()
    return [(r.used, r.limit) if isinstance(r, QuotaExceeded) else None for r in results]
