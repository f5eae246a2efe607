"""Scope (AC-45, F-AC-7): a store bound to a project sees and changes nothing else, through base or index, anywhere."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from penstock import ANYTHING, Domain, Entity, FrozenClock, Range, Store, Table, key, pattern, the, together
from penstock.auth.api_keys import ApiKey, KeyStatus
from penstock.declare.units import UtcMicros
from penstock.domains import DOMAINS
from penstock.domains.assetcreator.bookkeeping import Audit, Idempotency, Outbox
from penstock.domains.assetcreator.model import Asset, Job, JobPlace, Project, Step
from penstock.domains.assetcreator.stages import Status
from penstock.domains.musicvideo.model import Scene
from penstock.domains.novae.model import DOMAIN as NOVAE
from penstock.domains.videos.model import Video
from penstock.errors import Conflict, DamagedRecord, FilterTooWide, InvalidCursor, InvalidValue, NotFound, OutOfScope
from penstock.events.feed import Feed
from penstock.events.feed_records import FeedPlace
from penstock.files.upload import Upload
from penstock.kernel.audit import SystemAudit
from penstock.kernel.handle import patch, put
from penstock.kernel.held_message import HeldMessage
from penstock.kernel.idempotency import Claim, InProgress, Replay, SystemOnce, begin
from penstock.kernel.lease import NamedLease, release, take_named
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.kernel.scope import ScopedEngine
from penstock.kernel.seals import AuditedProject, Seal
from penstock.operations.conditions import Missing, Present
from penstock.operations.feed_entry import FeedEntry
from penstock.operations.reads import Ref
from penstock.operations.updates import Set
from penstock.operations.writes import Check, Delete, Patch, Write
from penstock.ports.engine import Engine
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.role import Role
from penstock.schema.shape import Rights
from penstock.testing.promises.paging import by_pages
from tests.kernel.two_projects import JOBS, ONE, SECRET, TWO, everything, fill, project_of, questions, step


class World(NamedTuple):
    whole: Store
    one: Store
    two: Store


@pytest.fixture
def world(store: Store) -> World:
    """Two projects, each filled through its own handle."""
    one, two = store.scoped(ONE), store.scoped(TWO)
    fill({ONE: one, TWO: two})
    return World(store, one, two)


def image(store: Store, project: str) -> dict[str, Entity]:
    """All that a project has, to be compared before and after."""
    return {repr(r.ref): r for r in everything(store) if project_of(r) == project}


def any_update(record: Entity) -> Set:
    """Some update of a record that leaves its project."""
    shape = record.__shape__
    name = next((n for n in shape.fields if n not in shape.key.fields and n != "project_id"), "project_id")
    return Set(name, ONE if name == "project_id" else record.__dict__[name])


# Reading


def test_both_projects_are_in_every_shared_index(world: World) -> None:
    """Without which the tests below would show nothing."""
    for query in questions()[-4:]:
        found = [project_of(r) for r in world.whole.find(query)]
        assert len(found) >= 4
        assert found != sorted(found), f"{query.pattern.label} is not interleaved"


def test_no_pattern_shows_another_project(world: World) -> None:
    """AC-45: project A cannot read B."""
    for project, scoped in ((ONE, world.one), (TWO, world.two)):
        for query in questions():
            for asked in (query, query.reversed()):
                own = [r for r in world.whole.find(asked) if project_of(r) == project]
                assert list(scoped.find(asked)) == own, asked.pattern.label
                assert scoped.first(asked) == (own[0] if own else None)
                assert scoped.page(asked).records == own
                assert scoped.page(asked).cursor is None


def test_no_key_shows_another_project(world: World) -> None:
    """AC-45, F-AC-7: also where the key does not tell the project (jobs' places, steps, events, marks)."""
    records = everything(world.whole)
    assert {type(r) for r in records} >= {Project, Job, JobPlace, Step, Asset, Outbox, Idempotency, Audit}
    refs: list[Ref[Any]] = [r.ref for r in records]
    assert world.one.get_many(refs) == [r if project_of(r) == ONE else None for r in records]
    for record in records:
        if project_of(record) == ONE:
            assert world.one.get(record.ref) == record
        else:
            assert world.one.lookup(record.ref) is None
            with pytest.raises(NotFound):
                world.one.get(record.ref)
            with pytest.raises(NotFound), world.one.change() as change:
                change.get(record.ref)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_pages_hold_exactly_the_own_records_whatever_their_size(world: World, size: int) -> None:
    for query in questions()[-4:]:
        for asked in (query, query.reversed()):
            own = [r for r in world.whole.find(asked) if project_of(r) == TWO]
            assert by_pages(world.two, asked, size) == own
            last = world.two.page(asked, limit=len(own))
            assert last.cursor is None, "others' records that follow do not count"


def test_no_other_way_of_reading_shows_another_project(world: World) -> None:
    """Filtered, counted, of some fields, and of several kinds: each is of own records, whatever it walks."""
    for query in questions():
        own = [r for r in world.whole.find(query) if project_of(r) == ONE]
        has_project = Present("project_id")
        some = replace(query, fields=("project_id",))
        assert world.one.count(query, up_to=1000).number == len(own)
        assert list(world.one.find(some)) == [(ONE,)] * len(own)
        assert list(world.one.find(query.where(has_project))) == own
        page = world.one.page(query.where(has_project), limit=1, examining=1)
        assert page.examined is None or query.values.get("project_id") == ONE
        assert [r for r in page.records if project_of(r) != ONE] == []
        assert page.cursor is None or "p2" not in decoded(page.cursor), "a cursor tells nobody of others' records"
    for project in (ONE, TWO):
        whole = together(Project.at(project_id=project), Job.of_project(project_id=project))
        own = list(world.whole.find(whole))
        assert {type(r) for r in own} == {Project, Job}
        assert list(world.one.find(whole)) == (own if project == ONE else [])
    with pytest.raises(FilterTooWide):  # others' records count as well, as they are looked at
        list(world.one.find(Job.by_status(status=Status.PENDING).where(Present("project_id")), examining=1))
    shared = together(Job.by_status(status=Status.PENDING))
    assert {project_of(r) for r in world.one.find(shared)} == {ONE}


def decoded(cursor: str) -> str:
    return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("latin-1")


def test_a_cursor_of_one_scope_does_not_open_in_another(world: World) -> None:
    query = Step.by_status(status=Status.PAUSED)
    cursor = world.one.page(query, limit=1).cursor
    assert cursor is not None
    assert world.one.page(query, cursor=cursor).records
    assert world.whole.scoped(ONE).page(query, cursor=cursor).records, "another handle of the same project"
    for other in (world.two, world.whole):
        with pytest.raises(InvalidCursor):
            other.page(query, cursor=cursor)


def test_a_damaged_record_of_another_is_as_good_as_absent(world: World, engine_name: str) -> None:
    if engine_name != "sqlite":
        pytest.skip("damage is done by hand-written SQL here")
    connector: Any = world.whole.engine.connector  # type: ignore[attr-defined]
    steps = list(world.whole.find(Step.of_job(job_id="p2-j0")))
    connector.run("update assetcreator_steps set status = 'nonsense' where project_id = 'p2'", ())
    assert list(world.one.find(Step.of_job(job_id="p2-j0"))) == []
    assert world.one.get_many([s.ref for s in steps]) == [None] * len(steps)
    with pytest.raises(DamagedRecord, match="p2-j0"):
        list(world.two.find(Step.of_job(job_id="p2-j0")))
    with pytest.raises(DamagedRecord, match="p2-j0"):
        world.two.get_many([s.ref for s in steps])


# Writing


def test_no_write_touches_another_project(world: World) -> None:
    """AC-45: every kind of write, at every kind of key, alone and together with own writes."""
    before = image(world.whole, TWO)
    for record in list(before.values()):
        ref, shape = record.ref, record.__shape__
        in_key = "project_id" in shape.key.fields
        change_it = Patch(shape, ref.key, (any_update(record),))
        own = put(Asset(project_id=ONE, asset_id="mine", type="2D", created_at=world.one.clock.now()))  # type: ignore[arg-type]
        refused: type[Exception] = OutOfScope if in_key else Conflict
        with pytest.raises(OutOfScope):
            world.one.put(record)
        with pytest.raises(OutOfScope):
            world.one.put_many([record])
        attempts: list[list[Write]] = [[change_it], [own, change_it], [Check(shape, ref.key, Present())]]
        for writes in attempts:
            with pytest.raises(refused):
                world.one.commit(writes)
        with pytest.raises(refused):
            world.one.engine.patch(change_it, now=world.one.clock.now(), token="t")
        if in_key:
            for remove in (Delete(shape, ref.key), Check(shape, ref.key, Missing())):
                with pytest.raises(OutOfScope):
                    world.one.commit([remove])
            with pytest.raises(OutOfScope):
                world.one.delete_many([ref])
        elif not shape.rights.remove:
            with pytest.raises(OutOfScope):
                world.one.delete(ref)
            with pytest.raises(OutOfScope):
                world.one.delete_many([ref])
        else:
            world.one.delete(ref)
            world.one.delete(ref, when=Missing())
            world.one.delete_many([ref])
            world.one.commit([Check(shape, ref.key, Missing())])
            world.one.commit([own, Delete(shape, ref.key), Check(JobPlace.__shape__, {"job_id": "none"}, Missing())])
            assert world.one.lookup(Asset.at(project_id=ONE, asset_id="mine")) is not None
            world.one.delete(Asset.at(project_id=ONE, asset_id="mine"))
    assert image(world.whole, TWO) == before
    assert world.one.lookup(Asset.at(project_id=ONE, asset_id="mine")) is None


def test_a_key_that_another_project_has_cannot_be_taken(world: World) -> None:
    """Also by a put without a condition, by one that a condition would let pass, and in batches."""
    before = image(world.whole, TWO)
    place = JobPlace(job_id="p2-j0", project_id=ONE)
    taken = world.whole.first(Step.of_job(job_id="p2-j0"))
    assert taken is not None
    own = taken.model_copy(update={"project_id": ONE})
    attempts: list[Callable[[], None]] = [
        lambda: world.one.put(place),
        lambda: world.one.create(place),
        lambda: world.one.put(place, when=Missing("project_id") | Present("job_id")),
        lambda: world.one.put(own, when=the(Step.status).equals(Status.PAUSED)),
        lambda: world.one.put(own, when=the(Step.error).absent()),
        lambda: world.one.put_many([place]),
        lambda: world.one.commit([put(JobPlace(job_id="new", project_id=ONE)), put(own)]),
    ]
    for attempt in attempts:
        with pytest.raises(Conflict) as refused:
            attempt()
        assert refused.value.found is None
    assert refused.value.position == 1
    assert image(world.whole, TWO) == before
    assert world.one.lookup(JobPlace.at(job_id="new")) is None, "nothing of a refused commit is written"


def test_a_record_cannot_be_given_away(world: World) -> None:
    mine = world.one.first(Step.of_job(job_id="p1-j0"))
    assert mine is not None
    with pytest.raises(OutOfScope):
        world.one.patch(mine.ref, the(Step.project_id).set(TWO), given=mine)
    with pytest.raises(OutOfScope):
        world.one.put(mine.model_copy(update={"project_id": TWO}))
    with pytest.raises(OutOfScope), world.one.change() as change:
        held = change.get(mine.ref)
        held.project_id = TWO
        change.save(held)
    assert world.one.patch(mine.ref, the(Step.project_id).set(ONE), given=mine) == mine


def test_own_records_are_written_as_ever(world: World) -> None:
    mine = world.one.first(Step.of_job(job_id="p1-j0"))
    assert mine is not None
    now = world.one.clock.now()
    assert world.one.patch(mine.ref, the(Step.approved_by).set("me")).approved_by == "me"
    with world.one.change(by="me") as change:
        change.save(change.get(mine.ref).approve(by="me", at=now))
    assert world.whole.get(mine.ref).status is Status.APPROVED
    with pytest.raises(Conflict) as refused:
        world.one.patch(mine.ref, the(Step.approved_by).set("x"), when=the(Step.status).equals(Status.PAUSED))
    assert refused.value.found is not None
    assert refused.value.found["status"] is Status.APPROVED
    assert "project" not in str(refused.value), "the scope's own condition is not the caller's"
    world.one.put(mine)
    with pytest.raises(Conflict):
        world.one.delete(mine.ref, when=the(Step.status).equals(Status.DONE))
    with pytest.raises(Conflict):
        world.one.commit([Check(mine.__shape__, mine.ref.key, Missing())])
    world.one.delete(mine.ref)
    world.one.delete(mine.ref)
    assert world.whole.lookup(mine.ref) is None
    many = [step(ONE, "p1-j9", n, store=world.one) for n in range(7)]
    world.one.put_many(many)
    assert list(world.whole.find(Step.of_job(job_id="p1-j9"))) == many
    world.one.delete_many(s.ref for s in many)
    assert world.whole.first(Step.of_job(job_id="p1-j9")) is None


def test_no_error_tells_what_another_project_has(world: World) -> None:
    """F-AC-7: a refusal is the same as if nothing stood there."""
    for record in image(world.whole, TWO).values():
        ref, shape = record.ref, record.__shape__
        if "project_id" in shape.key.fields:
            continue
        key_of_nothing = {n: f"no-{v}" if type(v) is str else v for n, v in ref.key.items()}
        update = any_update(record)
        told = []
        for at in (dict(ref.key), key_of_nothing):
            write = Patch(shape, at, (update,), when=Present(update.field))
            for send, sent in (
                (lambda w: world.one.engine.patch(w, now=world.one.clock.now(), token="t"), write),
                (lambda w: world.one.commit([w]), write),
                (lambda w: world.one.commit([w]), Check(shape, at, Present())),
            ):
                with pytest.raises(Conflict) as refused:
                    send(sent)
                assert refused.value.found is None
                assert SECRET not in str(refused.value)
                told.append(str(refused.value).replace("=no-", "="))
        assert told[:3] == told[3:]


# Changes, messages, marks and leases of a project


def test_a_change_is_audited_and_announced_under_its_project(world: World) -> None:
    """AC-47: without the change naming it."""
    mine = world.one.first(Step.of_job(job_id="p1-j0"))
    assert mine is not None
    with world.one.change(by="me", why="to see") as change:
        change.patch(mine.ref, the(Step.approved_by).set("me"))
        change.emit("step.seen", Parcel(project_id=TWO, shelf="s", number=1))
    lines = [*world.whole.find(SystemAudit.of_project(project_id=ONE))]
    assert [(line.actor, line.project_id) for line in lines] == [("me", ONE)]
    messages = [*world.whole.find(SystemMessage.by_status(status=MessageStatus.PENDING))]
    assert [m.project_id for m in messages] == [ONE]
    assert len([*world.whole.find(Audit.of_project(project_id=ONE))]) == JOBS
    with pytest.raises(OutOfScope), world.one.change(by="me", project=TWO) as change:
        change.patch(mine.ref, the(Step.approved_by).set("you"))
    assert world.whole.get(mine.ref).approved_by == "me"


def test_a_mark_of_once_is_of_its_project(world: World) -> None:
    now = world.one.clock.now()

    def mark() -> SystemOnce:
        return SystemOnce(idempotency_key="the same", created_at=now, ttl=int(now.timestamp()) + 3600)

    claim = begin(world.one, mark(), owner="a", period=timedelta(seconds=60))
    assert isinstance(claim, Claim)
    with world.one.change(once=claim) as change:
        change.result = {"said": SECRET}
    assert begin(world.one, mark(), owner="b", period=timedelta(seconds=60)) == Replay({"said": SECRET})
    assert world.whole.get(mark().ref).project_id == ONE
    with pytest.raises(InProgress) as told:
        begin(world.two, mark(), owner="c", period=timedelta(seconds=60))
    assert SECRET not in str(told.value)


def test_a_named_lease_is_of_its_project(world: World) -> None:
    period = timedelta(seconds=60)
    lease = take_named(world.one, "sweep", owner="a", period=period)
    assert lease is not None
    assert world.whole.get(NamedLease.at(name="sweep")).project_id == ONE
    with world.one.change(under=lease) as change:
        change.put(JobPlace(job_id="under", project_id=ONE))
    with pytest.raises(Conflict) as refused:
        take_named(world.two, "sweep", owner="b", period=period)
    assert refused.value.found is None
    release(world.one, lease)


# What a scope has not


def test_what_belongs_to_no_project_is_the_operators(world: World, clock: FrozenClock) -> None:
    with pytest.raises(OutOfScope, match="no project_id"):
        world.one.lookup(Video.at(video_id=uuid4()))
    with pytest.raises(OutOfScope):
        world.one.put(FeedPlace(name="f"))
    with pytest.raises(OutOfScope):
        world.one.engine.changes([Video.__shape__])
    for shape in NOVAE.shapes:
        with pytest.raises(OutOfScope):
            world.one.commit([Delete(shape, {})])
    with pytest.raises(OutOfScope):
        world.one.ensure()
    with pytest.raises(OutOfScope):
        world.one.engine.expire([Outbox.__shape__], now=clock.now())


MOMENT = datetime(2037, 1, 1, tzinfo=UTC)
KEY = ApiKey(key_id="k", name="n", role=Role.ADMIN, project_id=ONE, hash="h", created_at=MOMENT, created_by="me")
SEAL = Seal(
    project_id=ONE,
    trail="t",
    number=1,
    until=MOMENT,
    count=0,
    previous="",
    digest="d",
    sealed_at=MOMENT,
    sealed_by="me",
)
NOT_A_SCOPES: list[Callable[[Store, Audit], object]] = [
    lambda store, line: store.put(line),
    lambda store, line: store.patch(line.ref, the(Audit.action).set("nothing happened")),
    lambda store, line: store.delete(line.ref),
    lambda store, line: store.delete_many([line.ref]),
    lambda store, line: store.create(SEAL),
    lambda store, line: store.put(SEAL),
    lambda store, line: store.delete(SEAL.ref),
    lambda store, line: store.put(AuditedProject(project_id=ONE, trail="t")),
    lambda store, line: store.lookup(KEY.ref),
    lambda store, line: list(store.find(ApiKey.by_status(status=KeyStatus.ACTIVE))),
    lambda store, line: store.create(KEY),
    lambda store, line: store.patch(KEY.ref, the(ApiKey.hash).set("another")),
    lambda store, line: store.delete(KEY.ref),
]
"What a scope may not do with what is its own project's."


@pytest.mark.parametrize("attempt", NOT_A_SCOPES)
def test_what_is_kept_is_only_added_to_and_keys_are_the_operators(
    world: World, attempt: Callable[[Store, Audit], object]
) -> None:
    line = next(iter(world.one.find(Audit.of_project(project_id=ONE))))
    world.whole.put(KEY)
    for scoped in (world.one, world.whole.scoped(ONE, enforce=False)):
        with pytest.raises(OutOfScope):
            attempt(scoped, line)
    assert world.one.get(line.ref) == line
    assert world.whole.get(KEY.ref) == KEY
    assert world.whole.lookup(SEAL.ref) is None


REMEMBERED: list[Ref[Any]] = [
    SystemOnce.at(idempotency_key="k"),
    Idempotency.at(idempotency_key="k"),
    SystemMessage.at(event_id="e"),
    Outbox.at(event_id="e"),
    HeldMessage.at(outbox="o", thing="t", ts=MOMENT, event_id="e"),
    NamedLease.at(name="n"),
    Upload.at(upload_id="u"),
]
"What was done once, is to be told, and is at work: if it were forgotten, it would be done twice or never."


@pytest.mark.parametrize("ref", REMEMBERED, ids=repr)
def test_a_scope_removes_nothing_by_which_work_is_remembered(store: Store, ref: Ref[Any]) -> None:
    for scoped in (store.scoped(ONE), store.scoped(ONE, enforce=False)):
        with pytest.raises(OutOfScope, match="may not remove"):
            scoped.delete(ref)
        with pytest.raises(OutOfScope, match="may not remove"):
            scoped.delete_many([ref])


@pytest.mark.parametrize("rights", [Rights(change=False), Rights(read=False)], ids=["change", "read"])
def test_a_check_tells_of_a_record_so_it_needs_the_right_to_read_and_to_change(rights: Rights) -> None:
    """To check is to lock as well: PostgreSQL asks for both rights."""

    class Kept(Entity, table=Table("penstock-scope-kept", partition="id")):
        __rights__ = rights

        id: str
        project_id: str

        @key("{id}")
        def at(self, *, id: str) -> None: ...

    class Untouched:
        features = frozenset[str]()

    with pytest.raises(OutOfScope, match="may not check"):
        ScopedEngine(Untouched(), ONE).commit(  # type: ignore[arg-type]
            [Check(Kept.__shape__, {"id": "k"}, Present())], now=datetime(2037, 1, 1, tzinfo=UTC), token="t"
        )


def test_a_scope_is_of_one_project_and_stays_so(world: World) -> None:
    assert world.one.project == ONE
    assert world.one.scoped(ONE) is world.one
    for enforce in (True, False):
        with pytest.raises(OutOfScope):
            world.one.scoped(TWO, enforce=enforce)
    for nothing in ("", "-", "a\0b"):
        with pytest.raises(InvalidValue):
            world.whole.scoped(nothing)
    world.one.close()
    assert world.whole.lookup(Project.at(project_id=TWO)) is not None, "the store itself stays open"
    assert world.one.lookup(Project.at(project_id=ONE)) is not None
    odd = world.whole.scoped('it\'s \\ "odd" %s; ü')
    odd.put(JobPlace(job_id="odd", project_id='it\'s \\ "odd" %s; ü'))
    assert odd.lookup(JobPlace.at(job_id="odd")) is not None
    assert world.one.lookup(JobPlace.at(job_id="odd")) is None


def test_what_a_scope_may_not_do_with_records_of_the_system() -> None:
    """Other tests go by what is declared; a declaration that grants too much is noticed here."""
    stays, kept = Rights(remove=False), Rights(change=False, remove=False)
    read, nothing = Rights(add=False, change=False, remove=False), Rights(False, False, False, False)
    told = {
        stays: "HeldMessage, Idempotency, NamedLease, Outbox, SystemMessage, SystemOnce, Upload",
        kept: "Audit, AuditedProject, Released, SystemAudit",
        read: "Seal",
        nothing: "ApiKey, BrowserSession, FormerLayout, GuestLink, Knower, LayoutEdition, MigrationSegment, Sidecar, "
        "StoredLayout",
    }
    shapes = {s.name: s.rights for domain in (SYSTEM_RECORDS, *DOMAINS) for s in domain.shapes if s.rights != Rights()}
    assert shapes == {name: rights for rights, names in told.items() for name in names.split(", ")}


def test_without_enforcement_the_same_holds(world: World) -> None:
    """Where the database binds nothing, the handle still does."""
    lax = world.whole.scoped(ONE, enforce=False)
    before = image(world.whole, TWO)
    for query in questions():
        assert list(lax.find(query)) == list(world.one.find(query))
    for record in before.values():
        assert lax.lookup(record.ref) is None
        if "project_id" not in record.__shape__.key.fields:
            if record.__shape__.rights.remove:
                lax.delete(record.ref)
            with pytest.raises(Conflict) as refused:
                lax.put(type(record).model_validate(record.__dict__ | {"project_id": ONE}))
            assert refused.value.found is None
    assert image(world.whole, TWO) == before


def test_projects_that_are_uuids_are_compared_as_text(store: Store) -> None:
    """The music video's projects."""
    here, there = UUID(int=1), UUID(int=2)
    now = store.clock.now()
    values: dict[str, Any] = {"sequence": 1, "prompt": "p", "duration": 5, "created_at": now, "updated_at": now}
    scenes = {p: Scene.model_validate({"project_id": p, **values}) for p in (here, there)}
    scoped = store.scoped(here)
    scoped.put(scenes[here])
    store.put(scenes[there])
    assert store.scoped(str(here)).get(scenes[here].ref) == scenes[here]
    assert list(scoped.find(Scene.of_project(project_id=here))) == [scenes[here]]
    assert list(scoped.find(Scene.of_project(project_id=there))) == []
    assert scoped.get_many([s.ref for s in scenes.values()]) == [scenes[here], None]
    with pytest.raises(OutOfScope):
        scoped.put(scenes[there])
    stranger = store.scoped("not a uuid")
    assert stranger.lookup(scenes[here].ref) is None
    with pytest.raises(OutOfScope):
        stranger.delete(scenes[here].ref)


# The feed

_TOLD = Table("penstock-scope-told", partition="PK", sort="SK", feed=True)


class Parcel(Entity, table=_TOLD, relation="parcels"):
    """Something watched, whose key does not tell the project."""

    project_id: str
    shelf: str
    number: int
    owner: UUID | None = None
    ts: UtcMicros | None = None

    @key("SHELF#{shelf}", "PARCEL#{number:05d}")
    def at(self, *, shelf: str, number: int) -> None: ...

    @pattern(at)
    def on_shelf(self, *, shelf: str, number: Range[int] = ANYTHING) -> None:
        """The parcels of a shelf."""


SCOPED = Domain("scoped", Parcel)


@pytest.fixture
def parcels(open_engine: Callable[[], Engine], clock: FrozenClock) -> Store:
    store = Store(open_engine(), clock=clock, secret=b"of the tests", own=SYSTEM_RECORDS)
    store.ensure(SCOPED)
    return store


def test_a_patch_whose_record_is_anothers_by_the_time_its_answer_comes_shows_nothing(parcels: Store) -> None:
    """What was patched is read back as it stands: removed meanwhile, and another has put one of its own there."""
    ref = Parcel.at(shelf="s", number=1)

    class Slow:
        def __getattr__(self, name: str) -> Any:
            return getattr(parcels.engine, name)

        def patch(self, patch: Patch, **options: Any) -> Any:
            parcels.engine.patch(patch, **options)
            parcels.delete(ref)
            parcels.put(Parcel(project_id="p2", shelf="s", number=1, owner=UUID(int=2)))
            return parcels.get(ref)

    slow = Store(ScopedEngine(Slow(), "p1"), clock=parcels.clock)
    parcels.put(Parcel(project_id="p1", shelf="s", number=1))
    with pytest.raises(Conflict) as refused:
        slow.patch(ref, the(Parcel.owner).set(UUID(int=1)))
    assert refused.value.found is None
    assert "p2" not in str(refused.value)


def test_what_changes_hands_while_it_is_removed_is_removed_for_its_new_owner(parcels: Store) -> None:
    """Another's place is passed over; it may be one's own by the time that is written down. Each is another commit."""
    mine, other = (Parcel(project_id=p, shelf="s", number=1) for p in (ONE, TWO))
    tokens: list[str] = []

    class Hasty:
        def __getattr__(self, name: str) -> Any:
            return getattr(parcels.engine, name)

        def commit(self, writes: Any, *, now: datetime, token: str) -> None:
            tokens.append(token)
            if len(tokens) == 2:
                parcels.put(mine)
            parcels.engine.commit(writes, now=now, token=token)

    hasty = Store(ScopedEngine(Hasty(), ONE), clock=parcels.clock)
    parcels.put(other)
    beside = Parcel(project_id=ONE, shelf="s", number=2)
    hasty.commit([Delete(Parcel.__shape__, mine.ref.key, None), put(beside)])
    assert list(parcels.find(Parcel.on_shelf(shelf="s"))) == [beside]
    assert len(set(tokens)) == len(tokens) == 3, "a store that has seen a token takes what follows for the same commit"


def told(store: Store, limit: int) -> list[FeedEntry]:
    out: list[FeedEntry] = []
    while part := store.engine.changes(SCOPED.shapes, after=out[-1].position if out else None, limit=limit):
        assert len(part) <= limit
        out += part
    return out


def test_the_feed_tells_a_project_of_its_own_records(parcels: Store) -> None:
    for n in range(12):
        parcels.put(Parcel(project_id=(ONE, TWO, TWO)[n % 3], shelf="s", number=n))
    parcels.patch(Parcel.at(shelf="s", number=0), the(Parcel.owner).set(UUID(int=7)))
    parcels.delete(Parcel.at(shelf="s", number=1))
    parcels.delete(Parcel.at(shelf="s", number=3))
    for limit in (1, 2, 3, 5, 100):
        entries = told(parcels.scoped(ONE), limit)
        assert [(e.kind, e.key["number"]) for e in entries] == [
            *(("insert", n) for n in (0, 3, 6, 9)),
            ("update", 0),
            ("remove", 3),
        ]
        assert len(told(parcels.scoped(TWO), limit)) == 9
    assert len(told(parcels, 100)) == 15


def test_the_position_of_a_part_of_the_feed_leaves_no_own_change_out(parcels: Store) -> None:
    for n in range(9):
        parcels.put(Parcel(project_id=ONE, shelf="s", number=n))
    feed, heard, after = parcels.scoped(ONE).engine, list[int](), None
    while part := feed.changes(SCOPED.shapes, after=after, limit=2):
        heard += [e.key["number"] for e in part]
        after = part.position
    assert heard == list(range(9))


def test_a_record_that_is_moved_is_told_to_neither_project(parcels: Store) -> None:
    parcels.put(Parcel(project_id=ONE, shelf="s", number=1))
    parcels.patch(Parcel.at(shelf="s", number=1), the(Parcel.project_id).set(TWO))
    parcels.patch(Parcel.at(shelf="s", number=1), the(Parcel.owner).set(UUID(int=7)))
    assert [e.kind for e in told(parcels.scoped(ONE), 100)] == ["insert"]
    assert [e.kind for e in told(parcels.scoped(TWO), 100)] == ["update"]
    assert len(told(parcels, 100)) == 3


def test_a_handler_may_work_in_the_scope_of_the_record_it_heard_of(parcels: Store) -> None:
    feed = Feed(parcels, "stamping", owner="a")
    heard: list[str] = []

    @feed.on(Parcel, "insert", "update")
    def stamp(entry: FeedEntry, claim: Claim) -> None:
        heard.append(entry.kind)
        with parcels.scoped(entry.new.project_id).change(once=claim) as change:
            change.patch(entry.new.ref, the(Parcel.owner).set(UUID(int=len(entry.new.project_id))))

    for n, project in enumerate((ONE, TWO, "p10")):
        parcels.put(Parcel(project_id=project, shelf="s", number=n))
    feed.drain()
    assert [p.owner for p in parcels.find(Parcel.on_shelf(shelf="s"))] == [UUID(int=2), UUID(int=2), UUID(int=3)]
    assert not list(feed.letters())
    assert heard == ["insert"] * 3, "what it wrote there does not come back to it"


# Any interleaving

WRITES = st.lists(
    st.tuples(st.sampled_from([ONE, TWO, "p3"]), st.integers(0, 7), st.sampled_from(["put", "patch", "delete"])),
    max_size=25,
)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(WRITES, st.integers(1, 5))
def test_any_interleaving_leaves_each_project_what_it_wrote(
    parcels: Store, writes: list[tuple[str, int, str]], size: int
) -> None:
    """Projects write at each other's keys; a plain dict says what must come of it."""
    shelf = uuid4().hex
    scopes = {p: parcels.scoped(p) for p in (ONE, TWO, "p3")}
    model: dict[int, tuple[str, int]] = {}
    for claim, (project, number, does) in enumerate(writes):
        ref = Parcel.at(shelf=shelf, number=number)
        stands = model.get(number, (project, 0))[0]
        write: Write = Delete(ref.shape, ref.key)
        if does == "put":
            write = put(Parcel(project_id=project, shelf=shelf, number=number, owner=UUID(int=claim)))
        elif does == "patch":
            write = patch(ref, the(Parcel.owner).set(UUID(int=claim)))
        missing = does == "patch" and number not in model
        if missing or (stands != project and does != "delete"):
            with pytest.raises(Conflict) as refused:
                scopes[project].commit([write])
            assert refused.value.found is None
            continue
        scopes[project].commit([write])
        if does != "delete":
            model[number] = (project, claim)
        elif stands == project:
            model.pop(number, None)
    for project, scope in scopes.items():
        own = [(n, UUID(int=claim)) for n, (p, claim) in sorted(model.items()) if p == project]
        assert [(p.number, p.owner) for p in by_pages(scope, Parcel.on_shelf(shelf=shelf), size)] == own
        backwards = Parcel.on_shelf(shelf=shelf).reversed()
        assert [(p.number, p.owner) for p in scope.find(backwards)] == own[::-1]


def test_a_moment_is_never_shared_by_two_handles(store: Store) -> None:
    """The audit lines of one actor in two handles of a project do not meet, as their handles share one clock."""
    moments: list[datetime] = []
    for handle in (store, store.scoped(ONE), store.scoped(TWO), store.scoped(ONE)):
        moments += [handle.context.ticks.next() for _ in range(3)]
    assert len(set(moments)) == len(moments)


def test_pending_messages_of_another_project_are_not_relayed_in_a_scope(world: World) -> None:
    found = list(world.one.find(Outbox.by_status(status=MessageStatus.PENDING)))
    assert {m.project_id for m in found} == {ONE}
    assert {m.payload["said"] for m in found} == {f"{SECRET} by {ONE}"}


def test_many_writes_of_every_kind_commit_together_in_a_scope(parcels: Store) -> None:
    """In whatever order they are given; and one that is another project's refuses them all, by its position."""
    parcels.put_many(Parcel(project_id=ONE, shelf="s", number=n) for n in range(24))
    parcels.put(Parcel(project_id=TWO, shelf="s", number=99))
    refs = [Parcel.at(shelf="s", number=n) for n in reversed(range(24))]
    claimed = UUID(int=7)
    writes: list[Write] = [patch(ref, the(Parcel.owner).set(claimed)) for ref in refs[::2]]
    writes += [patch(ref, the(Parcel.ts).set(parcels.clock.now())) for ref in refs[1:12:2]]
    writes += [Delete(ref.shape, ref.key) for ref in refs[13:20:2]]
    writes += [Check(ref.shape, ref.key, Present()) for ref in refs[21::2]]
    writes += [put(Parcel(project_id=ONE, shelf="a", number=n)) for n in reversed(range(6))]
    scope = parcels.scoped(ONE)
    scope.commit(writes)
    found = list(scope.find(Parcel.on_shelf(shelf="s")))
    assert [p.number for p in found if p.owner == claimed] == [*range(1, 24, 2)]
    assert len([p for p in found if p.ts is not None]) == 6
    assert (len(found), len(list(scope.find(Parcel.on_shelf(shelf="a"))))) == (20, 6)
    foreign = patch(Parcel.at(shelf="s", number=99), the(Parcel.owner).set(claimed))
    with pytest.raises(Conflict) as refused:
        scope.commit([*(w for w in writes[:9] if isinstance(w, Patch)), foreign])
    assert (refused.value.position, refused.value.found) == (9, None)
