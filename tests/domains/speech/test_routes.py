"""The API as a guest and an administrator meet it."""

from __future__ import annotations

import datetime as dt
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from penstock import FrozenClock
from penstock.auth.access import Access
from penstock.auth.api_keys import create_key, list_keys
from penstock.domains.speech import PLUGIN
from penstock.domains.speech.erasure import erase_audio
from penstock.domains.speech.model import SpeechJob, TempAudio
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.domains.speech.tasks import TASKS, request_job
from penstock.errors import Unavailable
from penstock.kernel.audit import EVERYWHERE, SystemAudit
from penstock.kernel.history import HistoryKind
from penstock.runtime.logs import JsonLines
from penstock.schema.role import Role
from penstock.web.api import build_api
from penstock.web.options import WebOptions
from penstock.work.domain_context import DomainContext
from penstock.work.working import WORKING
from penstock.workers.manual import ManualWorkers
from tests.domains.speech.faults import Failing, FailingStore, always
from tests.domains.speech.story import at, files, spoken, unset
from tests.web.client import Client
from tests.web.routes import doors


@pytest.fixture
def context(studio: SpeechStudio) -> DomainContext:
    return DomainContext(studio.store, studio.objects, unset)


@pytest.fixture
def app(context: DomainContext) -> FastAPI:
    """The service, as on a public address."""
    context.store.ensure(WORKING)
    return build_api([PLUGIN], context, options=WebOptions(strict_claims=True))


@pytest.fixture
def guest(app: FastAPI) -> Iterator[TestClient]:
    with Client(app, client=("203.0.113.7", 4711)) as client:
        yield client


def administrator(app: FastAPI, studio: SpeechStudio, project: str | None = None) -> TestClient:
    token = create_key(studio.store, name="ann", role=Role.ADMIN, project=project, by="tests").token
    return Client(app, headers={"X-API-Key": token})


def records(studio: SpeechStudio) -> list[TempAudio]:
    return list(studio.store.find(TempAudio.of_date(date=dt.date(2025, 12, 8))))


def jobs(studio: SpeechStudio) -> list[SpeechJob]:
    return list(studio.store.find(SpeechJob.of_date(date=dt.date(2025, 12, 8))))


def addresses(studio: SpeechStudio) -> list[str]:
    """Those that are kept with audios and jobs."""
    return sorted([a.ip_address for a in records(studio)] + [j.ip_address for j in jobs(studio)])


def test_a_sentence_becomes_a_link(guest: TestClient, studio: SpeechStudio) -> None:
    """TA-9, TA-24, TA-25: id, signed URL, end, duration and voice; the guest's address is kept with it."""
    answer = guest.post("/public/tts/sync", json={"text": "Hello world test"})
    assert answer.status_code == 200
    (record,) = records(studio)
    told = answer.json()
    url = told.pop("audio_url")
    assert told == {
        "date": "2025-12-08",
        "audio_id": str(record.audio_id),
        "expires_at": "2025-12-09T13:02:19Z",
        "forgotten_at": "2025-12-09T13:02:19Z",
        "duration": record.duration,
        "voice_id": "en_US-heart",
        "file_size_bytes": record.file_size_bytes,
        "left_out": None,
    }
    assert f"/{record.s3_key}?" in url
    assert "signature=" in url
    assert record.ip_address == "203.0.113.7"


@pytest.mark.parametrize(("format", "begins"), [("wav", b"RIFF"), ("mp3", b"ID3"), ("ogg", b"OggS")])
def test_a_sound_is_had_in_other_formats(guest: TestClient, format: str, begins: bytes) -> None:
    """Made when it is asked for, from the file that is there; nothing more is kept."""
    told = guest.post("/public/tts/sync", json={"text": "Hello"}).json()
    path = f"/public/sound/{told['date']}/{told['audio_id']}"
    sound = guest.get(path, params={"format": format})
    assert (sound.status_code, sound.headers["content-type"].partition("/")[0]) == (200, "audio")
    assert sound.content.startswith(begins)
    assert guest.get(path, params={"format": "flac"}).status_code == 422
    assert guest.get(f"/public/sound/{told['date']}/{uuid4()}").status_code == 404


def test_the_address_that_is_kept_is_the_guests_not_the_proxys(context: DomainContext, studio: SpeechStudio) -> None:
    """F-TA-6, TA-25: so that erasing it erases what the guest has made, and nothing of others."""
    app = build_api([PLUGIN], context, options=WebOptions(trusted_proxies=("10.0.0.0/8",)))
    for guest in ("203.0.113.7", "198.51.100.9"):
        through = Client(app, client=("10.0.0.2", 4711), headers={"X-Forwarded-For": guest})
        assert through.post("/public/tts/sync", json={"text": "Hi"}).status_code == 200
        assert through.post("/public/tts/jobs", json={"text": "Hi"}).status_code == 202
    assert addresses(studio) == ["198.51.100.9", "198.51.100.9", "203.0.113.7", "203.0.113.7"]
    ann = administrator(app, studio)
    assert ann.delete("/tts/addresses/10.0.0.2").json() == {"audios": 0, "jobs": 0}
    assert ann.delete("/tts/addresses/203.0.113.7").json() == {"audios": 1, "jobs": 1}
    assert addresses(studio) == ["198.51.100.9", "198.51.100.9"]


def test_only_a_trusted_proxy_is_believed(guest: TestClient, studio: SpeechStudio) -> None:
    """TA-25: or a guest could leave texts under the address of another."""
    guest.post("/public/tts/sync", json={"text": "Hi"}, headers={"X-Forwarded-For": "198.51.100.9"})
    assert [record.ip_address for record in records(studio)] == ["203.0.113.7"]


def test_a_guest_whose_address_nobody_knows_is_served(app: FastAPI, studio: SpeechStudio) -> None:
    """TA-25: as behind a socket of this machine; what is no address is not kept as one."""
    assert Client(app, client=("", 0)).post("/public/tts/sync", json={"text": "Hi"}).status_code == 200
    assert [record.ip_address for record in records(studio)] == ["unknown"]


def test_the_link_is_signed_again(guest: TestClient, clock: FrozenClock) -> None:
    """TA-9, F-TA-5, F-TA-6: found by day and id; gone with its day."""
    made = guest.post("/public/tts/sync", json={"text": "Hello"}).json()
    path = f"/public/tts/{made['date']}/{made['audio_id']}"
    clock.advance(dt.timedelta(hours=10))
    again = guest.get(path).json()
    assert {**again, "audio_url": ""} == {**made, "audio_url": ""}
    clock.advance(dt.timedelta(hours=14))
    answer = guest.get(path)
    assert (answer.status_code, answer.json()["type"]) == (404, "not-found")


def test_a_chosen_voice(guest: TestClient) -> None:
    """TA-4: one of those that are listed."""
    voices = guest.get("/voices").json()
    usual = {"voice_id": "en_US-heart", "language": "en-US", "engine": "hibari", "quality": "high", "usual": True}
    german = {"voice_id": "de_DE-pico", "language": "de-DE", "engine": "pico", "quality": "low", "usual": False}
    assert voices[0] == usual
    assert german in voices
    assert [voice["usual"] for voice in voices].count(True) == 1
    for name in ("voice_id", "voice"):
        answer = guest.post("/public/tts/sync", json={"text": "Guten Tag", name: "de_DE-pico"})
        assert answer.json()["voice_id"] == "de_DE-pico"


@pytest.mark.parametrize("path", ["/public/tts/sync", "/public/tts/jobs"])
def test_a_field_that_is_not_known_is_refused(guest: TestClient, studio: SpeechStudio, path: str) -> None:
    """TA-24: whoever writes `speed` hears of it, and not a text at the usual one."""
    answer = guest.post(path, json={"text": "Hello", "speed": 2})
    assert answer.status_code == 422
    assert "speed" in answer.text
    assert records(studio) == []


def test_what_was_left_out_is_told(guest: TestClient, context: DomainContext) -> None:
    """TA-4: at once, when it is asked for again, and of a job."""
    made = guest.post("/public/tts/sync", json={"text": "Hello 😊 ★ 😊"}).json()
    assert made["left_out"] == "😊★"
    assert guest.get(f"/public/tts/{made['date']}/{made['audio_id']}").json()["left_out"] == "😊★"
    assert guest.post("/public/tts/sync", json={"text": "Hello"}).json()["left_out"] is None
    job = guest.post("/public/tts/jobs", json={"text": "Hello 😊"}).json()
    ManualWorkers(context.store, [TASKS], context=context).drain()
    assert guest.get(f"/public/tts/jobs/{job['date']}/{job['job_id']}").json()["audio"]["left_out"] == "😊"


def test_markup_is_followed_or_refused(guest: TestClient, context: DomainContext, studio: SpeechStudio) -> None:
    """TA-4: at once and by a job; what is refused leaves nothing."""
    plain = guest.post("/public/tts/sync", json={"text": "Hello"}).json()["duration"]
    paused = guest.post("/public/tts/sync", json={"text": '<speak>Hello<break time="3s"/></speak>'}).json()
    assert paused["duration"] == pytest.approx(plain + 3, abs=0.05)
    job = guest.post("/public/tts/jobs", json={"text": '<speak><break time="2s"/>Hello</speak>'}).json()
    ManualWorkers(context.store, [TASKS], context=context).drain()
    done = guest.get(f"/public/tts/jobs/{job['date']}/{job['job_id']}").json()
    assert done["audio"]["duration"] == pytest.approx(plain + 2, abs=0.05)
    kept = len(records(studio))
    for path in ("/public/tts/sync", "/public/tts/jobs"):
        for text in ("<speak>Hello<mark name='a'/></speak>", "Hello <break/>", "<speak>Hello"):
            answer = guest.post(path, json={"text": text})
            assert (answer.status_code, answer.json()["type"]) == (422, "bad-markup")
    breaks = '<break time="10s"/>' * 20
    long = f"<speak>Hello{breaks}</speak>"
    answer = guest.post("/public/tts/sync", json={"text": long})
    assert (answer.status_code, answer.json()["type"]) == (413, "speech-too-long")
    assert len(records(studio)) == kept


def test_markup_in_another_language_than_the_voice(guest: TestClient, studio: SpeechStudio) -> None:
    """TA-4: it is not read with the wrong sounds."""
    text = '<speak xml:lang="de-DE">Guten Tag</speak>'
    refused = guest.post("/public/tts/sync", json={"text": text})
    assert (refused.status_code, refused.json()["type"]) == (422, "unspeakable")
    assert "the voice speaks en-US" in refused.json()["detail"]
    assert guest.post("/public/tts/sync", json={"text": text, "voice_id": "de_DE-pico"}).status_code == 200
    assert guest.post("/public/tts/jobs", json={"text": text}).status_code == 422


def test_a_voice_that_is_not_there_is_answered_with_those_that_are(guest: TestClient) -> None:
    """TA-24."""
    told = guest.post("/public/tts/sync", json={"text": "Hello", "voice_id": "nobody"}).json()["detail"]
    for voice in guest.get("/voices").json():
        assert voice["voice_id"] in told


@pytest.mark.parametrize(
    ("body", "status", "slug", "detail"),
    [
        ({"text": ""}, 400, "no-text", "No text provided"),
        ({}, 400, "no-text", "No text provided"),
        ({"text": None}, 400, "no-text", "No text provided"),
        (
            {"text": "Hello", "voice": "en_US-lessac-medium"},
            404,
            "voice-not-found",
            "Voice 'en_US-lessac-medium' not found; there are en_US-heart",
        ),
        ({"text": "世界"}, 422, "unspeakable", None),
        ({"text": "a" * 1001}, 413, "text-too-long", None),
    ],
)
def test_the_errors_of_the_plan(
    guest: TestClient, studio: SpeechStudio, body: dict[str, Any], status: int, slug: str, detail: str | None
) -> None:
    """TA-5, TA-24: word for word, and no file is left."""
    answer = guest.post("/public/tts/sync", json=body)
    assert (answer.status_code, answer.json()["type"]) == (status, slug)
    if detail is not None:
        assert answer.json()["detail"].startswith(detail)
    assert files(studio.objects) == set()


def test_half_a_character(guest: TestClient, studio: SpeechStudio) -> None:
    """TA-5: as JSON can carry it; no engine could keep it."""
    answer = guest.post("/public/tts/sync", content=b'{"text": "Hello \\ud83d"}')
    assert answer.status_code == 422
    assert files(studio.objects) == set()


def test_a_long_text(guest: TestClient, context: DomainContext) -> None:
    """TA-24: accepted, looked at, heard."""
    begun = guest.post("/public/tts/jobs", json={"text": "The river is deep. " * 28})
    assert begun.status_code == 202
    job = begun.json()
    assert (job["status"], job["progress"], job["audio"]) == ("queued", 0.0, None)
    path = f"/public/tts/jobs/{job['date']}/{job['job_id']}"
    assert guest.get(path).json()["status"] == "queued"
    ManualWorkers(context.store, [TASKS], context=context).drain()
    done = guest.get(path).json()
    assert (done["status"], done["progress"]) == ("completed", 1.0)
    assert done["audio"]["duration"] > 20
    audio = guest.get(f"/public/tts/{done['audio']['date']}/{done['audio']['audio_id']}")
    assert audio.json()["file_size_bytes"] == done["audio"]["file_size_bytes"]
    assert guest.get(f"/public/tts/jobs/{job['date']}/{uuid4()}").status_code == 404


def test_guests_may_speak_and_only_an_administrator_erases(app: FastAPI) -> None:
    """TA-24, TA-25: marked beside each route; the service enforces it."""
    found = {(door.method, door.path): door.access for door in doors(app) if not door.path.startswith("/api/")}
    assert {route: access for route, access in found.items() if "tts" in route[1] or "voices" in route[1]} == {
        ("GET", "/voices"): Access(None, 120),
        ("POST", "/public/tts/sync"): Access(None, 20),
        ("POST", "/public/tts/jobs"): Access(None, 5),
        ("GET", "/public/tts/jobs/{date}/{job_id}"): Access(None, 120),
        ("GET", "/public/tts/{date}/{audio_id}"): Access(None, 120),
        ("DELETE", "/tts/audios/{date}/{audio_id}"): Access(Role.ADMIN),
        ("DELETE", "/tts/addresses/{ip_address}"): Access(Role.ADMIN),
    }


# Erasure


def test_an_address_is_erased(guest: TestClient, app: FastAPI, studio: SpeechStudio, context: DomainContext) -> None:
    """TA-25, F-TA-10: its audios, texts and jobs; those of others stay."""
    guest.post("/public/tts/sync", json={"text": "Hello"})
    guest.post("/public/tts/jobs", json={"text": "Hello again."})
    ManualWorkers(context.store, [TASKS], context=context).drain()
    guest.post("/public/tts/jobs", json={"text": "Never spoken."})
    with Client(app, client=("198.51.100.1", 1)) as another:
        kept = another.post("/public/tts/sync", json={"text": "Hello"}).json()
    assert len(files(studio.objects)) == 3

    ann = administrator(app, studio)
    answer = ann.delete("/tts/addresses/203.0.113.7")
    assert answer.json() == {"audios": 2, "jobs": 2}
    assert [str(record.audio_id) for record in records(studio)] == [kept["audio_id"]]
    assert list(studio.store.find(SpeechJob.of_date(date=dt.date(2025, 12, 8)))) == []
    ManualWorkers(context.store, [TASKS], context=context).drain()
    assert len(files(studio.objects)) == 1, "the job that waited makes nothing any more"
    assert ann.delete("/tts/addresses/203.0.113.7").json() == {"audios": 0, "jobs": 0}


def test_an_administrator_of_one_project_erases_nothing_of_guests(
    guest: TestClient, app: FastAPI, studio: SpeechStudio
) -> None:
    """TA-25: what guests have made belongs to no project; with a key of one they are guests as well."""
    made = guest.post("/public/tts/sync", json={"text": "Hello"}).json()
    bound = administrator(app, studio, project="p1")
    for path in (f"/tts/audios/{made['date']}/{made['audio_id']}", "/tts/addresses/203.0.113.7"):
        assert bound.delete(path).json()["type"] == "out-of-scope"
    assert len(records(studio)) == 1
    assert bound.get(f"/public/tts/{made['date']}/{made['audio_id']}").status_code == 200


def test_a_repetition_gets_the_same_audio_with_a_new_link(
    guest: TestClient, studio: SpeechStudio, clock: FrozenClock
) -> None:
    """F-TA-5: the link of the first answer is kept nowhere."""

    def ask() -> Any:
        return guest.post("/public/tts/sync", json={"text": "Hello"}, headers={"Idempotency-Key": "k"})

    first = ask().json()
    clock.advance(dt.timedelta(hours=1))
    second = ask()
    assert second.headers["idempotent-replayed"] == "true"
    assert {**second.json(), "audio_url": ""} == {**first, "audio_url": ""}
    assert "signature=" in second.json()["audio_url"]
    assert len(records(studio)) == 1
    clock.advance(dt.timedelta(hours=22, minutes=59))
    assert ask().status_code == 200
    assert guest.post("/public/tts/sync", json={"text": "Other"}, headers={"Idempotency-Key": "k"}).status_code == 422


def test_an_audio_is_erased(guest: TestClient, app: FastAPI, studio: SpeechStudio) -> None:
    """TA-25, F-TA-10."""
    made = guest.post("/public/tts/sync", json={"text": "Hello"}).json()
    path = f"/tts/audios/{made['date']}/{made['audio_id']}"
    ann = administrator(app, studio)
    assert ann.delete(path).status_code == 204
    assert (files(studio.objects), records(studio)) == (set(), [])
    assert ann.delete(path).status_code == 404
    assert guest.delete(path).status_code == 401


def told_of(studio: SpeechStudio, ref: Any) -> list[tuple[str | None, str | None]]:
    """Who did what to a record, oldest first."""
    page = studio.store.history(ref, oldest_first=True)
    return [(e.by, e.does) for e in page.entries if e.kind is HistoryKind.CHANGE]


def test_a_history_tells_who_had_an_audio_made_and_who_erased_it(
    guest: TestClient, app: FastAPI, studio: SpeechStudio
) -> None:
    """TA-25: a guest is named as such, and never by the address, which is erased with the audio."""
    ann = administrator(app, studio)
    ann_s_key = f"ann#{next(iter(list_keys(studio.store))).key_id}"
    for client, name in ((guest, "public"), (ann, ann_s_key)):
        made = client.post("/public/tts/sync", json={"text": "Hello"}).json()
        ref = TempAudio.at(date=dt.date.fromisoformat(made["date"]), audio_id=UUID(made["audio_id"]))
        assert told_of(studio, ref) == [(name, "create")]
        ann.delete(f"/tts/audios/{made['date']}/{made['audio_id']}")
        assert told_of(studio, ref) == [(name, "create"), (ann_s_key, "save"), (ann_s_key, "delete")]
    lines = list(studio.store.find(SystemAudit.of_project(project_id=EVERYWHERE)))
    assert "203.0.113.7" not in str(lines)


def test_a_history_tells_who_began_a_job_and_who_erased_its_address(
    guest: TestClient, app: FastAPI, studio: SpeechStudio, context: DomainContext
) -> None:
    begun = guest.post("/public/tts/jobs", json={"text": "Hi."}).json()
    ManualWorkers(context.store, [TASKS], context=context).drain()
    (job,), (audio,) = jobs(studio), records(studio)
    assert str(job.job_id) == begun["job_id"]
    assert told_of(studio, job.ref) == [("public", "create"), *[("task:speech.speak_text", "save")] * 2]
    assert told_of(studio, audio.ref) == [("task:speech.speak_text", "create")]
    administrator(app, studio).delete("/tts/addresses/203.0.113.7")
    for ref in (job.ref, audio.ref):
        who, what = told_of(studio, ref)[-1]
        assert (str(who).split("#")[0], what) == ("ann", "delete")


def test_with_an_audio_goes_the_job_that_made_it(
    guest: TestClient, app: FastAPI, studio: SpeechStudio, context: DomainContext
) -> None:
    """TA-25: which holds the address as well, perhaps under the day before; other jobs stay."""
    at(studio, "12-08 23:59:00")
    begun = guest.post("/public/tts/jobs", json={"text": "Hi."}).json()
    at(studio, "12-09 00:01:00")
    ManualWorkers(context.store, [TASKS], context=context).drain()
    waiting = guest.post("/public/tts/jobs", json={"text": "Hi."}).json()
    made = guest.get(f"/public/tts/jobs/{begun['date']}/{begun['job_id']}").json()["audio"]
    assert (begun["date"], made["date"], waiting["date"]) == ("2025-12-08", "2025-12-09", "2025-12-09")
    assert administrator(app, studio).delete(f"/tts/audios/{made['date']}/{made['audio_id']}").status_code == 204
    assert jobs(studio) == []
    assert guest.get(f"/public/tts/jobs/{waiting['date']}/{waiting['job_id']}").status_code == 200


@pytest.mark.parametrize("broken", ["files", "records"])
def test_an_erasure_that_failed_can_be_done_again(studio: SpeechStudio, context: DomainContext, broken: str) -> None:
    """TA-25: the record of the audio is the last to go, as it leads to all the rest."""
    request_job(studio, "Hi", ip_address="203.0.113.7")
    ManualWorkers(context.store, [TASKS], context=context).drain()
    (made,) = records(studio)
    stuck: dict[str, Any] = {
        "files": {"objects": Failing(studio.objects, delete=always)},
        "records": {"store": FailingStore(studio.store, commit=always)},
    }
    with pytest.raises(Unavailable):
        erase_audio(replace(studio, **stuck[broken]), made.date, made.audio_id, by="ann")
    erase_audio(studio, made.date, made.audio_id, by="ann")
    assert (files(studio.objects), records(studio), jobs(studio)) == (set(), [], [])


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        ("2001:db8::1", "2001:0DB8:0:0:0:0:0:1"),
        ("2001:0DB8::0001", "2001:db8::1"),
        ("203.0.113.7", "::ffff:203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
    ],
)
def test_an_address_is_erased_however_it_is_written(app: FastAPI, studio: SpeechStudio, kept: str, asked: str) -> None:
    """TA-25: also in records that hold it as the server once wrote it."""
    spoken(studio, "12-08 13:02:19", "Hi", ip_address=kept)
    request_job(studio, "Hi", ip_address=kept)
    spoken(studio, "12-08 13:02:19", "Hi", ip_address="unknown")
    assert administrator(app, studio).delete(f"/tts/addresses/{asked}").json() == {"audios": 1, "jobs": 1}
    assert [record.ip_address for record in records(studio)] == ["unknown"]


@pytest.mark.parametrize("asked", ["unknown", "203.0.113", "203.0.113.7/", "203.0.113.0/24"])
def test_what_is_no_address_is_not_said_to_be_erased(app: FastAPI, studio: SpeechStudio, asked: str) -> None:
    """TA-25: nothing found would look as if nothing was kept."""
    answer = administrator(app, studio).delete(f"/tts/addresses/{asked}")
    assert (answer.status_code, answer.json()["type"]) == (422, "invalid-value")
    assert f"'{asked}' is no IP address" in answer.json()["detail"]


@pytest.mark.parametrize(("method", "end"), [("DELETE", ""), ("DELETE", "/"), ("GET", "")])
def test_an_address_that_is_erased_is_not_logged(
    app: FastAPI, studio: SpeechStudio, caplog: pytest.LogCaptureFixture, method: str, end: str
) -> None:
    """TA-25: or erasing would write it down for longer than it was kept."""
    caplog.set_level(logging.DEBUG)
    for client in (administrator(app, studio), Client(app)):
        client.request(method, f"/tts/addresses/203.0.113.7{end}")
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records if record.name.startswith("penstock")]
    assert [line["path"] for line in lines if "path" in line] == ["/tts/addresses/{ip_address}"] * 2
    assert "203.0.113.7" not in json.dumps(lines)
