"""What is personal is shown to whom it may be, by every door, and to nobody else."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import json
import logging
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from penstock import Entity, FrozenClock
from penstock.declare.record_address import segment_of
from penstock.declare.rendering import rendered
from penstock.domains import INSTALLED
from penstock.domains.speech.model import SpeechJob, TempAudio
from penstock.kernel.audit import SystemAudit
from penstock.runtime.logs import JsonLines
from penstock.schema.role import Role
from tests.web.guests import INSTALLED as GUESTS
from tests.web.guests import Complaint, Guest
from tests.web.routes import Door, doors
from tests.web.service import HERE, SECRET, Service
from tests.web.serving import Listener, serving

MARK = "Xyzzy4711"
"Stands in every personal field, and nowhere else."
PROJECT = "11111111-1111-4111-8111-111111111111"
GUESTBOOK = f"/api/guestbook/guests/{PROJECT}"
GUEST, BOB = f"{GUESTBOOK}/ann", f"{GUESTBOOK}/bob"
AT = dt.datetime(2037, 1, 1, 12, tzinfo=dt.UTC)
HIDDEN = {"words", "address", "friends", "notes", "picture"}


def guest(guest_id: str = "ann", **more: Any) -> Guest:
    said: dict[str, Any] = {
        "words": f"{MARK} words",
        "address": f"{MARK} address",
        "friends": frozenset({f"{MARK} friend"}),
        "notes": {"a": [f"{MARK} note"]},
        "picture": f"{MARK} picture".encode(),
    }
    return Guest(project_id=PROJECT, guest_id=guest_id, said_at=AT, **said | more)


def audio() -> TempAudio:
    return TempAudio.made(
        uuid4(), at=AT, text=f"{MARK} text", voice_id="v", duration=1, file_size_bytes=1, ip_address=f"{MARK} ip"
    )


def job() -> SpeechJob:
    return SpeechJob.begun(uuid4(), at=AT, text=f"{MARK} text", voice_id="v", ip_address=f"{MARK} ip")


SAMPLES: dict[type[Entity], Callable[[], Entity]] = {Guest: guest, TempAudio: audio, SpeechJob: job}


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(tmp_path, installed=(GUESTS,), clock=FrozenClock(AT), poll=timedelta(milliseconds=20))


@pytest.fixture
def everything(tmp_path: Path) -> Service:
    """The same beside all domains that ship."""
    return Service(tmp_path, installed=(*INSTALLED, GUESTS), clock=FrozenClock(AT))


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], str]]:
    """All that was logged, but for what the tests' own client says."""
    with caplog.at_level(logging.DEBUG):
        yield lambda: "\n".join(
            JsonLines().format(r) for r in caplog.records if not r.name.startswith(("httpx", "httpcore", "asyncio"))
        )


def tells(text: str) -> bool:
    """Is a mark in it, also within what is merely encoded?"""
    if MARK in text:
        return True
    for word in re.findall(r"[A-Za-z0-9_\-+/]{12,}", text):
        try:
            decoded = base64.urlsafe_b64decode(word + "=" * (-len(word) % 4))
        except (ValueError, binascii.Error):
            continue
        if MARK.encode() in decoded:
            return True
    return False


def told_by(answer: Any) -> bool:
    return tells(answer.text) or any(tells(v) for v in answer.headers.values())


def asked_of(door: Door, record: Entity, prefix: str) -> dict[str, Any]:
    """A request of a derived route that is about a record, or would make another like it."""
    asked = door.request(PROJECT)
    values = rendered(record)
    asked["params"] = {n: values.get(n, v) for n, v in asked["params"].items()}
    asked["url"] = door.path.format_map({n: segment_of(str(v)) for n, v in values.items()})
    if "json" in asked and door.path == prefix:
        fresh = rendered(SAMPLES[type(record)]())
        states = {f.name for f in record.__shape__.states}
        asked["json"] = {n: v for n, v in fresh.items() if n not in states and v is not None}
        if "guest_id" in fresh:
            asked["json"] |= {"guest_id": uuid4().hex}
            asked["json"].pop("picture")  # bytes are not JSON's
    return asked


def doors_of(service: Service) -> Iterator[tuple[Door, Entity | None, str]]:
    """Every route there is, with a record that it is about where it is derived of one with something personal."""
    records: dict[str, Entity] = {}
    for each in (*INSTALLED, GUESTS):
        for entity in each.domain.entities:
            if entity.__shape__.personal:
                record = SAMPLES[entity]()
                service.store.create(record)
                records[f"/api/{each.domain.name}/{entity.__shape__.collection}"] = record
    assert len(records) == len(SAMPLES)
    for door in doors(service.app):
        if not door.is_stream:
            prefix = door.path.partition("/{")[0]
            yield door, records.get(prefix), prefix


@pytest.mark.parametrize("role", [None, Role.VIEWER, Role.EDITOR])
def test_no_route_tells_anybody_else_what_is_personal(
    everything: Service, role: Role | None, logged: Callable[[], str]
) -> None:
    shown = 0
    with closing(everything.client(role)) as client:
        for door, record, prefix in doors_of(everything):
            everything.clock.advance(timedelta(seconds=5))  # public routes have their limits
            asked = door.request(PROJECT) if record is None else asked_of(door, record, prefix)
            answer = client.request(**asked)
            assert not told_by(answer), f"{door}: {answer.text}"
            if record is not None and role is not None and answer.status_code in (200, 201):
                shown += 1
            assert answer.status_code < 500 or door.path == "/readyz", f"{door}: {answer.text}"
    assert shown >= {None: 0, Role.VIEWER: 3, Role.EDITOR: 5}[role], "the records were there to be shown"
    assert not tells(logged())


def test_an_administrator_is_shown_what_is_personal(everything: Service, logged: Callable[[], str]) -> None:
    told = dict[str, bool]()
    with closing(everything.client(Role.ADMIN)) as client:
        for door, record, prefix in doors_of(everything):
            if record is not None:
                answer = client.request(**asked_of(door, record, prefix))
                if answer.status_code in (200, 201):
                    told[str(door)] = told_by(answer)
    assert len(told) >= 10
    shout = "POST /api/guestbook/guests/{project_id}/{guest_id}/moves/shout"
    # A history tells of keys and states, and files are told by their keys: to nobody more.
    silent = {door for door, shown in told.items() if not shown and not door.endswith(("/history", "/files"))}
    assert silent <= {shout}
    assert not tells(logged())


def test_every_role_is_told_what_is_for_it(service: Service) -> None:
    service.store.create(guest(nickname="Annie"))
    shown = {r: service.client(r).get(GUEST).json() for r in Role}
    assert shown[Role.ADMIN].keys() == set(Guest.model_fields)
    assert shown[Role.EDITOR].keys() == set(Guest.model_fields) - HIDDEN
    assert shown[Role.VIEWER].keys() == set(Guest.model_fields) - HIDDEN - {"nickname"}


def test_the_document_says_that_they_may_be_left_out(service: Service) -> None:
    schemas = service.app.openapi()["components"]["schemas"]
    shown, new = schemas["GuestbookGuest"], schemas["NewGuestbookGuest"]
    assert not (HIDDEN | {"nickname"}) & set(shown["required"])
    assert "default" not in shown["properties"]["words"]
    assert "left out below the role admin" in shown["properties"]["words"]["description"]
    assert "left out below the role editor" in shown["properties"]["nickname"]["description"]
    assert "words" in new["required"], "whoever makes a record gives it all"


def test_who_may_write_a_field_sets_it_and_is_not_told_it(service: Service) -> None:
    editor, admin = service.client(Role.EDITOR), service.client(Role.ADMIN)
    made = {"project_id": PROJECT, "guest_id": "bob", "words": f"{MARK} 1", "said_at": "2037-01-01T00:00:00Z"}
    answer = editor.post("/api/guestbook/guests", json=made)
    assert (answer.status_code, answer.json().keys() & HIDDEN) == (201, set())
    moved = editor.post(f"{BOB}/moves/shout", json={"words": f"{MARK} 2"})
    assert (moved.status_code, moved.json().keys() & HIDDEN) == (200, set())
    assert admin.get(BOB).json()["words"] == f"{MARK} 2"


def test_records_are_found_by_a_personal_field_only_by_whom_it_is_shown_to(service: Service) -> None:
    service.store.create(guest())
    asked = {"address": f"{MARK} address"}
    for role in (Role.VIEWER, Role.EDITOR):
        refused = service.client(role).get("/api/guestbook/guests", params={"pattern": "by_address", **asked})
        assert (refused.status_code, refused.json()["type"]) == (403, "forbidden")
    found = service.client(Role.ADMIN).get("/api/guestbook/guests", params={"pattern": "by_address", **asked})
    assert len(found.json()["items"]) == 1


def test_an_etag_tells_nothing_of_what_is_hidden(service: Service) -> None:
    """Of two records that differ in nothing else, and of one that is made again with a guess."""
    editor, admin = service.client(Role.EDITOR), service.client(Role.ADMIN)

    def etags() -> tuple[str, str]:
        seen = [c.get(GUEST).headers["etag"] for c in (editor, admin)]
        return seen[0], seen[1]

    service.store.put(guest(words="yes"))
    yes = etags()
    service.store.put(guest(words="no"))
    no = etags()
    assert (yes[0] == no[0], yes[1] == no[1]) == (True, False)
    moved = editor.post(f"{GUEST}/moves/shout", json={"words": "x"}, headers={"If-Match": no[0]})
    assert moved.status_code == 200, "what one has not seen cannot have changed under one's eyes"
    other = Service(service.objects.folder.parent, installed=(GUESTS,), store=service.store, clock=service.clock)
    assert other.client(Role.ADMIN).get(GUEST).headers["etag"] == etags()[1]
    other.app.state.options = type(other.app.state.options)(secret=SECRET + b"another")
    assert other.client(Role.ADMIN).get(GUEST).headers["etag"] != etags()[1], "it has a key"


def test_what_is_kept_of_an_answer_has_nothing_personal(service: Service) -> None:
    admin = service.client(Role.ADMIN)
    made = {"project_id": PROJECT, "guest_id": "bob", "words": MARK, "said_at": "2037-01-01T00:00:00Z"}
    first, again = (admin.post("/api/guestbook/guests", json=made, headers={"Idempotency-Key": "1"}) for _ in range(2))
    assert (first.json()["words"], again.headers["idempotent-replayed"]) == (MARK, "true")
    assert again.json() == {n: v for n, v in first.json().items() if n not in HIDDEN | {"nickname"}}
    assert holding(service, MARK) == ["guestbook_guests", "penstock_changes"], "in its record, and in its feed"
    assert list(service.store.find(SystemAudit.of_project(project_id=PROJECT)))


def holding(service: Service, text: str) -> list[str]:
    """The tables in which a text is somewhere."""
    with closing(sqlite3.connect(service.objects.folder.parent / "web.db")) as connection:
        names = [n for (n,) in connection.execute("select name from sqlite_master where type = 'table' order by name")]
        return [n for n in names if text in str(connection.execute(f'select * from "{n}"').fetchall())]


def test_a_refusal_in_a_domains_own_words_quotes_nothing_that_is_hidden(service: Service) -> None:
    service.store.create(guest())
    told = {r: service.client(r).post(f"{GUEST}/moves/repeat") for r in (Role.EDITOR, Role.ADMIN)}
    assert {a.json()["type"] for a in told.values()} == {"illegal-move"}
    assert (MARK in told[Role.EDITOR].text, MARK in told[Role.ADMIN].text) == (False, True)


def test_events_tell_each_role_what_is_for_it(service: Service, logged: Callable[[], str]) -> None:
    events = "/api/guestbook/events"
    with serving(service.app) as port:
        listeners = {role: Listener(port, events, service.key(role)) for role in Role}
        for listener in listeners.values():
            listener.next()
        service.store.create(guest(nickname="Annie"))
        service.store.put(guest(nickname="Annie", words=f"{MARK} more"))
        for role, listener in listeners.items():
            told = [listener.next() for _ in range(2)]
            hidden = Guest.__shape__.hidden_from(role)
            assert [e.name for e in told] == ["guests.insert", "guests.update"]
            assert told[1].data["old"].keys() == told[1].data["new"].keys() == set(Guest.model_fields) - hidden
            assert tells(json.dumps([e.data for e in told])) == (role is Role.ADMIN)
            again = Listener(port, events, service.key(role), last=told[0].id)
            again.next()
            assert tells(json.dumps(again.next().data)) == (role is Role.ADMIN), "also when they come back"
            for each in (listener, again):
                each.close()
    assert not tells(logged())


def test_records_that_are_not_for_everybody_are_read_and_heard_of_by_those_they_are_for(service: Service) -> None:
    asked = {"project_id": PROJECT}
    with serving(service.app) as port:
        listeners = {role: Listener(port, "/api/guestbook/events", service.key(role)) for role in Role}
        for listener in listeners.values():
            listener.next()
        service.store.create(Complaint(project_id=PROJECT, number=7))
        service.store.create(guest())
        for role, listener in listeners.items():
            expected = ["guests.insert"] if role is Role.VIEWER else ["complaints.insert", "guests.insert"]
            assert [listener.next().name for _ in expected] == expected
            listener.close()
    for role in Role:
        client, status = service.client(role), 403 if role is Role.VIEWER else 200
        assert client.get(f"/api/guestbook/complaints/{PROJECT}/7").status_code == status
        assert client.get("/api/guestbook/complaints", params={"pattern": "of_project", **asked}).status_code == status


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_what_guests_have_spoken_is_for_administrators_alone(tmp_path: Path, role: Role) -> None:
    """Whoever has the date and the id of an audio can hear it, which says the text."""
    service = Service(tmp_path, installed=INSTALLED)
    service.store.create(spoken := audio())
    service.store.create(job())
    for collection in ("audios", "jobs"):
        path = f"/api/speech/{collection}?pattern=of_date&date={spoken.date}"
        assert service.client(role).get(path).status_code == 403
        assert len(service.client(Role.ADMIN).get(path).json()["items"]) == 1


def test_without_keys_everybody_is_an_administrator(tmp_path: Path) -> None:
    service = Service(tmp_path, installed=(GUESTS,), authentication=False)
    service.store.create(guest())
    shown = service.client(address=HERE).get(f"/api/guestbook/guests/{PROJECT}/ann")
    assert shown.json()["words"] == f"{MARK} words"


def test_a_store_that_is_bound_hides_the_same(service: Service) -> None:
    service.store.create(guest())
    asked = {"pattern": "of_project", "project_id": PROJECT}
    bound = service.client(Role.VIEWER, project=PROJECT).get("/api/guestbook/guests", params=asked)
    assert [item["guest_id"] for item in bound.json()["items"]] == ["ann"]
    assert not told_by(bound)


def test_the_declaration_answers_as_the_doors_do() -> None:
    assert Guest.__shape__.hidden_from(Role.ADMIN) == frozenset()
    assert Guest.__shape__.hidden_from(Role.EDITOR) == HIDDEN
    assert Guest.__shape__.hidden_from(None) == HIDDEN | {"nickname"}
    assert [p.asked_by for p in Guest.__shape__.patterns.values()] == [None, Role.ADMIN, None]
