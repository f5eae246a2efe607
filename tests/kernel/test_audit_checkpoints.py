"""Checkpoints: one short text vouches for every trail, for as long as one cares to keep it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from penstock import Store
from penstock.domains.assetcreator.bookkeeping import Audit
from penstock.errors import DamagedRecord, InvalidValue
from penstock.kernel.audit import SystemAudit
from penstock.kernel.seals import (
    AuditedProject,
    Checkpoint,
    Kept,
    Seal,
    checkpoint,
    kept_digests,
    projects,
    read_chain,
    register,
    seal,
    seal_known,
    verify,
    verify_all,
)
from penstock.kernel.seals.verdict import _MOST
from penstock.operations.updates import Remove
from penstock.operations.writes import Write
from penstock.ports.engine import Engine
from tests.kernel.forger import Forger, hire_forger
from tests.kernel.test_audit_attacks import TRAILS, found, judged, lived, sealed, write
from tests.kernel.twins import Twin

LONG = timedelta(hours=1)


@pytest.fixture
def forger(store: Store, engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Forger:
    return hire_forger(store, engine_name, tmp_path, request)


def checkpoints(store: Store) -> list[Checkpoint]:
    return list(store.find(Checkpoint.chain()))


class Counts(Twin):
    """An engine that counts what is committed, and dies before a certain one."""

    def __init__(self, engine: Any, *, dies_at: int | None = None) -> None:
        super().__init__(engine)
        self.commits, self._dies_at = 0, dies_at

    def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
        if self.commits == self._dies_at:
            raise KeyboardInterrupt
        self.commits += 1
        self._engine.commit(writes, now=now, token=token)


class TestWriting:
    def test_a_checkpoint_names_what_was_registered_or_sealed_since_the_last(self, store: Store) -> None:
        write(store, SystemAudit, "one", "ann")
        write(store, Audit, "one", "ann")
        register(store, "idle")
        sealed(store)
        write(store, SystemAudit, "one", "bob")
        sealed(store)
        first, second = checkpoints(store)
        named = [(h.trail, h.project_id, h.former, h.number) for h in first.heads]
        assert named == [
            ("penstock.SystemAudit", "idle", None, 0),
            ("penstock.SystemAudit", "one", None, 1),
            ("assetcreator.Audit", "one", None, 1),
        ]
        assert [(h.project_id, h.former, h.number) for h in second.heads] == [("one", 1, 2)]
        assert (first.previous, second.previous) == ("", first.digest)

    def test_nothing_new_costs_no_write(self, store: Store) -> None:
        lived(store)
        store.clock.advance(LONG)  # type: ignore[attr-defined]
        counted = Counts(store.engine)
        assert sealed(Store(cast(Engine, counted), clock=store.clock)) == []
        assert counted.commits == 0

    def test_what_was_kept_stays_true_however_much_is_added(self, store: Store) -> None:
        kept = []
        for turn in range(4):
            write(store, SystemAudit, "one", "ann")
            write(store, SystemAudit, f"p{turn}", "ann")
            sealed(store)
            kept.append(checkpoints(store)[-1].kept)
        chain, verdicts = judged(store, *kept)
        assert chain.sound
        assert all(v.sound for v in verdicts)
        assert chain.proved == kept[-1]
        assert found(store, kept[0]) == set()

    def test_a_digest_of_another_store_is_told(self, store: Store) -> None:
        lived(store)
        assert found(store, Kept(2, "0" * 64)) == {"all"}
        assert found(store, Kept(77, "0" * 64)) == {"all"}

    def test_of_two_who_write_one_at_once_one_wins(self, store: Store, open_engine: Callable[[], Engine]) -> None:
        write(store, SystemAudit, "one", "ann")
        rival = Store(open_engine(), clock=store.clock)

        class Overtaken(Twin):
            """Another is quicker, after everything was read here."""

            def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
                assert checkpoint(rival, by="rival") is not None
                self._engine.commit(writes, now=now, token=token)

        slow = Store(cast(Engine, Overtaken(store.engine)), clock=store.clock)
        assert checkpoint(slow, by="slow") is None
        assert [c.made_by for c in checkpoints(store)] == ["rival"]
        assert found(store) == set()

    def test_a_seal_written_while_a_checkpoint_is_made_is_named_by_the_next(
        self, store: Store, open_engine: Callable[[], Engine]
    ) -> None:
        write(store, SystemAudit, "one", "ann")
        store.clock.advance(LONG)  # type: ignore[attr-defined]
        rival = Store(open_engine(), clock=store.clock)

        class Overtaken(Twin):
            def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
                assert seal(rival, "one", by="rival") is not None
                self._engine.commit(writes, now=now, token=token)

        slow = Store(cast(Engine, Overtaken(store.engine)), clock=store.clock)
        assert checkpoint(slow, by="slow") is not None
        assert checkpoint(store, by="sealer") is not None
        assert [[h.number for h in c.heads] for c in checkpoints(store)] == [[0], [1]]
        assert found(store) == set()

    def test_a_sealer_that_read_before_a_checkpoint_leaves_its_mark(
        self, store: Store, open_engine: Callable[[], Engine]
    ) -> None:
        write(store, SystemAudit, "one", "ann")
        store.clock.advance(LONG)  # type: ignore[attr-defined]
        rival = Store(open_engine(), clock=store.clock)

        class Overtaken(Twin):
            def commit(self, writes: Sequence[Write], *, now: datetime, token: str) -> None:
                assert checkpoint(rival, by="rival") is not None
                self._engine.commit(writes, now=now, token=token)

        assert seal(Store(cast(Engine, Overtaken(store.engine)), clock=store.clock), "one", by="slow") is not None
        assert found(store) == set()

    def test_a_death_between_any_two_writes_leaves_what_is_sound_and_goes_on(self, store: Store) -> None:
        kept = lived(store)
        for deaths in range(20):
            for trail in TRAILS:
                write(store, trail, "one", "ann")
                write(store, trail, f"p{deaths}", "ann")
            dying = Counts(store.engine, dies_at=deaths)
            try:
                sealed(Store(cast(Engine, dying), clock=store.clock))
            except KeyboardInterrupt:
                assert found(store, kept) == set()
            else:
                break
            sealed(store)
            assert found(store, kept) == set()
        assert 3 < deaths < 19, "there was a death before each write, and then none"

    def test_very_many_projects_are_named_in_parts(self, store: Store) -> None:
        trail = SystemAudit.__shape__.label
        store.put_many(AuditedProject(project_id=f"p{n:04d}", trail=trail) for n in range(200))
        last = checkpoint(store, by="sealer")
        assert last is not None
        assert [len(c.heads) for c in checkpoints(store)] == [90, 90, 20]
        assert last.number == 3
        assert found(store, last.kept) == set()

    def test_the_longest_names_fit(self, store: Store) -> None:
        trail, name = SystemAudit.__shape__.label, "é" * 480
        store.put_many(AuditedProject(project_id=f"{name}{n:04d}", trail=trail) for n in range(100))
        assert checkpoint(store, by="sealer") is not None
        assert [len(c.heads) for c in checkpoints(store)] == [90, 10]


class TestBeforeCheckpoints:
    """Stores that were sealed by a Penstock that knew none."""

    @pytest.fixture
    def old(self, store: Store) -> Store:
        lived(store)
        store.delete_many([c.ref for c in checkpoints(store)])
        for trail in TRAILS:
            for row in list(store.find(AuditedProject.of_trail(trail=trail.__shape__.label))):
                store.patch(row.ref, Remove("checkpoint"), Remove("listed"))
        return store

    def test_they_are_sound_and_verifying_says_what_is_not_shown(self, old: Store) -> None:
        chain, verdicts = judged(old)
        assert chain.sound
        assert all(v.sound for v in verdicts)
        assert "nothing was sealed since" in chain.cannot_show[0]
        assert all("not sealed since Penstock writes checkpoints" in v.cannot_show[-1] for v in verdicts)

    def test_the_first_round_of_sealing_names_them_all(self, old: Store) -> None:
        assert sealed(old) == []
        (first,) = checkpoints(old)
        assert [(h.former, h.number) for h in first.heads] == [(None, 0), *[(None, 3)] * 4]
        chain, verdicts = judged(old, first.kept)
        assert chain.sound
        assert all(v.sound and v.checkpoint == 1 for v in verdicts)
        write(old, SystemAudit, "one", "ann")
        sealed(old)
        assert found(old, first.kept) == set()

    def test_a_row_that_an_older_penstock_wrote_meanwhile_is_named_again(self, store: Store) -> None:
        """On DynamoDB it replaces the whole row, and the marks are gone."""
        kept = lived(store)
        row = store.get(AuditedProject.at(project_id="one", trail="penstock.SystemAudit"))
        write(store, SystemAudit, "one", "ann")
        store.clock.advance(LONG)  # type: ignore[attr-defined]
        assert seal(store, "one", by="older") is not None
        store.patch(row.ref, Remove("checkpoint"), Remove("listed"))
        _, verdicts = judged(store)
        (row_differs,) = [finding for v in verdicts for finding in v.findings]
        assert "as checkpoint 3 named seal 3 of it: " in row_differs.explanation
        assert "seal once more" in row_differs.explanation
        sealed(store)
        assert found(store, kept) == set()


class TestVerifying:
    def test_what_is_sealed_while_one_verifies_is_no_finding(self, store: Store) -> None:
        kept = lived(store)
        chain = read_chain(store, expect=[kept])
        for trail in TRAILS:
            write(store, trail, "one", "cid")
            write(store, trail, "late", "cid")
        sealed(store)
        verdicts = list(verify_all(store, chain, trails=TRAILS))
        assert "late" in {v.project for v in verdicts}
        assert [v.findings for v in verdicts if not v.sound] == []

    def test_several_seals_between_two_checkpoints_are_no_finding(self, store: Store) -> None:
        for turn in range(7):
            write(store, SystemAudit, "one", "ann")
            store.clock.advance(LONG)  # type: ignore[attr-defined]
            assert seal(store, "one", by="sealer") is not None
            if turn in (1, 2, 6):
                assert checkpoint(store, by="sealer") is not None
        assert [c.heads[0].number for c in checkpoints(store)] == [2, 3, 7]
        assert found(store) == set()

    def test_what_is_known_of_a_trail_does_not_grow_with_its_seals(self, store: Store) -> None:
        lived(store)
        assert {(n.number, *n.skipped) for n in read_chain(store).named.values()} == {(0,), (3,)}

    def test_a_trail_of_a_domain_that_is_not_installed_is_said_not_to_be_looked_at(self, store: Store) -> None:
        lived(store)
        chain = read_chain(store)
        assert {v.trail for v in verify_all(store, chain, trails=[SystemAudit])} == {"penstock.SystemAudit"}
        assert "assetcreator.Audit were not looked at" in chain.cannot_show[-1]

    def test_checkpoints_that_were_removed_are_told_by_their_numbers(self, store: Store) -> None:
        lived(store)
        first, second, *_ = checkpoints(store)
        for removed, told in ((first, "checkpoint 1"), (second, "checkpoints 1 to 2")):
            store.delete(removed.ref)
            missing = [f.where for f in judged(store)[0].findings if f.kind == "checkpoint-missing"]
            assert missing == [told]

    def test_what_cannot_be_read_is_told_and_the_rest_is_verified(self, store: Store, forger: Forger) -> None:
        lived(store)
        forger.alter(checkpoints(store)[1], heads={"no": "list"})
        chain, verdicts = judged(store)
        assert [f.kind for f in chain.findings] == ["unreadable"]
        assert [v.project for v in verdicts if v.trail == "penstock.SystemAudit"] == ["idle", "one", "two"]
        assert {v.sealed for v in verdicts} == {0, 6}

    @pytest.mark.parametrize("heads", [[{"trail": "x"}], [7], [[]], "text", [{"number": -1}]], ids=str)
    def test_heads_of_no_form_are_told(self, store: Store, forger: Forger, heads: Any) -> None:
        kept = lived(store)
        if isinstance(heads, str):
            heads = [heads]
        forger.alter(checkpoints(store)[-1], heads=heads)
        assert "all" in found(store)
        assert "all" in found(store, kept)

    def test_a_seal_or_a_row_of_no_form_is_told(self, store: Store, forger: Forger, engine_name: str) -> None:
        if engine_name == "postgres":
            pytest.skip("the database itself takes no such value: its column is of moments")
        lived(store)
        forger.alter(store.get(AuditedProject.at(project_id="one", trail="penstock.SystemAudit")), until="never")
        with pytest.raises(DamagedRecord):
            sealed(store)
        assert found(store) == {"all", "one"}

    def test_sealing_goes_on_where_the_register_cannot_be_read(
        self, store: Store, forger: Forger, engine_name: str
    ) -> None:
        if engine_name == "postgres":
            pytest.skip("the database itself takes no such value: its column is of moments")
        lived(store)
        write(store, SystemAudit, "two", "ann")
        forger.alter(store.get(AuditedProject.at(project_id="one", trail="penstock.SystemAudit")), until="never")
        made: list[Seal] = []
        store.clock.advance(LONG)  # type: ignore[attr-defined]
        with pytest.raises(DamagedRecord):
            made += seal_known(store, by="sealer")
        assert verify(store, "two").unsealed == 0

    @pytest.mark.parametrize("until", [timedelta(days=-400), timedelta(days=400)], ids=["past", "future"])
    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_a_seal_that_ends_before_it_begins_is_a_finding(self, store: Store, until: timedelta, place: int) -> None:
        lived(store)
        made = list(store.find(Seal.of_trail(project_id="one", trail="penstock.SystemAudit")))[place]
        store.put(made.model_copy(update={"until": made.until + until}))
        assert found(store) == {"one"}
        store.put(made.model_copy(update={"since": made.until - until}))
        assert found(store) == {"one"}

    def test_a_line_of_bottomless_details_is_a_finding(self, store: Store, forger: Forger, engine_name: str) -> None:
        if engine_name not in ("sqlite", "postgres"):
            pytest.skip("DynamoDB itself takes no document of more than 32 levels")
        lived(store)
        line = next(iter(store.find(SystemAudit.of_project(project_id="one"))))
        deeper = ['{"a":' + "[" * 100_000 + "]" * 100_000 + "}"] if engine_name == "sqlite" else []  # others refuse it
        for deep in (*deeper, '{"a":' * 900 + "1" + "}" * 900):
            forger.alter(line, details=deep)
            assert found(store) == {"one"}

    @pytest.mark.parametrize(
        "details", [{"a": b"bytes"}, {"a": {"b", "c"}}, {"a": {1, 2}}], ids=["bytes", "set", "numbers"]
    )
    def test_a_line_with_what_only_dynamodb_holds_is_a_finding(
        self, store: Store, forger: Forger, engine_name: str, details: Any
    ) -> None:
        if engine_name in ("sqlite", "postgres"):
            pytest.skip("JSON has no such value")
        lived(store)
        forger.alter(next(iter(store.find(SystemAudit.of_project(project_id="one")))), details=details)
        assert found(store) == {"one"}

    def test_seals_that_are_in_no_index_yet_are_verified_by_the_register(
        self, store: Store, forger: Forger, engine_name: str
    ) -> None:
        if engine_name in ("sqlite", "postgres"):
            pytest.skip("an index of SQL has every row")
        lived(store)
        for made in store.find(Seal.of_trail(project_id="one", trail="penstock.SystemAudit")):
            forger.alter(made, GSI1PK=None, GSI1SK=None)
        assert found(store) == set()

    def test_a_million_findings_are_counted_and_not_kept(self, store: Store) -> None:
        verdict = verify(store, "one")
        for number in range(_MOST + 5):
            verdict.found("altered", str(number), "")
        assert (len(verdict.findings), verdict.untold, verdict.sound) == (_MOST, 5, False)


class TestKept:
    DIGEST = "0123456789abcdef" * 4

    def test_digests_are_found_in_what_one_wrote_around_them(self) -> None:
        text = f"2037-01-01: audit-1-{self.DIGEST}.\n2026-02-01: AUDIT-2-{self.DIGEST.upper()}\n"
        assert kept_digests(text) == [Kept(1, self.DIGEST), Kept(2, self.DIGEST)]
        assert kept_digests(str(Kept(7, self.DIGEST))) == [Kept(7, self.DIGEST)]

    @pytest.mark.parametrize("text", ["", "nothing", f"audit-1-{DIGEST}\naudit-2-{DIGEST[:60]}", f"audit-{DIGEST}"])
    def test_one_that_is_not_whole_is_refused(self, text: str) -> None:
        with pytest.raises(InvalidValue, match="penstock audit digest"):
            kept_digests(text)


def test_projects_are_known_in_every_trail(store: Store) -> None:
    lived(store)
    assert {t.__shape__.label: list(projects(store, trail=t)) for t in TRAILS} == {
        "penstock.SystemAudit": ["idle", "one", "two"],
        "assetcreator.Audit": ["one", "two"],
    }
