"""Runs: one for each request, with what was tried, found by nova, by name and by id, and forgotten in time."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import pytest

from penstock.domains.novae import initializing
from penstock.domains.novae import runs as nova_runs
from penstock.domains.novae.decisions import NovaDecision, Ruling, decide
from penstock.domains.novae.model import Doubt, JobRun, JobRunPlace, NameRun, RunLock
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_table import run_identity
from penstock.domains.novae.providers.provider import ClassicalNova
from penstock.domains.novae.reconciling import NAME_CHECK, NameCheck
from penstock.domains.novae.runs import Origin, attempts_of, begin, find_run
from penstock.errors import Unanswered
from penstock.kernel.outbox import MessageStatus, SystemMessage
from penstock.schema.role import Role
from penstock.work import TaskStatus, Terminal
from penstock.work.dead_letters import DeadLetters
from penstock.work.errors import Quarantine, RetryLater
from tests.domains.novae.known_sky import KnownSky, nova_object
from tests.domains.novae.story import Astronomer, later, new_nova, work, work_through, workers

SCO = nova_object("V1324 Sco", at=(267.7246, -32.6227))


def test_a_run_has_its_place_before_there_is_a_nova(anywhere: NovaCatalogue, sky: KnownSky) -> None:
    """NC-34, F-NC-10: under the name, in the order of time, and by its id alone; then it tells the nova."""
    sky.names.objects = [SCO]
    ann, store = Astronomer(anywhere), anywhere.store
    begun = ann.post("/novae", {"candidate_name": "V1324 Sco"})
    run_id = UUID(begun["job_run_id"])
    assert (begun["status"], begun["nova_id"]) == ("RUNNING", None)
    place = store.get(JobRunPlace.at(job_run_id=run_id))
    assert (place.candidate_name, place.nova_id, place.workflow_name) == ("V1324 Sco", None, "initialize_nova")
    assert [r["job_run_id"] for r in ann.get("/runs", name="v1324 sco")["items"]] == [str(run_id)]
    work_through(anywhere)
    over = ann.run(str(run_id))
    assert store.get(JobRunPlace.at(job_run_id=run_id)).nova_id == UUID(over["nova_id"])
    assert over["finished_at"] is not None


def test_the_runs_of_a_nova_come_in_the_order_they_began(anywhere: NovaCatalogue) -> None:
    """NC-12, NC-32, F-NC-10: its own only, whatever their ids are."""
    one, other = uuid4(), uuid4()
    new_nova(anywhere.store, one, "A")
    new_nova(anywhere.store, other, "B")
    ann = Astronomer(anywhere)
    begun = []
    for path in ("ingest", "names/check", "references/refresh"):
        begun.append(ann.post(f"/novae/{one}/{path}")["job_run_id"])
        ann.post(f"/novae/{other}/{path}")
        later(anywhere, seconds=1)
    assert [run["job_run_id"] for run in ann.runs(one)] == begun
    page = ann.get(f"/novae/{one}/runs", limit=2)
    rest = ann.get(f"/novae/{one}/runs", limit=2, cursor=page["next"])
    assert [run["job_run_id"] for run in page["items"] + rest["items"]] == begun


def test_the_same_request_is_the_same_run(anywhere: NovaCatalogue, sky: KnownSky) -> None:
    """NC-36, F-NC-10: its id follows from the request; at 15:00 the run of 14:59 is found, and is the only one."""
    sky.names.objects = [SCO]
    ann = Astronomer(anywhere)
    first, began = ann.post("/novae", {"candidate_name": "V1324 Sco"}), anywhere.store.clock.now()
    assert first["idempotency_key"] == "InitializeNova:9:v1324 sco:1:1:2037-03-01T14"
    assert first["job_run_id"] == str(run_identity(first["idempotency_key"], 1)), "which anybody can tell beforehand"
    later(anywhere, minutes=1)
    assert anywhere.store.clock.now().hour == 15
    for spelling in ("V1324 Sco", "v1324_sco"):
        assert ann.post("/novae", {"candidate_name": spelling})["job_run_id"] == first["job_run_id"]
    work_through(anywhere)
    later(anywhere, seconds=3599 - (anywhere.store.clock.now() - began).total_seconds())
    assert ann.post("/novae", {"candidate_name": "V1324 Sco"})["job_run_id"] == first["job_run_id"]
    later(anywhere, seconds=1)
    another = ann.post("/novae", {"candidate_name": "V1324 Sco"})
    assert another["job_run_id"] != first["job_run_id"]
    assert len(ann.get("/runs", name="V1324 Sco")["items"]) == 2


def test_what_has_failed_is_taken_over_at_once(anywhere: NovaCatalogue, sky: KnownSky) -> None:
    """NC-36: by a run with a turn of its own, within the same hour."""
    sky.names.fails = _raise(Terminal("it refuses"))
    ann = Astronomer(anywhere)
    failed = ann.initialized("V1324 Sco")
    assert (failed["status"], failed["outcome"]) == ("FAILED", "Terminal")
    sky.names.fails, sky.names.objects = (lambda name: None), [SCO]
    again = ann.initialized("V1324 Sco")
    assert (again["outcome"], again["job_run_id"] != failed["job_run_id"]) == ("CREATED_AND_LAUNCHED", True)
    assert again["idempotency_key"] == failed["idempotency_key"]
    assert again["job_run_id"] == str(run_identity(failed["idempotency_key"], 2))


def test_a_run_that_never_ends_is_given_up_after_a_day(anywhere: NovaCatalogue) -> None:
    first = initializing.initialize(anywhere, "V1324 Sco", by="ann").run
    later(anywhere, hours=23, minutes=59)
    assert initializing.initialize(anywhere, "V1324 Sco", by="ann").run.job_run_id == first.job_run_id
    later(anywhere, minutes=1)
    second = initializing.initialize(anywhere, "V1324 Sco", by="ann")
    assert second.is_new
    given_up = anywhere.store.get(first.ref)
    assert (given_up.status.value, second.run.status.value) == ("FAILED", "RUNNING")
    work_through(anywhere)
    assert anywhere.store.get(second.run.ref).outcome == "NOT_FOUND"


def test_a_run_that_launches_again_finds_what_it_has_launched_however_long_ago(catalogue: NovaCatalogue) -> None:
    new_nova(catalogue.store, nova_id := uuid4(), "A")
    asked, origin = NameCheck(nova_id=nova_id), Origin("survey-7", parent=uuid4())
    first = begin(catalogue, NAME_CHECK, asked, by="ann", origin=origin)
    later(catalogue, days=2)
    again = begin(catalogue, NAME_CHECK, asked, by="ann", origin=origin)
    assert (again.run.job_run_id, again.is_new) == (first.run.job_run_id, False)
    assert begin(catalogue, NAME_CHECK, asked, by="ann").is_new, "for anybody else it was given up"


def test_what_is_asked_for_and_launched_at_once_is_one_run(
    catalogue: NovaCatalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their ids are made differently, so that only the lock tells: when it is new, and when it is taken over."""
    new_nova(catalogue.store, nova_id := uuid4(), "A")
    asked, usual = NameCheck(nova_id=nova_id), nova_runs._start
    for turn in (1, 2):
        origins, launched = [Origin("survey-7", parent=uuid4())], list[UUID]()

        def meanwhile(*given: Any, origins: list[Origin] = origins, launched: list[UUID] = launched) -> Any:
            if origins:
                launched.append(begin(catalogue, NAME_CHECK, asked, by="bob", origin=origins.pop()).run.job_run_id)
            return usual(*given)

        monkeypatch.setattr(nova_runs, "_start", meanwhile)
        found = begin(catalogue, NAME_CHECK, asked, by="ann")
        assert ([found.run.job_run_id], found.is_new) == (launched, False)
        later(catalogue, days=2)
        assert len(Astronomer(catalogue).runs(nova_id)) == turn


def test_whoever_asks_while_a_person_decides_gets_the_run_that_goes_on(
    catalogue: NovaCatalogue, sky: KnownSky, monkeypatch: pytest.MonkeyPatch
) -> None:
    sky.names.objects = [nova_object("X 1", kind=ClassicalNova.UNKNOWN)]
    waits = UUID(Astronomer(catalogue).initialized("X 1")["job_run_id"])
    usual, decided = nova_runs._run_of, list[Doubt]()
    rejected = NovaDecision.model_validate({"verdict": Ruling.REJECT})

    def meanwhile(*given: Any) -> Any:
        found = usual(*given)
        if not decided:
            decided.append(decide(catalogue, waits, rejected, by="bob"))
        return found

    monkeypatch.setattr(nova_runs, "_run_of", meanwhile)
    found = initializing.initialize(catalogue, "X 1", by="ann")
    assert (found.run.job_run_id, found.is_new) == (decided[0].continued_by, False)
    assert found.run.continues == waits


def test_a_lost_answer_is_given_again(catalogue: NovaCatalogue) -> None:
    """NC-36: under one Idempotency-Key a request is one request, also when its run is long over."""
    ann = Astronomer(catalogue)
    first = ann.post("/novae", {"candidate_name": "Nobody"}, key="k1")
    work_through(catalogue)
    later(catalogue, hours=2)
    again = ann.post("/novae", {"candidate_name": "Nobody"}, key="k1")
    assert (again["job_run_id"], again["outcome"]) == (first["job_run_id"], "NOT_FOUND")
    assert len(ann.get("/runs", name="Nobody")["items"]) == 1


def test_each_invocation_leaves_an_attempt(anywhere: NovaCatalogue, sky: KnownSky) -> None:
    """NC-25, NC-33, F-NC-11: task, number, moment, class, message and duration; those of other runs apart."""

    def slow(name: str) -> None:
        later(anywhere, seconds=1.5)
        if len(sky.names.asked) < 3:
            raise Unanswered("nobody answers")

    sky.names.fails, sky.names.objects = slow, [SCO]
    ann = Astronomer(anywhere)
    run = ann.initialized("V1324 Sco")
    assert run["outcome"] == "CREATED_AND_LAUNCHED"
    tried = ann.attempts(run["job_run_id"])
    assert [(a["task"], a["attempt"], a["succeeded"], a["error_class"]) for a in tried] == [
        ("launch", 1, True, None),
        ("look_up", 1, True, None),
        ("resolve", 1, False, "RETRYABLE"),
        ("resolve", 2, False, "RETRYABLE"),
        ("resolve", 3, True, None),
        ("settle", 1, True, None),
    ]
    first = ann.get(f"/runs/{run['job_run_id']}/attempts", limit=4)
    rest = ann.get(f"/runs/{run['job_run_id']}/attempts", limit=4, cursor=first["next"])
    assert (first["items"] + rest["items"], rest["next"]) == (tried, None)
    assert tried[2]["error_message"] is not None
    assert tried[2]["duration_ms"] == 1500
    assert {a["correlation_id"] for a in tried} == {run["correlation_id"]}
    (ingest,) = [r for r in ann.runs(run["nova_id"]) if r["workflow_name"] == "ingest_new_nova"]
    assert [a["task"] for a in ann.attempts(ingest["job_run_id"])] == ["launch"]


def test_only_what_may_work_another_time_is_tried_again(anywhere: NovaCatalogue, sky: KnownSky) -> None:
    """NC-25: after 2 and 10 seconds, three times in all; what is refused or doubtful once."""
    asked: list[Any] = []

    def fails(name: str) -> None:
        asked.append(anywhere.store.clock.now())
        raise Unanswered("nobody answers")

    sky.names.fails = fails
    ann = Astronomer(anywhere)
    begun = ann.post("/novae", {"candidate_name": "V1324 Sco"})
    for _ in range(60):
        work(anywhere)
        later(anywhere, seconds=1)
    assert [(b - a).total_seconds() for a, b in pairwise(asked)] == [2, 10]
    assert (ann.run(begun["job_run_id"])["status"], ann.run(begun["job_run_id"])["outcome"]) == (
        "FAILED",
        "Unanswered",
    )
    for error, status in ((Terminal("no"), "FAILED"), (Quarantine("odd"), "QUARANTINED")):
        sky.names.asked.clear()
        sky.names.fails = _raise(error)
        run = ann.initialized(f"Name {status}")
        assert (run["status"], len(sky.names.asked)) == (status, 1)
        assert ann.attempts(run["job_run_id"])[-1]["error_class"] == (
            "TERMINAL" if status == "FAILED" else "QUARANTINE"
        )
    assert list(DeadLetters(TaskStatus.QUARANTINED).find(anywhere.store)) == [], "a run is put aside, and no task waits"


def test_a_source_says_when_to_ask_again(catalogue: NovaCatalogue, sky: KnownSky) -> None:
    sky.names.fails = _raise(RetryLater("too many requests", after=timedelta(minutes=7)))
    Astronomer(catalogue).post("/novae", {"candidate_name": "V1324 Sco"})
    work(catalogue)
    (waits,) = workers(catalogue).waiting()
    assert waits.due_at - catalogue.store.clock.now() == timedelta(minutes=7)


def test_the_same_error_has_the_same_fingerprint(catalogue: NovaCatalogue, sky: KnownSky) -> None:
    """F-NC-10: whichever run met it, with whichever ids and numbers in its words."""

    def fails(name: str) -> None:
        raise Terminal(f"request {uuid4()} for {len(sky.names.asked)} failed")

    sky.names.fails = fails
    ann = Astronomer(catalogue)
    one, other = ann.initialized("A"), ann.initialized("B")
    assert one["error_message"] != other["error_message"]
    assert one["error_fingerprint"] == other["error_fingerprint"]
    assert ann.attempts(one["job_run_id"])[-1]["error_fingerprint"] == one["error_fingerprint"]
    sky.names.fails = _raise(Terminal("another"))
    assert ann.initialized("C")["error_fingerprint"] != one["error_fingerprint"]


def test_a_correlation_id_goes_with_all_that_comes_of_a_request(anywhere: NovaCatalogue, sky: KnownSky) -> None:
    """F-NC-10: runs, children of children, attempts and messages; made where there was none."""
    sky.names.objects = [SCO]
    ann = Astronomer(anywhere)
    begun = ann.post("/novae", {"candidate_name": "V1324 Sco", "correlation_id": "survey-7"})
    work_through(anywhere)
    nova_id = ann.run(begun["job_run_id"])["nova_id"]
    runs = ann.runs(nova_id)
    assert {"ingest_new_nova", "refresh_references"} <= {run["workflow_name"] for run in runs}
    assert {run["correlation_id"] for run in runs} == {"survey-7"}
    assert {a["correlation_id"] for run in runs for a in ann.attempts(run["job_run_id"])} == {"survey-7"}
    told = list(anywhere.store.find(SystemMessage.by_status(status=MessageStatus.PENDING)))
    ours = [m for m in told if m.type.startswith(("run.", "nova."))]
    assert {"nova.created", "run.succeeded"} <= {m.type for m in ours}
    assert {m.payload["correlation_id"] for m in ours} == {"survey-7"}
    parents = {run["workflow_name"]: run["parent_run_id"] for run in runs}
    assert parents["ingest_new_nova"] == begun["job_run_id"]
    assert ann.post("/novae", {"candidate_name": "Another"})["correlation_id"]


def test_runs_and_attempts_are_forgotten_in_time(anywhere: NovaCatalogue, sky: KnownSky) -> None:
    """F-NC-11: all of a run's traces carry the moment; what is known of the nova carries none."""
    sky.names.objects = [SCO]
    ann = Astronomer(anywhere)
    run = ann.initialized("V1324 Sco")
    kept = anywhere.store.clock.now() + anywhere.options.runs_kept
    assert 0 <= kept.timestamp() - run["ttl"] < 3600
    store, nova_id = anywhere.store, UUID(run["nova_id"])
    assert all(each.ttl for each in store.find(JobRun.of_nova(nova_id=nova_id)))
    tried = list(store.find(attempts_of(find_run(store, UUID(run["job_run_id"])))))
    assert {each.ttl for each in tried} == {run["ttl"]}
    later(anywhere, days=89)
    assert len(ann.runs(nova_id)) > 0, "ninety days, where nobody has chosen otherwise"
    later(anywhere, days=1)
    assert ann.runs(nova_id) == []
    assert list(store.find(NameRun.of_name(normalized_name="v1324 sco"))) == []
    assert store.lookup(RunLock.at(request="InitializeNova:9:v1324 sco:1:1")) is None
    assert ann.get(f"/runs/{run['job_run_id']}", 404)["type"].endswith("no-such-nova")
    assert ann.get(f"/novae/{nova_id}")["preferred_name"] == "V1324 Sco"


def test_who_may_what(catalogue: NovaCatalogue) -> None:
    """Viewers look; editors ask and decide; nobody comes in without a key."""
    new_nova(catalogue.store, nova_id := uuid4(), "A")
    viewer, nobody = Astronomer(catalogue, Role.VIEWER), Astronomer(catalogue, None)
    for path in (f"/novae/{nova_id}", "/novae", f"/novae/{nova_id}/runs", "/doubts", f"/novae/{nova_id}/aliases"):
        viewer.get(path)
        nobody.get(path, 401)
    for path, body in (
        ("/novae", {"candidate_name": "B"}),
        (f"/novae/{nova_id}/ingest", None),
        (f"/novae/{nova_id}/merge", {"into": str(uuid4())}),
        (f"/novae/{nova_id}/deprecate", None),
        (f"/doubts/{uuid4()}/decision", {"verdict": "reject"}),
    ):
        viewer.post(path, body, 403)


@pytest.mark.parametrize("name", ["", " ", "_", "x" * 201, "a\x00b", "a\u202eb"])
def test_a_name_by_which_nothing_can_be_found_is_refused(catalogue: NovaCatalogue, name: str) -> None:
    Astronomer(catalogue).post("/novae", {"candidate_name": name}, 422)


def test_a_name_that_is_too_long_to_ask_by_is_told_with_its_field(catalogue: NovaCatalogue) -> None:
    for path in ("/novae/by-name", "/runs"):
        (field,) = Astronomer(catalogue).get(path, 422, name="x" * 201)["fields"]
        assert (field["where"], "at most 200" in field["message"]) == ("query.name", True)


def _raise(error: BaseException) -> Any:
    def fails(name: str) -> None:
        raise error

    return fails


def test_sky_places_are_checked_before_they_are_asked_for(catalogue: NovaCatalogue) -> None:
    ann = Astronomer(catalogue)
    for wrong in ({"ra": 360, "dec": 0}, {"ra": -1, "dec": 0}, {"ra": 0, "dec": 91}, {"ra": "nan", "dec": 0}):
        ann.get("/novae/by-position", 422, **wrong)
    for ra, dec in ((0, 90), (359.9999, -90), (0, 0)):
        assert ann.get("/novae/by-position", ra=ra, dec=dec, arcsec=60)["items"] == []
