"""A cinema whose films get another name for a field, in an index too, while both declarations write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from penstock import Store
from penstock.errors import Conflict
from penstock.kernel.layouts.stored_layout import StoredLayout
from penstock.testing.simulation import (
    Actor,
    EvolvingEngine,
    Process,
    Scene,
    World,
    at_rest,
    doing,
    invariant,
    migrator,
    scene_of,
)
from penstock.testing.simulation.invariants import settled
from tests.evolution.proof.kinds import KINDS
from tests.kernel.layouts.films import Declared, cinema

KIND = KINDS["another name in an index"]
OLD, NEW = KIND.old.declared("cinema"), KIND.new.declared("cinema")
_CONCERNED = {NEW.__shape__.label, StoredLayout.__shape__.label}
FILMS = {"old": OLD, "new": NEW}
"By which declaration each film is written."


def begin(store: Store) -> None:
    store.ensure(cinema(OLD))
    store.put_many([OLD(film_id=film, author=f"{film} 0", stars=0) for film in FILMS])


def _rate(process: Process, *, declared: Declared, film: str, stars: int) -> None:
    with process.store.change() as change:
        found = change.get(declared.at(film_id=film))
        if found.stars != stars - 1:
            raise Conflict("it was rated before, or is not its turn yet")
        found.stars = stars
        setattr(found, "author" if declared is OLD else "writer", f"{film} {stars}")
        change.save(found)


@invariant
def both_read_what_was_written_last(world: World) -> None:
    """Whoever reads, by either declaration, reads what was written last."""
    if not any(touched.shape.label in _CONCERNED for touched in world.touched):
        return
    seen: dict[str, int] = world.notes.setdefault("stars", {})
    for film in FILMS:
        found = [world.lookup(declared.at(film_id=film)) for declared in (OLD, NEW)]
        told = {(each.stars, getattr(each, "author", None) or each.writer) for each in found if each is not None}
        assert len(told) == 1, f"{film} is {told or 'lost'}"
        ((stars, name),) = told
        assert name == f"{film} {stars}", f"{film} has {stars} stars, and is by {name}"
        assert stars >= seen.get(film, 0), f"{film} had {seen[film]} stars, and has {stars}"
        seen[film] = stars


@at_rest
def all_came_along(world: World) -> None:
    """In the end all records have the new layout, with all that anybody wrote, and are found by the index."""
    assert {layout.stage for layout in world.records(StoredLayout)} == {None}, "it is not migrated to its end"
    for film in FILMS:
        found = [(each.film_id, each.stars) for each in world.store.find(NEW.by_shelf(writer=f"{film} 3"))]
        assert found == [(film, 3)], f"found are {found}"
    steps = [step.kind for step in world.store.ensure(cinema(NEW), dry_run=True)]
    assert steps == list(KIND.left), f"left to do is {steps}"


MIGRATED = (both_read_what_was_written_last, all_came_along)


def cast(migrators: Sequence[str] = ("migrator",)) -> list[Actor]:
    writers = [
        doing(f"{film} writer", *(partial(_rate, declared=declared, film=film, stars=n) for n in (1, 2, 3)))
        for film, declared in FILMS.items()
    ]
    return [
        *(replace(writer, steady=True) for writer in writers),
        *(migrator(cinema(NEW), name=name) for name in migrators),
    ]


def migrated(*migrators: str) -> Scene:
    """Two write, each by a declaration of its own, while a third migrates."""
    scene = scene_of(begin, actors=cast(migrators or ("migrator",)), invariants=MIGRATED)
    return replace(scene, engine=EvolvingEngine, is_done=settled(*scene.at_rest), most_steps=20_000)


def migrated_by_two() -> Scene:
    """Whichever of two goes on where the other has stood still."""
    return migrated("migrator 1", "migrator 2")
