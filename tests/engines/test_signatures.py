"""Every engine, and whatever stands around one, has the methods of the protocol, with the same parameters."""

from __future__ import annotations

import inspect

import pytest

from penstock.cost.metered_engine import MeteredEngine
from penstock.engines.dynamodb import DynamoEngine
from penstock.engines.sql.engine import SqlEngine
from penstock.kernel.layouts.evolving_engine import EvolvingEngine
from penstock.kernel.scope import ScopedEngine
from penstock.ports.engine import Engine
from penstock.testing.simulation.engine import SimulatedEngine
from penstock.testing.simulation.process import READS, WRITES
from tests.kernel.model import ModelEngine

VERBS = [name for name, member in vars(Engine).items() if inspect.isfunction(member) and not name.startswith("_")]


ENGINES = [SqlEngine, DynamoEngine, ModelEngine, SimulatedEngine]
AROUND = [EvolvingEngine, MeteredEngine, ScopedEngine]


@pytest.mark.parametrize("engine", [*ENGINES, *AROUND])
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_takes_what_the_protocol_says(engine: type, verb: str) -> None:
    wanted = inspect.signature(getattr(Engine, verb)).parameters.values()
    found = inspect.signature(getattr(engine, verb)).parameters
    for parameter in wanted:
        assert parameter.name in found, f"{engine.__name__}.{verb} lacks {parameter.name}"
        assert found[parameter.name].kind is parameter.kind
        assert found[parameter.name].default == parameter.default
    beyond = [p for n, p in found.items() if n not in {w.name for w in wanted}]
    assert all(p.default is not inspect.Parameter.empty for p in beyond)


def test_whoever_acts_in_a_simulation_can_be_stopped_at_every_verb_that_asks_something_of_a_store() -> None:
    assert set(VERBS) - READS - WRITES == {"ensure", "bound", "listen", "close"}


def test_the_port_is_narrow() -> None:
    """A further verb needs a reason.

    That of `feed_end`: without it, whoever begins to listen reads all there was. That of `trim` and `log_size`: a log
    that nobody can shorten, or see the length of, grows for ever; and that of `sizes`: so does any other table. That of
    `scan`: a layout that changes takes every record along, also where no pattern finds all of them. That of
    `hold_writes`: a store is left behind only when nobody can write to it any more, however old his program is.
    """
    assert len(VERBS) <= 17
