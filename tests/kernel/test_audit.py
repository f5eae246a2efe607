"""The audit trail: lines that stay as they were written, and seals that show when one did not."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from uuid import UUID, uuid5

import pytest

from penstock import FrozenClock, Store, open_store, the
from penstock.domains import DOMAINS
from penstock.domains.assetcreator.bookkeeping import Audit
from penstock.domains.assetcreator.model import Job
from penstock.domains.assetcreator.stages import AssetType, StepName
from penstock.domains.musicvideo.model import Project
from penstock.errors import InvalidValue
from penstock.kernel.audit import AuditLine, SystemAudit
from penstock.kernel.lease import NamedLease
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.kernel.seals import AuditedProject, Seal, Verdict, projects, register, seal, seal_known, verify
from penstock.kernel.seals.seal import SealDigest
from penstock.ports.engine import Engine
from tests.kernel.forger import Forger, hire_forger
from tests.kernel.twins import PutsBlindly

P = "550e8400-e29b-41d4-a716-446655440000"
MINUTE = timedelta(minutes=1)
LONG = timedelta(hours=1)
BEFORE = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def forger(store: Store, engine_name: str, tmp_path: Path, request: pytest.FixtureRequest) -> Forger:
    return hire_forger(store, engine_name, tmp_path, request)


def work(store: Store, *actors: str, project: str = P) -> None:
    """Leave a line for each actor, a minute apart."""
    for actor in actors:
        with store.change(by=actor, project=project) as change:
            change.put(_project(store, project))
        store.clock.advance(MINUTE)  # type: ignore[attr-defined]


def _project(store: Store, name: str) -> Project:
    now = store.clock.now()
    return Project(
        project_id=uuid5(UUID(P), name),
        concept_prompt="A lighthouse",
        character_description="A keeper",
        created_at=now,
        updated_at=now,
    )


def lines(store: Store) -> list[SystemAudit]:
    return list(store.find(SystemAudit.of_project(project_id=P)))


def seals(store: Store) -> list[Seal]:
    return list(store.find(Seal.of_trail(project_id=P, trail="penstock.SystemAudit")))


def sealed(store: Store) -> Seal:
    """Let the newest lines come of age, and seal them."""
    store.clock.advance(LONG)  # type: ignore[attr-defined]
    made = seal(store, P, by="sealer")
    assert made is not None
    return made


def kinds(verdict: Verdict) -> list[str]:
    return [f.kind for f in verdict.findings]


class TestLines:
    NASTY: dict[str, Any] = {
        "zebra": {"b": 1.0, "a": [1.5, -0.0, 2.0**53, 2.0**60, 1e18, 1e19, 1e22, 1e125, 5e-130, 1e-7, 1 / 3]},
        "integers": [0, -1, 2**53 + 1, 2**63 - 1, -(2**63)],
        "é": 'ü\u2028\U0001f600"\\/\t',
        "e\u0301": "not the same as é",
        "empty": [{}, [], "", None, True, False],
        "deep": [[[[{"x": [{"y": None}]}]]]],
        "A": 1,
        "a": 2,
    }

    @pytest.mark.parametrize("kind", [SystemAudit, Audit])
    def test_a_hash_survives_the_way_through_any_engine(self, store: Store, kind: type[AuditLine]) -> None:
        line = kind(project_id=P, ts=store.clock.now(), actor="Ann # %", action="étude", details=self.NASTY)
        line.hash = line.sealed()
        store.create(line)
        found = store.get(line.ref)
        assert found is not line
        assert found.hash == line.hash == found.sealed()

    def test_every_part_of_a_line_is_in_its_hash(self, clock: FrozenClock) -> None:
        said: dict[str, Any] = {"project_id": P, "ts": clock.now(), "actor": "a", "action": "b", "details": {"x": [1]}}
        other = {"project_id": "q", "ts": clock.now() + timedelta(microseconds=1), "actor": "c", "action": "d"}
        details = [{}, {"x": 1}, {"x": ["1"]}, {"x": [1, None]}, {"y": [1]}, {"x": [True]}, {"x": [1.5]}]
        variants = [{**said, name: value} for name, value in other.items()]
        variants += [{**said, "details": d} for d in details]
        hashes = {SystemAudit(**v).sealed() for v in [said, *variants]}
        assert len(hashes) == len(variants) + 1

    def test_large_integers_that_are_the_same_float_have_different_hashes(self, clock: FrozenClock) -> None:
        hashes = {
            SystemAudit(project_id=P, ts=clock.now(), actor="a", action="b", details={"n": n}).sealed()
            for n in (2**60, 2**60 + 1, 1152921504606847000)
        }
        assert len(hashes) == 3

    def test_what_cannot_be_stored_is_refused_in_a_sentence(self, clock: FrozenClock) -> None:
        line = SystemAudit(project_id=P, ts=clock.now(), actor="a", action="b", details={"id": UUID(P)})
        with pytest.raises(InvalidValue, match="cannot hold a UUID"):
            line.sealed()

    def test_a_change_leaves_a_line_with_its_own_hash(self, store: Store) -> None:
        with store.change(by="ann", why="a wish") as change:
            record = change.create(_project(store, P))
            change.emit("project.created", record)
        (line,) = store.find(SystemAudit.of_project(project_id=str(record.project_id)))
        assert (line.actor, line.action, line.details["why"]) == ("ann", "project.created", "a wish")
        assert line.hash == line.sealed()


def meet_in_one_microsecond(open_engine: Callable[[], Engine], clock: FrozenClock) -> list[str]:
    """Two processes, one actor, one moment: whose work is on record?"""
    stores = [Store(open_engine(), clock=clock), Store(open_engine(), clock=clock)]
    for number, store in enumerate(stores):
        with store.change(by="ann", why=f"change {number}", project=P) as change:
            change.put(_project(store, str(number)))
    return [line.details["why"] for line in lines(stores[0])]


class TestCollisions:
    def test_two_lines_of_one_actor_in_one_microsecond_both_survive(
        self, store: Store, open_engine: Callable[[], Engine], clock: FrozenClock
    ) -> None:
        assert meet_in_one_microsecond(open_engine, clock) == ["change 0", "change 1"]

    def test_two_lines_that_say_the_same_in_one_microsecond_are_two_changes(
        self, store: Store, open_engine: Callable[[], Engine], clock: FrozenClock
    ) -> None:
        """F-AC-6, F-MV-5: whoever finds its very line there must not take it for its own."""
        record = _project(store, "counted")
        store.create(record)
        for process in (Store(open_engine(), clock=clock), Store(open_engine(), clock=clock)):
            with process.change(by="ann", project=P) as change:
                change.patch(record.ref, the(Project.scene_count).add(1))
        assert store.get(record.ref).scene_count == 2
        assert len(lines(store)) == 2

    def test_a_change_that_only_puts_its_line_would_lose_one(
        self, store: Store, open_engine: Callable[[], Engine], clock: FrozenClock
    ) -> None:
        """F-AC-6: the twin shows that the test above can fail."""
        blind = meet_in_one_microsecond(lambda: cast(Engine, PutsBlindly(open_engine())), clock)
        assert blind == ["change 1"]


class TestSealing:
    def test_seals_cover_everything_but_the_newest_lines_and_chain(self, store: Store, clock: FrozenClock) -> None:
        work(store, "ann", "bob", "cid")
        first = sealed(store)
        work(store, "dan")
        second = sealed(store)
        assert (first.number, first.count, first.since, first.previous) == (1, 3, None, "")
        assert first.until == first.sealed_at - timedelta(minutes=10)
        assert (second.number, second.count, second.since, second.previous) == (2, 1, first.until, first.digest)

    def test_lines_younger_than_the_margin_wait_for_the_next_seal(self, store: Store, clock: FrozenClock) -> None:
        work(store, "ann", *["bob"] * 12)
        made = seal(store, P, by="sealer")
        assert made is not None
        assert made.count == 4, "ten minutes of lines are left out"
        assert verify(store, P).unsealed == 9

    def test_a_line_of_a_clock_that_is_behind_by_less_than_the_margin_is_sealed_in_its_turn(
        self, store: Store, open_engine: Callable[[], Engine], clock: FrozenClock
    ) -> None:
        work(store, *["ann"] * 15)
        assert seal(store, P, by="sealer") is not None
        slow = Store(open_engine(), clock=FrozenClock(clock.now() - timedelta(minutes=9)))
        work(slow, "late")
        assert sealed(store).count == 10, "nine of the fast clock, one of the slow one"
        assert verify(store, P).sound

    def test_lines_at_the_very_border_are_in_one_seal_only(self, store: Store, clock: FrozenClock) -> None:
        for actor in ("ann", "bob"):
            line = SystemAudit(project_id=P, ts=clock.now(), actor=actor, action="x")
            line.hash = line.sealed()
            store.create(line)
        clock.advance(timedelta(minutes=10))
        first = seal(store, P, by="sealer")
        work(store, "cid")
        assert first is not None
        assert (first.count, sealed(store).count) == (2, 1)
        assert verify(store, P).sound

    def test_nothing_new_is_not_sealed(self, store: Store, clock: FrozenClock) -> None:
        assert seal(store, P, by="sealer") is None
        work(store, "ann")
        sealed(store)
        clock.advance(LONG)
        assert seal(store, P, by="sealer") is None
        assert len(seals(store)) == 1

    def test_a_clock_that_jumps_back_seals_nothing(self, store: Store, clock: FrozenClock) -> None:
        work(store, "ann")
        sealed(store)
        clock.advance(-2 * LONG)
        work(store, "bob")
        assert seal(store, P, by="sealer") is None

    def test_of_two_sealers_at_once_one_wins(self, store: Store, open_engine: Callable[[], Engine]) -> None:
        work(store, "ann")
        store.clock.advance(LONG)  # type: ignore[attr-defined]
        rival = Store(open_engine(), clock=store.clock)

        class Overtaken(Store):
            """A sealer that another overtakes after it has read everything."""

            def commit(self, writes: Any) -> None:
                assert seal(rival, P, by="rival") is not None
                super().commit(writes)

        assert seal(Overtaken(store.engine, clock=store.clock), P, by="slow") is None
        assert [s.sealed_by for s in seals(store)] == ["rival"]
        assert verify(store, P).sound

    def test_very_many_lines_are_sealed_page_by_page(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        many = []
        for number in range(1200):  # over a megabyte, which is more than a page on DynamoDB
            details = {"n": number, "text": "x" * 2000}
            line = SystemAudit(project_id=P, ts=store.context.ticks.next(), actor="ann", action="x", details=details)
            line.hash = line.sealed()
            many.append(line)
        store.put_many(many)
        asked: list[int] = []
        find = store.engine.find

        def counted(*args: Any, **kwargs: Any) -> Any:
            page = find(*args, **kwargs)
            asked.append(len(page.records))
            return page

        monkeypatch.setattr(store.engine, "find", counted)
        assert sealed(store).count == 1200
        assert max(asked) < 1200, "no page holds them all"
        assert verify(store, P).sound

    def test_a_margin_before_the_past_is_refused(self, store: Store) -> None:
        with pytest.raises(InvalidValue, match="yet to be written"):
            seal(store, P, by="sealer", margin=timedelta(minutes=-1))

    def test_every_project_with_lines_is_sealed_and_known(self, store: Store, clock: FrozenClock) -> None:
        """However they were written: alone, in a batch, through a bound handle, and of no project at all."""
        work(store, "ann", "bob", project="one")
        with store.batch() as batch:
            for project in ("two", "three"):
                with batch.change(by="ann", project=project) as change:
                    change.put(_project(store, project))
        with store.scoped("four", enforce=False).change(by="ann") as change:
            change.emit("told", SystemAudit(project_id="four", ts=clock.now(), actor="a", action="b"))
        with store.change(by="ann") as change:
            change.delete(NamedLease.at(name="five"))
        everywhere = ["-", "four", "one", "three", "two"]
        assert sorted(projects(store)) == everywhere
        clock.advance(LONG)
        assert sorted(s.project_id for s in seal_known(store, by="sealer")) == everywhere
        register(store, "two")
        assert all(verify(store, project).sound for project in projects(store))

    def test_a_project_is_known_before_its_first_line(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whoever dies in between leaves no line that nobody looks for."""
        commit = store.commit

        def die(writes: Any) -> None:
            if any(w.shape is SystemAudit.__shape__ for w in writes):
                raise KeyboardInterrupt
            commit(writes)

        monkeypatch.setattr(store, "commit", die)
        with pytest.raises(KeyboardInterrupt):
            work(store, "ann", project="one")
        assert list(projects(store)) == ["one"]

    def test_a_process_registers_a_project_once(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        work(store, "ann", project="one")
        monkeypatch.setattr("penstock.kernel.audit_register.register", None)
        work(store, "bob", project="one")
        with pytest.raises(TypeError):
            work(store, "bob", project="two")

    def test_each_trail_of_a_project_has_its_own_chain(self, store: Store, clock: FrozenClock) -> None:
        """The asset creator keeps its own kind of line, in its own table."""
        work(store, "ann")
        with store.change(by="bob") as change:
            change.create(
                Job(
                    project_id=P,
                    job_id="j1",
                    asset_type=next(iter(AssetType)),
                    current_step=next(iter(StepName)),
                    created_at=clock.now(),
                    updated_at=clock.now(),
                )
            )
        clock.advance(LONG)
        made = seal(store, P, by="sealer", trail=Audit)
        assert made is not None
        assert (made.trail, made.number, made.count) == ("assetcreator.Audit", 1, 1)
        assert sealed(store).count == 1
        assert [verify(store, P, trail=t).sealed for t in (SystemAudit, Audit)] == [1, 1]
        assert [verify(store, P, trail=t).findings for t in (SystemAudit, Audit)] == [[], []]


class TestVerifying:
    @pytest.fixture(autouse=True)
    def trail(self, store: Store) -> None:
        """Three seals of three lines, and two lines that wait."""
        for _ in range(3):
            work(store, "ann", "bob", "cid")
            sealed(store)
        work(store, "dan", "eve")

    def test_a_clean_trail_is_sound(self, store: Store) -> None:
        verdict = verify(store, P)
        assert verdict.findings == []
        assert (verdict.seals, verdict.sealed, verdict.unsealed) == (3, 9, 2)
        assert verdict.digest == seals(store)[-1].digest

    def test_it_says_how_many_lines_no_seal_covers_yet(self, store: Store) -> None:
        told = verify(store, P).cannot_show
        assert told[0].startswith("No seal covers the 2 lines after 2037-01-01T02:59:00.000000Z yet")
        assert "kept elsewhere" in told[1]

    def test_it_says_when_there_is_no_seal_at_all(self, store: Store) -> None:
        work(store, "ann", project="fresh")
        verdict = verify(store, "fresh")
        assert verdict.sound
        assert verdict.cannot_show[0].startswith("No seal covers the 1 line of this trail yet")

    @pytest.mark.parametrize("values", [{"action": "nothing"}, {"details": {"changes": []}}], ids=["action", "details"])
    def test_an_altered_line_is_named(self, store: Store, forger: Forger, values: dict[str, Any]) -> None:
        line = lines(store)[4]
        forger.alter(line, **values)
        (finding,) = verify(store, P).findings
        assert finding.kind == "altered"
        assert finding.where == "line of bob at 2037-01-01T01:04:00.000000Z"

    def test_an_altered_line_is_named_before_it_is_sealed(self, store: Store, forger: Forger) -> None:
        forger.alter(lines(store)[-1], action="nothing")
        (finding,) = verify(store, P).findings
        assert (finding.kind, finding.where) == ("altered", "line of eve at 2037-01-01T03:10:00.000000Z")

    def test_an_altered_line_with_a_fitting_hash_does_not_fit_its_seal(self, store: Store, forger: Forger) -> None:
        line = lines(store)[4]
        line.action = "nothing"
        forger.alter(line, action="nothing", hash=line.sealed())
        (finding,) = verify(store, P).findings
        assert finding.kind == "changed"
        assert finding.where == ("seal 2, lines after 2037-01-01T00:53:00.000000Z until 2037-01-01T01:56:00.000000Z")

    def test_a_line_whose_hash_was_removed_is_named(self, store: Store, forger: Forger) -> None:
        forger.alter(lines(store)[4], hash=None)
        assert kinds(verify(store, P)) == ["unhashed", "changed"]

    @pytest.mark.parametrize("position", [0, 4, 8], ids=["first", "middle", "last sealed"])
    def test_a_removed_line_is_missed_by_its_seal(self, store: Store, forger: Forger, position: int) -> None:
        forger.remove(lines(store)[position])
        (finding,) = verify(store, P).findings
        assert finding.kind == "missing"
        assert finding.where.startswith(f"seal {position // 3 + 1}, lines ")
        assert "1 line of 3" in finding.explanation

    def test_an_inserted_line_is_one_too_many_for_its_seal(self, store: Store) -> None:
        line = lines(store)[4].model_copy(update={"actor": "forger"})
        line.hash = line.sealed()
        store.create(line)
        (finding,) = verify(store, P).findings
        assert (finding.kind, finding.where[:6]) == ("added", "seal 2")
        assert "clock" in finding.explanation, "an honest line may also have come too late"

    def test_a_line_that_was_replaced_by_another_is_found(self, store: Store, forger: Forger) -> None:
        line = lines(store)[4]
        forger.remove(line)
        other = line.model_copy(update={"actor": "forger"})
        other.hash = other.sealed()
        store.create(other)
        assert kinds(verify(store, P)) == ["changed"]

    def test_two_lines_with_swapped_content_are_both_named(self, store: Store, forger: Forger) -> None:
        one, other = lines(store)[3:5]
        one.details, other.details = {"n": 1}, {"n": 2}
        forger.alter(one, details=other.details, action=other.action, hash=other.hash)
        forger.alter(other, details=one.details, action=one.action, hash=one.hash)
        assert kinds(verify(store, P)) == ["altered", "altered", "changed"]

    def test_two_lines_that_were_swapped_with_fitting_hashes_do_not_fit_their_seal(
        self, store: Store, forger: Forger
    ) -> None:
        one, other = lines(store)[3:5]
        one.action, other.action = other.action + "!", one.action
        for line in (one, other):
            forger.alter(line, action=line.action, hash=line.sealed())
        assert kinds(verify(store, P)) == ["changed"]

    def test_a_removed_seal_is_missed(self, store: Store, forger: Forger) -> None:
        forger.remove(seals(store)[1])
        (finding,) = verify(store, P).findings
        assert (finding.kind, finding.where) == ("seal-missing", "seal 2")
        assert "after 2037-01-01T00:53:00.000000Z until 2037-01-01T01:56:00.000000Z" in finding.explanation

    def test_the_first_seal_is_missed(self, store: Store, forger: Forger) -> None:
        forger.remove(seals(store)[0])
        assert [(f.kind, f.where) for f in verify(store, P).findings] == [("seal-missing", "seal 1")]

    def test_the_newest_seal_is_missed(self, store: Store, forger: Forger) -> None:
        forger.remove(seals(store)[2])
        verdict = verify(store, P)
        assert [(f.kind, f.where) for f in verdict.findings] == [("seal-missing", "seal 3")]
        assert verdict.unsealed == 5, "its lines have nobody to vouch for them"

    def test_sealing_on_does_not_hide_that_the_newest_seal_was_removed(self, store: Store, forger: Forger) -> None:
        forger.remove(seals(store)[2])
        forger.remove(lines(store)[8])
        assert sealed(store).number == 4
        assert [(f.kind, f.where) for f in verify(store, P).findings] == [("seal-missing", "seal 3")]

    def test_a_removed_register_is_missed(self, store: Store, forger: Forger) -> None:
        forger.remove(store.get(AuditedProject.at(project_id=P, trail="penstock.SystemAudit")))
        assert kinds(verify(store, P)) == ["register"]

    def test_a_register_that_was_set_back_is_noticed(self, store: Store, forger: Forger) -> None:
        forger.alter(store.get(AuditedProject.at(project_id=P, trail="penstock.SystemAudit")), number=2)
        assert kinds(verify(store, P)) == ["register"]

    def test_a_seal_that_was_made_to_fit_after_one_of_its_lines_was_removed_is_told_by_the_register(
        self, store: Store, forger: Forger
    ) -> None:
        newest, (gone, *left) = seals(store)[-1], lines(store)[6:9]
        fitting = SealDigest(newest)
        for line in left:
            fitting.add(line)
        forger.remove(gone)
        forger.alter(newest, count=len(left), digest=fitting.end())
        assert kinds(verify(store, P)) == ["register"]

    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            ({"digest": "0" * 64}, ["changed", "chain"]),
            ({"previous": "0" * 64}, ["chain", "changed"]),
            ({"count": 2}, ["added"]),
            ({"sealed_by": "forger"}, ["changed"]),
        ],
        ids=["digest", "previous", "count", "sealed_by"],
    )
    def test_an_altered_seal_breaks_the_chain(
        self, store: Store, forger: Forger, values: dict[str, Any], expected: list[str]
    ) -> None:
        forger.alter(seals(store)[1], **values)
        assert kinds(verify(store, P)) == expected

    def test_a_trail_that_was_written_anew_is_shown_by_a_digest_kept_elsewhere(
        self, store: Store, forger: Forger
    ) -> None:
        kept = seals(store)[1].digest
        assert verify(store, P, expect=kept).expected is True
        forger.remove(lines(store)[4])
        for made in seals(store):
            forger.remove(made)
        forger.remove(store.get(AuditedProject.at(project_id=P, trail="penstock.SystemAudit")))
        sealed(store)
        assert verify(store, P).sound, "nothing in the store tells of it"
        assert kinds(verify(store, P, expect=kept)) == ["expected"]

    @pytest.mark.parametrize("details", [["not a map"], "{not even JSON", {"n": 10**400}], ids=["list", "text", "vast"])
    def test_a_line_that_no_longer_has_its_form_is_told_and_the_rest_is_verified(
        self, store: Store, forger: Forger, details: Any, engine_name: str
    ) -> None:
        refused = "{not even JSON" if engine_name == "postgres" else {"n": 10**400}
        if engine_name != "sqlite" and details == refused:
            pytest.skip("the database itself takes no such document")
        last = lines(store)[8]
        forger.alter(lines(store)[4], details=details)
        forger.remove(last)
        first, second = verify(store, P).findings
        assert first.kind in ("unreadable", "altered")
        assert (second.kind, second.where[:6]) == ("missing", "seal 3")


class TestTheCommand:
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        clock = FrozenClock(BEFORE)  # the command goes by the wall's
        store = open_store(f"sqlite:///{tmp_path}/store.db", clock=clock)
        store.ensure(*DOMAINS)
        for _ in range(3):
            line = SystemAudit(project_id=P, ts=store.context.ticks.next(), actor="ann", action="x")
            line.hash = line.sealed()
            store.create(line)
        clock.advance(LONG)
        seal(store, P, by="sealer")
        store.close()
        return f"sqlite:///{tmp_path}/store.db"

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "penstock", "audit", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_a_sound_trail_ends_with_zero_and_says_what_cannot_be_shown(self, url: str) -> None:
        done = self.run("verify", "--store", url)
        assert done.returncode == 0, done.stderr
        assert "sound" in done.stdout
        assert "No seal covers the 0 lines after" in done.stdout

    def test_a_removed_line_ends_with_one(self, url: str) -> None:
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            connection.execute("delete from penstock_audit where rowid = 2")
        done = self.run("verify", "--project", P, "--store", url, "--json")
        assert done.returncode == 1
        (told,) = json.loads(done.stdout)
        assert (told["sound"], told["sealed_lines"], told["findings"][0]["kind"]) == (False, 2, "missing")

    def test_a_digest_kept_elsewhere_is_asked_for_by_project(self, url: str) -> None:
        (told,) = json.loads(self.run("verify", "--store", url, "--json").stdout)
        assert self.run("verify", "--store", url, "--project", P, "--expect", told["digest"]).returncode == 0
        assert self.run("verify", "--store", url, "--project", P, "--expect", "0" * 64).returncode == 1
        assert "--project" in self.run("verify", "--store", url, "--expect", "0" * 64).stderr

    def test_verifying_nothing_is_no_success(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/empty.db"
        open_store(url).ensure(*DOMAINS)
        done = self.run("verify", "--store", url)
        assert done.returncode == 2
        assert "No project has been sealed yet" in done.stderr

    def test_seal_seals_and_says_when_there_is_nothing_to_seal(self, url: str) -> None:
        assert "Nothing new" in self.run("seal", "--store", url).stdout
        store = open_store(url)
        line = SystemAudit(project_id=P, ts=BEFORE + 2 * LONG, actor="bob", action="x")
        line.hash = line.sealed()
        store.create(line)
        store.close()
        (made,) = json.loads(self.run("seal", P, "--store", url, "--by", "ann", "--json").stdout)
        assert (made["number"], made["count"], made["sealed_by"]) == (2, 1, "ann")


def test_what_was_attempted_in_vain_does_not_decide_where_a_change_belongs(store: Store) -> None:
    store.ensure(*DOMAINS)
    failed, made = _project(store, "failed"), _project(store, "made")
    with store.change(by="ann") as change:
        with pytest.raises(ValueError, match="in vain"), change.attempt():
            change.put(failed)
            raise ValueError("in vain")
        change.put(made)
        change.emit("project.made", made)
    (line,) = store.find(SystemAudit.of_project(project_id=str(made.project_id)))
    assert line.action == "project.made"
    (message,) = store.find(SystemMessage.by_status(status=MessageStatus.PENDING))
    assert message.project_id == str(made.project_id)


@pytest.mark.parametrize("by", ["ann", None])
def test_a_message_is_of_the_project_it_tells_of(store: Store, by: str | None) -> None:
    store.ensure(*DOMAINS)
    one, other = _project(store, "one"), _project(store, "other")
    with store.change(by=by) as change:
        change.put(one)
        change.put(other)
        change.emit("project.made", other)
    (message,) = store.find(SystemMessage.by_status(status=MessageStatus.PENDING))
    assert message.project_id == str(other.project_id)


def test_a_change_that_only_tells_of_a_record_is_in_the_trail_of_that(store: Store) -> None:
    """AC-47: also when all it does besides is to remove what it has not read, and whoever made it is of no project."""
    now = store.clock.now()
    record = Job(
        project_id="p1",
        job_id="j",
        asset_type=AssetType.PROP,
        current_step=StepName.RIG,
        created_at=now,
        updated_at=now,
    )
    with store.change(by="ann", why="taken away") as change:
        change.emit("job.told", record)
    with store.change(by="bob") as change:
        change.delete(record.ref)
        change.emit("job.deleted", record)
    with store.scoped("p1", enforce=False).change(by="eve") as change:
        change.emit("job.told", record)
    told = [(line.actor, line.action) for line in store.find(Audit.of_project(project_id="p1"))]
    assert told == [("ann", "job.told"), ("bob", "job.deleted"), ("eve", "job.told")]
    assert list(store.find(SystemAudit.of_project(project_id="-"))) == []


def test_a_change_of_what_it_has_not_read_is_in_the_trail_of_the_project_that_the_key_names(store: Store) -> None:
    store.ensure(*DOMAINS)
    project = _project(store, "one")
    store.create(project)
    with store.change(by="ann") as change:
        change.patch(project.ref, the(Project.concept_prompt).set("A buoy"))
    with store.change(by="bob") as change:
        change.delete(project.ref)
    told = [line.actor for line in store.find(SystemAudit.of_project(project_id=str(project.project_id)))]
    assert told == ["ann", "bob"]
    assert list(store.find(SystemAudit.of_project(project_id="-"))) == []
