"""Positions: what lies near another, found by the cells of the sky it may lie in, and who decides by that first."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from penstock.astronomy.sky_position import OTHER, Position, cells_around, separation, sky_cell
from penstock.declare.attr import the
from penstock.domains.novae.model import Nova, NovaPosition, SkyCell
from penstock.domains.novae.runs import followed
from penstock.kernel.change import Change
from penstock.kernel.store import Store
from penstock.operations.conditions import Missing


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A nova near a position."""

    nova_id: UUID
    arcsec: float


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What lies near a position, nearest first, and how often the cells around it have been written to."""

    position: Position
    neighbours: tuple[Neighbour, ...]
    turns: tuple[SkyCell | str, ...]
    "The cells; by name alone where nothing was ever put."

    def still_so(self, change: Change, *, adding: bool) -> None:
        """Refuse a change if anything has come near meanwhile; with ``adding`` the change itself puts something there.

        Of two who add at places near each other at the same moment, each finds the other's cell among these.
        """
        own = sky_cell(self.position)
        for turn in self.turns:
            cell = turn if isinstance(turn, str) else turn.cell
            seen = Missing() if isinstance(turn, str) else the(SkyCell.turn).equals(turn.turn)
            if adding and cell == own:
                change.put(SkyCell(cell=cell, turn=1 if isinstance(turn, str) else turn.turn + 1), when=seen)
            else:
                change.check(SkyCell.at(cell=cell), seen)


def around(store: Store, position: Position, *, arcsec: float = OTHER) -> Surroundings:
    """What lies within some arcseconds of a position."""
    cells = list(dict.fromkeys([sky_cell(position), *cells_around(position, arcseconds=arcsec)]))
    # The turns first: what is put after they were read counts them up.
    turns = tuple(store.lookup(SkyCell.at(cell=cell)) or cell for cell in cells)
    found: dict[UUID, float] = {}
    for cell in cells:
        for there in store.find(NovaPosition.in_cell(cell=cell)):
            away = separation(position, Position(there.ra_deg, there.dec_deg))
            if away <= arcsec:
                nova_id = followed(store, there.nova_id).nova_id
                found[nova_id] = min(away, found.get(nova_id, away))
    near = sorted((Neighbour(nova_id, away) for nova_id, away in found.items()), key=lambda each: each.arcsec)
    return Surroundings(position, tuple(near), turns)


def put_position(change: Change, nova_id: UUID, position: Position, *, source: str | None) -> None:
    """Have a nova be found by where it is."""
    change.put(
        NovaPosition(
            cell=sky_cell(position),
            nova_id=nova_id,
            ra_deg=position.ra_degrees,
            dec_deg=position.dec_degrees,
            source=source,
            created_at=change.store.clock.now(),
        )
    )


def position_of(nova: Nova) -> Position | None:
    """Where a nova is, if that is known."""
    if nova.ra_deg is None or nova.dec_deg is None:
        return None
    return Position(nova.ra_deg, nova.dec_deg)
