"""How many functions the usual operations call: slowness creeps in one harmless look at a time.

A count is the same on every machine, so it can be a test, where a time could not. A limit has about a tenth to spare;
whoever needs more shows with `make bench` that it is worth it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import Any
from uuid import UUID

import pytest

from penstock import Domain, Entity, Move, Store, Table, key, open_store, pattern
from penstock.declare import Seconds, UtcSeconds
from penstock.engines.sql.engine import SqlEngine
from penstock.schema.generated import expressed
from penstock.schema.kinds import key_text
from penstock.schema.object_key import ObjectKey

PROJECT = UUID("550e8400-e29b-41d4-a716-446655440000")


class Light(StrEnum):
    OFF = "off"
    ON = "on"


class Shot(Entity, table=Table("Shots", partition="PK", sort="SK")):
    """A record of a usual size: a state, texts, a number, moments, a list, files."""

    project_id: UUID
    sequence: int
    light: Light = Light.OFF
    prompt: str
    seconds: Seconds
    pictures: list[ObjectKey] | None = None
    clip: ObjectKey | None = None
    note: str | None = None
    created_at: UtcSeconds

    @key("PROJECT#{project_id}", "SHOT#{sequence:03d}")
    def at(self, *, project_id: UUID, sequence: int) -> None: ...

    @pattern(at)
    def of_project(self, *, project_id: UUID) -> None:
        """The shots of a project, in order."""

    switch_on = Move(Light.OFF, to=Light.ON)
    switch_off = Move(Light.ON, to=Light.OFF)


DOMAIN = Domain(
    "effort", Shot, files=("p/{project_id}/face.png", "p/{project_id}/hand.png", "p/{project_id}/{sequence:03d}.mp4")
)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    # The watch over what tests store is not what is counted.
    monkeypatch.setattr(SqlEngine, "commit", inspect.unwrap(SqlEngine.commit))
    store = open_store(f"sqlite:///{tmp_path}/effort.db")
    store.ensure(DOMAIN)
    store.put_many(shot(store, n) for n in range(1, 101))
    yield store
    store.close()


def shot(store: Store, sequence: int) -> Shot:
    return Shot(
        project_id=PROJECT,
        sequence=sequence,
        prompt="Robot walking through downtown Austin at dusk",
        seconds=4.5,
        pictures=[f"p/{PROJECT}/face.png", f"p/{PROJECT}/hand.png"],
        clip=f"p/{PROJECT}/{sequence:03d}.mp4",
        created_at=store.clock.now(),
    )


def calls(operation: Callable[[], object]) -> int:
    """How many Python functions it calls, once all that is compiled and opened once is."""
    operation()
    operation()
    count = 0

    def called(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        operation()
    finally:
        sys.setprofile(before)
    return count


def test_a_get(store: Store) -> None:
    assert calls(lambda: store.get(Shot.at(project_id=PROJECT, sequence=1))) <= 18


def test_a_put(store: Store) -> None:
    record = shot(store, 1)
    assert calls(lambda: store.put(record)) <= 33


def test_a_list_of_a_hundred(store: Store) -> None:
    assert calls(lambda: list(store.find(Shot.of_project(project_id=PROJECT)))) <= 480


def test_a_change_of_state_with_its_line_and_its_message(store: Store) -> None:
    record = store.get(Shot.at(project_id=PROJECT, sequence=1))

    def switch() -> None:
        with store.change(by="ann") as change:
            change.track(record)
            record.switch_on() if record.light is Light.OFF else record.switch_off()
            change.save(record)
            change.emit("shot.switched", record, light=record.light.value)

    assert calls(switch) <= 92


@pytest.mark.parametrize("sequence", [0, 1, 999])
def test_the_texts_of_keys(sequence: int) -> None:
    """What makes the key of every item that is written calls nothing else, for ids and for numbers that fit."""
    key, names, values = Shot.__shape__.key, dict[str, Any](), {"project_id": PROJECT, "sequence": sequence}
    assert key.sort is not None
    texts = f"{key.partition.expression('v', names)} + {key.sort.expression('v', names)}"
    made = expressed("made", "v", texts, about="Shot", names=names)
    assert calls(lambda: made(values)) == 2
    assert made(values) == f"PROJECT#{PROJECT}SHOT#{sequence:03d}"
    assert calls(lambda: key_text(Shot.__shape__.fields["project_id"], PROJECT)) == 2


def test_a_look_at_each_field_would_be_noticed(store: Store) -> None:
    """The limits can be broken: so much more is over the limit of a put."""
    record = shot(store, 1)

    def careful() -> None:
        for name in Shot.__shape__.fields:
            (lambda value: value is None)(getattr(record, name))
        store.put(record)

    assert calls(careful) > 33
