"""The script of roles, in a real PostgreSQL: a service that owns nothing starts, and a story runs."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from penstock import FrozenClock, Store, open_store
from penstock.domains.assetcreator import asset_studio
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.model import Job
from penstock.domains.speech import PLUGIN as SPEECH
from penstock.domains.videos.video_library import VideoLibrary
from penstock.errors import Misconfigured
from penstock.kernel.audit import SystemAudit
from penstock.plugin import DomainPlugin
from penstock.runtime.database_roles import database_roles
from penstock.runtime.discovery import discover
from penstock.runtime.service import Service
from penstock.runtime.settings import Settings, read_settings
from penstock.work.working import WORKING
from tests.domains.assetcreator.conftest import BEGUN
from tests.domains.assetcreator.quick_makers import QuickMakers
from tests.domains.assetcreator.story import asked, project
from tests.domains.assetcreator.test_story import test_an_asset_is_drawn_rejected_drawn_again_and_delivered as an_asset
from tests.domains.videos.films import made
from tests.domains.videos.story import added
from tests.servers import Postgres

FIVE: tuple[DomainPlugin, ...] = discover(read_settings((), {}))
_number = itertools.count()


@dataclass
class Separated:
    """A database whose tables are one role's, and whose rows another reads and writes."""

    admin: str
    owner: str
    service: str

    def run(self, url: str, text: str) -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(text.encode())


@pytest.fixture(scope="module")
def separated(postgres_server: Postgres) -> Iterator[Separated]:
    """Set up as the page says: the script, the tables by their owner, the script again."""
    admin = postgres_server.create_database(f"roles_{os.getpid()}_{next(_number)}")
    names = {"owner": f"owner_{os.getpid()}_{next(_number)}", "service": f"service_{os.getpid()}_{next(_number)}"}
    host = urlsplit(admin).netloc.rpartition("@")[2]
    urls = {role: admin.replace(urlsplit(admin).netloc, f"{name}@{host}", 1) for role, name in names.items()}
    at = Separated(admin, urls["owner"], urls["service"])
    script = database_roles(FIVE, Settings(), **names)
    at.run(admin, script)
    owned = open_store(at.owner)
    owned.ensure(*(i.domain for i in FIVE), WORKING)
    owned.close()
    at.run(admin, script)
    yield at
    for name in names.values():
        at.run(admin, f"drop owned by {name} cascade; drop role {name}")


@pytest.fixture
def service(separated: Separated, tmp_path: Path, clock: FrozenClock) -> Iterator[Service]:
    settings = Settings(
        store=separated.service,
        objects=f"files:///{tmp_path}/objects",
        archive=str(tmp_path / "archive"),
        secret="of the tests, and long enough",
    )
    service = Service(settings, FIVE)
    store = service.context.store
    clock.set(BEGUN)
    store.clock = store.context.clock = store.context.ticks._clock = clock
    yield service
    service.stop()


def test_the_service_starts_and_the_systems_run(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AC-45, AC-48: an asset through all its gates, a film with its feed, and all that runs in the background."""
    service.start(background=False)
    quick = QuickMakers()
    monkeypatch.setattr(asset_studio, "asset_makers", lambda *given, **more: quick.makers())
    store, objects = service.context.store, service.context.objects
    an_asset(AssetStudio(store, objects, quick.makers()), quick)
    added(VideoLibrary(store, objects), made(tmp_path / "film.mp4"))
    service.run_schedules()
    service.reaper().run_once()
    service.settle_quotas()
    service.write_traces()
    service.sweep().run()
    service.seal()
    service.change_log().run_once()
    service.forget_work()
    service.past_reviews().run()
    service.stored()
    for feed in service.feeds.values():
        feed.drain()
    for outbox in service.outboxes():
        service.relay(outbox).drain()


def test_nothing_is_missing_for_the_service_and_nothing_is_advised(service: Service, separated: Separated) -> None:
    """What the script makes is what `penstock tables plan` asks for, whoever asks."""
    owned = open_store(separated.owner)
    for store in (service.context.store, owned):
        assert store.ensure(*service.domains, dry_run=True) == []
    owned.close()


def test_a_session_of_a_project_sees_that_project_alone(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """AC-45: by row-level security, as a role that is not the service's own."""
    quick = QuickMakers()
    monkeypatch.setattr(asset_studio, "asset_makers", lambda *given, **more: quick.makers())
    store = service.context.store
    studio = AssetStudio(store, service.context.objects, quick.makers())
    one, other = project(studio), project(studio)
    job = asked(studio, one)
    mine, theirs = (_scoped(store, each.project_id) for each in (one, other))
    assert [j.job_id for j in mine.find(Job.of_project(project_id=one.project_id))] == [job.job_id]
    assert theirs.lookup(job.ref) is None


def _scoped(store: Store, project: object) -> Store:
    return store.scoped(str(project))


@pytest.mark.parametrize(
    "statement",
    [
        'create table "penstock"."mine" (a int)',
        'drop table "videos"."videos"',
        'truncate "videos"."videos"',
        'alter table "videos"."videos" disable row level security',
        'update "penstock"."audit" set actor = null',
        'delete from "penstock"."audit"',
        "insert into \"penstock\".\"changes\" (relation, kind, cause) values ('x', 'insert', 'user')",
        "create schema mine",
        "create role mine",
    ],
)
def test_what_only_an_owner_may_the_service_may_not(separated: Separated, statement: str) -> None:
    """F-AC-6: nor is what is kept as evidence rewritten."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        separated.run(separated.service, statement)


def test_audit_lines_are_removed_where_they_are_archived_and_changed_nowhere() -> None:
    audit = SystemAudit.__shape__.relation
    for days, granted in ((0, "select, insert"), (90, "select, insert, delete")):
        script = database_roles((SPEECH,), Settings(audit_days=days), owner="a", service="b")
        assert f'grant {granted} on "penstock"."{audit}" to "b"' in script
    assert '"videos"' not in script


@pytest.mark.parametrize(("owner", "service"), [("a", "a"), ('"x', "b"), ("pg_a", "b"), ("a", "B"), ("a", "x" * 64)])
def test_what_cannot_name_a_role_is_refused(owner: str, service: str) -> None:
    with pytest.raises(Misconfigured):
        database_roles((SPEECH,), Settings(), owner=owner, service=service)
