"""What is said again of a known file is judged again with it; what is valid can be withdrawn, and comes back."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from penstock.domains.novae import contributions, dropped_objects, quarantine
from penstock.domains.novae.dataset_science import fingerprint_of
from penstock.domains.novae.errors import NotInQuarantine, NovaDeprecated
from penstock.domains.novae.model import Dataset, DatasetType, ProcessingStatus
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.errors import InvalidValue
from penstock.kernel.audit import EVERYWHERE, SystemAudit
from penstock.work import Task, TaskStatus
from tests.domains.novae.data_story import NOVA_ID, added, known, the_dataset, verdicts
from tests.domains.novae.made_files import in_strange_unit, light_curve_csv, spectrum_fits
from tests.domains.novae.story import Astronomer, new_nova, work, work_through

PATH = f"/novae/{NOVA_ID}/bundle"
TABLE = b"HJD,mag,err\n" + b"\n".join(b"%.4f,%.2f,0.05" % (2456080.5 + day, 10 + day / 4) for day in range(12))


def test_a_hint_for_a_file_that_is_valid_is_heard(catalogue: NovaCatalogue) -> None:
    """NC-26: as another verdict, beside the former one."""
    known(catalogue)
    added(catalogue, TABLE, hints={"band": "V"})
    first = the_dataset(catalogue)
    assert (first.summary or {})["bands"] == {"V": 12}
    added(catalogue, TABLE, hints={"band": "B"})
    second = the_dataset(catalogue)
    assert (second.processing_status, (second.summary or {})["bands"]) == (ProcessingStatus.COMPLETED, {"B": 12})
    assert second.fingerprint != first.fingerprint
    assert sorted((each.said or {}).get("band", "") for each in verdicts(catalogue, second)) == ["B", "V"]
    added(catalogue, TABLE, hints={"band": "B"})
    assert len(verdicts(catalogue, second)) == 2, "nothing more was said"


def test_a_bibcode_that_is_said_later_is_kept_and_one_that_is_none_is_refused(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    added(catalogue, light_curve_csv())
    added(catalogue, light_curve_csv(), bibcode="2018A&A...611A...3C")
    assert the_dataset(catalogue).bibcode == "2018A&A...611A...3C"
    assert len(verdicts(catalogue, the_dataset(catalogue))) == 2, "products tell the paper, and are made anew"
    with pytest.raises(InvalidValue, match="'garbage' is no bibcode"):
        added(catalogue, light_curve_csv(), bibcode="garbage")


def test_whatever_is_said_of_the_same_bytes_they_are_judged_anew() -> None:
    """What a provider says of the paper is not: its products do not wait for that."""
    at = datetime(2037, 3, 1, tzinfo=UTC)
    place: dict[str, Any] = {"nova_id": NOVA_ID, "provider": "p", "created_at": at, "updated_at": at}
    found = Dataset(**place, dataset_id=uuid4(), dataset_type=DatasetType.SPECTRA, file_name="a.fits")
    sent = found.model_copy(update={"hints": {"sent_by": "ann"}})
    said: list[dict[str, Any]] = [{"said": {"unit": "nm"}}, {"ticket": "t"}, {"description": "d"}, {"file_name": "b"}]
    said += [{"bibcode": "2018A&A...609A.120F"}, {"bibcode": "2018A&A...611A...3C"}]
    judged = [fingerprint_of(each, "0", version="1") for each in (sent, *(sent.model_copy(update=one) for one in said))]
    judged += [fingerprint_of(sent, "1", version="1"), fingerprint_of(sent, "0", version="2")]
    assert len(set(judged)) == 9
    told = [fingerprint_of(found.model_copy(update=one), "0", version="1") for one in said[-2:]]
    assert told == [fingerprint_of(found, "0", version="1")] * 2


def _bundled(catalogue: NovaCatalogue) -> tuple[set[str], dict[str, Any]]:
    Astronomer(catalogue).post(PATH)
    work_through(catalogue)
    with zipfile.ZipFile(io.BytesIO(catalogue.objects.get(f"bundles/{NOVA_ID}/full.zip").read())) as archive:
        return set(archive.namelist()), json.loads(archive.read("manifest.json"))


def test_a_valid_dataset_is_withdrawn_and_comes_back(catalogue: NovaCatalogue) -> None:
    """NC-27: it leaves bundle and light curve; the audit trail has who decided, and why."""
    known(catalogue)
    added(catalogue, light_curve_csv())
    dataset = the_dataset(catalogue)
    assert "light_curve.ecsv" in _bundled(catalogue)[0]
    ann, path = Astronomer(catalogue), f"/novae/{NOVA_ID}/datasets/{dataset.dataset_id}"
    told = ann.post(f"{path}/reject", {"reason": "it is CI Aql"}, 200)
    assert (told["validation_status"], told["quarantine_reason_code"]) == ("TERMINAL_INVALID", "WITHDRAWN")
    audited = catalogue.store.find(SystemAudit.of_project(project_id=EVERYWHERE))
    assert [line.actor.partition("#")[0] for line in audited if "it is CI Aql" in str(line.details)] == ["editor"]
    assert _bundled(catalogue)[0] == {"manifest.json", "SHA256SUMS"}
    assert ann.post(f"{path}/reject", {"reason": "again"}, 409)["type"] == "not-in-quarantine"
    with pytest.raises(NotInQuarantine, match="clear it with a hint, a ticket or a note"):
        quarantine.clear(catalogue, NOVA_ID, dataset.dataset_id, by="ann")
    ann.post(f"{path}/clear", {"note": "it is ours after all"})
    work_through(catalogue)
    assert the_dataset(catalogue).processing_status is ProcessingStatus.COMPLETED
    assert "light_curve.ecsv" in _bundled(catalogue)[0]


def test_a_bundle_is_called_by_what_people_know(catalogue: NovaCatalogue) -> None:
    """Folders by day and a short id, the file by its own name, and its ticket; the manifest has the ids."""
    known(catalogue)
    added(catalogue, spectrum_fits(), type=DatasetType.SPECTRA, name="day 12 [red].fits", bibcode=None)
    dataset = the_dataset(catalogue)
    folder = f"spectra/upload/2012-06-09_{dataset.dataset_id.hex[:8]}"
    names, manifest = _bundled(catalogue)
    assert {f"{folder}/raw/day_12__red_.fits", f"{folder}/normalized/spectrum.fits"} <= names
    (described,) = manifest["datasets"]
    assert (described["dataset_id"], described["folder"]) == (str(dataset.dataset_id), folder)
    assert (manifest["discovery_date"], manifest["discovered"]) == ("2012-06-09", "first observed 2012-06-09")


def test_what_is_withdrawn_or_rejected_is_told_in_plain_words(catalogue: NovaCatalogue) -> None:
    from penstock.domains.novae.catalogue_lines import contents_of_dataset

    known(catalogue)
    added(catalogue, in_strange_unit(), type=DatasetType.SPECTRA, name="a.fits")
    dataset = the_dataset(catalogue)
    (entry,) = Astronomer(catalogue).get("/quarantine")["items"]
    assert entry["file_name"] == "a.fits"
    rejected = quarantine.reject(catalogue, NOVA_ID, dataset.dataset_id, reason="no dispersion", by="ann")
    code = dataset.quarantine_reason_code
    assert contents_of_dataset(rejected) == f"rejected by ann: no dispersion (it waited as {code})"


def test_a_bucket_that_is_not_ours_is_said_at_once_and_nothing_is_waited_for(catalogue: NovaCatalogue) -> None:
    with pytest.raises(InvalidValue, match="'foo' is no bucket it knows; NC_BUCKET says 'novacat'"):
        dropped_objects.drop(catalogue, "bar", bucket="foo", by="ann")
    task_id = dropped_objects.drop(catalogue, "bar", by="ann")
    work(catalogue)
    task = catalogue.store.get(Task.at(task_id=task_id))
    assert (task.status, (task.result or {})["outcome"]) == (TaskStatus.DONE, "UNKNOWN")


def test_a_deprecated_nova_is_at_rest_until_it_is_restored(catalogue: NovaCatalogue) -> None:
    known(catalogue)
    added(catalogue, in_strange_unit(), type=DatasetType.SPECTRA, name="a.fits")
    ann, path = Astronomer(catalogue), f"/novae/{NOVA_ID}"
    assert "say why" in ann.post(f"{path}/deprecate", {}, 422)["detail"]
    assert ann.post(f"{path}/deprecate", {"why": "a dwarf nova"}, 200)["deprecated_because"] == "a dwarf nova"
    assert ann.get("/quarantine")["items"] == []
    assert ann.post(f"{path}/ingest", None, 409)["type"] == "nova-deprecated"
    with pytest.raises(NovaDeprecated, match="is deprecated \\(a dwarf nova\\)"):
        added(catalogue, light_curve_csv())
    run = ann.initialized("V1324 Sco")
    assert (run["outcome"], run["nova_id"]) == ("DEPRECATED", str(NOVA_ID))
    told = ann.post(f"{path}/restore", {"why": "it is one"}, 200)
    assert (told["status"], told["deprecated_because"]) == ("ACTIVE", None)
    assert len(ann.get("/quarantine")["items"]) == 1
    assert ann.post(f"{path}/restore", None, 200)["status"] == "ACTIVE"


def test_too_large_a_file_is_told_which_setting_says_so(catalogue: NovaCatalogue) -> None:
    new_nova(catalogue.store, nova_id := UUID(int=uuid4().int), "V9 Sco")
    wanted = contributions.NewFile(
        dataset_type=DatasetType.SPECTRA, file_name="a.fits", size=10**9, sha256="0" * 64, content_type="a/b"
    )
    with pytest.raises(InvalidValue, match="NC_LARGEST_FILE"):
        contributions.announce(catalogue, nova_id, wanted, by="ann")


def test_whose_runs_are_asked_for_is_said_in_a_sentence(catalogue: NovaCatalogue) -> None:
    assert "name of a nova" in Astronomer(catalogue).get("/runs", 422)["detail"]


def test_a_body_that_is_no_json_is_said_to_be_none(catalogue: NovaCatalogue) -> None:
    ann = Astronomer(catalogue)
    answer = ann.client.post("/api/nc/novae", content=b"name=V1", headers={"Content-Type": "application/json"})
    assert answer.json()["detail"].startswith("body: this is no JSON")
