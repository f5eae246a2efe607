"""The quarantine desk: what waits, the evidence, cleared with a hint or rejected; all of it audited."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from penstock.domains.novae import quarantine
from penstock.domains.novae.errors import NotInQuarantine
from penstock.domains.novae.model import ProcessingStatus, QuarantineEntry
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.kernel.audit import EVERYWHERE, SystemAudit
from penstock.schema.role import Role
from tests.domains.novae.archive import Archive
from tests.domains.novae.data_story import (
    NOVA_ID,
    OTHER_ID,
    assert_files_stand,
    discovered,
    known,
    outcomes,
    the_dataset,
    verdicts,
)
from tests.domains.novae.made_files import in_strange_unit, spectrum_fits
from tests.domains.novae.story import Astronomer, later, new_nova, work_through


def _aside(eso: Archive, catalogue: NovaCatalogue) -> str:
    eso.publish("odd.fits", in_strange_unit())
    known(catalogue)
    discovered(catalogue)
    return f"/novae/{NOVA_ID}/datasets/{the_dataset(catalogue).dataset_id}"


def test_what_waits_is_listed_with_its_evidence(eso: Archive, anywhere: NovaCatalogue) -> None:
    """NC-27: on every engine: the failed check, the headers, a plot, and what was tried."""
    path = _aside(eso, anywhere)
    ann = Astronomer(anywhere)
    (waits,) = ann.get("/quarantine")["items"]
    assert (waits["nova_id"], waits["reason_code"]) == (str(NOVA_ID), "UNKNOWN_UNIT")
    assert "furlong" in waits["reason"]
    found = ann.get(f"{path}/evidence")
    assert (found["verdict"]["code"], found["former_verdicts"]) == ("UNKNOWN_UNIT", [])
    names = {each["name"].rpartition("/")[2] for each in found["evidence"]}
    assert names == {"primary.fits", "context.json", "preview.png"}
    assert [(each["task"], each["succeeded"]) for each in found["attempts"]] == [("acquire", True), ("validate", False)]
    assert found["dataset"]["profile_selection"]["chosen"] == "plain_image"


def test_a_hint_makes_it_valid_and_the_former_verdict_stays(eso: Archive, anywhere: NovaCatalogue, sky: Any) -> None:
    """NC-27, NC-37: cleared with a unit, it is judged again from the file that is here; nothing is downloaded."""
    path = _aside(eso, anywhere)
    eso.withdraw("odd.fits")
    ann = Astronomer(anywhere)
    later(anywhere, minutes=1)
    run = ann.post(f"{path}/clear", {"hints": {"unit": "Angstrom"}, "note": "the header is known to be wrong"})
    work_through(anywhere)
    assert ann.run(run["job_run_id"])["outcome"] == "VALIDATED"
    assert len(sky.downloads.brought) == 1
    dataset = the_dataset(anywhere)
    assert (dataset.processing_status, dataset.said) == ("COMPLETED", {"unit": "Angstrom"})
    former, present = verdicts(anywhere, dataset)
    assert (former.code, (former.decided_by or "").partition("#")[0]) == ("UNKNOWN_UNIT", "editor")
    assert former.note == "the header is known to be wrong"
    assert (present.validation_status, present.said) == ("VALID", {"unit": "Angstrom"})
    assert ann.get("/quarantine")["items"] == []
    assert_files_stand(anywhere, dataset)


def test_a_hint_that_does_not_help_is_put_aside_again(eso: Archive, catalogue: NovaCatalogue) -> None:
    """NC-27: the same hint twice is the same verdict, and no work is done for it."""
    path = _aside(eso, catalogue)
    ann = Astronomer(catalogue)
    for _ in range(2):
        later(catalogue, minutes=1)
        ann.post(f"{path}/clear", {"hints": {"profile": "none-such"}})
        work_through(catalogue)
    dataset = the_dataset(catalogue)
    assert dataset.quarantine_reason_code == "HINT_CONTRADICTS"
    assert [word for _, word in outcomes(catalogue)] == ["QUARANTINED", "QUARANTINED", "SKIPPED_DUPLICATE"]
    assert len(verdicts(catalogue, dataset)) == 2
    assert len(list(catalogue.store.find(QuarantineEntry.waiting()))) == 1


def test_what_is_rejected_stays_so_and_says_who_and_why(eso: Archive, catalogue: NovaCatalogue) -> None:
    """NC-27: with a line in the audit trail; nobody decides twice."""
    path = _aside(eso, catalogue)
    ann = Astronomer(catalogue)
    told = ann.post(f"{path}/reject", {"reason": "a flat field"}, status=200)
    assert (told["processing_status"], told["eligibility"]) == ("FAILED_TERMINAL", "NONE")
    assert told["quarantine_details"]["rejected"] == "a flat field"
    assert ann.get("/quarantine")["items"] == []
    assert ann.post(f"{path}/reject", {"reason": "again"}, status=409)["type"] == "not-in-quarantine"
    ann.post(f"{path}/clear", {}, status=409)
    lines = [line for line in _audited(catalogue) if "a flat field" in str(line.details)]
    assert [line.actor.partition("#")[0] for line in lines] == ["editor"]


def _audited(catalogue: NovaCatalogue) -> list[Any]:
    return list(catalogue.store.find(SystemAudit.of_project(project_id=EVERYWHERE)))


def test_viewers_look_and_decide_nothing(eso: Archive, catalogue: NovaCatalogue) -> None:
    path = _aside(eso, catalogue)
    bob = Astronomer(catalogue, Role.VIEWER)
    assert len(bob.get("/quarantine")["items"]) == 1
    bob.get(f"{path}/evidence")
    bob.post(f"{path}/clear", {}, status=403)
    bob.post(f"{path}/reject", {"reason": "x"}, status=403)
    assert the_dataset(catalogue).processing_status is ProcessingStatus.QUARANTINED


def test_a_hint_that_is_none_is_refused_before_anything_changes(eso: Archive, catalogue: NovaCatalogue) -> None:
    path = _aside(eso, catalogue)
    told = Astronomer(catalogue).post(f"{path}/clear", {"hints": {"colour": "red"}}, status=422)
    assert "colour" in told["detail"]
    assert the_dataset(catalogue).processing_status is ProcessingStatus.QUARANTINED


def test_the_choice_of_a_profile_is_replayed_from_what_is_stored(eso: Archive, catalogue: NovaCatalogue) -> None:
    """NC-37: the same inputs select the same profile; a choice that was another one is told."""
    eso.publish("a.fits", spectrum_fits())
    known(catalogue)
    discovered(catalogue)
    dataset = the_dataset(catalogue)
    path = f"/novae/{NOVA_ID}/datasets/{dataset.dataset_id}/replay"
    ann = Astronomer(catalogue)
    told = ann.get(path)
    assert (told["same"], told["stored"]) == (True, told["now"])
    assert told["now"]["chosen"] == "plain_image"
    with catalogue.store.change() as change:
        change.track(dataset)
        assert dataset.profile_selection is not None
        dataset.profile_selection = {**dataset.profile_selection, "chosen": "another"}
        change.save(dataset)
    told = ann.get(path)
    assert (told["same"], told["stored"]["chosen"], told["now"]["chosen"]) == (False, "another", "plain_image")


def test_what_waits_is_found_under_the_nova_it_was_merged_into(eso: Archive, catalogue: NovaCatalogue) -> None:
    """NC-38: the list is across novae, and its lines follow a merge; files stay, their records move."""
    from penstock.domains.novae import merging

    _aside(eso, catalogue)
    dataset_id = the_dataset(catalogue).dataset_id
    new_nova(catalogue.store, OTHER_ID, "Nova Sco 2012")
    merging.merge(catalogue, NOVA_ID, OTHER_ID, by="ann")
    work_through(catalogue)
    ann = Astronomer(catalogue)
    (waits,) = ann.get("/quarantine")["items"]
    assert (waits["nova_id"], waits["dataset_id"]) == (str(OTHER_ID), str(dataset_id))
    later(catalogue, minutes=1)
    ann.post(f"/novae/{NOVA_ID}/datasets/{dataset_id}/clear", {"hints": {"unit": "Angstrom"}})
    work_through(catalogue)
    dataset = the_dataset(catalogue, OTHER_ID)
    assert (dataset.processing_status, len(verdicts(catalogue, dataset))) == ("COMPLETED", 2)
    assert (dataset.raw_key or "").split("/")[2] == str(NOVA_ID)
    assert list(catalogue.store.find(QuarantineEntry.waiting())) == []


def test_of_two_who_decide_at_once_one_does(eso: Archive, catalogue: NovaCatalogue) -> None:
    _aside(eso, catalogue)
    dataset_id: UUID = the_dataset(catalogue).dataset_id
    quarantine.clear(catalogue, NOVA_ID, dataset_id, hints={"unit": "nm"}, by="ann")
    with pytest.raises(NotInQuarantine):
        quarantine.reject(catalogue, NOVA_ID, dataset_id, reason="no", by="bob")
