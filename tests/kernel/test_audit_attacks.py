"""Attacks on the audit by somebody who may write to the store, generated: each kind of record, each way, each place.

The auditor has a digest that was printed before the attack and kept elsewhere. With it every attack is found; without
it, all but those of somebody who computes everything anew, which are marked here and named on the page of the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast

import pytest

from penstock import Store
from penstock.declare.entity import Entity
from penstock.domains.assetcreator.bookkeeping import Audit
from penstock.kernel.audit import AuditLine, SystemAudit, entry
from penstock.kernel.seals import (
    AuditedProject,
    Chain,
    Checkpoint,
    Kept,
    Seal,
    Verdict,
    checkpoint,
    read_chain,
    register,
    seal,
    seal_known,
    verify_all,
)
from penstock.operations.reads import Ref
from penstock.operations.writes import Write
from penstock.ports.engine import Engine
from tests.kernel.twins import Twin

TRAILS: tuple[type[AuditLine], ...] = (SystemAudit, Audit)
PROJECTS = ("one", "two")
LONG = timedelta(hours=1)


def write(store: Store, trail: type[AuditLine], project: str, *actors: str) -> None:
    """A line of each actor, a minute apart."""
    register(store, project, trail=trail)
    for actor in actors:
        line = entry(
            trail, project_id=project, ts=store.context.ticks.next(), actor=actor, action="put", details={"why": actor}
        )
        store.commit([line])
        store.clock.advance(timedelta(minutes=1))  # type: ignore[attr-defined]


def sealed(store: Store) -> list[Seal]:
    store.clock.advance(LONG)  # type: ignore[attr-defined]
    return list(seal_known(store, by="sealer", trails=TRAILS))


def lived(store: Store) -> Kept:
    """Three rounds of work in every trail, each sealed; the digest that is kept elsewhere."""
    for turn in range(3):
        for trail in TRAILS:
            for project in PROJECTS:
                write(store, trail, project, "ann", "bob")
        if turn == 1:
            register(store, "idle")
        sealed(store)
    last = store.first(Checkpoint.chain().reversed())
    assert last is not None
    return last.kept


def judged(store: Store, *kept: Kept) -> tuple[Chain, list[Verdict]]:
    chain = read_chain(store, expect=kept)
    return chain, list(verify_all(store, chain, trails=TRAILS))


def found(store: Store, *kept: Kept) -> set[str]:
    """What is not sound: the projects by name, and the checkpoints under "all"."""
    chain, verdicts = judged(store, *kept)
    return {v.project for v in verdicts if not v.sound} | (set() if chain.sound else {"all"})


# Who attacks


class Remembers(Twin):
    """An engine that knows what stood where it was written."""

    def __init__(self, engine: Any) -> None:
        super().__init__(engine)
        self.before: list[tuple[Ref[Any], Entity | None]] = []

    def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
        refs: list[Ref[Any]] = [Ref(w.shape, {n: w.key[n] for n in w.shape.key.fields}) for w in writes]
        stood = self._engine.get(refs, now=now)
        self._engine.commit(writes, now=now, token=token)
        self.before += zip(refs, stood, strict=True)


class Attacker:
    """Writes and removes whatever it likes, and can undo it."""

    def __init__(self, store: Store) -> None:
        self._own, self._engine = store, Remembers(store.engine)
        self.store = Store(cast(Engine, self._engine), clock=store.clock)

    def put(self, record: Entity) -> None:
        self.store.put(record)

    def remove(self, *records: Entity) -> None:
        for record in records:
            self.store.delete(record.ref)

    def alter(self, record: Entity, **values: Any) -> None:
        self.put(record.model_copy(update=values))

    def undo(self) -> None:
        for ref, record in reversed(self._engine.before):
            if record is None:
                self._own.delete(ref)
            else:
                self._own.put(record)

    # What there is

    def lines(self, project: str, trail: Any = SystemAudit) -> list[AuditLine]:
        return list(self.store.find(trail.of_project(project_id=project)))

    def seals(self, project: str, trail: Any = SystemAudit) -> list[Seal]:
        return list(self.store.find(Seal.of_trail(project_id=project, trail=trail.__shape__.label)))

    def row(self, project: str, trail: Any = SystemAudit) -> AuditedProject:
        return self.store.get(AuditedProject.at(project_id=project, trail=trail.__shape__.label))

    def checkpoints(self) -> list[Checkpoint]:
        return list(self.store.find(Checkpoint.chain()))


@dataclass(frozen=True)
class Attack:
    """Something that is done to the records, and whom it should lead to."""

    name: str
    do: Callable[[Attacker], object]
    blames: frozenset[str]
    "One of these must be named."
    shows: bool = True
    "Is it found without a digest that was kept elsewhere?"


PLACES = {"first": 0, "middle": 1, "last": -1}
"Of three seals, rounds and checkpoints."


def rehashed(line: AuditLine) -> AuditLine:
    return line.model_copy(update={"hash": line.sealed()})


def other(value: Any) -> Any:
    """Something else of the same kind."""
    match value:
        case None:
            return 7
        case str():
            return value[:-1] + ("0" if value[-1:] != "0" else "1")
        case int():
            return value + 1
        case datetime():
            return value + timedelta(microseconds=1)
        case dict():
            return {**value, "why": "forged"}
    raise AssertionError(f"no other value for {value!r}")


def ways(
    kind: str, get: Callable[[Attacker, int], Entity], fields: tuple[str, ...], blames: set[str]
) -> Iterator[Attack]:
    """Remove, alter each field, swap with a neighbour: at each place."""

    def removing(place: int) -> Callable[[Attacker], object]:
        return lambda a: a.remove(get(a, place))

    def altering(place: int, field: str) -> Callable[[Attacker], object]:
        def alter(a: Attacker) -> None:
            record = get(a, place)
            a.alter(record, **{field: other(getattr(record, field))})

        return alter

    def swapping(place: int) -> Callable[[Attacker], object]:
        def swap(a: Attacker) -> None:
            one, two = get(a, place), get(a, 0 if place else 1)
            a.alter(one, **{f: getattr(two, f) for f in fields})
            a.alter(two, **{f: getattr(one, f) for f in fields})

        return swap

    for where, place in PLACES.items():
        yield Attack(f"{kind}: {where} removed", removing(place), frozenset(blames))
        for field in fields:
            yield Attack(f"{kind}: {where} with another {field}", altering(place, field), frozenset(blames))
        yield Attack(f"{kind}: {where} swapped", swapping(place), frozenset(blames))


# Lines


def attacks_on_lines() -> Iterator[Attack]:
    for trail in TRAILS:
        yield from _on_lines_of(trail)


def _on_lines_of(trail: type[AuditLine]) -> Iterator[Attack]:
    of = f"line of {trail.__shape__.label}"

    def get(a: Attacker, place: int) -> AuditLine:
        return a.lines("one", trail)[place if place < 1 else 3]

    def reworded(a: Attacker, place: int) -> None:
        a.put(rehashed(get(a, place).model_copy(update={"action": "nothing"})))

    def inserted(a: Attacker, place: int) -> None:
        a.put(rehashed(get(a, place).model_copy(update={"actor": "zoe"})))

    def copied(a: Attacker, place: int) -> None:
        a.put(rehashed(get(a, place).model_copy(update={"project_id": "two", "actor": "zoe"})))

    def moved(a: Attacker, place: int) -> None:
        line = get(a, place)
        a.remove(line)
        a.put(rehashed(line.model_copy(update={"project_id": "two", "actor": "zoe"})))

    yield from ways(of, get, ("action", "details", "hash"), {"one"})
    for where, place in PLACES.items():
        yield Attack(f"{of}: {where} reworded", partial(reworded, place=place), frozenset({"one"}))
        yield Attack(f"{of}: inserted at {where}", partial(inserted, place=place), frozenset({"one"}))
        yield Attack(f"{of}: {where} copied", partial(copied, place=place), frozenset({"two"}))
        yield Attack(f"{of}: {where} moved", partial(moved, place=place), frozenset({"one", "two"}))
    yield Attack(f"{of}: all removed", lambda a: a.remove(*a.lines("one", trail)), frozenset({"one"}))


# Seals


def attacks_on_seals() -> Iterator[Attack]:
    for trail in TRAILS:
        yield from _on_seals_of(trail)


def _on_seals_of(trail: type[AuditLine]) -> Iterator[Attack]:
    fields = ("since", "until", "count", "previous", "digest", "sealed_at", "sealed_by")
    of = f"seal of {trail.__shape__.label}"

    def get(a: Attacker, place: int) -> Seal:
        return a.seals("one", trail)[place]

    def inserted(a: Attacker, number: int) -> None:
        a.put(get(a, -1).model_copy(update={"number": number}))

    def copied(a: Attacker, place: int) -> None:
        a.put(get(a, place).model_copy(update={"project_id": "two", "number": place % 3 + 1}))

    for attack in ways(of, get, fields, {"one"}):
        if not attack.name.endswith("first with another since"):  # there is none: it is another kind of value
            yield attack
    for number in (4, 9):
        yield Attack(f"{of}: {number} inserted", partial(inserted, number=number), frozenset({"one"}))
    for where, place in PLACES.items():
        yield Attack(f"{of}: {where} copied", partial(copied, place=place), frozenset({"two"}))
    yield Attack(f"{of}: all removed", lambda a: a.remove(*a.seals("one", trail)), frozenset({"one"}))
    yield Attack(f"{of}: a foreign one", lambda a: a.put(foreign(a, trail)), frozenset({"nobody"}))


def foreign(a: Attacker, trail: Any) -> Seal:
    """A seal of a project that is in no register."""
    return a.seals("one", trail)[0].model_copy(update={"project_id": "nobody"})


# The register


ROWS = ("idle", "one", "two")


def attacks_on_the_register() -> Iterator[Attack]:
    """Its first row, one in the middle and its last are of three projects."""
    for name in ROWS:
        yield from _on_row_of(name)
    yield Attack("row: another end", lambda a: a.alter(a.row("one"), until=a.store.clock.now()), frozenset({"one"}))
    yield Attack(
        "row: an end too early", lambda a: a.alter(a.row("idle"), until=a.store.clock.now()), frozenset({"idle"})
    )
    yield Attack(
        "row: as if never named",
        lambda a: a.alter(a.row("one"), checkpoint=None, listed=None),
        frozenset({"one"}),
    )
    yield Attack("row: swapped", _swap_rows, frozenset({"one", "two"}))
    yield Attack("row: copied", lambda a: a.alter(a.row("one"), project_id="copy"), frozenset({"copy"}))
    yield Attack("row: copied over", lambda a: a.alter(a.row("one"), project_id="two"), frozenset({"two"}))
    yield Attack("row: moved", _move_row, frozenset({"one", "copy"}))
    yield Attack("row: of another trail", lambda a: a.put(_of_the_other_trail(a)), frozenset({"idle"}))
    yield Attack("rows: all removed", lambda a: a.remove(*(a.row(n) for n in ROWS)), frozenset(PROJECTS))
    yield Attack(
        "row: all of a project's removed", lambda a: a.remove(*(a.row("one", t) for t in TRAILS)), frozenset({"one"})
    )


def _on_row_of(name: str) -> Iterator[Attack]:
    fields = ("number", "digest", "checkpoint", "listed")
    for attack in ways(f"row of {name}", lambda a, _: a.row(name), fields, {name}):
        if "first" in attack.name and "swapped" not in attack.name:
            yield attack


def _of_the_other_trail(a: Attacker) -> AuditedProject:
    return a.row("idle").model_copy(update={"trail": "assetcreator.Audit"})


def _swap_rows(a: Attacker) -> None:
    one, two = a.row("one"), a.row("two")
    a.alter(one, project_id="two")
    a.alter(two, project_id="one")


def _move_row(a: Attacker) -> None:
    row = a.row("one")
    a.remove(row)
    a.alter(row, project_id="copy")


# Checkpoints


def attacks_on_checkpoints() -> Iterator[Attack]:
    def get(a: Attacker, place: int) -> Checkpoint:
        return a.checkpoints()[place]

    anybody = {"all", *PROJECTS}
    yield from ways("checkpoint", get, ("previous", "made_at", "made_by", "digest"), anybody)
    for where, place in PLACES.items():
        for name, change in HEADS.items():
            yield Attack(f"checkpoint: {where}, {name}", _with_heads(place, change), frozenset(anybody))
            yield Attack(
                f"checkpoint: {where}, {name}, fitting", _with_heads(place, change, fit=True), frozenset(anybody)
            )
        yield Attack(f"checkpoint: {where} copied", _copied(place), frozenset(anybody))
        yield Attack(f"checkpoint: {where} and later removed", _cut(place), frozenset(anybody))
    yield Attack("checkpoint: an empty one inserted", _inserted([]), frozenset(anybody))
    yield Attack("checkpoint: one more inserted", _inserted(None), frozenset(anybody))
    yield Attack("checkpoint: one far away", lambda a: a.alter(a.checkpoints()[-1], number=99), frozenset(anybody))
    yield Attack("checkpoint: all written anew as of somebody else", _rechained, frozenset(anybody), shows=False)
    yield Attack("checkpoints: as if there never were any", _as_before_the_upgrade, frozenset(anybody), shows=False)


HEADS: dict[str, Callable[[list[Any]], list[Any]]] = {
    "names one less": lambda heads: heads[1:],
    "names one twice": lambda heads: [*heads, heads[0]],
    "another digest": lambda heads: [heads[0].model_copy(update={"digest": "0" * 64}), *heads[1:]],
    "another seal": lambda heads: [heads[0].model_copy(update={"number": heads[0].number + 1}), *heads[1:]],
    "another former": lambda heads: [heads[0].model_copy(update={"former": 5}), *heads[1:]],
    "another project": lambda heads: [heads[0].model_copy(update={"project_id": "zero"}), *heads[1:]],
    "names nothing": lambda heads: [],
}


def _with_heads(
    place: int, change: Callable[[list[Any]], list[Any]], *, fit: bool = False
) -> Callable[[Attacker], None]:
    def attack(a: Attacker) -> None:
        made = a.checkpoints()[place]
        made.heads = change(made.heads)
        if fit:
            made.digest = made.computed()
        a.put(made)

    return attack


def _copied(place: int) -> Callable[[Attacker], None]:
    def attack(a: Attacker) -> None:
        a.alter(a.checkpoints()[place], number=4)

    return attack


def _cut(place: int) -> Callable[[Attacker], None]:
    def attack(a: Attacker) -> None:
        a.remove(*a.checkpoints()[place:])

    return attack


def _inserted(heads: list[Any] | None) -> Callable[[Attacker], None]:
    """One that continues the chain as it should."""

    def attack(a: Attacker) -> None:
        last = a.checkpoints()[-1]
        more = last.model_copy(update={"number": last.number + 1, "previous": last.digest})
        if heads is not None:
            more.heads = heads
        more.digest = more.computed()
        a.put(more)

    return attack


def _rechained(a: Attacker) -> None:
    previous = ""
    for made in a.checkpoints():
        made.made_by, made.previous = "forger", previous
        made.digest = previous = made.computed()
        a.put(made)


def _as_before_the_upgrade(a: Attacker) -> None:
    a.remove(*a.checkpoints())
    for trail in TRAILS:
        for row in list(a.store.find(AuditedProject.of_trail(trail=trail.__shape__.label))):
            a.alter(row, checkpoint=None, listed=None)


# Whole projects, and whoever computes everything anew


def attacks_on_everything() -> Iterator[Attack]:
    one = frozenset({"one"})
    yield Attack("project: lines and row removed", lambda a: _emptied(a, "one", "lines", "row"), one)
    yield Attack("project: lines and seals removed", lambda a: _emptied(a, "one", "lines", "seals"), one)
    yield Attack("project: seals and row removed", lambda a: _emptied(a, "one", "seals", "row"), one)
    yield Attack("project: everything of it removed", lambda a: _emptied(a, "one", "lines", "seals", "row"), one)
    yield Attack(
        "project: everything of it, and the checkpoints, removed", _without_a_project, frozenset({"one", "two", "all"})
    )
    yield Attack("project: the newest seal with its lines, the row set back", _set_back, one)
    yield Attack("project: begun anew", _begun_anew, one)
    yield Attack("project: begun anew and named again", lambda a: _begun_anew(a, name=True), one | {"all"})
    yield Attack("all: nothing left but checkpoints", lambda a: _all_removed(a, checkpoints=False), one)
    yield Attack("all: nothing left", lambda a: _all_removed(a, checkpoints=True), frozenset({"all"}), shows=False)
    yield Attack("all: written anew without a line", _all_anew, frozenset({"all", "one"}), shows=False)
    yield Attack("all: a project left out of everything", _left_out, frozenset({"all", "one"}), shows=False)
    yield Attack("project: written anew behind the same checkpoints", _behind, one)
    yield Attack("project: written anew, and honestly continued", partial(_behind, more=True), one)


def _emptied(a: Attacker, project: str, *parts: str) -> None:
    for trail in TRAILS:
        if "lines" in parts:
            a.remove(*a.lines(project, trail))
        if "seals" in parts:
            a.remove(*a.seals(project, trail))
        if "row" in parts:
            a.remove(a.row(project, trail))


def _without_a_project(a: Attacker) -> None:
    _emptied(a, "one", "lines", "seals", "row")
    a.remove(*a.checkpoints())


def _set_back(a: Attacker) -> None:
    """As if the third round had never been."""
    *_, second, last = a.seals("one")
    a.remove(last, *a.lines("one")[-2:])
    a.alter(a.row("one"), number=2, digest=second.digest, until=second.until, listed=2, checkpoint=2)


def _begun_anew(a: Attacker, *, name: bool = False) -> None:
    """Another history of the project, under honest seals."""
    _emptied(a, "one", "lines", "seals", "row")
    for trail in TRAILS:
        for _ in range(3):
            write(a.store, trail, "one", "forger")
            a.store.clock.advance(LONG)  # type: ignore[attr-defined]
            assert seal(a.store, "one", by="forger", trail=trail) is not None
    if name:
        assert checkpoint(a.store, by="forger", trails=TRAILS) is not None


def _all_removed(a: Attacker, *, checkpoints: bool) -> None:
    for project in PROJECTS:
        _emptied(a, project, "lines", "seals", "row")
    a.remove(a.row("idle"))
    if checkpoints:
        a.remove(*a.checkpoints())


def _anew(a: Attacker) -> None:
    """Seals, register and checkpoints are made again, from the lines as they are now."""
    for trail in TRAILS:
        for project in PROJECTS:
            a.remove(*a.seals(project, trail))
            row = a.store.lookup(AuditedProject.at(project_id=project, trail=trail.__shape__.label))
            if row is not None:
                a.put(AuditedProject(project_id=project, trail=row.trail))
    a.put(AuditedProject(project_id="idle", trail=a.row("idle").trail))
    a.remove(*a.checkpoints())
    assert list(seal_known(a.store, by="forger", trails=TRAILS))


def _all_anew(a: Attacker) -> None:
    a.remove(a.lines("one")[1])
    _anew(a)


def _left_out(a: Attacker) -> None:
    _emptied(a, "one", "lines", "seals", "row")
    _anew(a)


def _behind(a: Attacker, *, more: bool = False) -> None:
    """The trails are sealed anew, as often as before; checkpoints stay, the rows are set as they say."""
    marks = {trail: (a.row("one", trail).checkpoint, a.row("one", trail).listed) for trail in TRAILS}
    _begun_anew(a)
    for trail, (number, listed) in marks.items():
        a.alter(a.row("one", trail), checkpoint=number, listed=listed)
        if more:
            write(a.store, trail, "one", "ann")
    if more:
        assert len(sealed(a.store)) == len(TRAILS)


ATTACKS = {
    "lines": attacks_on_lines,
    "seals": attacks_on_seals,
    "register": attacks_on_the_register,
    "checkpoints": attacks_on_checkpoints,
    "everything": attacks_on_everything,
}


@pytest.mark.parametrize("kind", ATTACKS)
def test_every_attack_is_found_and_named(store: Store, kind: str) -> None:
    kept = lived(store)
    assert found(store, kept) == set()
    wrong = []
    for attack in ATTACKS[kind]():
        attacker = Attacker(store)
        attack.do(attacker)
        with_digest, without = found(store, kept), found(store)
        if not with_digest & attack.blames:
            wrong.append(f"{attack.name}: with the digest {with_digest or 'nothing'} is blamed")
        if bool(without & attack.blames) is not attack.shows:
            wrong.append(f"{attack.name}: without the digest {without or 'nothing'} is blamed")
        attacker.undo()
    assert wrong == []
    assert found(store, kept) == set(), "each of them was undone"
