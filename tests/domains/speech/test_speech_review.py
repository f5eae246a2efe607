"""What was spoken, in the review room: for administrators, heard and drawn, and nothing of who asked."""

from __future__ import annotations

from fastapi import FastAPI

from penstock.auth.api_keys import create_key
from penstock.declare.record_address import path_of
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.schema.role import Role
from tests.domains.speech.story import spoken
from tests.domains.speech.test_routes import administrator, app, context  # noqa: F401
from tests.web.client import Client


def test_a_sentence_is_heard_and_its_words_are_nowhere(app: FastAPI, studio: SpeechStudio) -> None:  # noqa: F811
    audio = spoken(studio, "12-08 13:02:19", text="Hello secret world")
    admin, record = administrator(app, studio), {"record": path_of(audio)}
    item = admin.get("/api/review/items", params=record)
    assert item.status_code == 200, item.text
    assert [(f["file"], f["viewer"]) for f in item.json()["files"]] == [("speech", "audio")]
    assert "secret" not in item.text
    drawn = admin.get("/api/review/waveform", params={**record, "file": "speech"}).json()
    assert abs(drawn["duration_ms"] - audio.duration * 1000) < 60
    token = create_key(studio.store, name="bob", role=Role.EDITOR, by="tests").token
    editor = Client(app, headers={"X-API-Key": token})
    assert editor.get("/api/review/items", params=record).status_code == 403
