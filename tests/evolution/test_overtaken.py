"""Whoever writes a record right before it is brought along has brought it along, and nothing of that is undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from penstock import Store
from penstock.evolution.backfill import Backfill
from penstock.evolution.migration import Migration
from penstock.operations.writes import Write
from penstock.ports.scanning import scanned
from tests.beneath import beneath
from tests.evolution.proof.kinds import KINDS
from tests.kernel.layouts.conftest import OpenStore
from tests.kernel.layouts.films import cinema


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_written_in_the_last_moment_stays(
    store: Store, another: OpenStore, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    declared = KINDS[kind]
    old, new = declared.old.declared("cinema"), declared.new.declared("cinema")
    before, writer, runner = another(), another(), another()
    before.ensure(cinema(old))
    before.put_many([old(film_id=str(n), author=f"a{n}", stars=1) for n in range(6)])
    writer.ensure(cinema(new))
    runner.ensure(cinema(new))
    more = {"good": False} if "good" in declared.new.fields else {}  # which no rule would say of six stars
    todo = {str(n): {**declared.to_new({"author": f"b{n}", "stars": 6}), **more} for n in range(6)}
    todo = {name: {n: v for n, v in values.items() if n != "loud"} for name, values in todo.items()}
    written: dict[str, Any] = {}
    write = Backfill._write

    def overtaken(self: Backfill, writes: list[Write]) -> bool:
        for name in {w.key["film_id"] for w in writes if "film_id" in w.key} & todo.keys():
            written[name] = new(film_id=name, **todo.pop(name))
            writer.put(written[name])
        return write(self, writes)

    monkeypatch.setattr(Backfill, "_write", overtaken)
    Migration(runner, new.__shape__, segments=1, page=4, shut_out=True).run()
    for name, record in written.items():
        assert runner.get(new.at(film_id=name)) == record
    found = [f for page in scanned(beneath(runner), new.__shape__) for f in page.found]
    assert [f.record.film_id for f in found if f.stale] == []
    assert sorted(f.record.film_id for f in found) == [str(n) for n in range(6)]
    if declared.new.index is not None:
        for record in _in_index(declared.new.when, [*written.values()]):
            led = {n: getattr(record, n) for n in declared.new.fields if f"{{{n}" in declared.new.index[0]}
            assert record in list(runner.find(new.by_shelf(**led)))


def _in_index(when: Any, records: Sequence[Any]) -> list[Any]:
    return [r for r in records if all(getattr(r, name) in allowed for name, allowed in (when or {}).items())]
