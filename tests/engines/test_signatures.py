"""Every engine has the methods of the protocol, with the same parameters."""

from __future__ import annotations

import inspect

import pytest

from penstock.engines.dynamodb import DynamoEngine
from penstock.engines.sql.engine import SqlEngine
from penstock.ports.engine import Engine
from tests.kernel.model import ModelEngine

VERBS = [name for name, member in vars(Engine).items() if inspect.isfunction(member) and not name.startswith("_")]


@pytest.mark.parametrize("engine", [SqlEngine, DynamoEngine, ModelEngine])
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


def test_the_port_is_narrow() -> None:
    """A further verb needs a reason.

    That of `feed_end`: without it, whoever begins to listen reads all there was. That of `trim` and `log_size`: a log
    that nobody can shorten, or see the length of, grows for ever; and that of `sizes`: so does any other table. That of
    `scan`: a layout that changes takes every record along, also where no pattern finds all of them.
    """
    assert len(VERBS) <= 16
