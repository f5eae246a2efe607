"""Bodies of every kind, rigged and animated once a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from penstock.studio.modelling.model import Model
from tests.studio.modelling.bodies import animal, box, chibi, person, robed
from tests.studio.modelling.orders import animated

Cast = Callable[[str], Path]

BODIES: dict[str, tuple[Callable[[], Model], str]] = {
    "arms down": (lambda: person(out=0.2), "HUMANOID"),
    "arms out": (lambda: person(out=1.0), "HUMANOID"),
    "arms up": (lambda: person(out=1.6), "HUMANOID"),
    "a large head": (chibi, "HUMANOID"),
    "a robe": (robed, "HUMANOID"),
    "an animal from the side": (animal, "QUADRUPED"),
    "an animal from the front": (lambda: animal(along="z"), "QUADRUPED"),
    "an animal whose legs are two": (lambda: animal(apart=False), "QUADRUPED"),
    "a thing": (box, "STATIC"),
}
HUMANOIDS = [name for name, (_, kind) in BODIES.items() if kind == "HUMANOID"]


@pytest.fixture(scope="session")
def cast(tmp_path_factory: pytest.TempPathFactory) -> Cast:
    """The folder with one of them as it left each step: ``retopo.glb``, ``rig.glb``, ``anim.glb``."""

    @cache
    def made(name: str) -> Path:
        build, kind = BODIES[name]
        return animated(build(), tmp_path_factory.mktemp("cast"), kind=kind).parent

    return made
