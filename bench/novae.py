"""Pages of a catalogue of novae, found and made ready to be shown: their cost among few novae and among many.

Each nova has 50 datasets, one in ten of which waits for a person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from bench.contender import Limit
from bench.measure import Effort, Work
from bench.sizes import contests_of_questions
from bench.topic import Contests
from penstock import Entity, Store
from penstock.domains.novae import quarantine
from penstock.domains.novae.data_records import QuarantineEntry
from penstock.domains.novae.data_views import DatasetPage, WaitingDatasetPage, dataset_in_list, waiting_view
from penstock.domains.novae.dataset_records import Dataset, DatasetPlace
from penstock.domains.novae.model import DOMAIN, Alias, NameClaim, Nova, NovaEntry
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_names import nova_called
from penstock.domains.novae.nova_table import dataset_identity, normalize_name
from penstock.domains.novae.nova_views import NovaInList, NovaPage, NovaView
from penstock.domains.novae.states import DatasetType, NovaStatus, ProcessingStatus
from penstock.files.signed_view import shared_fields
from penstock.runtime.composition import open_objects

SMALL, LARGE = "10 novae", "1,000 novae"
SIZES = {SMALL: 10, LARGE: 1_000}
BASELINE = SMALL
OWN = (SMALL, LARGE)
QUESTIONS = ("novae", "datasets", "waiting", "by_name")
GROUPS = {f"sqlite-novae.{asked}": "client CPU" for asked in QUESTIONS}
LIMITS = tuple(
    Limit(f"{group}: costs at most 1.1 at 1,000 novae of what it does at 10", group, LARGE, SMALL, 1.1)
    for group in GROUPS
)
EACH, _WAITS = 50, 10
"Datasets of a nova; one in so many waits for a person."
NOVAE, DATASETS, WAITING = 5, 25, 20
"Lines of a page, of which there are as many among few."
NOW = datetime(2026, 1, 1, tzinfo=UTC)
_LEAST = 10


def contests(groups: Sequence[str], effort: Effort) -> Contests:
    """Fill one store with few novae and one with many, then ask the same of each in turn."""
    return contests_of_questions(groups, effort, SIZES, _fill, _asking, least=_LEAST)


def _fill(store: Store, size: int) -> None:
    store.ensure(DOMAIN)
    store.put_many(records(size))


def _asking(store: Store, asked: str) -> Work:
    ask = _ASKED[asked](NovaCatalogue(store, open_objects("files:///files")))

    def work(times: int) -> None:
        for _ in range(times):
            ask()

    return work


def _novae(catalogue: NovaCatalogue) -> Callable[[], object]:
    query = NovaEntry.by_status(status=NovaStatus.ACTIVE)

    def ask() -> object:
        page = catalogue.store.page(query, limit=NOVAE)
        assert len(page.records) == NOVAE
        return NovaPage(items=[NovaInList(**shared_fields(NovaInList, e)) for e in page.records], next=page.cursor)

    return ask


def _datasets(catalogue: NovaCatalogue) -> Callable[[], object]:
    query = Dataset.of_nova(nova_id=UUID(int=5))
    second = catalogue.store.page(query, limit=DATASETS - 1).cursor

    def ask() -> object:
        page = catalogue.store.page(query, limit=DATASETS, cursor=second)
        assert len(page.records) == DATASETS
        return DatasetPage(items=[dataset_in_list(each) for each in page.records], next=page.cursor)

    return ask


def _waiting(catalogue: NovaCatalogue) -> Callable[[], object]:
    def ask() -> object:
        found, following = quarantine.waiting(catalogue, limit=WAITING)
        assert len(found) == WAITING
        return WaitingDatasetPage(items=[waiting_view(each) for each in found], next=following)

    return ask


def _by_name(catalogue: NovaCatalogue) -> Callable[[], object]:
    return lambda: NovaView.of(nova_called(catalogue.store, "v1005_SCO"))


_ASKED: Mapping[str, Callable[[NovaCatalogue], Callable[[], object]]] = {
    "novae": _novae,
    "datasets": _datasets,
    "waiting": _waiting,
    "by_name": _by_name,
}


def records(size: int) -> Iterator[Entity]:
    for number in range(size):
        yield from _nova(number)
        for each in range(EACH):
            yield from _dataset(number, each)


def _nova(number: int) -> Iterator[Entity]:
    nova_id, at, name = UUID(int=number), NOW + timedelta(seconds=number), f"V{1000 + number} Sco"
    plain = normalize_name(name)
    told: dict[str, Any] = {
        "preferred_name": name,
        "normalized_preferred_name": plain,
        "aliases": [f"Nova Sco {number}"],
    }
    yield Nova(nova_id=nova_id, created_at=at, updated_at=at, **told)
    yield NovaEntry(status=NovaStatus.ACTIVE, created_at=at, nova_id=nova_id, preferred_name=name)
    yield NameClaim(normalized_name=plain, nova_id=nova_id)
    yield Alias(normalized_name=plain, nova_id=nova_id, created_at=at)


def _dataset(number: int, each: int) -> Iterator[Entity]:
    nova_id, at = UUID(int=number), NOW + timedelta(seconds=number * EACH + each)
    kind = DatasetType.SPECTRA if each % 5 else DatasetType.PHOTOMETRY
    waits = each % _WAITS == 0
    found: dict[str, Any] = {"nova_id": nova_id, "dataset_id": dataset_identity("eso", f"{number}.{each}")}
    named = {**found, "dataset_type": kind, "provider": "eso"}
    yield DatasetPlace(**named)
    yield Dataset(
        **named,
        provider_identity=f"ADP.{number}.{each}",
        locators=[f"https://archive.example/{number}/{each}.fits"],
        processing_status=ProcessingStatus.QUARANTINED if waits else ProcessingStatus.COMPLETED,
        summary={"points": 3000, "wavelength_range": [3800.0, 8298.0], "flux_unit": "erg Angstrom-1 s-1 cm-2"},
        sha256="0" * 64,
        created_at=at,
        updated_at=at,
        quarantined_at=at if waits else None,
    )
    if waits:
        yield QuarantineEntry(**named, quarantined_at=at, reason_code="UNKNOWN_UNIT", reason="no unit that is known")
