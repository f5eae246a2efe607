"""Cross-references: which papers about a nova and which of its datasets belong together, by the bibcode both tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.model import Reference
from penstock.kernel.store import Store


@dataclass(slots=True)
class CrossReference:
    """A paper, and the datasets that are said to be from it."""

    reference_id: str
    title: str | None = None
    date: str | None = None
    known: bool = False
    "It is among the papers about the nova; else only datasets tell of it."
    datasets: list[UUID] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        """What JSON can say of it."""
        return {
            "reference_id": self.reference_id,
            "title": self.title,
            "date": self.date,
            "known": self.known,
            "datasets": sorted(map(str, self.datasets)),
        }


def cross_references(store: Store, nova_id: UUID) -> list[CrossReference]:
    """Every paper about a nova with the datasets from it, and those that only datasets tell of; in order of bibcode."""
    found = {
        each.reference_id: CrossReference(each.reference_id, each.title, each.date, known=True)
        for each in store.find(Reference.of_nova(nova_id=nova_id))
    }
    for dataset in store.find(Dataset.of_nova(nova_id=nova_id)):
        bibcode = bibcode_of(dataset)
        if bibcode is not None:
            found.setdefault(bibcode, CrossReference(bibcode)).datasets.append(dataset.dataset_id)
    return [found[name] for name in sorted(found)]


def bibcode_of(dataset: Dataset) -> str | None:
    """The paper that a dataset is from: as was said of it, or as its ticket or file says."""
    told = [dataset.bibcode]
    for part in ("source", "metadata"):
        inside = (dataset.summary or {}).get(part)
        told.append(inside.get("bibcode") if isinstance(inside, dict) else None)
    return next((each.strip() for each in told if isinstance(each, str) and each.strip()), None)
