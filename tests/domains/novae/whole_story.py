"""The whole story through the HTTP API, on whatever it runs: from a name to a bundle, with a person at the desk."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astropy.table import Table

from penstock.astronomy.synthetic.demo_folder import make_demo_folder
from penstock.auth.api_keys import create_key
from penstock.domains.novae import PLUGIN
from penstock.files.object_reads import fetch
from penstock.files.scratch import scratch_folder
from penstock.schema.role import Role
from penstock.web.api import build_api
from penstock.web.options import WebOptions
from penstock.work.domain_context import DomainContext
from tests.web.client import Client

NOVA = "V1324 Sco"
API = "/api/nc"


def sky_of(folder: Path) -> dict[str, str]:
    """A folder with a nova, and the settings that have it asked."""
    made = make_demo_folder(folder, seed=19, nova_name=NOVA)
    return {"NC_PROVIDERS": f"folder=local:{made.folder}"}


@dataclass
class WholeStory:
    """An astronomer, what they work with, and how everything that was begun comes to its end."""

    context: DomainContext
    settle: Callable[[Callable[[], bool]], None]
    "Has all be done that was begun, until something is so."

    def __post_init__(self) -> None:
        options = WebOptions(secret=b"of the tests", strict_claims=True)
        api = build_api([PLUGIN], self.context, options=options)
        token = create_key(self.context.store, name="ann", role=Role.EDITOR, by="tests").token
        headers = {"Authorization": f"Bearer {token}"}
        self._client = Client(api, base_url="http://127.0.0.1", headers=headers, raise_server_exceptions=False)

    def get(self, path: str, **params: Any) -> Any:
        answer = self._client.get(f"{API}{path}", params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Any = None, *, status: int = 202) -> Any:
        answer = self._client.post(f"{API}{path}", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def stored(self, key: str) -> bytes:
        with scratch_folder("story") as folder:
            return fetch(self.context.objects, key, folder).read_bytes()

    def is_over(self, job_run_id: str) -> bool:
        """Has a name's run ended, with all that it has launched? A run ends after those it launches are begun."""
        run = self.get(f"/runs/{job_run_id}")
        return run["status"] != "RUNNING" and (run["nova_id"] is None or self.is_still(run["nova_id"]))

    def is_still(self, nova_id: str) -> bool:
        runs = self.get(f"/novae/{nova_id}/runs", limit=200)["items"]
        return all(run["status"] != "RUNNING" for run in runs)

    # The story

    def run(self) -> None:
        nova_id = self.resolve()
        self.look_at_papers(nova_id)
        waiting = self.look_at_datasets(nova_id)
        self.look_at_runs(nova_id)
        self.decide(nova_id, waiting)
        self.bundle(nova_id)
        self.ask_again(nova_id)

    def resolve(self) -> str:
        """A name becomes a nova, which every spelling of it finds."""
        assert self.get("/novae/by-name", name=NOVA)["items"] == []
        begun = self.post("/novae", {"candidate_name": NOVA, "correlation_id": "a-story"})
        self.settle(lambda: self.is_over(begun["job_run_id"]))
        run = self.get(f"/runs/{begun['job_run_id']}")
        assert (run["status"], run["outcome"], run["correlation_id"]) == (
            "SUCCEEDED",
            "CREATED_AND_LAUNCHED",
            "a-story",
        )
        (found,) = self.get("/novae/by-name", name=" v1324__SCO ")["items"]
        assert found["nova_id"] == run["nova_id"]
        assert found["ra_deg"] is not None
        return str(found["nova_id"])

    def look_at_papers(self, nova_id: str) -> None:
        (paper,) = self.get(f"/novae/{nova_id}/references")["items"]
        assert "no such paper exists" in paper["title"]
        assert self.get(f"/novae/{nova_id}")["discovery_date"] == paper["date"]

    def look_at_datasets(self, nova_id: str) -> str:
        """Every file has its verdict; those that are valid have products; the one that waits."""
        datasets = self.get(f"/novae/{nova_id}/datasets")["items"]
        assert Counter(each["validation_status"] for each in datasets) == {
            "VALID": 9,
            "QUARANTINED": 1,
            "TERMINAL_INVALID": 1,
        }
        assert {each["eligibility"] for each in datasets} == {"NONE"}
        for each in datasets:
            if each["validation_status"] == "VALID":
                self.look_at_products(nova_id, each["dataset_id"])
        assert self.get(f"/novae/{nova_id}/datasets", waiting=True, dataset_type="SPECTRA")["items"] == []
        (waits,) = self.get("/quarantine")["items"]
        assert waits["reason_code"] == "UNKNOWN_UNIT"
        return str(waits["dataset_id"])

    def look_at_products(self, nova_id: str, dataset_id: str) -> None:
        """A normalised table that astropy reads, and a picture; the choice of its profile comes out the same again."""
        seen = self.get(f"/novae/{nova_id}/datasets/{dataset_id}")
        assert seen["byte_length"] > 0
        assert len(seen["sha256"]) == 64
        keys = [each["name"] for each in seen["files"]]
        assert all(f"/{nova_id}/{dataset_id}/" in key for key in keys)
        (picture,) = [key for key in keys if key.endswith(".png")]
        assert self.stored(picture).startswith(b"\x89PNG")
        tables = [key for key in keys if key.endswith(".ecsv")]
        rows = sum(len(Table.read(self.stored(key).decode(), format="ascii.ecsv")) for key in tables)
        assert rows == seen["summary"].get("points", seen["summary"].get("rows"))
        assert self.get(f"/novae/{nova_id}/datasets/{dataset_id}/replay")["same"] is True

    def look_at_runs(self, nova_id: str) -> None:
        """Each run with its attempts, tied together by what the first request was called."""
        runs = self.get(f"/novae/{nova_id}/runs", limit=200)["items"]
        assert {run["correlation_id"] for run in runs} == {"a-story"}
        assert Counter(run["workflow_name"] for run in runs) == {
            "ingest_new_nova": 1,
            "refresh_references": 1,
            "discover_spectra_products": 1,
            "download_and_validate_spectra": 8,
            "ingest_photometry_dataset": 3,
        }
        done = next(run for run in runs if run["outcome"] == "VALIDATED")
        tried = self.get(f"/runs/{done['job_run_id']}/attempts")["items"]
        assert sorted(each["task"] for each in tried) == ["acquire", "normalize", "store", "validate"]

    def decide(self, nova_id: str, dataset_id: str) -> None:
        """A person looks at the evidence and says what the file does not: it is judged again, and is valid."""
        place = f"/novae/{nova_id}/datasets/{dataset_id}"
        evidence = self.get(f"{place}/evidence")
        assert "furlong" in evidence["verdict"]["details"]["reason"]
        names = {each["name"].rpartition("/")[2] for each in evidence["evidence"]}
        assert {"context.json", "preview.png"} <= names
        said = {"hints": {"flux_unit": "erg/s/cm2/Angstrom"}, "note": "the observer says so"}
        run = self.post(f"{place}/clear", said)
        self.settle(lambda: self.get(f"/runs/{run['job_run_id']}")["status"] != "RUNNING")
        assert self.get("/quarantine")["items"] == []
        after = self.get(f"{place}/evidence")
        assert after["verdict"]["validation_status"] == "VALID"
        (former,) = after["former_verdicts"]
        assert (former["code"], former["note"]) == ("UNKNOWN_UNIT", "the observer says so")
        assert "ann" in former["decided_by"]
        self.look_at_products(nova_id, dataset_id)

    def bundle(self, nova_id: str) -> None:
        """All valid data in one zip, which tells by itself whether it is whole."""
        assert self.post(f"/novae/{nova_id}/bundle")["fresh"] is False
        self.settle(lambda: bool(self.get(f"/novae/{nova_id}/bundle")["fresh"]))
        told = self.get(f"/novae/{nova_id}/bundle")
        data = self.stored(f"bundles/{nova_id}/full.zip")
        assert hashlib.sha256(data).hexdigest() == told["sha256"]
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            assert archive.testzip() is None
            manifest = json.loads(archive.read("manifest.json"))
            assert len(manifest["datasets"]) == 10
            assert "light_curve.png" in archive.namelist()
            for line in archive.read("SHA256SUMS").decode().splitlines():
                digest, _, name = line.partition("  ")
                assert hashlib.sha256(archive.read(name)).hexdigest() == digest

    def ask_again(self, nova_id: str) -> None:
        """Whoever asks for the same again is given what there is: nothing is done twice."""
        before = self.get(f"/novae/{nova_id}/datasets")["items"]
        self.post(f"/novae/{nova_id}/ingest")
        self.settle(lambda: self.is_still(nova_id))
        assert self.get(f"/novae/{nova_id}/datasets")["items"] == before
        assert self.get(f"/novae/{nova_id}/bundle")["fresh"] is True
