"""A plant with workers that work when they are told to, on every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from penstock import FrozenClock, Store
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.workers.manual import ManualWorkers
from tests.sinks.receiver import Receiver
from tests.work.plant import TASKS
from tests.work.plants import Plant, make_plant


@pytest.fixture
def clock() -> FrozenClock:
    """It stands still at the present: DynamoDB Local removes for good what has ended by the time of the day."""
    return FrozenClock(datetime.now(UTC).replace(microsecond=0))


@pytest.fixture(scope="session")
def plants(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Plant]:
    """The plant on an engine."""
    made: dict[str, Plant] = {}

    def plant(name: str) -> Plant:
        if name not in made:
            made[name] = make_plant(name, request, tmp_path_factory.mktemp("plant"))
        return made[name]

    return plant


@pytest.fixture
def open_plant(engine_name: str, plants: Callable[[str], Plant], clock: FrozenClock) -> Iterator[Callable[[], Store]]:
    """Opens a handle of the plant's store, empty at first, as another process would."""
    opened: list[Engine] = []
    plant = plants(engine_name)
    plant.empty()

    def open_one() -> Store:
        opened.append(plant.open())
        return Store(opened[-1], clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)

    yield open_one
    for engine in opened:
        engine.close()


@pytest.fixture
def store(open_plant: Callable[[], Store]) -> Store:
    """The plant's store, and a clock that stands still."""
    return open_plant()


@pytest.fixture
def workers(store: Store) -> ManualWorkers:
    return ManualWorkers(store, [TASKS])


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Whom messages are told."""
    with Receiver() as server:
        yield server
