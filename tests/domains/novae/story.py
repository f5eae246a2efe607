"""What happens in these tests, in a few words: ask through the API, let workers work, look at what came of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from penstock import FrozenClock, Store
from penstock.auth.api_keys import create_key
from penstock.domains.novae import PLUGIN
from penstock.domains.novae.model import Alias, Dataset, DatasetType, NameClaim, Nova, dataset_identity
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.workflow import TASKS
from penstock.schema.role import Role
from penstock.web.api import build_api
from penstock.web.options import WebOptions
from penstock.work.domain_context import DomainContext
from penstock.workers.manual import ManualWorkers
from tests.web.client import Client

API = "/api/nc"


def context_of(catalogue: NovaCatalogue) -> DomainContext:
    return DomainContext(catalogue.store, catalogue.objects, lambda name: None)


def workers(catalogue: NovaCatalogue) -> ManualWorkers:
    return ManualWorkers(catalogue.store, [TASKS], context=context_of(catalogue))


def work(catalogue: NovaCatalogue) -> int:
    """All there is to do now."""
    return workers(catalogue).drain()


def later(catalogue: NovaCatalogue, **passed: float) -> None:
    clock = catalogue.store.clock
    assert isinstance(clock, FrozenClock)
    clock.advance(timedelta(**passed))


def work_through(catalogue: NovaCatalogue, *, most: int = 20) -> None:
    """All there is to do, also what waits for another attempt."""
    at_work = workers(catalogue)
    for _ in range(most):
        at_work.drain()
        if not at_work.waiting():
            return
        later(catalogue, seconds=30)


class Astronomer:
    """Somebody who uses the API with a role."""

    def __init__(self, catalogue: NovaCatalogue, role: Role | None = Role.EDITOR) -> None:
        self.catalogue = catalogue
        api = build_api([PLUGIN], context_of(catalogue), options=WebOptions(secret=b"of the tests", strict_claims=True))
        headers = {}
        if role is not None:
            token = create_key(catalogue.store, name=role.value, role=role, by="tests").token
            headers["Authorization"] = f"Bearer {token}"
        self.client = Client(api, base_url="http://127.0.0.1", headers=headers, raise_server_exceptions=False)

    def get(self, path: str, answered: int = 200, **params: Any) -> Any:
        answer = self.client.get(f"{API}{path}", params=params)
        assert answer.status_code == answered, answer.text
        return answer.json()

    def post(self, path: str, body: Any = None, status: int = 202, *, key: str | None = None) -> Any:
        headers = {} if key is None else {"Idempotency-Key": key}
        answer = self.client.post(f"{API}{path}", json=body, headers=headers)
        assert answer.status_code == status, answer.text
        return answer.json()

    def delete(self, path: str, status: int = 200, **params: Any) -> Any:
        answer = self.client.delete(f"{API}{path}", params=params)
        assert answer.status_code == status, answer.text
        return answer.json()

    def initialized(self, name: str) -> dict[str, Any]:
        """A name whose run is over, with all that it launched."""
        begun = self.post("/novae", {"candidate_name": name})
        work_through(self.catalogue)
        return self.run(begun["job_run_id"])

    def run(self, job_run_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.get(f"/runs/{job_run_id}")
        return found

    def attempts(self, job_run_id: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(f"/runs/{job_run_id}/attempts", limit=200)["items"]
        return found

    def runs(self, nova_id: Any, **params: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(f"/novae/{nova_id}/runs", limit=200, **params)["items"]
        return found


def aliases_of(store: Store, name: str) -> list[UUID]:
    return [alias.nova_id for alias in store.find(Alias.by_name(normalized_name=name))]


def owner(store: Store, name: str) -> UUID | None:
    claim = store.lookup(NameClaim.at(normalized_name=name))
    return None if claim is None else claim.nova_id


def new_nova(store: Store, nova_id: UUID, name: str) -> Nova:
    """A nova, its name and the claim on it, as others write them."""
    now = store.clock.now()
    nova = Nova(
        nova_id=nova_id, preferred_name=name, normalized_preferred_name=name.lower(), created_at=now, updated_at=now
    )
    with store.change() as change:
        change.create(NameClaim(normalized_name=name.lower(), nova_id=nova_id))
        change.create(Alias(normalized_name=name.lower(), nova_id=nova_id))
        change.create(nova)
    return nova


def new_dataset(store: Store, nova_id: UUID, identity: str = "ADP.1", **fields: Any) -> Dataset:
    now = store.clock.now()
    dataset = Dataset(
        nova_id=nova_id,
        dataset_type=DatasetType.SPECTRA,
        provider="ESO",
        dataset_id=dataset_identity("ESO", identity),
        created_at=now,
        updated_at=now,
        **{"provider_identity": identity, **fields},
    )
    store.create(dataset)
    return dataset
