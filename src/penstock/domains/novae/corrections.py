"""What people say of a nova: one that is made by hand, and what is corrected of one that there is, under the version
that they have read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from uuid import UUID

from penstock.astronomy.sky_position import Position, sky_cell
from penstock.domains.novae.candidates import Candidate, FoundDate
from penstock.domains.novae.errors import NameTaken, OtherVersion
from penstock.domains.novae.founding import found, identified, rename_entry
from penstock.domains.novae.lookup_records import NovaPosition
from penstock.domains.novae.model import Nova
from penstock.domains.novae.nova_catalogue import NovaCatalogue
from penstock.domains.novae.nova_names import checked_name, claim_names, further, owner_of
from penstock.domains.novae.positions import around, position_of, put_position
from penstock.domains.novae.providers.provider import ClassicalNova
from penstock.domains.novae.run_bookkeeping import Doubtful
from penstock.domains.novae.runs import active, followed
from penstock.domains.novae.states import DiscoverySource
from penstock.errors import InvalidValue
from penstock.kernel.change import Change
from penstock.kernel.idempotency import new_id
from penstock.kernel.store import Store

PERSON = "person"
"The source of a position that somebody has said."


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidOfNova:
    """What somebody says of a nova; None is what they do not say."""

    name: str | None = None
    position: Position | None = None
    discovered: str | None = None
    "YYYY, YYYY-MM or YYYY-MM-DD."


def position_said(ra: float | None, dec: float | None) -> Position | None:
    """Where somebody says that a nova is; InvalidValue unless both are said, or none."""
    if ra is None and dec is None:
        return None
    if ra is None or dec is None or not 0 <= ra < 360 or not -90 <= dec <= 90:
        raise InvalidValue(
            "a position is a right ascension from 0 to below 360 and a declination from -90 to 90 degrees"
        )
    return Position(ra, dec)


def whole_date(told: str) -> str:
    """YYYY-MM-DD, with 00 for what is not told; InvalidValue if it is no day that there was."""
    parts = told.strip().split("-")
    try:
        numbers = [int(part) for part in parts]
        if not 1 <= len(parts) <= 3 or [len(part) for part in parts] != [4, 2, 2][: len(parts)] or numbers[0] < 1000:
            raise ValueError
        date(*[*numbers, 1, 1][:3])
    except ValueError:
        raise InvalidValue(f"{told[:40]!r} is no date; write YYYY-MM-DD, YYYY-MM or YYYY") from None
    return "-".join([*parts, "00", "00"][:3])


def create_nova(
    catalogue: NovaCatalogue, said: SaidOfNova, *, by: str, aliases: tuple[str, ...] = (), why: str | None = None
) -> Nova:
    """A nova that somebody knows and nobody else need to; NameTaken if there is one of that name, or at that place."""
    name, store = said.name or "", catalogue.store
    checked_name(name)
    date = None if said.discovered is None else whole_date(said.discovered)
    candidate = Candidate(
        name=name,
        names=tuple(further([name, *aliases], [])),
        position=said.position,
        kinds=frozenset([ClassicalNova.YES]),
        sources=(PERSON,),
        dates=() if date is None else (FoundDate(date, DiscoverySource.PERSON, by),),
    )
    nova_id = new_id(catalogue.once, "nova")

    def changing() -> Change:
        change = store.change(by=by, why=why or "made by hand", once=catalogue.once)
        change.result = {"nova_id": str(nova_id)}
        return change

    try:
        _check_new(store, candidate, but=nova_id)
        made = found(store, changing, candidate, new_id=nova_id, correlation_id=None)
    except Doubtful as doubt:
        raise NameTaken(f"{doubt.reason}; is it that one?") from None
    return followed(store, made.nova_id)


def _check_new(store: Store, candidate: Candidate, *, but: UUID) -> None:
    """NameTaken if a nova that there is has one of its names, or its place."""
    near = None if candidate.position is None else around(store, candidate.position)
    there = identified(store, candidate, near)
    if there not in (None, but):
        raise NameTaken(f"{candidate.name!r} has a name or the place of nova {there}; correct that one")


def correct(
    catalogue: NovaCatalogue,
    nova_id: UUID,
    said: SaidOfNova,
    *,
    version: int | None,
    by: str,
    why: str | None = None,
) -> Nova:
    """Correct the name, the place or the discovery of a nova; OtherVersion if it is not as it was read any more."""
    store = catalogue.store
    if said == SaidOfNova():
        raise InvalidValue("say what is to be corrected: the name, the position or the date of the discovery")
    date = None if said.discovered is None else whole_date(said.discovered)

    def attempt() -> Nova:
        nova = active(followed(store, nova_id))
        if version is not None and nova.version_counter != version:
            raise OtherVersion(
                f"nova {nova.nova_id} has version {nova.version_counter} by now, and {version} was corrected"
            )
        with store.change(by=by, why=why or "corrected", once=catalogue.once) as change:
            change.track(nova)
            if said.name is not None:
                _rename(change, nova, said.name)
            if said.position is not None:
                _move(change, nova, said.position)
            if date is not None:
                _say_date(nova, date, by)
            nova.updated_at, nova.version_counter = store.clock.now(), nova.version_counter + 1
            change.save(nova)
            change.emit("nova.corrected", nova, name=nova.preferred_name, by=by)
            change.result = {"nova_id": str(nova.nova_id)}
        return nova

    return store.retried(attempt)


def _rename(change: Change, nova: Nova, name: str) -> None:
    """Another name is preferred; the former stays among the others."""
    normalized, owner = checked_name(name), owner_of(change.store, name)
    if owner not in (None, nova.nova_id):
        raise NameTaken(f"{name!r} is the name of nova {owner}")
    written = further([name], [])[0]
    rename_entry(change, nova, written)
    former, nova.preferred_name, nova.normalized_preferred_name = nova.preferred_name, written, normalized
    nova.aliases = further([former, *nova.aliases], [written])
    claim_names(change, nova.nova_id, [written])


def _move(change: Change, nova: Nova, position: Position) -> None:
    former = position_of(nova)
    if former == position:
        return
    if former is not None and sky_cell(former) != sky_cell(position):
        change.delete(NovaPosition.at(cell=sky_cell(former), nova_id=nova.nova_id))
    nova.ra_deg, nova.dec_deg, nova.position_source = position.ra_degrees, position.dec_degrees, PERSON
    around(change.store, position).still_so(change, adding=True)
    put_position(change, nova.nova_id, position, source=PERSON)


def _say_date(nova: Nova, date: str, by: str) -> None:
    """What a person says stands above all that papers, indexes and observations tell."""
    nova.discovery_date, nova.discovery_source, nova.discovery_reference = date, DiscoverySource.PERSON, by
