"""All five systems at work, and their processes killed a thousand times: nothing is lost, and nothing doubled."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest

from tests.conftest import chosen_engines
from tests.faults import five_systems, system_account
from tests.faults.five_systems import BEGUN, CLOSED, DOMAINS, NO_MORE, PERIOD, ROLES, note, noted
from tests.faults.process_group import ProcessGroup
from tests.servers import Dynoxide, Postgres, require

ENGINES = [name for name in ("sqlite", "postgres", "dynoxide") if name in chosen_engines()]
LAST = 180.0
"Seconds in which all that was begun comes to its end, once nobody is killed, and nothing waits to be tried again."
TOO_LONG = 2.5 * PERIOD.total_seconds()


class Systems(ProcessGroup):
    """The processes of the five systems on one store, and the people who use them."""

    def __init__(self, url: str, folder: Path, seed: int) -> None:
        super().__init__("tests.faults.five_systems", ROLES, url, folder, seed)
        self.folder = str(folder)

    def begin(self) -> None:
        self.context = five_systems.open_context(self.url, self.folder)
        self.context.store.ensure(*DOMAINS)

    def finish(self) -> None:
        """Let what was begun come to its end."""
        note(self.folder, NO_MORE, "1")
        end = time.monotonic() + LAST
        while self.left() or not system_account.is_at_rest(self.context):
            if system_account.is_put_off(self.context):  # for minutes, where many died over it
                end = time.monotonic() + LAST
            assert time.monotonic() < end, f"after {LAST:g} s these have not ended: {sorted(self.left())}"
            self.wait_for_ticks(20)

    def left(self) -> set[int]:
        return {int(n) for n in noted(self.folder, BEGUN)} - {int(n) for n in noted(self.folder, CLOSED)}

    def check(self) -> list[int]:
        """Look at what was kept, over new connections, as nobody works any more; which stories there are."""
        context = five_systems.open_context(self.url, self.folder)
        numbers = sorted(int(n) for n in noted(self.folder, BEGUN))
        system_account.check(context, self.folder, numbers)
        context.store.close()
        return numbers


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An empty store that other processes can open."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with ExitStack() as stack:
        if request.param == "sqlite":
            yield f"sqlite:///{tmp_path}/systems.db"
        elif request.param == "postgres":
            yield stack.enter_context(require(Postgres())).url
        else:
            yield f"dynamodb://us-east-1?endpoint={stack.enter_context(require(Dynoxide())).url}"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is made takes no time here, too, while the test lasts."""
    for module, name in five_systems.REPLACED:
        monkeypatch.setattr(module, name, getattr(module, name))
    five_systems.make_quick()


def survive(systems: Systems, kills: int, told: Callable[[str], object] = print) -> None:
    """Half are killed wherever they are, half between two writes; now and then one only stands still."""
    began = time.monotonic()
    with systems:
        for turn in range(kills):
            if turn % 2:
                systems.kill_at_random()
            else:
                systems.kill_between_writes()
            if turn % 50 == 49:
                systems.stall(TOO_LONG)
        told(f"{kills} kills in {time.monotonic() - began:.0f} s")
        systems.finish()
    told(f"{len(systems.check())} stories, in {time.monotonic() - began:.0f} s")


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("quick")
def test_a_thousand_kills_lose_nothing_and_double_nothing(url: str, tmp_path: Path) -> None:
    seed = uuid4().int
    print(f"seed {seed}")
    survive(Systems(url, tmp_path, seed), 1000)
