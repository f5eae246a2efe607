"""Notes at the service: who may, pages in each order, idempotency, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import Role
from penstock.review.note import Note
from tests.review.shots import RECORD, Secret, Shot, Sketch
from tests.web.service import Service
from tests.web.serving import Listener, serving

NOTES = "/api/review/notes"
HERE = {"record": RECORD}


def write(client: Any, text: str = "too dark", record: str = RECORD, **more: Any) -> dict[str, Any]:
    answer = client.post(NOTES, params={"record": record}, json={"text": text, **more})
    assert answer.status_code == 201, answer.text
    written: dict[str, Any] = answer.json()
    return written


def listed(client: Any, **asked: Any) -> list[str]:
    answer = client.get(NOTES, params={**HERE, **asked})
    assert answer.status_code == 200, answer.text
    return [item["text"] for item in answer.json()["items"]]


def refused(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"]


def test_a_thread_lives_at_the_service_of_every_engine(studio_anywhere: Service) -> None:
    ann, bob = studio_anywhere.client(Role.EDITOR, project="p1"), studio_anywhere.client(Role.EDITOR)
    first = write(ann, "too dark", pin={"time_ms": 2500, "frame": 60})
    assert (first["author"], first["mine"], first["guest"], first["status"]) == ("a editor", True, False, "open")
    one = f"{NOTES}/{first['note_id']}"
    answer = bob.post(f"{one}/replies", params=HERE, json={"text": "I like it"})
    assert (answer.status_code, answer.json()["thread_id"]) == (201, first["note_id"])
    write(bob, "and loud", pin={"time_ms": 100})
    page = ann.get(NOTES, params={**HERE, "order": "position"}).json()
    assert [(i["text"], i["pin"]["time_ms"], i["replies"]) for i in page["items"]] == [
        ("and loud", 100, 0),
        ("too dark", 2500, 1),
    ]
    (reply,) = page["items"][1]["first_replies"]
    assert (reply["text"], reply["mine"]) == ("I like it", False)
    assert (page["notes"], page["open_threads"], page["next"]) == (3, 2, None)
    edited = ann.patch(one, params=HERE, json={"version": 1, "text": "far too dark"})
    assert (edited.status_code, edited.json()["version"]) == (200, 2)
    assert refused(ann.patch(one, params=HERE, json={"version": 1, "text": "x"})) == (409, "stale-note")
    assert refused(bob.patch(one, params=HERE, json={"version": 2, "text": "x"})) == (403, "not-yours")
    resolved = bob.post(f"{one}/resolve", params=HERE, json={"version": 2}).json()
    assert (resolved["status"], resolved["resolved_by"]) == ("resolved", "a editor")
    assert (listed(ann, status="open"), listed(ann, status="resolved")) == (["and loud"], ["far too dark"])
    assert bob.post(f"{one}/reopen", params=HERE, json={"version": 3}).json()["status"] == "open"
    assert refused(bob.delete(one, params=HERE)) == (403, "not-yours")
    assert ann.delete(one, params=HERE).status_code == 204
    (blank,) = [i for i in ann.get(NOTES, params=HERE).json()["items"] if i["deleted"]]
    assert (blank["text"], blank["first_replies"][0]["text"]) == ("", "I like it")
    assert refused(ann.delete(one, params=HERE)) == (404, "not-found")


def test_threads_come_in_pages_and_any_order(studio: Service) -> None:
    editor = studio.client(Role.EDITOR)
    for number in range(7):
        write(editor, f"note {number}", pin={"time_ms": 100 - number})
    for order, expected in {
        "oldest": [f"note {n}" for n in range(7)],
        "newest": [f"note {n}" for n in reversed(range(7))],
        "position": [f"note {n}" for n in reversed(range(7))],
    }.items():
        found, cursor = [], None
        while True:
            asked: dict[str, Any] = {**HERE, "order": order, "limit": 3, **({"cursor": cursor} if cursor else {})}
            page = editor.get(NOTES, params=asked).json()
            found += [i["text"] for i in page["items"]]
            cursor = page["next"]
            if cursor is None:
                break
        assert found == expected
    assert refused(editor.get(NOTES, params={**HERE, "cursor": "x"})) == (400, "invalid-cursor")


def test_replies_beyond_the_first_are_a_page_of_their_own(studio: Service) -> None:
    editor = studio.client(Role.EDITOR)
    first = write(editor)
    for number in range(25):
        editor.post(f"{NOTES}/{first['note_id']}/replies", params=HERE, json={"text": f"reply {number}"})
    (shown,) = editor.get(NOTES, params=HERE).json()["items"]
    assert (shown["replies"], [r["text"] for r in shown["first_replies"]]) == (25, [f"reply {n}" for n in range(20)])
    page = editor.get(f"{NOTES}/{first['note_id']}/replies", params={**HERE, "limit": 100}).json()
    assert [r["text"] for r in page["items"]] == [f"reply {n}" for n in range(25)]
    last = page["items"][-1]["note_id"]
    one = f"{NOTES}/{last}"
    assert refused(editor.delete(one, params=HERE)) == (404, "not-found"), "a reply is found in its thread"
    assert editor.delete(one, params={**HERE, "thread_id": first["note_id"]}).status_code == 204
    assert editor.get(f"{NOTES}/{first['note_id']}", params=HERE).json()["replies"] == 24


def test_sent_twice_under_one_key_it_is_written_once(studio_anywhere: Service) -> None:
    editor = studio_anywhere.client(Role.EDITOR)
    asked: dict[str, Any] = {"params": HERE, "json": {"text": "once"}, "headers": {"Idempotency-Key": "k1"}}
    one, other = editor.post(NOTES, **asked), editor.post(NOTES, **asked)
    assert (one.status_code, one.json()) == (other.status_code, other.json())
    assert other.headers["idempotent-replayed"] == "true"
    assert listed(editor) == ["once"]


def test_viewers_read_and_editors_write_and_nobody_without_a_key(studio: Service) -> None:
    note = write(studio.client(Role.EDITOR))
    viewer, guest = studio.client(Role.VIEWER), studio.client()
    assert listed(viewer) == ["too dark"]
    assert refused(viewer.post(NOTES, params=HERE, json={"text": "x"})) == (403, "forbidden")
    for method, path in (
        *(("PATCH", ""), ("DELETE", ""), ("POST", "/resolve"), ("POST", "/reopen"), ("POST", "/replies")),
    ):
        asked = {"params": HERE, "json": {"text": "x", "version": 1}} if method != "DELETE" else {"params": HERE}
        answer = viewer.request(method, f"{NOTES}/{note['note_id']}{path}", **asked)
        assert answer.status_code == 403, (method, path)
    assert refused(guest.get(NOTES, params=HERE)) == (401, "unauthenticated")


def test_an_administrator_deletes_what_others_wrote(studio: Service) -> None:
    note = write(studio.client(Role.EDITOR))
    assert studio.client(Role.ADMIN).delete(f"{NOTES}/{note['note_id']}", params=HERE).status_code == 204
    assert listed(studio.client(Role.VIEWER)) == []


def test_a_key_of_another_project_sees_neither_record_nor_note(studio_anywhere: Service) -> None:
    note = write(studio_anywhere.client(Role.EDITOR))
    other = studio_anywhere.client(Role.ADMIN, project="p2")
    assert refused(other.get(NOTES, params=HERE)) == (404, "not-found")
    assert refused(other.post(NOTES, params=HERE, json={"text": "x"})) == (404, "not-found")
    assert refused(other.delete(f"{NOTES}/{note['note_id']}", params=HERE)) == (404, "not-found")


def test_notes_on_what_is_for_administrators_are_for_them_too(studio: Service) -> None:
    studio.store.create(Secret(project_id="p1", name="s"))
    record = "/api/shots/secrets/p1/s"
    write(studio.client(Role.ADMIN), "hush", record)
    assert refused(studio.client(Role.EDITOR).get(NOTES, params={"record": record})) == (403, "forbidden")


def test_what_belongs_to_no_project_has_notes_as_well(studio: Service) -> None:
    studio.store.create(Sketch(name="a/b c"))
    record = "/api/shots/sketches/a%2Fb%20c"
    write(studio.client(Role.EDITOR), "nice", record)
    bound = studio.client(Role.EDITOR, project="p1")
    assert refused(bound.get(NOTES, params={"record": record})) == (403, "out-of-scope")


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ("", (422, "not-an-item")),
        ("/api/shots", (422, "not-an-item")),
        ("/api/shots/nothing/p1/Robot/1", (422, "not-an-item")),
        ("/api/shots/shots/p1/Robot", (422, "not-an-item")),
        ("/api/shots/shots/p1/Robot/one", (422, "not-an-item")),
        ("/api/shots/shots/p1/Robot/1/2", (422, "not-an-item")),
        ("/api/shots/shots/p1/Other/1", (404, "not-found")),
        ("/api/shots/shots/p1/%FF/1", (422, "invalid-key")),
        ("/api/penstock/audit_lines/p1/x/y", (422, "not-an-item")),
        ("x" * 5000, (422, "invalid-request")),
    ],
)
def test_what_names_no_record_is_told_so(studio: Service, record: str, problem: tuple[int, str]) -> None:
    answer = studio.client(Role.EDITOR).get(NOTES, params={"record": record})
    assert refused(answer) == problem, answer.text


@pytest.mark.parametrize(
    "body",
    [
        *({}, {"text": ""}, {"text": "x" * 5001}, {"text": "a\x00"}, {"text": "x", "colour": "red"}),
        *({"text": "x", "pin": {}}, {"text": "x", "pin": {"time_ms": -1}}, {"text": "x", "file": "nothing"}),
    ],
)
def test_a_body_that_does_not_fit_is_refused(studio: Service, body: dict[str, Any]) -> None:
    answer = studio.client(Role.EDITOR).post(NOTES, params=HERE, json=body)
    assert answer.status_code == 422, answer.text
    assert listed(studio.client(Role.VIEWER)) == []


def test_ids_that_cannot_be_are_not_found(studio: Service) -> None:
    editor = studio.client(Role.EDITOR)
    for note_id in ("x", "%00", "..%2F", "é" * 20):
        assert editor.get(f"{NOTES}/{note_id}", params=HERE).status_code in (404, 422), note_id


def test_notes_of_a_record_that_is_gone_are_not_shown(studio: Service) -> None:
    editor = studio.client(Role.EDITOR)
    write(editor)
    studio.store.delete(Shot.at(project_id="p1", title="Robot", take=1))
    assert refused(editor.get(NOTES, params=HERE)) == (404, "not-found")
    assert (
        len(list(studio.store.find(Note.newest_threads(begins="shots.Shot(project_id=p1, title=Robot, take=1)")))) == 1
    )


def test_somebody_who_watches_hears_of_a_note_and_not_what_it_says(studio: Service) -> None:
    editor = studio.client(Role.EDITOR)
    topic = editor.get("/api/review/items", params=HERE).json()["topic"]
    with serving(studio.app) as port:
        mine = Listener(port, "/api/review/events", studio.key(Role.VIEWER, "p1"))
        assert mine.next().name == "ready"
        note = write(editor, "a secret remark")
        event = mine.next()
        assert event.data["new"]["topic"] == topic
        assert (event.data["new"]["event"], event.data["new"]["note_id"]) == ("note.written", note["note_id"])
        assert "remark" not in str(event.data)
        mine.close()
