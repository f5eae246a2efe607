"""An answer is lost and the write is sent again: it is applied once, and reported truthfully.

SQLite is not here: it has no wire, so none of its answers can be lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from datetime import UTC, datetime
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from penstock import FrozenClock, Store, the
from penstock.domains.musicvideo.model import DOMAIN, Project, ProjectStatus, Scene
from penstock.engines.sql.engine import SqlEngine
from penstock.engines.sql.postgres import PostgresConnector
from penstock.errors import Conflict
from penstock.kernel.handle import patch, put
from penstock.operations.conditions import Missing
from penstock.operations.writes import Delete, Put
from penstock.ports.engine import Engine
from penstock.testing.faults.losing_proxy import LosingProxy
from penstock.testing.faults.switch import Switch
from tests.servers import Postgres

NOW = datetime(2037, 1, 1, tzinfo=UTC)
NETWORKED = ("postgres", "dynoxide", "dynamodb-local")


@pytest.fixture(params=NETWORKED)
def line(request: pytest.FixtureRequest) -> Iterator[tuple[Store, LosingProxy]]:
    """A store whose answers can be lost."""
    name = request.param.replace("-", "_") + "_server"
    url = urlsplit(request.getfixturevalue(name).url)
    assert url.port is not None
    with LosingProxy(url.port) as proxy:
        engine = _engine(request.param, url.geturl().replace(f":{url.port}", f":{proxy.port}"))
        engine.ensure(DOMAIN.shapes)
        store = Store(engine, clock=FrozenClock(NOW))
        store.lookup(Project.at(project_id=uuid4()))  # opens the line
        yield store, proxy
        assert proxy.lost > 0, "no answer was lost, so nothing was tried"
        store.close()


def _engine(name: str, url: str) -> Engine:
    if name == "postgres":
        return SqlEngine(PostgresConnector(url))
    from penstock.engines.dynamodb import DynamoEngine

    return DynamoEngine(endpoint=url, region="us-east-1", access_key="test", secret_key="test")


def project() -> Project:
    return Project(project_id=uuid4(), concept_prompt="a", character_description="b", created_at=NOW, updated_at=NOW)


def scene(of: Project, sequence: int = 1) -> Scene:
    return Scene(project_id=of.project_id, sequence=sequence, prompt="p", duration=8.0, created_at=NOW, updated_at=NOW)


def test_a_create_succeeds_once(line: tuple[Store, LosingProxy]) -> None:
    store, proxy = line
    record = project()
    proxy.lose_next_answer()
    store.create(record)
    assert store.get(record.ref) == record


def test_a_create_that_another_has_won_is_still_refused(line: tuple[Store, LosingProxy]) -> None:
    store, proxy = line
    record = project()
    store.create(record)
    other = record.model_copy(update={"concept_prompt": "of another"})
    proxy.lose_next_answer()
    with pytest.raises(Conflict) as refusal:
        store.create(other)
    assert refusal.value.found is not None
    assert refusal.value.found["concept_prompt"] == "a"


def test_a_counter_grows_once(line: tuple[Store, LosingProxy]) -> None:
    store, proxy = line
    record = project()
    store.create(record)
    proxy.lose_next_answer(2)
    assert store.patch(record.ref, the(Project.scene_count).add(1)).scene_count == 1
    assert store.get(record.ref).scene_count == 1


def test_a_committed_counter_grows_once(line: tuple[Store, LosingProxy]) -> None:
    store, proxy = line
    record = project()
    store.create(record)
    proxy.lose_next_answer()
    store.commit([patch(record.ref, the(Project.scene_count).add(1))])
    assert store.get(record.ref).scene_count == 1


def test_a_commit_of_several_writes_is_applied_once(line: tuple[Store, LosingProxy]) -> None:
    store, proxy = line
    record = project()
    store.create(record)
    proxy.lose_next_answer()
    store.commit(
        [
            patch(record.ref, the(Project.scene_count).add(1)),
            put(scene(record), when=Missing()),
            put(scene(record, 2), when=Missing()),
        ]
    )
    assert store.get(record.ref).scene_count == 1
    assert [s.sequence for s in store.find(Scene.of_project(project_id=record.project_id))] == [1, 2]


def test_a_commit_with_a_witness_is_applied_once(line: tuple[Store, LosingProxy]) -> None:
    store, proxy = line
    record = project()
    store.create(record)
    told = put(scene(record), when=Missing())
    proxy.lose_next_answer()
    store.commit(
        [
            patch(record.ref, the(Project.scene_count).add(1)),
            Put(told.shape, told.values, told.when, witness=True),
        ]
    )
    assert store.get(record.ref).scene_count == 1


def test_a_commit_of_many_with_a_witness_is_applied_once(line: tuple[Store, LosingProxy]) -> None:
    """Many are sent in another way, and those of them that refuse themselves are looked at one by one."""
    store, proxy = line
    for losing in (0, 1):  # the first time, a store may ask how such a commit is to be sent
        record = project()
        made = [put(scene(record, n), when=Missing()) for n in range(1, 8)]
        last = made[-1]
        proxy.lose_next_answer(losing)
        store.commit([*made[:-1], Put(last.shape, last.values, last.when, witness=True)])
    assert len(list(store.find(Scene.of_project(project_id=record.project_id)))) == 7


def test_an_answer_that_was_lost_is_not_forgotten_while_the_server_is_away(postgres_server: Postgres) -> None:
    """The first attempt has written, the second finds nobody, and the third is refused for what the first has left."""
    port = urlsplit(postgres_server.url).port
    assert port is not None
    with LosingProxy(port) as proxy, Switch(proxy.port) as switch:
        pauses = [switch.off, switch.on]
        url = postgres_server.create_database("away").replace(f":{port}", f":{switch.port}")
        connector = PostgresConnector(url, sleep=lambda _: pauses.pop(0)())
        with closing(Store(SqlEngine(connector), clock=FrozenClock(NOW))) as store:
            store.engine.ensure(DOMAIN.shapes)
            record = project()
            store.lookup(record.ref)  # opens the line
            proxy.lose_next_answer()
            store.create(record)
            assert pauses == []
            assert store.get(record.ref) == record


def test_a_refused_commit_stays_refused(line: tuple[Store, LosingProxy]) -> None:
    store, proxy = line
    record = project()
    store.create(record)
    proxy.lose_next_answer()
    with pytest.raises(Conflict) as refusal:
        store.commit(
            [patch(record.ref, the(Project.scene_count).add(1)), patch(scene(record).ref, the(Scene.prompt).set("q"))]
        )
    assert refusal.value.position == 1
    assert store.get(record.ref).scene_count == 0


def test_a_move_is_made_once(line: tuple[Store, LosingProxy]) -> None:
    store, proxy = line
    record = project()
    store.create(record)
    with store.change() as change:
        read = change.get(record.ref)
        change.save(read.queue())
        proxy.lose_next_answer()
    assert store.get(record.ref).status is ProjectStatus.QUEUED


def test_a_save_is_made_once(line: tuple[Store, LosingProxy]) -> None:
    """What it overwrites is not as it was read any more, since it was overwritten by the save itself."""
    store, proxy = line
    record = project()
    store.create(record)
    store.create(scene(record))
    with store.change() as change:
        read = change.get(record.ref)
        read.concept_prompt, read.director_config, read.scene_order = "b", "c", [1]
        change.save(read)
        proxy.lose_next_answer()
    found = store.get(record.ref)
    assert (found.concept_prompt, found.director_config, found.scene_order) == ("b", "c", [1])


def test_a_save_whose_refusal_is_lost_stays_refused(line: tuple[Store, LosingProxy]) -> None:
    store, proxy = line
    record = project()
    store.create(record)
    with pytest.raises(Conflict), store.change() as slow:
        mine = slow.get(record.ref)
        store.patch(record.ref, the(Project.concept_prompt).set("of the fast"))
        mine.concept_prompt = "of the slow"
        slow.save(mine)
        proxy.lose_next_answer()
    assert store.get(record.ref).concept_prompt == "of the fast"


def test_what_is_counted_by_reading_and_saving_counts_every_time_once(
    line: tuple[Store, LosingProxy], request: pytest.FixtureRequest
) -> None:
    """Others save the very same numbers. On DynamoDB only who leaves a line is sure of it: see docs/kernel.md."""
    store, proxy = line
    store.ensure()
    by = None if request.node.callspec.params["line"] == "postgres" else "tests"
    record = project()
    store.create(record)

    def grow(found: Project) -> None:
        found.compositions = (found.compositions or 0) + 1

    def count(number: int) -> None:
        if number % 8 == 0:
            proxy.lose_next_answer()
        store.modify(record.ref, grow, by=by)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(40)))
    assert proxy.lost >= 3
    assert store.get(record.ref).compositions == 40


@pytest.mark.parametrize("witness", [False, True])
def test_a_patch_that_ends_its_own_condition_succeeds_once(line: tuple[Store, LosingProxy], witness: bool) -> None:
    store, proxy = line
    record = project()
    store.create(record)
    free, mine = the(Project.director_config).absent(), the(Project.director_config).set("x")
    proxy.lose_next_answer()
    assert store.patch(record.ref, mine, when=free, witness=witness).director_config == "x"


def test_a_count_whose_refusal_is_lost_stays_refused(line: tuple[Store, LosingProxy]) -> None:
    store, proxy = line
    record = project()
    store.create(record)
    proxy.lose_next_answer()
    with pytest.raises(Conflict):
        store.patch(record.ref, the(Project.scene_count).add(1), when=the(Project.director_config).equals("x"))
    assert store.get(record.ref).scene_count == 0


def test_a_racer_whose_refusal_is_lost_is_not_told_that_it_won(
    line: tuple[Store, LosingProxy], request: pytest.FixtureRequest
) -> None:
    """Both make one and the same move, and nothing else. DynamoDB has only one of them to show: see docs/kernel.md."""
    store, proxy = line
    knows = request.node.callspec.params["line"] == "postgres"
    record = project()
    store.create(record)
    with pytest.raises(Conflict) if knows else nullcontext(), store.change() as slow:
        mine = slow.get(record.ref)
        with store.change() as fast:
            fast.save(fast.get(record.ref).queue())
        slow.save(mine.queue())
        proxy.lose_next_answer()
    assert store.get(record.ref).status is ProjectStatus.QUEUED


def test_a_racer_that_leaves_a_line_knows_that_it_lost(line: tuple[Store, LosingProxy]) -> None:
    store, proxy = line
    store.ensure()
    record = project()
    store.create(record)
    with pytest.raises(Conflict), store.change(by="slow") as slow:
        mine = slow.get(record.ref)
        with store.change(by="fast") as fast:
            fast.save(fast.get(record.ref).queue())
        slow.save(mine.queue())
        proxy.lose_next_answer()


@pytest.mark.parametrize("witness", [False, True])
def test_a_racer_that_patches_knows_that_it_lost(line: tuple[Store, LosingProxy], witness: bool) -> None:
    """What it would have left says who it is."""
    store, proxy = line
    record = project()
    store.create(record)
    free = the(Project.director_config).absent()
    store.patch(record.ref, the(Project.director_config).set("of the fast"), when=free)
    proxy.lose_next_answer()
    with pytest.raises(Conflict):
        store.patch(record.ref, the(Project.director_config).set("of the slow"), when=free, witness=witness)


def test_a_conditional_delete_succeeds_once(line: tuple[Store, LosingProxy]) -> None:
    store, proxy = line
    record = project()
    store.create(record)
    proxy.lose_next_answer()
    store.commit([Delete(record.ref.shape, record.ref.key, the(Project.concept_prompt).equals("a"))])
    assert store.lookup(record.ref) is None


def test_reads_are_repeated(line: tuple[Store, LosingProxy]) -> None:
    store, proxy = line
    record = project()
    store.create(record)
    proxy.lose_next_answer()
    assert store.get(record.ref) == record
    proxy.lose_next_answer()
    assert [p.project_id for p in store.find(Project.by_status(status=ProjectStatus.PENDING))].count(
        record.project_id
    ) == 1


def test_a_batch_leaves_every_record_once(line: tuple[Store, LosingProxy]) -> None:
    store, proxy = line
    record = project()
    proxy.lose_next_answer()
    store.put_many(scene(record, n) for n in range(1, 61))
    assert len(list(store.find(Scene.of_project(project_id=record.project_id)))) == 60


def test_a_contended_counter_counts_every_call_once(line: tuple[Store, LosingProxy]) -> None:
    """Others write between the lost answer and the second try, so nothing that stands there could tell."""
    store, proxy = line
    record = project()
    store.create(record)

    def count(number: int) -> None:
        if number % 10 == 0:
            proxy.lose_next_answer()
        store.patch(record.ref, the(Project.scene_count).add(1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(120)))
    assert proxy.lost >= 10
    assert store.get(record.ref).scene_count == 120
