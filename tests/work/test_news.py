"""News of what is enqueued: a broker is told at once where nothing speaks against it; the next look finds the rest."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest

from penstock import FrozenClock, Store
from penstock.errors import BROKER, Unavailable
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.work import Runner, Task
from penstock.work.fair_queue import Chosen, FairQueue
from penstock.workers import dispatcher as dispatcher_module
from penstock.workers.dispatcher import Dispatcher
from tests.conftest import chosen_engines
from tests.work.plant import TASKS, Order, look, roll
from tests.work.plants import Plant
from tests.work.soon import LONG, soon
from tests.work.test_fairness import announce as announce_many
from tests.work.test_recovery import Paper
from tests.work.test_tasks import announce, the_task

SECOND = timedelta(seconds=1)
on_postgres = pytest.mark.skipif("postgres" not in chosen_engines(), reason="PENSTOCK_TEST_ENGINES does not name it")


class Moody(Paper):
    """A broker that may be away."""

    away = False

    def send(self, tasks: Sequence[Task], *, limit: timedelta) -> None:
        if self.away:
            raise Unavailable("nobody answers", part=BROKER)
        super().send(tasks, limit=limit)


@pytest.fixture
def broker() -> Moody:
    return Moody()


def at_rest(store: Store, broker: Paper, *, depth: int = 10, owner: str = "d") -> Dispatcher:
    """A dispatcher that has looked, and found nothing."""
    made = Dispatcher(store, [TASKS], broker, owner=owner, depth=depth)
    assert made.run_once() == 0
    return made


def news(store: Store, *ids: str) -> list[dict[str, Any]]:
    """As an engine tells of tasks."""
    tasks = [the_task(store, task_id) for task_id in ids]
    return [{name: getattr(task, name) for name in Task.__shape__.told} for task in tasks]


def test_what_is_enqueued_is_told_without_a_look_and_only_once(
    store: Store, broker: Moody, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work = at_rest(store, broker)
    task_id = announce(store, look)
    with monkeypatch.context() as patched:
        patched.setattr(FairQueue, "next", lambda *_, **__: pytest.fail("it has looked"))
        assert at_work.pass_on(news(store, task_id))
        assert at_work.pass_on(news(store, task_id)), "news may come twice"
    assert at_work.run_once() == 0, "it knows of what it has told"
    assert broker.told == [(task_id, None)]
    assert at_work.pass_on([]), "news of something else are no reason to look"
    assert not at_work.pass_on(None), "of what is not told one has to look"


def test_news_of_what_a_look_has_found_are_old(store: Store, broker: Moody) -> None:
    at_work, task_id = at_rest(store, broker), announce(store, look)
    told = news(store, task_id)
    assert at_work.run_once() == 1
    work = Runner(store, [TASKS]).take_one(task_id, None)
    assert work is not None
    assert at_work.pass_on(told)
    assert broker.told == [(task_id, None)]


def test_while_others_wait_for_their_turn_nothing_is_told_before_them(store: Store, broker: Moody) -> None:
    announce_many(store, look, "a", 12)
    at_work = Dispatcher(store, [TASKS], broker, owner="d", depth=10)
    assert at_work.run_once() == 10
    late = announce(store, look)
    assert not at_work.pass_on(news(store, late))
    assert late not in dict(broker.told)


def test_a_broker_is_told_of_no_more_than_it_may_have_before_it_is_asked(store: Store, broker: Moody) -> None:
    at_work = at_rest(store, broker, depth=10)
    passed_on = [at_work.pass_on(news(store, announce(store, look))) for _ in range(8)]
    assert passed_on == [True] * 6 + [False] * 2
    assert len(broker.told) == 6
    broker.waiting = 6
    assert at_work.run_once() == 0, "it has enough"
    broker.waiting = 5
    assert at_work.run_once() == 2


def test_of_more_than_it_may_have_none_is_told_before_they_are_chosen(store: Store, broker: Moody) -> None:
    at_work = at_rest(store, broker, depth=10)
    assert not at_work.pass_on(news(store, *(announce(store, look) for _ in range(11))))
    assert broker.told == []


def test_much_that_is_enqueued_at_once_is_told_together(store: Store, broker: Moody) -> None:
    at_work = at_rest(store, broker, depth=100)
    assert at_work.pass_on(news(store, *(announce(store, look) for _ in range(20))))
    assert broker.sizes == [4] * 5


def test_one_that_needs_a_slot_is_looked_for(store: Store, broker: Moody) -> None:
    at_work = at_rest(store, broker)
    ids = [announce(store, roll) for _ in range(3)]
    assert not at_work.pass_on(news(store, ids[0]))
    assert at_work.run_once() == 2, "no more are told of than may run"
    assert all(Runner(store, [TASKS]).take_one(*told) for told in broker.told)
    other = announce(store, look)
    assert not at_work.pass_on(news(store, other)), "one still waits, perhaps for a slot that is free by now"
    assert at_work.run_once() == 1
    assert broker.told[2:] == [(other, None)]


def test_one_that_is_not_due_or_nobody_knows_here_is_left_alone(
    store: Store, broker: Moody, clock: FrozenClock
) -> None:
    at_work = at_rest(store, broker)
    with store.change() as change:
        later = look.enqueue(change, Order(), after=SECOND)
    (told,) = news(store, later)
    assert at_work.pass_on([told, {**told, "name": "plant.unheard", "task_id": "x", "due_at": clock.now()}])
    assert broker.told == []
    clock.advance(SECOND)
    assert at_work.run_once() == 1


def test_what_a_broker_that_is_away_was_not_told_is_told_when_it_is_back(
    store: Store, broker: Moody, clock: FrozenClock
) -> None:
    at_work, first, second = at_rest(store, broker), announce(store, look), announce(store, look)
    broker.away = True
    with pytest.raises(Unavailable):
        at_work.pass_on(news(store, first, second))
    assert not at_work.pass_on(news(store, announce(store, look))), "it is asked first whether it is there"
    broker.away = False
    clock.advance(SECOND)
    assert at_work.run_once() == 3
    assert {the_task(store, each).attempts for each in (first, second)} == {0}


def test_one_that_the_broker_refuses_strands_no_other(store: Store, broker: Moody, clock: FrozenClock) -> None:
    at_work, first, second = at_rest(store, broker), announce(store, look), announce(store, look)
    broker.refuses = {first}
    assert not at_work.pass_on(news(store, first, second)), "what is wrong with it, a look tells"
    assert broker.told == [(second, None)]
    assert at_work.run_once() == 0
    broker.refuses.clear()
    clock.advance(5 * SECOND)
    assert at_work.run_once() == 1


def test_what_was_passed_on_and_lost_is_told_again_and_done_once(
    store: Store, broker: Moody, clock: FrozenClock
) -> None:
    at_work, task_id = at_rest(store, broker), announce(store, look)
    assert at_work.pass_on(news(store, task_id))
    clock.advance(5 * SECOND)
    assert at_work.run_once() == 1, "the broker has nothing left to tell, and nobody has taken it"
    runners = [Runner(store, [TASKS], owner=owner) for owner in ("one", "other")]
    works = [runner.take_one(*told) for runner, told in zip(runners, broker.told, strict=True)]
    assert [work is not None for work in works] == [True, False], "a message that comes twice takes nothing"


def test_one_who_dies_before_he_tells_of_what_he_has_heard_is_relieved(
    store: Store, broker: Moody, open_plant: Callable[[], Store]
) -> None:
    """And one who is not on duty any more tells of nothing: another has heard of it as well."""
    one = at_rest(store, broker, owner="one")
    one.close()
    other_broker = Moody()
    other = at_rest(open_plant(), other_broker, owner="other")
    task_id = announce(store, look)
    assert not one.pass_on(news(store, task_id))
    assert broker.told == []
    other.close()  # as if he had never heard of it
    assert (one.run_once(), broker.told, other_broker.told) == (1, [(task_id, None)], [])


def test_at_rest_it_looks_no_more_often_than_something_may_be_there(
    store: Store, broker: Moody, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    stop, waiter, choose = threading.Event(), store.engine.listen(), FairQueue.next

    def note(what: str) -> None:
        happened.append(what)
        if len(happened) == 4:
            stop.set()

    def wait(seconds: float) -> bool:
        note("wait")
        return False

    def look(queue: FairQueue, *given: Any, **more: Any) -> list[Chosen]:
        note("look")
        return choose(queue, *given, **more)

    monkeypatch.setattr(waiter, "wait", wait)
    monkeypatch.setattr(waiter, "heard", lambda shape: None)
    monkeypatch.setattr(store.engine, "listen", lambda: waiter)
    monkeypatch.setattr(FairQueue, "next", look)
    Dispatcher(store, [TASKS], broker, owner="d").run(stop)
    assert happened == ["look", "wait"] * 2


@on_postgres
def test_at_work_it_tells_of_each_task_as_it_is_enqueued(
    plants: Callable[[str], Plant], broker: Moody, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has looked, and will not look again for a long time."""
    monkeypatch.setattr(dispatcher_module, "_IDLE", LONG)
    looks: list[bool] = []
    seen = FairQueue._remember

    def note(queue: FairQueue, chosen: list[Chosen]) -> None:
        seen(queue, chosen)
        looks.append(queue.chose_all)

    monkeypatch.setattr(FairQueue, "_remember", note)
    plant, stop = plants("postgres"), threading.Event()
    plant.empty()
    with closing(Store(plant.open(), own=SYSTEM_RECORDS)) as store:
        at_work = Dispatcher(store, [TASKS], broker, owner="d")
        thread = threading.Thread(target=at_work.run, args=(stop,))
        thread.start()
        soon(lambda: looks == [True])
        told: list[tuple[str, int | None]] = []
        while len(told) < 3:
            told.append((announce(store, look), None))
            soon(lambda: broker.told == told)
        stop.set()
        announce_many(store, look, "a", 9)  # so many are not told of, and whoever is to look sees that it is to stop
        thread.join(LONG)
        assert (thread.is_alive(), looks) == (False, [True])
