"""When a nova was discovered, as far as it is known, and who says so.

The earliest date counts, and it only ever moves earlier: that of the papers about it, of what was measured of it, or of
an index that says so itself. An index's date that was derived from other data is a candidate for people to look at, and
no more. What a person says stands above all of that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.declare.attr import the
from penstock.domains.novae.dataset_records import Dataset
from penstock.domains.novae.first_detection import detected_on
from penstock.domains.novae.model import Nova, NovaStatus, Reference
from penstock.domains.novae.states import DiscoverySource, ProcessingStatus
from penstock.kernel.change import Change
from penstock.kernel.store import Store

_WORDS = {
    DiscoverySource.PAPER: "first paper",
    DiscoverySource.OBSERVATION: "first observed",
    DiscoverySource.INDEX: "discovered",
    DiscoverySource.PERSON: "discovered",
}


@dataclass(frozen=True, slots=True)
class DiscoveryDate:
    """A date, where it comes from, and which paper, dataset, index or person that is."""

    date: str
    source: DiscoverySource
    about: str | None = None


def shown_date(date: str) -> str:
    """A date as people write it: without the month or the day that is not known."""
    return date.removesuffix("-00").removesuffix("-00")


def discovery_words(nova: Nova) -> str | None:
    """When a nova was discovered, in words that promise no more than is known; None where nothing is."""
    if nova.discovery_date is None:
        return None
    source = nova.discovery_source or DiscoverySource.PAPER
    told = " (as the index says)" if source is DiscoverySource.INDEX else ""
    return f"{_WORDS[source]} {shown_date(nova.discovery_date)}{told}"


def candidate_words(nova: Nova) -> list[str]:
    """Dates that an index tells and that were not taken, each with who tells it."""
    return [f"{each.get('source')} has {shown_date(str(each.get('date')))}" for each in nova.discovery_candidates or ()]


# What is known


def earliest_paper(papers: Iterable[Reference]) -> DiscoveryDate | None:
    """The earliest of the papers that count: of those linked, that somebody has not said to be about another time.

    A month alone has the day 00, and comes before the days it may mean.
    """
    dated = [
        DiscoveryDate(paper.date, DiscoverySource.PAPER, paper.reference_id)
        for paper in papers
        if paper.date and not paper.date.startswith("0000") and paper.details.get("relevant") is not False
    ]
    return min(dated, key=lambda each: each.date, default=None)


def earliest_observation(datasets: Iterable[Dataset]) -> DiscoveryDate | None:
    """The earliest detection in the datasets that can be used."""
    valid = (each for each in datasets if each.processing_status is ProcessingStatus.COMPLETED)
    found = [each for dataset in valid if (each := observation_of(dataset)) is not None]
    return min(found, key=lambda each: each.date, default=None)


def observation_of(dataset: Dataset) -> DiscoveryDate | None:
    """The first detection of one dataset."""
    day = detected_on(dataset)
    return None if day is None else DiscoveryDate(day, DiscoverySource.OBSERVATION, str(dataset.dataset_id))


def earliest_known(store: Store, nova_id: UUID) -> DiscoveryDate | None:
    """The earliest date that papers and datasets of a nova tell."""
    found = [
        earliest_paper(store.find(Reference.of_nova(nova_id=nova_id))),
        earliest_observation(store.find(Dataset.of_nova(nova_id=nova_id))),
    ]
    return min((each for each in found if each is not None), key=lambda each: each.date, default=None)


# Moving


def is_earlier(nova: Nova, date: str) -> bool:
    """Would a date move the discovery of a nova? What a person has said stands."""
    if nova.discovery_source is DiscoverySource.PERSON:
        return False
    return nova.discovery_date is None or date < nova.discovery_date


def move_discovery(
    change: Change,
    nova_id: UUID,
    date: str,
    *,
    source: DiscoverySource = DiscoverySource.PAPER,
    about: str | None = None,
) -> None:
    """Have a nova be discovered on this date; Conflict unless that is earlier than what is known, and no person's word.

    It is refused as well if the nova is merged meanwhile.
    """
    known, by = the(Nova.discovery_date), the(Nova.discovery_source)
    earlier = known.absent() | known.after(date)
    free = by.absent() | by.differs(DiscoverySource.PERSON)
    updates: list[Any] = [known.set(date), by.set(source), the(Nova.updated_at).set(change.store.clock.now())]
    told = the(Nova.discovery_reference)
    updates.append(told.remove() if about is None else told.set(about))
    standing = the(Nova.status).differs(NovaStatus.MERGED)
    change.patch(Nova.at(nova_id=nova_id), *updates, when=earlier & free & standing)


def note_observation(change: Change, dataset: Dataset) -> bool:
    """Have a dataset that is just found valid move the discovery of its nova; False where it does not."""
    found, nova = observation_of(dataset), change.store.lookup(Nova.at(nova_id=dataset.nova_id))
    if found is None or nova is None or not is_earlier(nova, found.date):
        return False
    move_discovery(change, nova.nova_id, found.date, source=found.source, about=found.about)
    return True


def date_anew(change: Change, nova: Nova, without: UUID) -> None:
    """The discovery of a nova, one of whose datasets is withdrawn: if it was dated by that, by what is left."""
    if nova.discovery_source is not DiscoverySource.OBSERVATION or nova.discovery_reference != str(without):
        return
    store = change.store
    rest = [each for each in store.find(Dataset.of_nova(nova_id=nova.nova_id)) if each.dataset_id != without]
    left = [earliest_paper(store.find(Reference.of_nova(nova_id=nova.nova_id))), earliest_observation(rest)]
    found = min((each for each in left if each is not None), key=lambda each: each.date, default=None)
    change.track(nova)
    nova.discovery_date = None if found is None else found.date
    nova.discovery_source = None if found is None else found.source
    nova.discovery_reference = None if found is None else found.about
    nova.updated_at = store.clock.now()
    change.save(nova)
