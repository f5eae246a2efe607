"""One project sees, counts, changes and takes away nothing of another's, whatever it tries and wherever.

What is tried is made of the declaration and of the application's routes (`tests.domains.strangers`). What a database
user of one project tries in SQL is in `tests.kernel.test_tenant_attacks`, for every table of every domain.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from penstock import Store
from penstock.auth.api_keys import create_key
from penstock.declare.entity import Entity
from penstock.declare.record_address import path_of
from penstock.domains.assetcreator import DOMAIN
from penstock.domains.assetcreator.asset_studio import AssetStudio
from penstock.domains.assetcreator.bookkeeping import Audit
from penstock.domains.assetcreator.model import Asset, AssetVersion, Job, Project, Step
from penstock.domains.assetcreator.project_quotas import LIMITS
from penstock.errors import Conflict, ForeignFile, NotFound, OutOfScope
from penstock.files.object_reads import every
from penstock.kernel.quota import usage
from penstock.review.note import NoteNews
from penstock.runtime.system_records import SYSTEM_RECORDS
from penstock.schema.role import Role
from penstock.work.job_records import pipeline_job_id
from penstock.work.task import Task, TaskStatus
from penstock.work.working import WORKING
from tests.domains.assetcreator.story import work
from tests.domains.assetcreator.web_story import (
    HERE,
    asked,
    begun,
    client_of,
    decision,
    finished,
    picture,
    seen,
    service,
    told,
)
from tests.domains.strangers import Tenant, attacks, questions_for, record_of, secret_of
from tests.web.routes import doors
from tests.web.serving import Listener, serving

OURS, THEIRS = "ours", "theirs"
OWN = {f"/api/{DOMAIN.name}/{entity.__shape__.collection}": entity for entity in DOMAIN.entities}
OPERATORS = {
    f"/api/ops/{entity.__shape__.collection}": entity for d in (SYSTEM_RECORDS, WORKING) for entity in d.entities
}


# Through the store


def fill(store: Store, project: str) -> list[Entity]:
    """A record of every entity of the domain."""
    records = [record_of(entity, project, store.clock.now()) for entity in DOMAIN.entities]
    for record in records:
        store.put(record)
    return records


def test_a_store_bound_to_a_project_has_no_record_of_another(anywhere: AssetStudio) -> None:
    """AC-45, F-AC-7: none is got, found, counted or told of, by any key, pattern or index of any entity."""
    store = anywhere.store
    ours, theirs = fill(store, OURS), fill(store, THEIRS)
    bound = store.scoped(OURS)
    for own, record in zip(ours, theirs, strict=True):
        assert bound.lookup(own.ref) == own, "the attack would show nothing"
        assert store.lookup(record.ref) == record
        assert bound.lookup(record.ref) is None
        assert bound.get_many([record.ref, own.ref]) == [None, own]
        with pytest.raises(NotFound):
            bound.get(record.ref)
        for query in questions_for(record):
            assert record in list(store.find(query)), f"{query} does not find it, so that the attack shows nothing"
            found = [*bound.find(query), *bound.page(query, limit=10).records]
            assert {each.project_id for each in found} <= {OURS}, query
            assert bound.count(query).number == len(found) // 2, query
        if record.__shape__.traced:
            assert bound.history(record.ref).entries == []


def test_a_store_bound_to_a_project_changes_no_record_of_another(anywhere: AssetStudio) -> None:
    """AC-45, F-AC-7: whatever is written over it, beside it or instead of it, it stands as it did."""
    store = anywhere.store
    fill(store, OURS)
    bound = store.scoped(OURS)
    for record in fill(store, THEIRS):
        stolen = record.model_copy(update={"project_id": OURS})  # where the key does not tell, it is theirs still
        attempts = (
            partial(bound.put, record),
            partial(bound.create, record),
            partial(bound.put_many, [record]),
            partial(bound.delete, record.ref),
            partial(bound.put, stolen),
            partial(bound.put_many, [stolen]),
        )
        for attempt in attempts:
            with suppress(OutOfScope, Conflict, ForeignFile):
                attempt()
            assert store.lookup(record.ref) == record, (record.__shape__.label, attempt)


# Through the service


def settled(api: Any, client: TestClient, studio: AssetStudio) -> Tenant:
    """A project with an asset in its library, and a job of which something waits for a decision."""
    project = begun(client, gates=["refine"])
    secret = secret_of(project)
    told(client.patch(f"/api/ac/projects/{project}", json={"name": secret, "style_profile": {"style": secret}}))
    sent = {"file": ("picture.png", picture(), "image/png")}
    reference = told(client.post(f"/api/ac/projects/{project}/references", files=sent), 201)["reference_id"]
    done = finished(client, studio, asked(client, project, secret, reference_id=reference)["job_id"])
    job = told(client.post(f"/api/ac/jobs/{done['job_id']}/again"), 201)["job_id"]
    work(studio)
    store, asset = studio.store, str(done["asset_id"])
    key = create_key(store, name=secret, role=Role.EDITOR, project=project, by="tests")
    exposed = [entity for path, entity in OPERATORS.items() if any(r.path.startswith(path) for r in api.routes)]
    records = [record_of(entity, project, store.clock.now()) for entity in (*DOMAIN.entities, *exposed)]
    for record in records:
        if type(record) is not Project:  # of which the true one is there
            store.put(record)
    real: list[Entity] = [
        store.get(Project.at(project_id=project)),
        store.get(Job.at(project_id=project, job_id=job)),
        *store.find(Step.of_job(job_id=job)),
        store.get(Asset.at(project_id=project, asset_id=asset)),
        *store.find(AssetVersion.of_asset(project_id=project, asset_id=asset)),
        *store.find(Audit.of_project(project_id=project)),
    ]
    ids = {
        "project_id": project,
        "job_id": job,
        "asset_id": asset,
        "version": 1,
        "reference_id": reference,
        "file": picture(),
        "asset_type": "3D_CHARACTER",
        "from_step": "refine",
        **{name: value for name, value in decision(client, job).items() if name != "notes"},
        "key_id": key.token.split("_")[1],
        "task_id": next(iter(store.find(Task.of_project(project_id=project, status=TaskStatus.DONE)))).task_id,
        **for_operators(client, store.get(Job.at(project_id=project, job_id=job))),
        **for_reviewers(client, next(iter(store.find(Step.reviews_of_project(project_id=project))))),
    }
    return Tenant(project, [*(r for r in records if type(r) is not Project), *real], ids)


def for_operators(client: TestClient, job: Job) -> dict[str, Any]:
    """What routes for work and for operators are asked by."""
    project = job.project_id
    question = {"what": "jobs", "action": "cancel", "status": "failed", "project": project}
    token = told(client.post("/api/ops/bulk/preview", json=question))["token"]
    return {
        "/api/work/inbox:key": "feed_letters",  # which is for those who see all
        "/api/review/waiting:key": "assetcreator.jobs.paused",  # nobody decides about a job but by its step
        **{
            f"/api/{path}:job_id": pipeline_job_id(job.ref)
            for path in ("work/jobs", "ops/jobs/cancel", "ops/jobs/resume")
        },
        **{
            f"/api/work/assignments{end}:{name}": value
            for end in ("", "/end")
            for name, value in {"kind": "assetcreator.Job", "key": job.ref.texts(), "assignee": "ann"}.items()
        },
        **{f"/api/ops/bulk/preview:{name}": value for name, value in question.items()},
        "/api/ops/bulk:token": token,
        "/api/ops/bulk:bulk_id": told(client.post("/api/ops/bulk", json={"token": token}), 202)["bulk_id"],
        "/api/ops/audit:project": project,
        "/api/ops/audit/export:project": project,
        "/api/ops/audit/verify:project": project,
        "/api/ops/keys:project": project,
        "/api/ops/schedules/run:name": "assetcreator-reviews",
    }


def for_reviewers(client: TestClient, step: Step) -> dict[str, Any]:
    """What routes for reviews are asked by: of a step that waits, with a note on it and a link for a guest."""
    record = path_of(step)
    about = {"record": record}
    item = told(client.get("/api/review/items", params=about))
    said = {"text": secret_of(step.project_id)}
    note = told(client.post("/api/review/notes", params=about, json=said), 201)
    link = told(client.post("/api/review/links", params=about, json={"label": secret_of(step.project_id)}), 201)
    paths = ("items", "decisions", "film", "waveform", "plot", "notes", "links")
    return {
        **{f"/api/review/{path}:record": record for path in paths},
        **{f"/api/review/{path}:file": item["files"][0]["file"] for path in paths},
        "/api/review/decisions:decision": "approve",
        "/api/review/decisions:mark": item["mark"],
        "note_id": note["note_id"],
        "/api/review/notes:version": note["version"],
        "link_id": link["link_id"],
    }


def standing(studio: AssetStudio, tenant: Tenant) -> Any:
    """All that can be known of a project."""
    found = {repr(r.ref): r for record in tenant.records for q in questions_for(record) for r in studio.store.find(q)}
    records = {**{repr(r.ref): studio.store.lookup(r.ref) for r in tenant.records}, **found}
    own = {name: record for name, record in records.items() if getattr(record, "project_id", None) == tenant.project}
    used = {name: usage(studio.store, quota, tenant.project) for name, quota in LIMITS.items()}
    files = {file.key: file.etag for file in every(studio.objects) if tenant.project in file.key}
    return own, used, files


def test_the_key_of_a_project_reaches_nothing_of_another(anywhere: AssetStudio) -> None:
    """AC-45, AC-46, F-AC-7: each route, own or derived, by each of its questions; also by an administrator's key.

    Files, zip, audit lines, events, history, quotas and pictures are routes like others.
    """
    studio, api = anywhere, service(anywhere)
    operator = client_of(api, studio, Role.ADMIN)
    ours, theirs = settled(api, operator, studio), settled(api, operator, studio)
    bound = client_of(api, studio, Role.ADMIN, project=ours.project)
    before = standing(studio, theirs)
    collections = {**OWN, **{c: e for c, e in OPERATORS.items() if any(type(r) is e for r in theirs.records)}}
    tried = list(attacks(api, theirs, collections))
    for attack in tried:
        answer = bound.request(**attack.request)
        assert theirs.secret not in answer.text, attack
        if attack.names_it or attack.door.method != "GET":
            assert answer.status_code in (403, 404), f"{attack}: {answer.status_code} {answer.text}"
        else:
            assert answer.status_code in (200, 403, 404), f"{attack}: {answer.status_code} {answer.text}"
            assert theirs.project not in answer.text or answer.status_code != 200, attack
    # One's own project, and everything else theirs: a job of ours with their picture, for their asset.
    mixed = Tenant(theirs.project, theirs.records, {**theirs.ids, "project_id": ours.project})
    for attack in attacks(api, mixed, collections):
        if attack.door.path.startswith("/api/ac/"):
            answer = bound.request(**attack.request)
            assert theirs.secret not in answer.text, attack
            assert answer.status_code < 500, f"{attack}: {answer.text}"
            assert theirs.project not in answer.text, attack
    assert standing(studio, theirs) == before
    _assert_it_is_there(operator, tried, theirs)


_NOT_OF_PICTURES = {f"/api/review/{path}" for path in ("film", "waveform", "plot", "waiting/{key}")}
"Of a step that drew a picture there is neither a sound nor a curve; and steps wait in lists of their projects."


def _assert_it_is_there(operator: TestClient, tried: list[Any], theirs: Tenant) -> None:
    """Whoever may is answered all of it, so that the attacks were for something."""
    order = ("GET", "PUT", "PATCH", "POST", "DELETE")
    for attack in sorted(tried, key=lambda a: (order.index(a.door.method), -len(a.door.path), a.door.path)):
        if attack.door.path in _NOT_OF_PICTURES:
            continue
        answer = operator.request(**attack.request)
        refused = answer.status_code in (401, 403, 404, 405, 422) or answer.status_code >= 500
        assert not refused, f"{attack}: {answer.status_code} {answer.text}"
        if attack.door.question:
            assert theirs.project in answer.text, attack


def test_a_signed_url_opens_one_file_and_no_other(studio: AssetStudio) -> None:
    """AC-46, F-AC-12: neither their file under our signature, nor ours for longer or for writing."""
    api = service(studio)
    operator = client_of(api, studio, Role.ADMIN)
    ours, theirs = settled(api, operator, studio), settled(api, operator, studio)
    bound = client_of(api, studio, Role.EDITOR, project=ours.project)
    version = studio.store.get(AssetVersion.at(project_id=theirs.project, asset_id=theirs.ids["asset_id"], version=1))
    shown = told(bound.get(f"/api/ac/assets/{ours.ids['asset_id']}/versions/1"))["files"]
    review = seen(bound, ours.ids["job_id"])["review"]["artifacts"]
    for file in (*shown, *review):
        url = file["url"].removeprefix(HERE)
        assert bound.get(url).status_code == 200
        path, query = urlsplit(url).path, urlsplit(url).query
        foreign = [f"/objects/{key}" for key in (*version.files, *(k.key for k in every(studio.objects)))]
        foreign += [path.replace(ours.project, theirs.project), f"{path}/../../{theirs.project}", f"{path}%00"]
        for other in foreign:
            if other != path:
                answer = bound.get(f"{other}?{query}")
                assert answer.status_code in (403, 404, 422), other
                assert theirs.secret not in answer.text
        assert bound.get(path).status_code == 403
        assert bound.put(url, content=b"forged").status_code in (403, 405)
        assert bound.get(f"{url}&expires=99999999999").status_code == 403


def test_whoever_listens_hears_nothing_of_another_project(studio: AssetStudio) -> None:
    """AC-45: at every stream that the service has, of every entity that is told there."""
    api = service(studio, poll=timedelta(milliseconds=20))
    key = create_key(studio.store, name="listener", role=Role.ADMIN, project=OURS, by="tests").token
    streams = [door for door in doors(api) if door.is_stream]
    assert streams
    with serving(api) as port:
        for door in streams:
            parts: dict[str, Iterable[type[Entity]]] = {
                DOMAIN.name: DOMAIN.entities,
                WORKING.name: WORKING.entities,
                "review": (NoteNews,),
            }
            told = [part for name, part in parts.items() if door.path in (f"/api/{name}/events", "/api/events")]
            fed = [entity for entities in told for entity in entities if entity.__shape__.table.feed]
            assert fed, door
            listener = Listener(port, door.path, key)
            assert listener.next().name == "ready"
            for entity in fed:
                for project in (THEIRS, OURS):
                    studio.store.put(record_of(entity, project, studio.store.clock.now()))
                event = listener.next()
                assert event.data["new"]["project_id"] == OURS
                assert THEIRS not in str(event.data)
            listener.close()
            for entity in fed:  # what is written as it stands is told to nobody
                for project in (THEIRS, OURS):
                    studio.store.delete(record_of(entity, project, studio.store.clock.now()).ref)
