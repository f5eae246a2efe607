"""A provider that fails again and again is left alone for a while, and costs no attempts meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread

import pytest
from pydantic import BaseModel

from penstock import FrozenClock, Store, open_store
from penstock.errors import Unanswered, Unavailable
from penstock.generation.circuit_breaker import FAILURES, REST, WITHIN, CircuitBreaker, ProviderResting
from penstock.generation.predictions import Predictions
from penstock.generation.provider_http import ProviderService
from penstock.generation.remote_providers import remote_generator
from penstock.generation.steps import Shot
from penstock.work import Outcome, RetryLater, Task, TaskAttempt, TaskContext, Tasks, TaskStatus, Terminal
from penstock.work.working import WORKING
from penstock.workers.manual import ManualWorkers
from tests.forked import forked
from tests.generation.listening_reporter import Gone, ListeningReporter
from tests.generation.prediction_server import TOKEN, PredictionServer, answers

ALMOST = REST - timedelta(seconds=1)


@pytest.fixture
def breaker(clock: FrozenClock) -> CircuitBreaker:
    return CircuitBreaker(clock=clock)


def call(breaker: CircuitBreaker, error: BaseException | None = None) -> None:
    with breaker.guard("acme.test"):
        if error is not None:
            raise error


def fail(breaker: CircuitBreaker, times: int = FAILURES) -> None:
    for _ in range(times):
        with pytest.raises(Unavailable):
            call(breaker, Unanswered("silence"))


def test_failures_in_a_row_open_the_circuit_and_say_so(breaker: CircuitBreaker) -> None:
    fail(breaker)
    with pytest.raises(
        ProviderResting, match=r"^acme\.test has failed 5 times in a row, .* left alone for 60 s$"
    ) as why:
        call(breaker)
    assert why.value.after == REST


def test_more_than_five_failures_in_a_minute_open_the_circuit_whatever_succeeds_between(
    breaker: CircuitBreaker, clock: FrozenClock
) -> None:
    for _ in range(FAILURES):
        fail(breaker, 1)
        call(breaker)
        clock.advance(timedelta(seconds=10))
    fail(breaker, 1)
    with pytest.raises(
        ProviderResting, match=r"^acme\.test has failed more than 5 times within 60 s, .* left alone for 60 s$"
    ):
        call(breaker)
    clock.advance(REST)
    call(breaker)
    fail(breaker, 1)
    call(breaker)


def test_the_minute_slides(breaker: CircuitBreaker, clock: FrozenClock) -> None:
    """Five failures in any minute are borne, however many there are in an hour."""
    for _ in range(100):
        fail(breaker, 1)
        call(breaker)
        clock.advance(timedelta(seconds=12))
    clock.advance(timedelta(seconds=-1))
    fail(breaker, 1)
    with pytest.raises(ProviderResting, match="more than 5 times"):
        call(breaker)


def test_a_clock_that_is_set_opens_and_closes_nothing(breaker: CircuitBreaker, clock: FrozenClock) -> None:
    fail(breaker)
    clock.jump(timedelta(hours=5))
    with pytest.raises(ProviderResting):
        call(breaker)
    clock.jump(timedelta(hours=-10))
    clock.advance(REST)
    call(breaker)


def test_only_the_call_that_was_made_to_see_closes_the_circuit(breaker: CircuitBreaker, clock: FrozenClock) -> None:
    """What was answered to a call that was begun before tells nothing of now."""
    with breaker.guard("acme.test"):
        fail(breaker)
    with pytest.raises(ProviderResting):
        call(breaker)
    clock.advance(REST)
    with breaker.guard("acme.test"):
        with pytest.raises(ProviderResting):
            call(breaker)
        breaker.count(Unanswered("what was begun before has failed"))
        with pytest.raises(ProviderResting):
            call(breaker)
    call(breaker)


@pytest.mark.parametrize("how", ["failed", "unusable", "nowhere"])
def test_what_a_service_makes_badly_counts_as_well(breaker: CircuitBreaker, tmp_path: Path, how: str) -> None:
    """Each of its answers is fine, and nothing comes of them."""
    with PredictionServer(b"no film") as server:
        server.states = ("failed",) if how == "failed" else ("succeeded",)
        if how == "nowhere":
            server.told = {"output": None}
        predictions = Predictions(ProviderService(server.url, TOKEN, breaker=breaker), "acme/filmer")
        for turn in range(FAILURES + 1):
            with pytest.raises(Unavailable):
                predictions.make({}, tmp_path / "clip.mp4", ListeningReporter(), order=str(turn))
        with pytest.raises(ProviderResting, match="more than 5 times"):
            predictions.make({}, tmp_path / "clip.mp4", ListeningReporter(), order="one more")
        assert len(server.jobs) == FAILURES + 1


def test_what_cannot_succeed_says_nothing_of_the_service(breaker: CircuitBreaker, tmp_path: Path) -> None:
    with PredictionServer() as server:
        server.states, server.told = ("failed",), {"error": "NSFW content detected"}
        predictions = Predictions(ProviderService(server.url, TOKEN, breaker=breaker), "acme/filmer")
        for turn in range(3 * FAILURES):
            with pytest.raises(Terminal):
                predictions.make({}, tmp_path / "clip.mp4", ListeningReporter(), order=str(turn))


def test_those_who_are_refused_come_back_one_after_the_other(breaker: CircuitBreaker, clock: FrozenClock) -> None:
    """Else all that wait would try again in the same second of every minute, and each try is written down."""

    def refused() -> timedelta:
        with pytest.raises(ProviderResting) as why:
            call(breaker)
        return why.value.after

    fail(breaker)
    assert [refused() for _ in range(3)] == [REST, REST + timedelta(seconds=1), REST + timedelta(seconds=2)]
    assert max(refused() for _ in range(2000)) == REST + timedelta(minutes=15)
    clock.advance(REST)
    fail(breaker, 1)
    assert refused() == REST


def test_one_answer_between_failures_keeps_it_closed(breaker: CircuitBreaker, clock: FrozenClock) -> None:
    for _ in range(3):
        fail(breaker, FAILURES - 1)
        call(breaker)
        clock.advance(WITHIN)


def test_a_refusal_is_an_answer(breaker: CircuitBreaker, clock: FrozenClock) -> None:
    for _ in range(3):
        fail(breaker, FAILURES - 1)
        with pytest.raises(Terminal):
            call(breaker, Terminal("acme.test answered 422"))
        clock.advance(WITHIN)


def test_after_its_rest_one_call_sees_how_it_is(breaker: CircuitBreaker, clock: FrozenClock) -> None:
    fail(breaker)
    clock.advance(ALMOST)
    with pytest.raises(ProviderResting):
        call(breaker)
    clock.advance(timedelta(seconds=1))
    fail(breaker, 1)
    with pytest.raises(ProviderResting):
        call(breaker)
    clock.advance(REST)
    call(breaker)
    fail(breaker, FAILURES - 1)


def test_only_one_call_is_made_while_it_is_not_known_how_it_is(breaker: CircuitBreaker, clock: FrozenClock) -> None:
    fail(breaker)
    clock.advance(REST)
    asking, answer = Event(), Event()

    def ask() -> None:
        with breaker.guard("acme.test"):
            asking.set()
            answer.wait(30)

    first = Thread(target=ask)
    first.start()
    assert asking.wait(30)
    with pytest.raises(ProviderResting):
        call(breaker)
    answer.set()
    first.join(30)
    call(breaker)


def test_whoever_leaves_says_nothing_of_the_provider(breaker: CircuitBreaker, clock: FrozenClock) -> None:
    """Neither that it failed nor that it is well: the next call is made to see."""
    fail(breaker)
    clock.advance(REST)
    with pytest.raises(Gone):
        call(breaker, Gone())
    fail(breaker, 1)
    with pytest.raises(ProviderResting):
        call(breaker)


def test_a_provider_that_asks_for_more_time_gets_it(breaker: CircuitBreaker, clock: FrozenClock) -> None:
    fail(breaker, FAILURES - 1)
    with pytest.raises(RetryLater):
        call(breaker, RetryLater("acme.test answered 429", after=timedelta(minutes=10)))
    clock.advance(timedelta(minutes=9))
    with pytest.raises(ProviderResting) as why:
        call(breaker)
    assert why.value.after == timedelta(minutes=1)
    clock.advance(timedelta(minutes=1))
    call(breaker)


def test_a_forked_process_finds_out_for_itself(breaker: CircuitBreaker) -> None:
    fail(breaker)
    assert forked(lambda: call(breaker)) == 0


def test_a_service_that_rests_is_not_spoken_to(breaker: CircuitBreaker) -> None:
    with PredictionServer() as server:
        service = ProviderService(server.url, TOKEN, breaker=breaker)
        server.will("look", *[answers(500)] * FAILURES)
        for _ in range(FAILURES):
            with pytest.raises(Unavailable):
                service.ask("GET", "/predictions/1")
        with pytest.raises(ProviderResting):
            service.ask("GET", "/predictions/1")
        assert len(server.seen) == FAILURES


# With tasks


class Filmed(BaseModel):
    into: str


GENERATOR = remote_generator("REST_GENERATOR")


@pytest.fixture
def store(tmp_path: Path, clock: FrozenClock) -> Iterator[Store]:
    store = open_store(f"sqlite:///{tmp_path}/work.db", clock=clock)
    store.ensure(WORKING)
    yield store
    store.close()


def test_a_task_is_put_off_with_the_reason_and_no_attempt_is_lost(
    store: Store, clock: FrozenClock, tmp_path: Path
) -> None:
    """A provider that is away for hours costs each task the attempts that met it, and not one more."""
    tasks = Tasks("films")
    with PredictionServer() as server:
        server.will("create", *[answers(500)] * 1000)
        values = {"URL": server.url, "TOKEN": TOKEN, "MODEL": "acme/filmer"}
        generator = GENERATOR.provider({f"REST_GENERATOR_{n}": v for n, v in values.items()}.get, clock=clock)
        assert generator is not None

        @tasks.task("film")
        def film(work: TaskContext, input: Filmed) -> None:
            generator.film(Shot("rain", 1.0, 1), Path(input.into), ListeningReporter())

        with store.change() as change:
            ids = [film.enqueue(change, Filmed(into=str(tmp_path / f"{n}.mp4"))) for n in range(8)]
        workers = ManualWorkers(store, [tasks])
        workers.drain()
        assert len(server.seen) == FAILURES
        found = [store.get(Task.at(task_id=each)) for each in ids]
        assert [task.attempts for task in found].count(1) == FAILURES
        put_off = [task for task in found if task.attempts == 0]
        assert {(task.status, task.error_class) for task in put_off} == {(TaskStatus.WAITING, "ProviderResting")}
        assert all("127.0.0.1 has failed 5 times in a row" in (task.error or "") for task in put_off)
        (attempt,) = store.find(TaskAttempt.of_task(task_id=put_off[0].task_id))
        assert (attempt.outcome, attempt.error_class) == (Outcome.HANDED_BACK, "ProviderResting")
        for _ in range(3):
            clock.advance(REST)
            workers.drain()
        assert len(server.seen) == FAILURES + 3, "one call after each rest"
        assert {store.get(Task.at(task_id=each)).status for each in ids} == {TaskStatus.WAITING}
