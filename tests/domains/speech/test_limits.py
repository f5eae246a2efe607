"""Guests fill neither the disk nor the memory: what they may use is counted before, while and after it is spoken."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from penstock import FrozenClock
from penstock.declare.option import read_options
from penstock.domains.speech import PLUGIN
from penstock.domains.speech.actions import synthesise
from penstock.domains.speech.erasure import erase_address, erase_audio
from penstock.domains.speech.model import SpeechJob, SpeechJobStatus
from penstock.domains.speech.options import SpeechOptions
from penstock.domains.speech.quotas import BYTES, JOBS, SECONDS, guest_mark
from penstock.domains.speech.speech_studio import SpeechStudio
from penstock.domains.speech.tasks import TASKS, job_of, request_job
from penstock.errors import Conflict
from penstock.kernel.quota import EVERYBODY, BeyondQuota, QuotaExceeded, QuotaHold, QuotaUse, usage
from penstock.kernel.quota_movements import settle_overdue
from penstock.media.speech.errors import SpeechTooLong
from penstock.media.speech.sound import Sound
from penstock.media.speech.voices import Offer, Voices
from penstock.web.api import build_api
from penstock.web.options import WebOptions
from penstock.work.dead_letters import cancel, retry
from penstock.work.domain_context import DomainContext
from penstock.workers.manual import ManualWorkers
from tests.domains.speech.story import GUEST, at, cleaned, files, unset
from tests.web.client import Client

OTHER = "198.51.100.9"
PLAIN = "The old boat goes down the river, and tomorrow morning the weather will be cold. "


def limited(studio: SpeechStudio, **limits: Any) -> SpeechStudio:
    return replace(studio, options=replace(studio.options, **limits))


def workers(studio: SpeechStudio, **limits: str) -> ManualWorkers:
    setting = limits.get if limits else unset
    return ManualWorkers(studio.store, [TASKS], context=DomainContext(studio.store, studio.objects, setting))


def used(studio: SpeechStudio, ip_address: str | None = None) -> tuple[int, int, int]:
    """Jobs, seconds and bytes: of an address, or of everybody."""
    whose = EVERYBODY if ip_address is None else guest_mark(studio.store, ip_address)
    return tuple(usage(studio.store, quota, whose) for quota in (JOBS, SECONDS, BYTES))  # type: ignore[return-value]


def disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


# Before it is spoken


@pytest.mark.parametrize("sign", ["7777777777 ", "٧٧٧٧٧٧٧٧٧٧ ", "９９９ ", "¹²³ ", "$7777777777.77 "])
def test_a_text_of_digits_is_refused_before_it_is_spoken(studio: SpeechStudio, sign: str) -> None:
    """20 kB of them became a file of 620 MB, 1,000 characters one of 31 MB."""
    silent = replace(studio, voices=Voices([Offer("nobody", "en-US", "test", lambda: pytest.fail("it was spoken"))]))
    with pytest.raises(SpeechTooLong, match=r"takes at least \d,\d+ seconds, and at most 1,800 are allowed"):
        request_job(silent, (sign * 20_000)[:20_000], ip_address=GUEST)
    with pytest.raises(SpeechTooLong, match=r"at most 120 are allowed; as a job, /public/tts/jobs, 1,800 are"):
        synthesise(silent, (sign * 1_000)[:1_000], ip_address=GUEST)
    assert files(studio.objects) == set()
    assert list(studio.store.find(SpeechJob.of_date(date=studio.store.clock.now().date()))) == []


# While it is spoken


class Endless:
    """A voice that never comes to an end, a second at a time."""

    def __init__(self) -> None:
        self.seconds = 0

    def stream(self, text: str) -> Iterator[Sound]:
        while True:
            self.seconds += 1
            yield Sound(bytes(48_000), 24_000)

    def speak(self, text: str) -> Sound:
        raise AssertionError("it is asked for parts")


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> Endless:
    voice = Endless()
    voices = Voices([Offer("en_US-heart", "en-US", "test", lambda: voice)])
    monkeypatch.setattr("penstock.domains.speech.speech_studio.installed_voices", lambda folder, usual: voices)
    return voice


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_speech_is_stopped_at_its_limit(studio: SpeechStudio, endless: Endless, temporary: Path) -> None:
    """At once, also within a piece; no file is left, and nothing counts but the time and the text on record."""
    chosen = limited(replace(studio, voices=Voices([Offer("e", "en-US", "test", lambda: endless)])))
    with pytest.raises(SpeechTooLong, match="more than 120 seconds, which is as much as is allowed"):
        synthesise(chosen, "Hello.", ip_address=GUEST)
    assert endless.seconds == 121
    assert (files(studio.objects), disk(temporary), used(studio)) == (set(), 0, (0, 120, len("Hello.")))


def test_a_job_is_stopped_at_its_limit(studio: SpeechStudio, endless: Endless, temporary: Path) -> None:
    """It fails for good, with the reason; its text stays for a day, and counts."""
    job = request_job(studio, "Hello.", "en_US-heart", ip_address=GUEST)
    assert workers(studio).drain() == 1
    seen = job_of(studio, job.date, job.job_id)
    assert seen.job.status is SpeechJobStatus.FAILED
    assert seen.job.error_message == "spoken, the text takes more than 1,800 seconds, which is as much as is allowed"
    assert endless.seconds == 1_801
    assert (files(studio.objects), disk(temporary)) == (set(), 0)
    assert used(studio)[0] == 0
    assert used(studio)[2] < 200
    at(studio, "12-09 13:03:00")
    settle_overdue(studio.store)
    assert used(studio) == used(studio, GUEST) == (0, 0, 0)


def test_a_real_text_is_stopped_while_it_is_spoken(studio: SpeechStudio) -> None:
    """One whose characters do not tell how long it is."""
    job = request_job(studio, "㊼㊼㊼ " * 30, ip_address=GUEST)
    assert workers(studio, PENSTOCK_SPEECH_SECONDS_A_JOB="60").drain() == 1
    assert "more than 60 seconds" in (job_of(studio, job.date, job.job_id).job.error_message or "")
    assert files(studio.objects) == set()


# How much of it


def test_an_address_has_so_many_unfinished_jobs(anywhere: SpeechStudio) -> None:
    """The next is refused, and tells when to come back; others' go on, and a place that is free is given again."""
    few = limited(anywhere, jobs_each=2)
    jobs = [request_job(few, "Hello.", ip_address=GUEST) for _ in range(2)]
    with pytest.raises(QuotaExceeded, match="2 of 2 unfinished jobs are in use for one address") as told:
        request_job(few, "Hello.", ip_address=GUEST)
    assert told.value.retry_after == 60
    request_job(few, "Hello.", ip_address=OTHER)
    assert workers(anywhere).drain() == 3
    assert job_of(anywhere, jobs[0].date, jobs[0].job_id).spoken is not None
    request_job(few, "Hello.", ip_address=GUEST)


def test_all_guests_have_so_many_unfinished_jobs(studio: SpeechStudio) -> None:
    """Those that were accepted are spoken; nothing is begun of those that were not."""
    few = limited(studio, jobs=2)
    jobs = [request_job(few, "Hello.", ip_address=address) for address in (GUEST, OTHER)]
    with pytest.raises(QuotaExceeded, match="too many unfinished jobs are in use for all guests together"):
        request_job(few, "Hello.", ip_address="203.0.113.50")
    assert len(list(studio.store.find(SpeechJob.of_date(date=jobs[0].date)))) == 2
    assert workers(studio).drain() == 2
    assert all(job_of(studio, job.date, job.job_id).spoken is not None for job in jobs)


@pytest.mark.parametrize("limit", ["seconds_each", "seconds", "bytes_each", "bytes"])
def test_so_much_is_spoken_and_kept(studio: SpeechStudio, limit: str) -> None:
    """By sentences; refused before the voice is asked, once it is sure."""
    most = 9 if limit.startswith("seconds") else 9 * 48_000
    tight = limited(studio, **{limit: most})
    made = 0
    with pytest.raises(QuotaExceeded) as told:
        for _ in range(20):
            synthesise(tight, PLAIN[:33], ip_address=GUEST)
            made += 1
    assert 1 < made < 9
    assert len(files(studio.objects)) == made
    jobs, seconds, size = used(studio)
    assert jobs == 0
    assert (seconds if limit.startswith("seconds") else size) <= most
    assert sum(len(studio.objects.get(key).read()) for key in files(studio.objects)) <= size
    if limit.startswith("seconds"):
        assert told.value.retry_after == 58 * 60 - 19, "at the full hour"
        at(studio, "12-08 14:00:00")
        synthesise(tight, PLAIN[:33], ip_address=GUEST)
    elif limit.endswith("each"):
        synthesise(tight, PLAIN[:33], ip_address=OTHER)


def test_what_would_never_fit_is_told_so(studio: SpeechStudio) -> None:
    with pytest.raises(BeyondQuota, match=r"it takes up to [\d,]+ bytes of speech, and at most 50,000 are allowed"):
        request_job(limited(studio, bytes_each=50_000), PLAIN, ip_address=GUEST)


def test_addresses_of_one_network_count_as_one(studio: SpeechStudio) -> None:
    """Whoever has an IPv6 address has 2⁶⁴ of them; and no record says which."""
    few = limited(studio, jobs_each=1)
    request_job(few, "Hello.", ip_address="2001:db8:7::1")
    with pytest.raises(QuotaExceeded):
        request_job(few, "Hello.", ip_address="2001:db8:7::ffff")
    request_job(few, "Hello.", ip_address="2001:db8:8::1")
    uses = [QuotaUse.at(quota=JOBS.name, whose=guest_mark(studio.store, a), period="held") for a in ("2001:db8:7::1",)]
    for record in [*studio.store.get_many(uses), *studio.store.find(QuotaHold.by_end())]:
        assert record is not None
        assert "2001" not in record.model_dump_json().replace(str(record.ttl), "")


# However it ends


def test_a_job_gives_back_what_it_did_not_need(anywhere: SpeechStudio) -> None:
    job = request_job(anywhere, PLAIN, ip_address=GUEST)
    jobs, seconds, size = used(anywhere, GUEST)
    assert jobs == 1
    workers(anywhere).drain()
    made = job_of(anywhere, job.date, job.job_id).spoken
    assert made is not None
    true = made.audio.file_size_bytes + len(PLAIN.strip())
    spoken = -int(-made.audio.duration // 1)
    assert used(anywhere, GUEST) == used(anywhere) == (0, spoken, true)
    assert spoken < seconds
    assert true < size


@pytest.mark.parametrize("how", ["unspeakable", "cancelled", "erased", "expired"])
def test_a_job_that_makes_nothing_gives_all_back(anywhere: SpeechStudio, how: str) -> None:
    """But for its text, while that is kept."""
    text = f"{PLAIN} 世界" if how == "unspeakable" else PLAIN
    job = request_job(anywhere, text, ip_address=GUEST)
    if how == "unspeakable":
        assert workers(anywhere).drain() == 1
    elif how == "cancelled":
        cancel(anywhere.store, [TASKS], job.task_id or "", by="ann")
    elif how == "erased":
        erase_address(anywhere, GUEST, by="ann")
    if how in ("unspeakable", "cancelled"):
        kept = 100 + len(text.strip().encode())
        assert used(anywhere) == used(anywhere, GUEST) == (0, 0, kept)
    at(anywhere, "12-09 14:00:00")
    settle_overdue(anywhere.store)
    assert used(anywhere) == used(anywhere, GUEST) == (0, 0, 0)
    assert list(anywhere.store.find(QuotaHold.by_end())) == []


def test_a_worker_that_dies_holds_nothing_for_ever(studio: SpeechStudio) -> None:
    """Another speaks it; if nobody does, its place and its room come back with its day."""
    few = limited(studio, jobs_each=1)
    request_job(few, PLAIN, ip_address=GUEST)
    workers(studio).runner.take(1)  # and is never heard of again
    at(studio, "12-09 13:02:00")
    with pytest.raises(QuotaExceeded):
        request_job(few, PLAIN, ip_address=GUEST)
    at(studio, "12-09 13:02:20")
    job = request_job(few, PLAIN, ip_address=GUEST)
    assert used(studio, GUEST)[0] == 1
    workers(studio).drain()
    assert job_of(studio, job.date, job.job_id).spoken is not None
    assert used(studio, GUEST)[0] == 0


def test_a_dead_letter_takes_its_place_again(studio: SpeechStudio) -> None:
    """Though there is none: whoever asks for it is no guest. It is counted, and settled as any other."""
    job = request_job(studio, PLAIN, ip_address=GUEST)
    broken = Voices([Offer("other", "en-US", "test", Endless)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("penstock.domains.speech.speech_studio.installed_voices", lambda folder, usual: broken)
        assert workers(studio).drain() == 1
    assert used(studio)[0] == 0
    retry(studio.store, [TASKS], job.task_id or "", by="ann")
    assert used(studio)[0] == 1
    workers(studio).drain()
    made = job_of(studio, job.date, job.job_id).spoken
    assert made is not None
    assert used(studio)[0] == 0
    assert used(studio)[2] == made.audio.file_size_bytes + len(PLAIN.strip())


def test_a_record_that_is_refused_takes_no_room(studio: SpeechStudio) -> None:
    """The commit is one: an audio that did not come about is not counted, and one that is not counted has no file."""
    first = synthesise(studio, "Hello.", ip_address=GUEST).audio
    before = used(studio)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("penstock.domains.speech.actions.uuid4", lambda: first.audio_id)
        with pytest.raises(Conflict):
            synthesise(studio, "Hello.", ip_address=GUEST)
    assert used(studio) == before


def test_bytes_come_back_with_the_file(anywhere: SpeechStudio) -> None:
    """Not with the record, whose end frees no disk: when the cleanup deletes it, or somebody erases it."""
    one = synthesise(anywhere, "Hello.", ip_address=GUEST).audio
    two = synthesise(anywhere, "Hello again.", ip_address=OTHER).audio
    assert used(anywhere)[2] == sum(len(a.text) + a.file_size_bytes for a in (one, two))
    erase_audio(anywhere, one.date, one.audio_id, by="ann")
    assert used(anywhere)[2] == used(anywhere, OTHER)[2] == len(two.text) + two.file_size_bytes
    assert used(anywhere, GUEST)[2] == 0
    at(anywhere, "12-09 13:10:00")
    settle_overdue(anywhere.store)
    assert used(anywhere)[2] > 0, "its file is still there"
    assert cleaned(anywhere, "12-10 12:00:00").deleted == 1
    assert used(anywhere)[2] == used(anywhere, OTHER)[2] == 0


def test_bytes_come_back_though_nobody_cleans(studio: SpeechStudio) -> None:
    """As where the bucket's own rule has deleted the file."""
    synthesise(studio, "Hello.", ip_address=GUEST)
    at(studio, "12-13 00:00:00")
    assert settle_overdue(studio.store) == 1
    assert used(studio)[2] == 0


def test_a_file_that_cannot_be_deleted_keeps_its_room(studio: SpeechStudio) -> None:
    from tests.domains.speech.faults import Failing, always

    synthesise(studio, "Hello.", ip_address=GUEST)
    stuck: Any = Failing(studio.objects, delete=always)
    stuck.error = PermissionError
    assert cleaned(replace(studio, objects=stuck), "12-10 12:00:00").failed == 1
    assert used(studio)[2] > 0
    assert cleaned(studio, "12-10 12:01:00").deleted == 1
    assert used(studio)[2] == 0


# Under attack


def test_eight_at_once_do_not_pass_the_limit(anywhere: SpeechStudio) -> None:
    """The commit decides; of those it refuses no file is left."""
    tight = limited(anywhere, bytes=400_000)

    def speak(number: int) -> bool:
        try:
            synthesise(tight, "Hello again.", ip_address=f"203.0.113.{number}")
        except QuotaExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        spoken = list(pool.map(speak, range(16)))
    kept = sum(len(anywhere.objects.get(key).read()) for key in files(anywhere.objects))
    assert 0 < spoken.count(True) == len(files(anywhere.objects)) < 16
    assert kept <= used(anywhere)[2] <= 400_000


def test_an_attack_fills_neither_disk_nor_folder(studio: SpeechStudio, local: Any, temporary: Path) -> None:
    """40 requests of many addresses, each as long as is taken: refused kindly, with little left on the disk."""
    limits = {"PENSTOCK_SPEECH_BYTES": "3000000", "PENSTOCK_SPEECH_SECONDS_AT_ONCE": "30"}
    context = DomainContext(studio.store, studio.objects, limits.get)
    app = build_api([PLUGIN], context, options=WebOptions())
    attacks = ["7" * 30 + " ", "㊼", "W", "# ", PLAIN]
    answers = []
    for number in range(40):
        guest = Client(app, client=(f"203.0.113.{number % 10}", 1))
        door, size = ("sync", 1_000) if number % 4 else ("jobs", 20_000)
        text = (attacks[number % 5] * 20_000)[: size if number % 3 else 40]
        answers.append(guest.post(f"/public/tts/{door}", json={"text": text}))
        assert disk(local.folder) < 5_000_000
        assert disk(temporary) == 0
    ManualWorkers(studio.store, [TASKS], context=context).drain()
    assert disk(local.folder) < 5_000_000
    told = {answer.json().get("type") for answer in answers if answer.status_code >= 400}
    assert {answer.status_code for answer in answers} <= {200, 202, 413, 422, 429}
    assert "quota-exceeded" in told
    assert "speech-too-long" in told


# As a guest is told


@pytest.fixture
def tight(studio: SpeechStudio, clock: FrozenClock) -> TestClient:
    limits = {"PENSTOCK_SPEECH_JOBS_PER_ADDRESS": "1", "PENSTOCK_SPEECH_BYTES_PER_ADDRESS": "3000000"}
    context = DomainContext(studio.store, studio.objects, limits.get)
    return Client(build_api([PLUGIN], context, options=WebOptions()), client=(GUEST, 4711))


def test_a_refusal_is_kind(tight: TestClient) -> None:
    """What, how much, the limit, and what to do: to wait, where waiting helps, or to send less."""
    assert tight.post("/public/tts/jobs", json={"text": "Hello."}).status_code == 202
    full = tight.post("/public/tts/jobs", json={"text": "Hello."})
    assert (full.status_code, full.json()["type"], full.headers["retry-after"]) == (429, "quota-exceeded", "60")
    assert full.json()["detail"].startswith("1 of 1 unfinished jobs are in use for one address")
    assert "Retry-After" in full.json()["hint"]
    long = tight.post("/public/tts/sync", json={"text": "7777777777 " * 90})
    assert (long.status_code, long.json()["type"]) == (413, "speech-too-long")
    assert "retry-after" not in long.headers
    never = tight.post("/public/tts/jobs", json={"text": PLAIN * 20})
    assert (never.status_code, never.json()["type"]) == (413, "beyond-quota")


def test_a_repetition_takes_no_second_place(tight: TestClient, studio: SpeechStudio) -> None:
    """Under one Idempotency-Key a job is begun once, and counted once."""
    for _ in range(3):
        answer = tight.post("/public/tts/jobs", json={"text": "Hello."}, headers={"Idempotency-Key": "k"})
        assert answer.status_code == 202
    assert used(studio)[0] == 1


def test_the_limits_are_settings() -> None:
    chosen = {
        "PENSTOCK_SPEECH_SECONDS_AT_ONCE": "10",
        "PENSTOCK_SPEECH_SECONDS_A_JOB": "20",
        "PENSTOCK_SPEECH_JOBS_PER_ADDRESS": "1",
        "PENSTOCK_SPEECH_JOBS": "2",
        "PENSTOCK_SPEECH_SECONDS_PER_ADDRESS": "3",
        "PENSTOCK_SPEECH_SECONDS": "4",
        "PENSTOCK_SPEECH_BYTES_PER_ADDRESS": "5",
        "PENSTOCK_SPEECH_BYTES": "0",
    }
    assert read_options(SpeechOptions, chosen.get) == SpeechOptions(
        seconds_at_once=10, seconds_a_job=20, jobs_each=1, jobs=2, seconds_each=3, seconds=4, bytes_each=5, bytes=0
    )


def test_no_limit_is_a_choice_too(studio: SpeechStudio) -> None:
    """All but the length of one text."""
    free = limited(studio, jobs_each=0, jobs=0, seconds=0, seconds_each=0, bytes=0, bytes_each=0)
    for _ in range(5):
        request_job(free, "Hello.", ip_address=GUEST)
    assert used(studio)[0] == 5
