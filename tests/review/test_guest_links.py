"""Links for guests, attacked: each leads to one record, for a while, and to nothing else."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import Role
from penstock.auth.guest_link import GuestLink, new_link_token
from penstock.errors import Conflict
from penstock.kernel.audit import EVERYWHERE, SystemAudit
from penstock.review.past_reviews import PastReviews
from penstock.runtime.logs import JsonLines
from penstock.web import api
from penstock.web.built_console import BuiltConsole
from tests.review.conftest import furnished
from tests.review.shots import DOMAIN, RECORD, SHOTS, Secret, Shot, ShotStatus
from tests.review.test_item_routes import PNG, put, shot
from tests.web.service import Service

LINKS = "/api/review/links"
HERE = {"record": RECORD}


def link(client: Any, *rights: str, record: str = RECORD, hours: int = 72, label: str = "Bob") -> dict[str, Any]:
    body = {"label": label, "rights": list(rights), "hours": hours}
    answer = client.post(LINKS, params={"record": record}, json=body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def refused(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"]


def say(guest: Any, path: str, text: str = "nice", name: str = "Bob", **more: Any) -> Any:
    return guest.post(f"{path}/notes", json={"name": name, "text": text, **more})


@pytest.fixture
def editor(studio: Service) -> Any:
    return studio.client(Role.EDITOR)


def test_a_guest_looks_comments_and_decides_on_every_engine(studio_anywhere: Service) -> None:
    studio = studio_anywhere
    shot(studio, pictures=[put(studio, "shots/a.png", PNG)])
    path = link(studio.client(Role.EDITOR, project="p1"), "comment", "decide")["path"]
    guest = studio.client()
    seen = guest.get(f"{path}/item").json()
    assert (seen["title"], seen["may_comment"], len(seen["files"])) == ("Robot", True, 1)
    assert [seen[n] for n in ("record", "topic", "versions", "previous", "next")] == [None, None, [], None, None]
    assert guest.get(seen["files"][0]["url"]).content == PNG
    first = say(guest, path, pin={"region": {"x": 0, "y": 0, "width": 0.5, "height": 0.5}}, file="pictures")
    assert (first.status_code, first.json()["guest"], first.json()["author"]) == (201, True, "Bob")
    replies = f"{path}/notes/{first.json()['note_id']}/replies"
    assert guest.post(replies, json={"name": "Bob", "text": "very"}).status_code == 201
    page = guest.get(f"{path}/notes").json()
    assert page["topic"] is None, "where news are told is nothing to a guest"
    (listed,) = page["items"]
    assert (listed["text"], [r["text"] for r in listed["first_replies"]]) == ("nice", ["very"])
    (decision,) = [d for d in seen["decisions"] if d["decision"] == "approve"]
    body = {**decision["body"], "name": "Bob", "mark": seen["mark"], "reason": "good"}
    for replayed in (None, "true"):
        done = guest.post(decision["path"], json=body, headers={"Idempotency-Key": "k"})
        assert (done.status_code, done.json()["states"]) == (200, {"status": "approved"}), done.text
        assert done.headers.get("Idempotent-Replayed") == replayed, "sent again, it is decided once"
    lines = list(studio.store.find(SystemAudit.of_project(project_id="p1")))
    assert [line.actor.startswith("Bob (guest)#") for line in lines].count(True) == 3
    assert any(line.actor.startswith("guest#") for line in lines), "that the link was used"


def test_without_a_right_nothing_is_said_and_nothing_decided(studio: Service, editor: Any) -> None:
    guest = studio.client()
    looks, comments = link(editor)["path"], link(editor, "comment")["path"]
    seen = guest.get(f"{looks}/item").json()
    assert (seen["decisions"], seen["may_comment"]) == ([], False)
    assert refused(say(guest, looks)) == (403, "not-permitted")
    note = say(guest, comments).json()
    reply = guest.post(f"{looks}/notes/{note['note_id']}/replies", json={"name": "x", "text": "x"})
    assert refused(reply) == (403, "not-permitted")
    for path in (looks, comments):
        body = {"name": "Eve", "decision": "approve", "mark": seen["mark"]}
        assert refused(guest.post(f"{path}/decisions", json=body)) == (403, "not-permitted")
    assert studio.store.get(Shot.at(project_id="p1", title="Robot", take=1)).status is ShotStatus.SHOWN


def test_a_guest_decides_nothing_that_whoever_made_the_link_could_not(studio: Service, editor: Any) -> None:
    guest = studio.client()
    by_editor = link(editor, "decide")["path"]
    by_admin = link(studio.client(Role.ADMIN), "decide")["path"]
    shown = [{d["decision"] for d in guest.get(f"{p}/item").json()["decisions"]} for p in (by_editor, by_admin)]
    assert shown == [{"approve", "reject"}, {"approve", "reject", "request_changes"}]
    body = {"name": "Eve", "decision": "request_changes", "mark": guest.get(f"{by_editor}/item").json()["mark"]}
    assert refused(guest.post(f"{by_editor}/decisions", json=body)) == (409, "no-such-choice")
    stale = {"name": "Eve", "decision": "approve", "mark": "0" * 32}
    assert refused(guest.post(f"{by_editor}/decisions", json=stale)) == (409, "stale-review")


def test_a_link_leads_to_one_record_whatever_is_asked(studio: Service, editor: Any) -> None:
    other = Shot(project_id="p2", title="Other", take=1, created_at=studio.clock.now())
    studio.store.create(other)
    hidden = "/api/shots/shots/p2/Other/1"
    note = editor.post("/api/review/notes", params={"record": hidden}, json={"text": "hidden"}).json()
    path, guest = link(editor, "comment", "decide")["path"], studio.client()
    assert guest.get(f"{path}/item", params={"record": hidden}).json()["title"] == "Robot"
    assert guest.get(f"{path}/notes", params={"record": hidden}).json()["items"] == []
    reply = guest.post(f"{path}/notes/{note['note_id']}/replies", json={"name": "Eve", "text": "x"})
    assert refused(reply) == (404, "not-found")
    assert say(guest, path, file="../../other").status_code == 422
    for kind in ("film", "waveform", "plot"):
        assert guest.get(f"{path}/{kind}", params={"file": "shots/secret"}).status_code == 422
    foreign = editor.get("/api/review/notes", params={**HERE, "limit": 1}).json()
    assert foreign["items"] == []


def test_a_cursor_of_another_record_leads_nowhere(studio: Service, editor: Any) -> None:
    studio.store.create(Shot(project_id="p1", title="Other", take=1, created_at=studio.clock.now()))
    there = {"record": "/api/shots/shots/p1/Other/1"}
    for _ in range(3):
        editor.post("/api/review/notes", params=there, json={"text": "hidden"})
    cursor = editor.get("/api/review/notes", params={**there, "limit": 1}).json()["next"]
    path = link(editor)["path"]
    assert refused(studio.client().get(f"{path}/notes", params={"cursor": cursor})) == (400, "invalid-cursor")


def test_one_that_was_revoked_has_ended_or_never_was_is_answered_alike(studio: Service, editor: Any) -> None:
    revoked, ended, gone = (link(editor, "comment", "decide", hours=h) for h in (72, 1, 72))
    guest = studio.client()
    for each in (revoked, ended):
        assert guest.get(f"{each['path']}/item").status_code == 200
    answer = editor.delete(f"{LINKS}/{revoked['link_id']}")
    assert (answer.status_code, answer.json()["status"], answer.json()["works"]) == (200, "revoked", False)
    assert editor.delete(f"{LINKS}/{revoked['link_id']}").status_code == 200, "again"
    lines = list(studio.store.find(SystemAudit.of_project(project_id="p1")))
    ended_by = [(line.action, line.actor.startswith("a editor#")) for line in lines if "'revoked'" in str(line.details)]
    assert ended_by == [("save GuestLink", True)], "it was ended once, by whom"
    studio.clock.advance(timedelta(hours=1))
    token = gone["path"].rpartition("/")[2]
    forged = [
        f"/guest/{token[:-1]}{'A' if token[-1] != 'A' else 'B'}",
        f"/guest/gl_{gone['link_id']}_x",
        f"/guest/{new_link_token()}",
        *("/guest/x", "/guest/gl__", "/guest/gl_%2E_x", "/guest/pk_1_2", f"/guest/{'x' * 150}"),
    ]
    told = set()
    for path in (revoked["path"], ended["path"], *forged):
        for answer in (
            guest.get(path),
            guest.get(f"{path}/item"),
            guest.get(f"{path}/notes"),
            guest.get(f"{path}/waveform", params={"file": "clip"}),
            say(guest, path),
            guest.post(f"{path}/decisions", json={"name": "Eve", "decision": "approve", "mark": "x"}),
        ):
            assert refused(answer) == (404, "no-such-link"), (path, answer.text)
            told.add(answer.json()["detail"])
    assert len(told) == 1
    assert guest.get(f"{gone['path']}/item").status_code == 200


def test_trying_tokens_is_soon_refused_and_written_down(studio: Service) -> None:
    guest = studio.client()
    answers = [guest.get(f"/guest/{new_link_token()}/item").status_code for _ in range(130)]
    assert set(answers) == {404, 429}
    assert answers.count(404) == 120
    posts = [say(guest, f"/guest/{new_link_token()}").status_code for _ in range(25)]
    assert posts.count(404) == 20
    lines = studio.store.find(SystemAudit.of_project(project_id=EVERYWHERE))
    written = {x.details["route"] for x in lines if x.action == "refused: no-such-link"}
    assert written == {"/guest/{token}/item", "/guest/{token}/notes"}, "without the token"


def test_it_ends_with_its_record(studio: Service, editor: Any) -> None:
    made = link(editor, "comment")
    studio.store.delete(Shot.at(project_id="p1", title="Robot", take=1))
    assert refused(studio.client().get(f"{made['path']}/item")) == (404, "no-such-link")
    studio.clock.advance(timedelta(days=1, minutes=1))
    past = PastReviews(studio.store, [DOMAIN], owner="tests", along=[lambda about: GuestLink.of_record(about=about)])
    assert past.run() == 1
    assert studio.store.lookup(GuestLink.at(link_id=made["link_id"])) is None


def test_a_token_is_no_key_and_is_kept_nowhere(
    studio: Service, editor: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    made = link(editor, "comment")
    token = made["path"].rpartition("/")[2]
    guest = studio.client(key=token)
    assert refused(guest.get("/api/review/items", params=HERE)) == (401, "unauthenticated")
    assert studio.client().get(f"{made['path']}/item").status_code == 200
    secret = token.split("_", 2)[2]
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert secret.encode() not in file.read_bytes(), file
    own = [each.getMessage() for each in caplog.records if each.name.startswith("penstock")]
    assert any("/guest/{token}/item" in line for line in own)
    assert secret not in str(own)


@pytest.mark.parametrize("hours", [0, 90 * 24 + 1])
def test_one_that_would_end_at_once_or_hardly_ever_is_not_made(studio: Service, editor: Any, hours: int) -> None:
    asked = editor.post(LINKS, params=HERE, json={"label": "Bob", "hours": hours})
    assert refused(asked) == (422, "invalid-request"), "from an hour to ninety days"
    assert editor.get(LINKS, params=HERE).json()["items"] == []
    assert link(editor, hours=90 * 24)


def test_where_it_leads_is_told_once(studio: Service, editor: Any) -> None:
    asked = {"params": HERE, "json": {"label": "Bob"}, "headers": {"Idempotency-Key": "k"}}
    one, again = editor.post(LINKS, **asked).json(), editor.post(LINKS, **asked).json()
    assert (one["link_id"], again["path"]) == (again["link_id"], None)
    (listed,) = editor.get(LINKS, params=HERE).json()["items"]
    assert "path" not in listed
    assert "hash" not in listed


def test_whoever_was_not_the_quickest_is_not_bothered(
    studio: Service, editor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link is made, used and ended although each change is refused at first because of another's."""
    commit, due = studio.store.engine.commit, ["GuestLink", "Note", "GuestLink"]

    def refuse_each_once(writes: Any, **more: Any) -> None:
        if due and any(write.shape.name == due[0] for write in writes):
            raise Conflict(f"somebody else has changed the {due.pop(0)}")
        commit(writes, **more)

    monkeypatch.setattr(studio.store.engine, "commit", refuse_each_once)
    made = link(editor, "comment")
    assert say(studio.client(), made["path"]).status_code == 201
    assert editor.delete(f"{LINKS}/{made['link_id']}").json()["status"] == "revoked"
    assert not due


def test_links_are_made_and_seen_by_editors_of_the_project(studio_anywhere: Service) -> None:
    studio = studio_anywhere
    made = link(studio.client(Role.EDITOR, project="p1"))
    viewer, other = studio.client(Role.VIEWER), studio.client(Role.ADMIN, project="p2")
    assert refused(viewer.post(LINKS, params=HERE, json={"label": "x"})) == (403, "forbidden")
    assert refused(viewer.get(LINKS, params=HERE)) == (403, "forbidden")
    assert refused(other.post(LINKS, params=HERE, json={"label": "x"})) == (404, "not-found")
    assert refused(other.get(LINKS, params=HERE)) == (404, "not-found")
    assert refused(other.delete(f"{LINKS}/{made['link_id']}")) == (404, "not-found")
    for none in ("nobody", "%01"):
        assert refused(studio.client(Role.ADMIN).delete(f"{LINKS}/{none}")) == (404, "not-found")
    assert studio.client().get(f"{made['path']}/item").status_code == 200


def test_no_link_leads_to_what_its_maker_may_not_see(studio: Service, editor: Any) -> None:
    studio.store.create(Secret(project_id="p1", name="s"))
    secret = {"record": "/api/shots/secrets/p1/s"}
    assert refused(editor.post(LINKS, params=secret, json={"label": "x"})) == (403, "forbidden")


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "&lt;b&gt;", "Zoë O'Neil"]
)
def test_what_a_guest_writes_is_text_wherever_it_is_shown(studio: Service, editor: Any, name: str) -> None:
    path, guest = link(editor, "comment", label=name)["path"], studio.client()
    assert say(guest, path, text=name, name=name).json()["author"] == name
    page = guest.get(path)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "<script" not in page.text
    assert "<img" not in page.text
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert (page.headers["referrer-policy"], page.headers["cache-control"]) == ("no-referrer", "no-store")


@pytest.mark.parametrize("is_built", [True, False])
def test_a_browser_gets_the_page_with_viewers_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_built: bool
) -> None:
    if is_built:
        (tmp_path / "index.html").write_text("<!doctype html><title>with viewers</title>")
    monkeypatch.setattr(api, "BuiltConsole", lambda: BuiltConsole(tmp_path))
    studio = furnished(Service(tmp_path, installed=(SHOTS,)))
    path, guest = link(studio.client(Role.EDITOR))["path"], studio.client()
    page, plain = guest.get(path, headers={"Accept": "text/html"}), guest.get(path, headers={"Accept": "*/*"})
    assert (page.status_code, plain.status_code) == (200, 200)
    assert ("with viewers" in page.text, "Robot" in plain.text) == (is_built, True)
    assert (page.text == plain.text) is not is_built
    for each in (page, plain):
        assert (each.headers["referrer-policy"], each.headers["cache-control"]) == ("no-referrer", "no-store")
    assert ("script-src 'self'" in page.headers["content-security-policy"]) is is_built, "it may load what it needs"


@pytest.mark.parametrize("name", ["", "   ", "x" * 61, "a\x00b", "a\x1bb", "\u202eevil", "\ud800"])
def test_a_name_that_is_none_is_refused(studio: Service, editor: Any, name: str) -> None:
    path = link(editor, "comment")["path"]
    answer = studio.client().post(
        f"{path}/notes", content=_json({"name": name, "text": "x"}), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in (400, 422), answer.text


def _json(value: Any) -> bytes:
    import json

    return json.dumps(value, ensure_ascii=True).encode()


def test_urls_of_a_guest_last_for_minutes(studio: Service, editor: Any) -> None:
    shot(studio, pictures=[put(studio, "shots/a.png", PNG)])
    path, guest = link(editor)["path"], studio.client()
    url = guest.get(f"{path}/item").json()["files"][0]["url"]
    assert guest.get(url).status_code == 200
    studio.clock.advance(timedelta(minutes=11))
    assert guest.get(url).status_code == 403


def test_visits_are_written_down_without_filling_the_trail(studio: Service, editor: Any) -> None:
    made, guest = link(editor), studio.client()
    for _ in range(50):
        guest.get(f"{made['path']}/item")
    studio.clock.advance(timedelta(minutes=11))
    guest.get(f"{made['path']}/item")
    (seen,) = editor.get(LINKS, params=HERE).json()["items"]
    assert (seen["visits"], seen["last_visit_at"] is not None) == (2, True)
    lines = [x for x in studio.store.find(SystemAudit.of_project(project_id="p1")) if x.actor.startswith("guest#")]
    assert len(lines) == 2


def test_what_opens_a_link_is_in_no_line_of_the_log(
    studio: Service, editor: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever reads a log could go where the link leads."""
    path = link(editor, "comment", "decide")["path"]
    token, guest = path.rpartition("/")[2], studio.client()
    caplog.set_level(logging.DEBUG)
    for asked in ("", "/item", "/notes", "/film", "/waveform", "/plot"):
        guest.get(f"{path}{asked}")
    said = say(guest, path).json()
    guest.post(f"{path}/notes/{said['note_id']}/replies", json={"name": "Bob", "text": "very"})
    guest.post(f"{path}/decisions", json={"name": "Bob", "decision": "approve", "mark": "0" * 32})
    lines = [JsonLines().format(record) for record in caplog.records if record.name.startswith("penstock")]
    assert sum('"/guest/{token}' in line for line in lines) >= 9
    assert [line for line in lines if token in line] == []
