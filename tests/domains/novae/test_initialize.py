"""initialize_nova: from a name to one nova, whoever asks, how often, and whatever dies meanwhile."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import pytest

from penstock.astronomy.sky_position import Position, sky_cell
from penstock.domains.novae import initializing
from penstock.domains.novae.candidates import Candidate
from penstock.domains.novae.founding import Founded, found
from penstock.domains.novae.model import Nova, NovaEntry, NovaStatus
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.providers.provider import ClassicalNova
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from tests.domains.novae.known_sky import KnownSky, nova_object
from tests.domains.novae.story import Astronomer, aliases_of, later, new_nova, owner, work_through, workers

V1324 = nova_object("V1324 Sco", "Nova Sco 2012", "PNV J17505390-3237215", at=(267.7246, -32.6227))
ARCSEC = 1 / 3600


def novae(store: Store) -> list[UUID]:
    return [entry.nova_id for entry in store.find(NovaEntry.by_status(status=NovaStatus.ACTIVE))]


def test_a_name_becomes_a_nova_with_all_its_names(anywhere: NovaCatalogue, sky: KnownSky) -> None:
    """NC-6, NC-8, NC-9, NC-10, F-NC-1, F-NC-2: by any of them it is found at once, and each is claimed."""
    sky.names.objects = [V1324]
    ann = Astronomer(anywhere)
    assert ann.get("/novae/by-name", name="V1324 Sco")["items"] == []
    run = ann.initialized("  v1324_SCO ")
    assert (run["status"], run["outcome"], run["normalized_name"]) == ("SUCCEEDED", "CREATED_AND_LAUNCHED", "v1324 sco")
    nova_id = UUID(run["nova_id"])
    for name in ("V1324 Sco", "nova_sco 2012", "PNV J17505390-3237215"):
        (found,) = ann.get("/novae/by-name", name=name)["items"]
        assert (found["nova_id"], found["preferred_name"]) == (str(nova_id), "V1324 Sco")
        normalized = found and ann.get("/novae/by-name", name=name)["normalized_name"]
        assert (owner(anywhere.store, normalized), aliases_of(anywhere.store, normalized)) == (nova_id, [nova_id])
    assert novae(anywhere.store) == [nova_id]
    assert [each["nova_id"] for each in ann.get("/novae")["items"]] == [str(nova_id)]


def test_a_name_that_is_known_is_ingested_again(anywhere: NovaCatalogue, sky: KnownSky) -> None:
    """NC-7: one match is used; nobody is asked what it means."""
    sky.names.objects = [V1324]
    ann = Astronomer(anywhere)
    first = ann.initialized("V1324 Sco")
    sky.names.asked.clear()
    run = ann.initialized("Nova Sco 2012")
    assert (run["outcome"], run["nova_id"]) == ("EXISTS_AND_LAUNCHED", first["nova_id"])
    assert sky.names.asked == []
    assert len(novae(anywhere.store)) == 1


@pytest.mark.parametrize(
    ("found", "outcome"),
    [([], "NOT_FOUND"), ([nova_object("M 31", kind=ClassicalNova.NO)], "NOT_A_CLASSICAL_NOVA")],
)
def test_that_there_is_no_such_nova_is_an_answer(
    catalogue: NovaCatalogue, sky: KnownSky, found: list[object], outcome: str
) -> None:
    sky.names.objects = found  # type: ignore[assignment]
    run = Astronomer(catalogue).initialized("M 31")
    assert (run["status"], run["outcome"], run["nova_id"]) == ("SUCCEEDED", outcome, None)
    assert novae(catalogue.store) == []
    assert aliases_of(catalogue.store, "m 31") == []


def test_several_novae_of_a_name_are_never_told_apart_silently(anywhere: NovaCatalogue, sky: KnownSky) -> None:
    """NC-7, NC-10: the run waits for a person, who says which it is."""
    one, other = uuid4(), uuid4()
    new_nova(anywhere.store, one, "Nova Sco")
    new_nova(anywhere.store, other, "Nova Sco 2")
    ann = Astronomer(anywhere)
    assert "is the name of nova" in ann.post(f"/novae/{other}/aliases", {"name": "Nova Sco"}, 409)["detail"]
    ann.post(f"/novae/{other}/aliases", {"name": "Nova Sco", "shared": True, "why": "two in one year"}, 201)
    assert len(ann.get("/novae/by-name", name="nova sco")["items"]) == 2
    run = ann.initialized("Nova Sco")
    assert (run["status"], run["outcome"]) == ("QUARANTINED", "AMBIGUOUS_NAME")
    (doubt,) = ann.get("/doubts")["items"]
    assert sorted(doubt["candidates"]) == sorted(map(str, (one, other)))
    decided = ann.post(f"/doubts/{doubt['job_run_id']}/decision", {"verdict": "existing", "nova_id": str(other)}, 200)
    work_through(anywhere)
    went_on = ann.run(decided["continued_by"])
    assert (went_on["status"], went_on["outcome"], went_on["nova_id"]) == (
        "SUCCEEDED",
        "EXISTS_AND_LAUNCHED",
        str(other),
    )
    assert (went_on["continues"], went_on["correlation_id"]) == (run["job_run_id"], run["correlation_id"])
    assert ann.get("/doubts")["items"] == []
    again = ann.post(f"/doubts/{doubt['job_run_id']}/decision", {"verdict": "reject"}, 409)
    assert again["type"].endswith("doubt-over")


@pytest.mark.parametrize(
    ("away", "outcome", "count"),
    [
        (1.9, "EXISTS_AND_LAUNCHED", 1),
        (2.1, "COORDINATE_AMBIGUITY", 1),
        (9.9, "COORDINATE_AMBIGUITY", 1),
        (10.1, "CREATED_AND_LAUNCHED", 2),
    ],
)
def test_the_place_decides_where_the_names_say_nothing(
    anywhere: NovaCatalogue, sky: KnownSky, away: float, outcome: str, count: int
) -> None:
    """NC-7: within two arcseconds it is the same nova, beyond ten another, in between a person decides."""
    near = nova_object("Gaia 12abc", at=(267.7246, -32.6227 + away * ARCSEC))
    sky.names.objects = [V1324, near]
    ann = Astronomer(anywhere)
    ann.initialized("V1324 Sco")
    run = ann.initialized("Gaia 12abc")
    assert run["outcome"] == outcome
    assert len(novae(anywhere.store)) == count
    found = ann.get("/novae/by-position", ra=267.7246, dec=-32.6227, arcsec=1)["items"]
    assert [each["nova"]["preferred_name"] for each in found] == ["V1324 Sco"]


def test_a_person_says_that_what_is_near_is_a_nova_of_its_own(anywhere: NovaCatalogue, sky: KnownSky) -> None:
    sky.names.objects = [V1324, nova_object("Gaia 12abc", "G12abc", at=(267.7246, -32.6227 + 5 * ARCSEC))]
    ann = Astronomer(anywhere)
    ann.initialized("V1324 Sco")
    run = ann.initialized("Gaia 12abc")
    (doubt,) = ann.get("/doubts")["items"]
    assert (doubt["reason_code"], doubt["details"]["arcsec"]) == ("COORDINATE_AMBIGUITY", 5.0)
    decided = ann.post(f"/doubts/{run['job_run_id']}/decision", {"verdict": "new", "note": "I looked"}, 200)
    work_through(anywhere)
    went_on = ann.run(decided["continued_by"])
    assert went_on["outcome"] == "CREATED_AND_LAUNCHED"
    assert ann.get(f"/novae/{went_on['nova_id']}")["aliases"] == ["G12abc"]
    assert len(novae(anywhere.store)) == 2
    assert len(ann.get("/novae/by-position", ra=267.7246, dec=-32.6227)["items"]) == 2


def test_a_person_says_that_it_is_none(catalogue: NovaCatalogue, sky: KnownSky) -> None:
    sky.names.objects = [nova_object("X 1", kind=ClassicalNova.UNKNOWN)]
    ann = Astronomer(catalogue)
    run = ann.initialized("X 1")
    assert run["outcome"] == "UNKNOWN_OBJECT_TYPE"
    later(catalogue, days=2)
    assert ann.initialized("X 1")["job_run_id"] == run["job_run_id"], "it waits, however often it is asked for"
    decided = ann.post(f"/doubts/{run['job_run_id']}/decision", {"verdict": "reject"}, 200)
    work_through(catalogue)
    assert (ann.run(decided["continued_by"])["status"], ann.run(decided["continued_by"])["outcome"]) == (
        "SUCCEEDED",
        "REJECTED",
    )
    assert novae(catalogue.store) == []


def test_sources_that_contradict_each_other_wait_for_a_person(catalogue: NovaCatalogue, sky: KnownSky) -> None:
    sky.names.objects = [nova_object("X 1", kind=ClassicalNova.YES)]
    sky.other_names.objects = [nova_object("X 1", kind=ClassicalNova.NO)]
    assert Astronomer(catalogue).initialized("X 1")["outcome"] == "CONTRADICTORY_TYPES"
    sky.other_names.objects = []
    sky.names.objects = [nova_object("Y 1", "Y", at=(10, 10)), nova_object("Y 2", "Y", at=(11, 10))]
    assert Astronomer(catalogue).initialized("Y")["outcome"] == "COORDINATE_CONFLICT"


def test_eight_who_ask_for_one_name_at_once_make_one_nova(anywhere: NovaCatalogue, sky: KnownSky) -> None:
    """NC-8, NC-36, F-NC-2, F-NC-10: and one run."""
    sky.names.objects = [V1324]
    with ThreadPoolExecutor(8) as crowd:
        begun = list(crowd.map(lambda n: initializing.initialize(anywhere, "V1324 Sco", by=f"p{n}"), range(8)))
    assert len({each.run.job_run_id for each in begun}) == 1
    assert sum(each.is_new for each in begun) == 1
    work_through(anywhere)
    assert len(novae(anywhere.store)) == 1


def test_eight_names_of_one_place_at_once_make_one_nova(anywhere: NovaCatalogue, sky: KnownSky) -> None:
    """NC-7, NC-8, F-NC-2: workers who decide at the same moment, by places in several cells of the sky."""
    step = 1.5 / 8 * ARCSEC
    sky.names.objects = [nova_object(f"Name {n}", at=(83.6, 22.0 + n * step)) for n in range(8)]
    for n in range(8):
        initializing.initialize(anywhere, f"Name {n}", by="ann")
    _work_at_once(anywhere)
    assert len(novae(anywhere.store)) == 1
    (nova_id,) = novae(anywhere.store)
    nova = anywhere.store.get(Nova.at(nova_id=nova_id))
    assert sorted([nova.preferred_name, *nova.aliases]) == [f"Name {n}" for n in range(8)]


def test_eight_names_with_one_alias_at_once_make_one_nova(anywhere: NovaCatalogue, sky: KnownSky) -> None:
    """NC-8, NC-10, F-NC-2: where no place is known, the claim of the name that they share decides."""
    sky.names.objects = [nova_object(f"Name {n}", "The Same") for n in range(8)]
    for n in range(8):
        initializing.initialize(anywhere, f"Name {n}", by="ann")
    _work_at_once(anywhere)
    assert len(novae(anywhere.store)) == 1


def test_whoever_founds_meanwhile_is_found(anywhere: NovaCatalogue) -> None:
    """NC-8, NC-10, F-NC-2: another takes a shared name, or a place in the next cell, after one has looked."""
    store = anywhere.store
    edge = Position(83.6, -90 + 6200 * 0.018)  # where two bands of cells meet
    others = [
        (_candidate("One", "Shared"), _candidate("Two", "Shared")),
        (
            _candidate("Three", at=Position(83.6, edge.dec_degrees - 0.5 * ARCSEC)),
            _candidate("Four", at=Position(83.6, edge.dec_degrees + 0.5 * ARCSEC)),
        ),
    ]
    places = [each.position for each in others[1] if each.position is not None]
    assert len(set(map(sky_cell, places))) == 2
    for number, (slow, quick) in enumerate(others, 1):
        came: list[Founded] = []

        def meanwhile(quick: Candidate = quick, came: list[Founded] = came) -> Change:
            if not came:
                came.append(found(store, store.change, quick, new_id=uuid4(), correlation_id=None))
            return store.change()

        made = found(store, meanwhile, slow, new_id=uuid4(), correlation_id=None)
        assert (made.nova_id, made.created, came[0].created) == (came[0].nova_id, False, True)
        assert len(novae(store)) == number


def _candidate(name: str, *aliases: str, at: Position | None = None) -> Candidate:
    return Candidate(name, (name, *aliases), at, frozenset([ClassicalNova.YES]), ("known",))


def _work_at_once(catalogue: NovaCatalogue) -> None:
    def drain(number: int) -> None:
        workers(catalogue).drain()

    for _ in range(3):
        with ThreadPoolExecutor(8) as crowd:
            list(crowd.map(drain, range(8)))
        work_through(catalogue)
