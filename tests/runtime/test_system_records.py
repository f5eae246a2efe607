"""What a system keeps for itself is created with every store that is opened, and a bare store knows the kernel only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from penstock import Domain, Entity, Store, open_store
from penstock.declare.rights import creation_permission, move_permission
from penstock.kernel.lease import NamedLease
from penstock.kernel.outbox import Message
from penstock.kernel.own_records import KERNEL
from penstock.kernel.system import SYSTEM
from penstock.lifecycle.reaper import Reaper
from penstock.review.note import REVIEW_RECORDS
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.permission import SYSTEM as SYSTEM_ONLY
from penstock.schema.role import Role
from penstock.work.working import WORKING

RELATIONS = [
    "feeds",
    "feed_letters",
    "outbox",
    "audit",
    "once",
    "leases",
    "seals",
    "audited_projects",
    "audit_checkpoints",
    "schedules",
    "uploads",
    "released_files",
    "api_keys",
    "rate_buckets",
    "quota_uses",
    "quota_holds",
    "history_traces",
    "untraced_periods",
    "held_messages",
    "unique_values",
    "layouts",
    "layout_editions",
    "former_layouts",
    "layout_knowers",
    "migration_segments",
    "feed_marks",
    "guest_links",
    "sidecars",
    "transfers",
    "review_notes",
    "reviewed_records",
    "review_news",
    "browser_sessions",
    # The log of changes, which those follow who watch a review.
    *("changes", "cause", "trimmed"),
]
"As they were planned before the records were given to the store: what stands is never renamed or moved."

HIDDEN = {
    *("layouts", "layout_editions", "former_layouts", "layout_knowers", "migration_segments"),
    *("api_keys", "browser_sessions", "guest_links", "sidecars"),
}
SEALED = {"seals"}
ADDED_TO = {"audit", "audited_projects", "released_files"}
NEVER_REMOVED = {"outbox", "held_messages", "once", "leases", "uploads"}
"What a handle of one project may not do with the system's records of that project: each set is freer than the former."


def created(store: Store, *domains: Domain) -> list[str]:
    return [step.name for step in store.ensure(*domains, dry_run=True) if step.kind == "create table"]


def test_an_opened_store_creates_what_the_system_keeps_for_itself(tmp_path: Path) -> None:
    with closing(open_store(f"sqlite:///{tmp_path}/all.db")) as store:
        assert created(store) == [f"penstock_{relation}" for relation in RELATIONS]
        store.ensure()
        assert created(store) == []


def test_a_bare_store_creates_what_the_kernel_keeps(tmp_path: Path) -> None:
    with closing(open_store(f"sqlite:///{tmp_path}/bare.db")) as store:
        bare = Store(store.engine)
        names = created(bare)
        assert set(names) < set(created(store))
        assert names == [f"penstock_{shape.relation}" for shape in KERNEL.shapes]
        bare.ensure()
        with bare.change(by="ann", project="p") as change:
            change.put(NamedLease(name="lamp"))


def test_no_record_of_the_system_is_left_out() -> None:
    kept = {entity for entity in _entities(Entity) if getattr(entity, "__table__", None) is SYSTEM}
    assert kept == set(SYSTEM_RECORDS.entities) - set(REVIEW_RECORDS)  # which have tables of their own
    assert set(KERNEL.entities) == {e for e in kept if e.__module__.startswith("penstock.kernel.")}
    assert {shape.domain for shape in SYSTEM_RECORDS.shapes} == {"penstock"}


def test_what_the_system_keeps_is_its_own_through_every_door() -> None:
    """A person creates none of it, and makes two moves: a message that nobody took is told again, or given up."""
    for domain in (SYSTEM_RECORDS, WORKING):
        for entity in domain.entities:
            assert creation_permission(entity.__shape__) is SYSTEM_ONLY, entity
            for name, move in entity.__moves__.items():
                allowed = Role.ADMIN if issubclass(entity, Message) and name in ("revive", "dismiss") else SYSTEM_ONLY
                assert move_permission(entity.__shape__, move) is allowed, (entity, name)


def test_a_handle_of_one_project_keeps_what_its_store_keeps(tmp_path: Path) -> None:
    with closing(open_store(f"sqlite:///{tmp_path}/one.db")) as store:
        assert store.scoped("p").own is store.own is SYSTEM_RECORDS


def test_a_handle_of_one_project_may_do_no_more_than_it_must() -> None:
    """A worker that is led astray forgets no message and no repeated request, and rewrites no line of the audit."""
    rights = {shape.relation: shape.rights for shape in SYSTEM_RECORDS.shapes}
    assert {r for r, allowed in rights.items() if not allowed.read} == HIDDEN
    assert {r for r, allowed in rights.items() if not allowed.add} == HIDDEN | SEALED
    assert {r for r, allowed in rights.items() if not allowed.change} == HIDDEN | SEALED | ADDED_TO
    assert {r for r, allowed in rights.items() if not allowed.remove} == HIDDEN | SEALED | ADDED_TO | NEVER_REMOVED


def test_the_reaper_removes_what_the_system_kept_too_long(tmp_path: Path) -> None:
    with closing(open_store(f"sqlite:///{tmp_path}/reaped.db")) as store:
        store.ensure()
        assert Reaper(store, [], owner="reaper").run_once() == {"penstock": 0}


def _entities(kind: type[Entity]) -> Iterator[type[Entity]]:
    for entity in kind.__subclasses__():
        yield entity
        yield from _entities(entity)
