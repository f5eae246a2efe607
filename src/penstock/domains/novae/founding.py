"""Founding: a candidate is a nova that there is, or becomes one, in one commit; of many at once one founds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from uuid import UUID

from penstock.astronomy.sky_position import SkyMatch, match_of
from penstock.domains.novae.candidates import Candidate, apart, contradiction
from penstock.domains.novae.discovery_date import is_earlier
from penstock.domains.novae.model import Nova, NovaEntry, NovaStatus
from penstock.domains.novae.nova_names import (
    all_names,
    checked_name,
    claim_names,
    further,
    give_names,
    novae_called,
    owner_of,
    share_name,
)
from penstock.domains.novae.positions import Surroundings, around, position_of, put_position
from penstock.domains.novae.run_bookkeeping import Doubtful
from penstock.domains.novae.runs import followed
from penstock.kernel.change import Change
from penstock.kernel.store import Store

_MOST_DATES = 10
AT_ONCE = 20
"Names that are claimed in one commit."
Changing = Callable[[], Change]


@dataclass(frozen=True, slots=True)
class Founded:
    """The nova that a candidate is, and whether it was made for it."""

    nova_id: UUID
    created: bool


def found(
    store: Store, changing: Changing, candidate: Candidate, *, new_id: UUID, correlation_id: str | None
) -> Founded:
    """The nova that a candidate is: one that has one of its names or its place, else a new one; Doubtful if that cannot
    be known.

    What is decided by is what the commit is conditional on: claims of names, and the cells of the sky around it.
    """

    def attempt() -> Founded:
        near = None if candidate.position is None else around(store, candidate.position)
        nova_id = identified(store, candidate, near)
        if nova_id is not None:
            _add(changing, followed(store, nova_id), candidate, near)
            return Founded(nova_id, created=nova_id == new_id)
        with changing() as change:
            _create(change, new_id, candidate, near, correlation_id)
        return Founded(new_id, created=True)

    made = store.retried(attempt)
    _add_further_names(store, changing, made.nova_id, candidate.names)
    return made


def found_as(
    store: Store, changing: Changing, candidate: Candidate, asked: str, *, nova_id: UUID | None, new_id: UUID
) -> Founded:
    """The nova that a person says a candidate is; None: a new one. Names that are others' stay theirs, but for the one
    that was asked about, which is from then on that of both."""

    def attempt() -> Founded:
        near = None if candidate.position is None else around(store, candidate.position)
        nova = store.lookup(Nova.at(nova_id=new_id)) if nova_id is None else followed(store, nova_id)
        own = (None, new_id if nova is None else nova.nova_id)
        free = [name for name in [asked, *candidate.names] if owner_of(store, name) in own]
        with changing() as change:
            if nova is None:
                preferred = candidate.name if candidate.name in free else next(iter(free), asked)
                named = replace(candidate, name=preferred, names=tuple(free))
                nova = _create(change, new_id, named, near, None, claiming=bool(free))
            else:
                give_names(change, change.track(nova), free[:AT_ONCE])
                change.save(nova)
            if asked not in free:
                share_name(change, nova, asked, with_nova=owner_of(store, asked) or nova.nova_id)
        return Founded(nova.nova_id, created=nova_id is None)

    made = store.retried(attempt)
    _add_further_names(store, changing, made.nova_id, candidate.names)
    return made


def identified(store: Store, candidate: Candidate, near: Surroundings | None) -> UUID | None:
    """The nova that a candidate is, by names and place; None if there is none, Doubtful if it may be several."""
    named = list(dict.fromkeys(nova_id for name in candidate.names for nova_id in novae_called(store, name)))
    there = (
        [each.nova_id for each in near.neighbours if match_of(each.arcsec) is SkyMatch.SAME] if near is not None else []
    )
    meant = list(dict.fromkeys([*named, *there]))
    told = candidate.told()
    if len(meant) > 1:
        raise Doubtful(
            "AMBIGUOUS_NAME",
            f"{candidate.name} has names, or the place, of {len(meant)} novae",
            details={"matches": [told]},
            asks=meant,
        )
    if meant:
        _check_place(store, candidate, meant[0])
        return meant[0]
    if near is not None and near.neighbours:
        nearest = near.neighbours[0]
        raise Doubtful(
            "COORDINATE_AMBIGUITY",
            f"{candidate.name} is {nearest.arcsec:.1f} arcseconds from nova {nearest.nova_id}",
            details={"matches": [told], "arcsec": round(nearest.arcsec, 3)},
            asks=[each.nova_id for each in near.neighbours],
        )
    return None


def _check_place(store: Store, candidate: Candidate, nova_id: UUID) -> None:
    """A nova of the same name that lies elsewhere may be another."""
    away = apart(candidate.position, position_of(followed(store, nova_id)))
    if (code := contradiction(away)) is not None and away is not None:
        raise Doubtful(
            code,
            f"{candidate.name} has a name of nova {nova_id}, which lies {away:.1f} arcseconds away",
            details={"matches": [candidate.told()], "arcsec": round(away, 3)},
            asks=[nova_id],
        )


def _create(
    change: Change,
    nova_id: UUID,
    candidate: Candidate,
    near: Surroundings | None,
    correlation_id: str | None,
    *,
    claiming: bool = True,
) -> Nova:
    """INIT-1…3 in one commit: the nova, what it is called, and where it is; or nothing of it."""
    names = [candidate.name, *further(candidate.names, [candidate.name])][:AT_ONCE]
    now, source = change.store.clock.now(), ", ".join(filter(None, candidate.sources)) or None
    nova = Nova(
        nova_id=nova_id,
        preferred_name=candidate.name,
        normalized_preferred_name=checked_name(candidate.name),
        aliases=names[1:],
        created_at=now,
        updated_at=now,
    )
    if near is not None:
        _place(change, nova, near, source)
    _date(nova, candidate)
    change.create(nova)
    change.create(entry_of(nova))
    claim_names(change, nova_id, names if claiming else ())
    change.emit("nova.created", nova, name=nova.preferred_name, correlation_id=correlation_id)
    return nova


def _place(change: Change, nova: Nova, near: Surroundings, source: str | None) -> None:
    """Say where a nova is, which is created or saved in the same change."""
    nova.ra_deg, nova.dec_deg, nova.position_source = near.position.ra_degrees, near.position.dec_degrees, source
    near.still_so(change, adding=True)
    put_position(change, nova.nova_id, near.position, source=source)


def _date(nova: Nova, candidate: Candidate) -> bool:
    """Note what is told of the discovery: what was derived is shown, and of the rest the earliest is taken."""
    before = (nova.discovery_date, nova.discovery_candidates)
    derived = [{"date": each.date, "source": each.about} for each in candidate.dates if each.derived][:_MOST_DATES]
    if derived:
        nova.discovery_candidates = derived
    told = min((each for each in candidate.dates if not each.derived), key=lambda each: each.date, default=None)
    if told is not None and is_earlier(nova, told.date):
        nova.discovery_date, nova.discovery_source, nova.discovery_reference = told.date, told.source, told.about
    return before != (nova.discovery_date, nova.discovery_candidates)


def _add(changing: Changing, nova: Nova, candidate: Candidate, near: Surroundings | None) -> None:
    """What is new of a nova that there is: names, and a place where it had none."""
    unplaced = near if position_of(nova) is None else None
    names = further(candidate.names, all_names(nova))[:AT_ONCE]
    dated = _date(nova.model_copy(), candidate)
    if unplaced is None and not names and not dated:
        return
    with changing() as change:
        change.track(nova)
        if unplaced is not None:
            _place(change, nova, unplaced, ", ".join(filter(None, candidate.sources)) or None)
        _date(nova, candidate)
        give_names(change, nova, names)
        change.save(nova)


def _add_further_names(store: Store, changing: Changing, nova_id: UUID, names: Sequence[str]) -> None:
    """Names beyond those of the first commit, a few at a time; what is another's meanwhile stays theirs."""

    def attempt() -> bool:
        nova = followed(store, nova_id)
        left = iter(further(names, all_names(nova)))
        some = list(islice(_free(store, left, nova.nova_id), AT_ONCE))
        if some:
            with changing() as change:
                give_names(change, change.track(nova), some)
                change.save(nova)
        return bool(some)

    while store.retried(attempt):
        pass


def _free(store: Store, names: Iterator[str], nova_id: UUID) -> Iterator[str]:
    return (name for name in names if owner_of(store, name) in (None, nova_id))


def entry_of(nova: Nova) -> NovaEntry:
    """The line of a nova in the list of those in its state."""
    return NovaEntry(
        status=nova.status, created_at=nova.created_at, nova_id=nova.nova_id, preferred_name=nova.preferred_name
    )


def move_entry(change: Change, nova: Nova, *, since: NovaStatus) -> None:
    """Have a nova be found among those in another state."""
    change.delete(entry_of(nova.model_copy(update={"status": since})).ref)
    change.put(entry_of(nova))


def rename_entry(change: Change, nova: Nova, name: str) -> None:
    """Have the list of novae show another name."""
    change.put(entry_of(nova.model_copy(update={"preferred_name": name})))
