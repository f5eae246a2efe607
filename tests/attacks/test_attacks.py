"""Attacks on a running service: it stays alive, within its memory, and as useful as before.

The small forms run always, one after another on one service; the large ones, varied by chance, in `make test-long`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.attacks.attacks import ATTACKS, LISTED, Attack
from tests.attacks.target import Target
from tests.work.soon import soon


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    target = Target(tmp_path_factory.mktemp("attacked"))
    target.start()
    yield target
    target.stop(hurried=True)


def works(target: Target) -> bool:
    """What everybody does works, for guests once their minute is over."""
    assert target.ask("GET", LISTED, None, target.headers)[0] == 200
    status, body = target.ask("GET", "/voices")
    return status == 200 and bool(json.loads(body))


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_it_stays_alive_and_useful(target: Target, attack: Attack) -> None:
    with target.unharmed():
        attack.run(target, Random(attack.name), 1)
    soon(lambda: works(target), seconds=70)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(3))
def test_it_withstands_all_of_them_in_any_order(tmp_path: Path, seed: int) -> None:
    chance = Random(seed)
    target = Target(tmp_path)
    target.start()
    for attack in chance.sample(ATTACKS, len(ATTACKS)):
        with target.unharmed():
            attack.run(target, chance, chance.choice([1, 2, 5]))
    soon(lambda: works(target), seconds=70)
    target.stop()
