"""Processes killed with SIGKILL, a server that goes down under load: all work is done, nothing is accepted twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.conftest import chosen_engines
from tests.faults.crew import TOO_LONG, Crew
from tests.faults.yard import HERE
from tests.servers import Postgres, require

ENGINES = [name for name in chosen_engines() if name in ("sqlite", "postgres")]
SEED = 20370101


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/yard.db"
    return str(request.getfixturevalue("postgres_server").create_database(f"yard_{uuid4().hex[:8]}"))


def kill(crew: Crew, times: int) -> None:
    """Half of them are killed wherever they are, half between two writes; now and then one only stalls."""
    for turn in range(times):
        crew.enqueue_if_idle()
        if turn % 2:
            crew.kill_at_random()
        else:
            crew.kill_between_writes()
        if turn % 6 == 5:
            crew.stall(TOO_LONG)


def test_a_crew_that_is_killed_a_few_times_finishes_its_work(url: str, tmp_path: Path) -> None:
    """AC-36, AC-38, NC-36, F-MV-5, F-MV-10, F-AC-2, F-AC-6, F-NC-4."""
    with Crew(url, tmp_path, SEED) as crew:
        kill(crew, 6)
        crew.finish()
    with_fresh_eyes(crew)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_crew_that_is_killed_sixty_times_finishes_its_work(url: str, tmp_path: Path) -> None:
    """AC-36, AC-38, NC-36, F-MV-5, F-MV-10, F-AC-2, F-AC-6, F-NC-4: at other moments in every run."""
    seed = uuid4().int
    print(f"seed {seed}")
    with Crew(url, tmp_path, seed) as crew:
        kill(crew, 60)
        crew.finish()
    with_fresh_eyes(crew)
    yard = crew.store.get(HERE)
    assert yard.claimed > yard.done, "somebody was killed in the midst of a job"


def with_fresh_eyes(crew: Crew) -> None:
    """Look at what was kept when nobody works any more, over new connections."""
    crew.store.close()
    crew.check()
    crew.store.close()


@pytest.fixture
def fragile() -> Iterator[Postgres]:
    """A server that loses no commit, whatever happens to it."""
    if "postgres" not in chosen_engines():
        pytest.skip("PENSTOCK_TEST_ENGINES does not name postgres")
    with require(Postgres(durable=True)) as server:
        yield server


def go_down(server: Postgres, crew: Crew, times: int) -> None:
    ways: list[Callable[[], None]] = [server.stop_at_once, server.kill, server.restart]
    for turn in range(times):
        crew.enqueue_if_idle()
        crew.wait_for_ticks(crew.chance.randint(10, 60))
        ways[turn % len(ways)]()
        server.start()


def test_a_server_that_goes_down_under_load_leaves_nothing_undone(fragile: Postgres, tmp_path: Path) -> None:
    """AC-36, AC-38: at once, and as by a power cut."""
    with Crew(fragile.url, tmp_path, SEED) as crew:
        go_down(fragile, crew, 2)
        crew.finish()
    with_fresh_eyes(crew)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_server_that_goes_down_again_and_again_under_load_leaves_nothing_undone(
    fragile: Postgres, tmp_path: Path
) -> None:
    seed = uuid4().int
    print(f"seed {seed}")
    with Crew(fragile.url, tmp_path, seed) as crew:
        go_down(fragile, crew, 12)
        crew.finish()
    with_fresh_eyes(crew)
