"""What a store's handles share in a process, and what two stores never do."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from penstock import FrozenClock, open_store
from penstock.kernel.audit_register import AuditedProject, enlist


def test_handles_of_one_store_share_a_context_and_two_stores_never_do(tmp_path: Path) -> None:
    clock = FrozenClock()
    with (
        closing(open_store(f"sqlite:///{tmp_path}/one.db", clock=clock)) as one,
        closing(open_store(f"sqlite:///{tmp_path}/two.db", clock=clock)) as two,
    ):
        scoped = one.scoped("p")
        assert scoped.context is one.context
        assert scoped.clock is one.clock is clock
        scoped.context.known("lamps")["hall"] = "on"
        assert one.context.known("lamps") == {"hall": "on"}
        assert one.context.known("doors") == two.context.known("lamps") == {}


def test_a_trail_is_registered_in_each_store_though_one_process_writes_to_both(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with closing(open_store(f"sqlite:///{tmp_path}/{name}.db")) as store:
            store.ensure()
            enlist(store, "p")
            enlist(store, "p")
            assert [r.project_id for r in store.find(AuditedProject.of_trail(trail="penstock.SystemAudit"))] == ["p"]
