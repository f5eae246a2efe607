"""Items at the service: files and their viewers, versions, neighbours, decisions, and what viewers draw."""

from __future__ import annotations

from base64 import b64decode
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import Role
from penstock.files.sidecars import Sidecar
from penstock.review.viewer import Viewer, viewer_of
from tests.media.films import film, tone
from tests.review.shots import RECORD, Shot, ShotStatus, Sketch
from tests.web.service import Service

ITEMS, DECISIONS = "/api/review/items", "/api/review/decisions"
HERE = {"record": RECORD}
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c4944415408d763f8ffff3f0005fe02fea735815d0000000049454e44ae426082"
)


def shot(service: Service, **changes: Any) -> None:
    """The shot, with these fields."""
    with service.store.change(by="tests") as change:
        record = change.get(Shot.at(project_id="p1", title="Robot", take=1))
        for name, value in changes.items():
            setattr(record, name, value)
        change.save(record)


def put(service: Service, key: str, contents: bytes | Path) -> str:
    service.objects.put(key, contents if isinstance(contents, bytes) else contents.read_bytes())
    return key


def item(client: Any, record: str = RECORD) -> dict[str, Any]:
    answer = client.get(ITEMS, params={"record": record})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_files_are_shown_by_what_their_bytes_are(studio_anywhere: Service, tmp_path: Path) -> None:
    studio = studio_anywhere
    clip = put(studio, "shots/clip.bin", film(tmp_path / "film.mp4", 0.5))
    pictures = [put(studio, "shots/one.jpg", PNG), put(studio, "shots/two.png", b"<html>no picture</html>")]
    shot(studio, clip=clip, pictures=pictures, curve="shots/missing.csv")
    viewer = studio.client(Role.VIEWER)
    shown = {file["file"]: file for file in item(viewer)["files"]}
    assert {name: file["viewer"] for name, file in shown.items()} == {
        "clip": "video",
        "pictures.1": "picture",
        "pictures.2": "other",
        "curve": "spectrum",
    }
    assert (shown["curve"]["there"], shown["curve"]["url"]) == (False, None)
    got = viewer.get(shown["pictures.1"]["url"])
    assert (got.status_code, got.headers["content-type"], got.content) == (200, "image/png", PNG)
    assert viewer.get(shown["pictures.2"]["url"]).headers["content-disposition"].startswith("attachment")
    assert "shots/" not in str({n: {**f, "url": None} for n, f in shown.items()}), "keys are nobody's to see"


@pytest.mark.parametrize(
    ("content_type", "viewer"),
    [
        ("video/mp4", Viewer.VIDEO),
        ("audio/wav", Viewer.AUDIO),
        ("image/webp", Viewer.PICTURE),
        ("model/gltf-binary", Viewer.MODEL),
        ("application/vnd.apple.mpegurl", Viewer.HLS),
        ("image/svg+xml", Viewer.OTHER),
        ("image/tiff", Viewer.OTHER),
        ("text/html", Viewer.OTHER),
    ],
)
def test_each_type_has_its_viewer_and_what_runs_scripts_none(content_type: str, viewer: Viewer) -> None:
    assert viewer_of(content_type) is viewer


def test_a_film_is_looked_at_once_and_its_frames_are_known_from_then_on(studio: Service, tmp_path: Path) -> None:
    shot(studio, clip=put(studio, "shots/clip.mp4", film(tmp_path / "film.mp4", 2, fps=12)))
    viewer = studio.client(Role.VIEWER)
    assert item(viewer)["files"][0]["film"] is None
    facts = viewer.get("/api/review/film", params={**HERE, "file": "clip"}).json()
    assert (facts["frames"], facts["frame_rate"], facts["duration_ms"], facts["width"]) == (24, 12.0, 2000, 160)
    assert item(viewer)["files"][0]["film"] == facts
    before = item(viewer)["files"][0]["edition"]
    put(studio, "shots/clip.mp4", film(tmp_path / "other.mp4", 1, fps=12, seed=1))
    shown = item(viewer)["files"][0]
    assert (shown["film"], shown["edition"] != before) == (None, True)
    assert viewer.get("/api/review/film", params={**HERE, "file": "clip"}).json()["frames"] == 12


def test_a_sound_has_a_waveform_and_a_picture_has_none(studio: Service, tmp_path: Path) -> None:
    shot(studio, clip=put(studio, "shots/a.wav", tone(tmp_path / "a.wav", 1)), pictures=[put(studio, "shots/p", PNG)])
    viewer = studio.client(Role.VIEWER)
    asked = {**HERE, "file": "clip"}
    found = viewer.get("/api/review/waveform", params=asked).json()
    assert (found["duration_ms"], found["sample_rate"]) == (1000, 16_000)
    assert len(b64decode(found["levels"][0]["peaks"])) == 2 * -(-16_000 // found["levels"][0]["samples"])
    assert len(list(studio.store.find(Sidecar.due()))) == 1
    assert viewer.get("/api/review/waveform", params=asked).json() == found
    refused = viewer.get("/api/review/waveform", params={**HERE, "file": "pictures"})
    assert (refused.status_code, refused.json()["type"]) == (422, "not-an-item")


def test_curves_are_columns_and_a_file_without_any_says_why(studio: Service) -> None:
    key = "shots/curve.csv"
    shot(studio, curve=put(studio, key, "\n".join(f"{n},{n % 7}" for n in range(50_000)).encode()))
    viewer, asked = studio.client(Role.VIEWER), {**HERE, "file": "curve"}
    told = viewer.get("/api/review/plot", params=asked).json()
    (series,) = told["series"]
    assert (told["x"]["unit"], series["total"], len(series["x"]) <= 20_000) == ("Å", 50_000, True)
    assert (series["x"][0], series["x"][-1], max(series["y"])) == (0, 49_999, 6)
    put(studio, key, b"no,numbers,here")
    refused = viewer.get("/api/review/plot", params=asked)
    assert (refused.status_code, refused.json()["detail"]) == (422, "there are no two columns in the file")
    put(studio, "shots/a.png", PNG)
    shot(studio, pictures=["shots/a.png"])
    refused = viewer.get("/api/review/plot", params={**HERE, "file": "pictures"})
    assert (refused.status_code, refused.json()["type"]) == (422, "not-plotted")
    nothing = viewer.get("/api/review/plot", params={**HERE, "file": "x"})
    assert (nothing.status_code, nothing.json()["type"]) == (422, "not-an-item")


def test_versions_are_a_stack_and_the_queue_leads_on(studio_anywhere: Service) -> None:
    studio = studio_anywhere
    for number in range(2, 5):
        studio.clock.advance(timedelta(minutes=1))
        created = studio.clock.now()
        studio.store.create(Shot(project_id="p1", title="Robot", take=number, created_at=created))
    found = item(studio.client(Role.VIEWER, project="p1"), "/api/shots/shots/p1/Robot/2")
    assert [(v["record"][-1], v["shown"]) for v in found["versions"]] == [
        ("4", False),
        ("3", False),
        ("2", True),
        ("1", False),
    ]
    made = [v["made_at"] for v in found["versions"]]
    assert made == sorted(made, reverse=True), "each says when it was made"
    assert (found["previous"][-1], found["next"][-1], found["more_versions"]) == ("1", "3", False)
    first, last = (item(studio.client(Role.VIEWER), f"/api/shots/shots/p1/Robot/{n}") for n in (1, 4))
    assert (first["previous"], last["next"]) == (None, None)


def test_the_queue_goes_on_from_what_was_just_decided(studio: Service) -> None:
    studio.clock.advance(timedelta(minutes=1))
    studio.store.create(Shot(project_id="p1", title="Next", take=1, created_at=studio.clock.now()))
    editor = studio.client(Role.EDITOR)
    answer = editor.post(
        DECISIONS, params=HERE, json={"decision": "approve", "mark": item(editor)["mark"], "reason": "good"}
    )
    assert answer.status_code == 200, answer.text
    after = answer.json()
    assert (after["states"], after["decisions"]) == ({"status": "approved"}, [])
    assert after["next"] == "/api/shots/shots/p1/Next/1"


def test_a_decision_is_about_what_was_seen_and_its_own_route_makes_it(studio_anywhere: Service) -> None:
    studio = studio_anywhere
    editor = studio.client(Role.EDITOR)
    seen = item(editor)
    assert [(d["decision"], d["method"], d["path"], d["reason"]) for d in seen["decisions"]] == [
        ("approve", "POST", f"{RECORD}/moves/approve", "optional"),
        ("reject", "POST", f"{RECORD}/moves/reject", "required"),
    ]
    shot(studio, clip=put(studio, "shots/new.mp4", b"other bytes"))
    stale = editor.post(DECISIONS, params=HERE, json={"decision": "approve", "mark": seen["mark"]})
    assert (stale.status_code, stale.json()["type"]) == (409, "stale-review")
    mark = item(editor)["mark"]
    why = editor.post(DECISIONS, params=HERE, json={"decision": "reject", "mark": mark})
    assert (why.status_code, "say why" in why.json()["detail"]) == (422, True)
    asked: dict[str, Any] = {"params": HERE, "json": {"decision": "reject", "mark": mark, "reason": "too dark"}}
    done = [editor.post(DECISIONS, **asked, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert [a.status_code for a in done] == [200, 200], done[1].text
    record = studio.store.get(Shot.at(project_id="p1", title="Robot", take=1))
    assert (record.status, record.note) == (ShotStatus.REJECTED, "too dark")
    over = editor.post(DECISIONS, params=HERE, json={"decision": "approve", "mark": item(editor)["mark"]})
    assert (over.status_code, over.json()["type"]) == (409, "no-such-choice")


def test_a_viewer_is_shown_no_decision_and_can_make_none(studio: Service) -> None:
    viewer = studio.client(Role.VIEWER)
    seen = item(viewer)
    assert (seen["decisions"], seen["may_comment"]) == ([], False)
    answer = viewer.post(DECISIONS, params=HERE, json={"decision": "approve", "mark": seen["mark"]})
    assert answer.status_code == 403


def test_a_record_of_which_nothing_is_declared_is_reviewed_by_its_declaration(studio: Service) -> None:
    """What a stranger's domain has by itself: its files, its queue, and the moves that are called as in a review."""
    for name in ("a", "b", "c"):
        studio.store.create(Sketch(name=name, picture=put(studio, f"shots/{name}.png", PNG)))
    editor = studio.client(Role.EDITOR)
    seen = item(editor, "/api/shots/sketches/b")
    assert (seen["title"], [f["viewer"] for f in seen["files"]]) == ("b", ["picture"])
    assert [(d["decision"], d["title"]) for d in seen["decisions"]] == [("approve", "Accept"), ("reject", "Refuse")]
    assert (seen["previous"], seen["next"]) == ("/api/shots/sketches/a", "/api/shots/sketches/c")
    body = {"decision": "approve", "mark": seen["mark"]}
    answer = editor.post(DECISIONS, params={"record": "/api/shots/sketches/b"}, json=body)
    assert answer.json()["states"] == {"status": "approved"}
